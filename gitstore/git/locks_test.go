// Tests of what a note of git's locks covers.

package git

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
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

// TestNoteKnowsFetchedKeeps: only a ".keep" that a fetch wrote, or began to write, while the note's git ran is a lock.
func TestNoteKnowsFetchedKeeps(t *testing.T) {
	dir := t.TempDir()
	keep := func(name, text string) string {
		path := filepath.Join(dir, "pack-"+name+KeepExt)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old := keep("old", "fetch-pack 12 on host\n")
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	keep("mine", "a pack that I want to stay\n")
	keep("ours", `{"owner_pid": 12}`)
	want := []string{keep("begun", ""), keep("cut", "fetch-"), keep("whole", "fetch-pack 12 on host\n"),
		keep("zeros", "fetch-pack\x00\x00\x00\n")}
	n := &LockNote{Packs: dir, written: time.Now()}
	var got []string
	for _, l := range n.locks() {
		got = append(got, l.Path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("locks %q, want %q", got, want)
	}
	if got := n.dirs(); !slices.Equal(got, []string{dir}) {
		t.Errorf("it would sync %q, want %q", got, dir)
	}
	if n.Packs = ""; n.left() {
		t.Error("a note without packs names a .keep")
	}
}
