// Tests of what a note of git's locks covers.

package git

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestNoteKnowsItsDirectories checks that before a note is removed, the directories from which locks were removed
// are synced. The tracking ref of a run is in a subdirectory of the remote's.
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
