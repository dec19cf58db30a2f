// Whether a clone that another user owns may be read: git's safe.directory.

package sibling

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Trust knows which clones of other users the person allows. It asks git at most once, and not at all while the
// person owns every clone. It is safe for concurrent use; the zero value is ready to use.
type Trust struct {
	once  sync.Once
	dirs  []string
	check error
}

// allow refuses dir unless the person owns every path that determines it, or safe.directory names it (git-config,
// safe.directory).
func (t *Trust) allow(ctx context.Context, dir string, paths ...string) error {
	ours := true
	for _, p := range paths {
		ours = ours && git.OwnedByUs(p)
	}
	if ours {
		return nil
	}
	t.once.Do(func() { t.dirs, t.check = safeDirectories(ctx) })
	if t.check != nil {
		return t.check
	}
	allowed, at := false, filepath.ToSlash(dir) // git writes paths with slashes on Windows too
	resolved := func(p string) string { return filepath.ToSlash(git.RealOr(p)) }
	for _, v := range t.dirs {
		v = filepath.ToSlash(v)
		switch prefix, under := strings.CutSuffix(v, "/*"); {
		case v == "":
			allowed = false // an empty value resets the list
		case v == "*":
			allowed = true
		case under:
			allowed = allowed || strings.HasPrefix(at, prefix+"/") || strings.HasPrefix(at, resolved(prefix)+"/")
		default:
			allowed = allowed || path.Clean(v) == at || resolved(v) == at
		}
	}
	if allowed {
		return nil
	}
	return fail.Errorf(fail.CodeDubiousOwnership, nil, "another user owns the repository at %s", dir).
		WithHint("if you trust its owner, run: git config --global --add safe.directory %s", dir)
}

// safeDirectories returns the values of safe.directory in order. It reads only the person's own and the system's
// settings: a repository cannot grant itself permission.
func safeDirectories(ctx context.Context) ([]string, error) {
	g := git.NewForeignGit(string(filepath.Separator))
	out, err := g.Run(ctx, nil, "config", "-z", "--show-scope", "--type=path", "--get-all", "safe.directory")
	if git.ExitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var dirs []string
	for i := 0; i+1 < len(f); i += 2 {
		if f[i] == "system" || f[i] == "global" || f[i] == "command" {
			dirs = append(dirs, f[i+1])
		}
	}
	return dirs, nil
}
