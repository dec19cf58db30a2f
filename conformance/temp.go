// A temporary directory for one adapter process, removed by the process that started it.

package conformance

import (
	"os"
	"slices"
	"strings"
	"time"

	scratchdir "github.com/git-agentxchain/git-agentxchain/internal/scratch"
)

// ownTemp creates a directory and returns env with it as the temporary directory and as the value of names, without
// TokenVariable. A killed adapter cannot clean up after itself; its caller does, with removeTemp.
func ownTemp(env []string, names ...string) (dir string, out []string, err error) {
	if dir, err = os.MkdirTemp("", "agentxchain-fixture-"); err != nil {
		return "", nil, err
	}
	names = append(names, "TMPDIR", "TMP", "TEMP")
	out = make([]string, 0, len(env)+len(names))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if name != TokenVariable && !slices.Contains(names, name) {
			out = append(out, kv)
		}
	}
	for _, name := range names {
		out = append(out, name+"="+dir)
	}
	return dir, out, nil
}

// removeTemp removes a directory even when a program in it removed its own permissions, or was still writing: the
// processes are dead by now, but a write may still be pending.
func removeTemp(dir string) {
	for try := range 3 {
		if scratchdir.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(time.Duration(try) * 50 * time.Millisecond)
	}
	_ = scratchdir.RemoveAll(dir)
}
