// The version of the installed git, asked for only when a feature needs it.

package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Version is a git release number.
type Version struct{ Major, Minor, Patch int }

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// AtLeast reports whether v is the release major.minor or a later one.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// Version asks git once per Git; later calls answer from memory. A failure is not cached: the caller's context may
// have been cancelled.
func (g *Git) Version(ctx context.Context) (Version, error) {
	g.versionMu.Lock()
	defer g.versionMu.Unlock()
	if g.version != (Version{}) {
		return g.version, nil
	}
	out, err := g.Run(ctx, nil, "version")
	if err != nil {
		return Version{}, err
	}
	v, ok := parseVersion(string(out))
	if !ok {
		return Version{}, fail.Errorf(fail.CodeGitFailed, nil, "git names its version as %q",
			strings.TrimSpace(string(out)))
	}
	g.version = v
	return v, nil
}

// parseVersion reads "git version 2.39.5 (Apple Git-154)", "2.45.0.windows.1",
// "2.55.0.rc1.12.gabc" and the like: up to three leading numbers count.
func parseVersion(s string) (Version, bool) {
	s, ok := strings.CutPrefix(strings.TrimSpace(s), "git version ")
	if !ok {
		return Version{}, false
	}
	s, _, _ = strings.Cut(s, " ")
	var n [3]int
	parts := strings.Split(s, ".")
	for i := range n {
		if i >= len(parts) {
			break
		}
		v, digits := 0, 0
		for _, c := range []byte(parts[i]) {
			if c < '0' || c > '9' || digits == 6 {
				break
			}
			v, digits = v*10+int(c-'0'), digits+1
		}
		if digits == 0 {
			if i == 0 {
				return Version{}, false
			}
			break
		}
		n[i] = v
	}
	return Version{n[0], n[1], n[2]}, true
}
