// Windows renames no file that is open, and no directory with one in it. The calls of the changing commands are held
// against that here, where every test runs.

package cli

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
)

// TestNothingOpenIsRenamed: the index of every pack was still open when it got its name.
func TestNothingOpenIsRenamed(t *testing.T) {
	testrepo.Thorough(t)
	if !testtrace.Available() {
		t.Skip("processes cannot be traced here")
	}
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	for _, name := range surviveActs(slices.Sorted(maps.Keys(acts)), surviveSeed(t), long, 6) {
		t.Run(name, func(t *testing.T) {
			a := newAct(t, name)
			acts[name](a)
			a.undisturbed()
			if n := openRenames(t, a.trace); n == 0 {
				t.Error("no file was renamed, which tests nothing")
			}
		})
	}
}

// openRenames reports the renames by our program of what is open for writing, and returns how many renames it saw.
func openRenames(t *testing.T, calls []*testtrace.Call) (renames int) {
	open := make(map[int]map[string]int) // process -> path -> descriptors
	for _, c := range calls {
		if !c.Done || !strings.HasPrefix(c.Program, "git-agentxchain") {
			continue
		}
		mine := open[c.Process]
		if mine == nil {
			mine = make(map[string]int)
			open[c.Process] = mine
		}
		switch {
		case strings.HasPrefix(c.Name, "open"):
			mine[c.Path]++
		case c.Name == "close":
			mine[c.Path]--
		case strings.HasPrefix(c.Name, "rename"):
			renames++
			for path, n := range mine {
				if n > 0 && (path == c.Path || strings.HasPrefix(path, c.Path+"/")) {
					t.Errorf("%s: %s is open", c, path)
				}
			}
		}
	}
	return renames
}
