// A directory for the temporary files of one adapter process, removed by who started it.

package conformance

import (
	"os"
	"slices"
	"strings"
	"time"

	scratchdir "github.com/git-agentxchain/git-agentxchain/internal/scratch"
)

// ownTemp makes a directory and returns env with it as the place of temporary
// files and as the value of names, TokenVariable taken out. An adapter that is
// killed cannot tidy up behind itself; who started it does, with removeTemp.
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

// removeTemp removes a directory even when what ran in it took away its own
// permissions, or was still writing: its processes are dead by now, but a write
// may be on its way.
func removeTemp(dir string) {
	for try := range 3 {
		if scratchdir.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(time.Duration(try) * 50 * time.Millisecond)
	}
	_ = scratchdir.RemoveAll(dir)
}
