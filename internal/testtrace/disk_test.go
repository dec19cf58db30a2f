// Tests of power cuts after a few known steps.

package testtrace

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	if !Available() {
		t.Skip("processes cannot be traced here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("old", "before")
	disk, err := NewDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	// One file is synced but not its name, one name but not the file, and one neither.
	script := "dd of=synced bs=4 conv=fsync status=none <<end\ndata\nend\n" +
		"mkdir d; echo lost >d/unsynced; sync d; echo gone >>old; mv old new; ln -s new link; rm d/unsynced; rmdir d"
	r, err := (&Run{Dir: dir, Env: os.Environ(), Args: []string{"sh", "-c", script}, Below: dir, Record: true}).Do()
	if err != nil || r.Status != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if err := disk.Record(r.Calls); err != nil {
		t.Fatal(err)
	}
	after, err := NewDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := disk.Now().Differences(after.Now()); len(diff) > 0 {
		t.Errorf("the calls do not account for what is there: %v", diff)
	}
	contents := func(m Image) string {
		out := filepath.Join(t.TempDir(), "out")
		if err := m.Write(out); err != nil {
			t.Fatal(err)
		}
		var all []string
		_ = filepath.WalkDir(out, func(p string, e os.DirEntry, err error) error {
			if err == nil && p != out {
				data, _ := os.ReadFile(p)
				all = append(all, p[len(out)+1:]+"="+strings.TrimSpace(string(data)))
			}
			return err
		})
		return strings.Join(all, " ")
	}
	var seen []string
	for _, m := range disk.Cut(disk.Len(), 0, rand.New(rand.NewPCG(1, 1))) {
		seen = append(seen, contents(m))
	}
	for _, want := range []string{
		"link=beforegone new=beforegone synced=data", // everything
		"old=before",                         // nothing that was not synced
		"link=before new=before synced=data", // names without contents
		"old=beforegone",                     // contents without names
	} {
		if !slices.Contains(seen, want) {
			t.Errorf("%q is not among %q", want, seen)
		}
	}
	// In the middle, when d has just been synced by name alone.
	at := 0
	for i := range disk.Len() {
		if disk.Step(i) == "name unsynced" {
			at = i + 2 // named and synced, or written
		}
	}
	found := false
	for _, m := range disk.Cut(at+2, 20, rand.New(rand.NewPCG(1, 1))) {
		found = found || strings.Contains(contents(m), "d/unsynced= ")
	}
	if !found {
		t.Error("a name without its contents is never left")
	}
}

// TestCutSpares checks that what another machine has written stays, synced or not.
func TestCutSpares(t *testing.T) {
	if !Available() {
		t.Skip("processes cannot be traced here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(dir, "server")
	if err := os.Mkdir(server, 0o777); err != nil {
		t.Fatal(err)
	}
	disk, err := NewDisk(dir, server)
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&Run{
		Dir:    dir,
		Env:    os.Environ(),
		Args:   []string{"sh", "-c", "mkdir server/d; echo kept >server/d/f; mv server/d server/e; echo lost >f"},
		Below:  dir,
		Record: true,
	}).Do()
	if err != nil || r.Status != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if err := disk.Record(r.Calls); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, m := range disk.Cut(disk.Len(), 20, rand.New(rand.NewPCG(1, 1))) {
		out := filepath.Join(t.TempDir(), "out")
		if err := m.Write(out); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(out, "server", "e", "f")); string(data) != "kept\n" {
			t.Errorf("of the server there is %q, %v", data, err)
		}
		if data, _ := os.ReadFile(filepath.Join(out, "f")); string(data) != "lost\n" {
			lost++
		}
	}
	if lost == 0 {
		t.Error("what was not synced on this disk is never lost")
	}
}
