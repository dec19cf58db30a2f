// What a note of git's locks covers.

package git

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestNoteKnowsItsDirectories: before a note goes, the directories are synced from which locks were removed. The
// tracking name of a run is in a directory of its own below that of the remote.
func TestNoteKnowsItsDirectories(t *testing.T) {
	top := t.TempDir()
	runs := filepath.Join(top, "remotes", "origin", "agentxchain", "runs")
	if err := os.MkdirAll(runs, 0o777); err != nil {
		t.Fatal(err)
	}
	n := &LockNote{
		Locks: []GitLock{{Path: filepath.Join(top, "packed-refs.lock")}, {Path: filepath.Join(top, "index.lock")}},
		Below: []string{filepath.Join(top, "remotes", "origin")},
	}
	want := []string{top, filepath.Join(top, "remotes", "origin"),
		filepath.Join(top, "remotes", "origin", "agentxchain"), runs}
	if got := n.dirs(); !slices.Equal(got, want) {
		t.Errorf("it would sync %q, want %q", got, want)
	}
}
