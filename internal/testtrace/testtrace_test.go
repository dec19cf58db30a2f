// Tests of the tracer with programs whose calls are known.

package testtrace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Helper()
	os.Exit(m.Run())
}

// shell traces a shell script in a new directory.
func shell(t *testing.T, script string, f Fault, record bool) (dir string, r *Result) {
	t.Helper()
	if !Available() {
		t.Skip("processes cannot be traced here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err = (&Run{
		Dir:    dir,
		Env:    os.Environ(),
		Args:   []string{"sh", "-c", script},
		Below:  dir,
		Fault:  f,
		Record: record,
	}).Do()
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

const moves = "echo one >a; mv a b; mkdir d; echo two >d/c; rm b"

func TestCallsOfTheWholeTreeAreCounted(t *testing.T) {
	dir, r := shell(t, moves, Fault{}, false)
	var names []string
	for i, c := range r.Calls {
		if c.N != i+1 {
			t.Errorf("call %d has the number %d", i+1, c.N)
		}
		if c.Name != "close" {
			names = append(names, c.Program+" "+c.Name+" "+strings.TrimPrefix(c.Path, dir+"/"))
		}
	}
	want := "sh openat a, sh write a, mv renameat2 a, mkdir mkdir d, sh openat d/c, sh write d/c, rm unlinkat b"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.Status != 0 || !r.Finished || r.Hit != nil {
		t.Errorf("%+v", r)
	}
}

func TestFaults(t *testing.T) {
	_, all := shell(t, moves, Fault{}, false)
	number := func(program, name string) int {
		for _, c := range all.Calls {
			if c.Program == program && c.Name == name {
				return c.N
			}
		}
		t.Fatalf("no %s of %s", name, program)
		return 0
	}
	for _, c := range []struct {
		fault    Fault
		finished bool
		there    string // what is in the directory
	}{
		{Fault{At: number("mkdir", "mkdir"), Kind: KillBefore}, true, ""},
		{Fault{At: number("mkdir", "mkdir"), Kind: KillAfter}, true, "d"},
		{Fault{At: number("mkdir", "mkdir"), Kind: KillAll}, false, "b"},
		{Fault{At: number("mkdir", "mkdir"), Kind: Orphan}, false, "b d"},
		{Fault{At: number("mkdir", "mkdir"), Kind: "EROFS"}, true, ""},
		{Fault{At: number("rm", "unlinkat"), Kind: "EIO"}, true, "b d"},
		{Fault{At: number("sh", "openat"), Kind: "ENOSPC", Lasting: true}, true, ""},
	} {
		dir, r := shell(t, moves, c.fault, false)
		if r.Hit == nil || r.Hit.N != c.fault.At || r.Finished != c.finished {
			t.Errorf("%s: hit %v, finished %v", c.fault, r.Hit, r.Finished)
		}
		var there []string
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			there = append(there, e.Name())
		}
		if got := strings.Join(there, " "); got != c.there {
			t.Errorf("%s: there is %q, want %q", c.fault, got, c.there)
		}
	}
	// A writer that retries with the rest is asked to do so several times.
	dir, r := shell(t, "dd if=/dev/zero of=a bs=100 count=1 iflag=fullblock status=none", Fault{
		At:      1,
		Kind:    Short,
		Lasting: true,
	}, true)
	writes := 0
	for _, c := range r.Calls {
		if c.Name == "write" {
			writes++
		}
	}
	if fi, err := os.Stat(filepath.Join(dir, "a")); err != nil || r.Hit == nil || fi.Size() != 100 || writes < 2 {
		t.Errorf("short writes: %v, %d writes, %v, %v", r.Hit, writes, fi, err)
	}
}
