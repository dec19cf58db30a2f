// Tests that the simulated disk behaves like any other for programs that know nothing about it.

package testtrace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// newMount returns an empty disk.
func newMount(t *testing.T) (m *Mount, dir string) {
	t.Helper()
	if !MountAvailable() {
		t.Skip("no disk can be simulated here")
	}
	dir = t.TempDir()
	m, err := NewMount(dir, uint64(time.Now().UnixNano()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, dir
}

// sh runs a shell script on a disk.
func (m *Mount) sh(t *testing.T, dir, script string, f Fault) *Result {
	t.Helper()
	r, err := m.Do(&Run{Dir: dir, Env: os.Environ(), Args: []string{"sh", "-ec", script}, Fault: f})
	if err != nil {
		t.Fatal(err)
	}
	return r[0]
}

func TestMountServesGit(t *testing.T) {
	m, dir := newMount(t)
	r := m.sh(t, dir, `git init -q r; cd r; git config user.name a; git config user.email a@b
for i in 1 2 3; do echo $i >f$i; mkdir -p d/$i; cp f$i d/$i/; ln -s f$i l$i; git add -A; git commit -qm $i; done
git repack -adfq; git gc -q --prune=now; git mv f1 g1; git commit -qm moved; git fsck --strict
test "$(git status --porcelain)" = ""; test "$(git rev-list --count HEAD)" = 4; ln g1 h1; rm -r d
test "$(stat -c %h g1)" = 2; printf x >>g1; test "$(tail -c 1 h1)" = x`, Fault{})
	if r.Status != 0 || !r.Finished {
		t.Fatalf("%d\n%s%s", r.Status, r.Output, r.Errors)
	}
	if len(r.Calls) < 100 {
		t.Errorf("%d calls were counted", len(r.Calls))
	}
}

func TestMountFaults(t *testing.T) {
	// For each echo the shell opens, closes, writes and closes.
	const script = `echo a >a; echo b >b; (sleep 0.05; echo c >c) & wait; mv b d; echo end`
	for _, c := range []struct {
		f        Fault
		finished bool
		want     string
	}{
		{Fault{}, true, "a=a c=c d=b"},
		{Fault{At: 1, Kind: "ENOSPC"}, true, ""},
		{Fault{At: 3, Kind: "EIO"}, true, "a="},
		{Fault{At: 3, Kind: Short}, true, "a=a c=c d=b"},
		{Fault{At: 3, Kind: KillBefore}, false, "a="},
		{Fault{At: 3, Kind: KillAfter}, false, "a=a"},
		{Fault{At: 5, Kind: KillAll}, false, "a=a"},
		{Fault{At: 9, Kind: Orphan}, false, "a=a b=b c=c"},
		{Fault{At: 9, Kind: KillAll}, false, "a=a b=b"},
	} {
		t.Run(c.f.String(), func(t *testing.T) {
			m, dir := newMount(t)
			r := m.sh(t, dir, script, c.f)
			if got := contentsOf(dir); got != c.want {
				t.Errorf("there is %q, want %q: %s%s", got, c.want, r.Output, r.Errors)
			}
			if r.Finished != c.finished || (r.Hit == nil) != (c.f.Kind == "") {
				t.Errorf("finished: %v, went wrong: %v, status %d", r.Finished, r.Hit, r.Status)
			}
		})
	}
}

func contentsOf(dir string) string {
	var all []string
	_ = filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && p != dir {
			data, _ := os.ReadFile(p)
			all = append(all, p[len(dir)+1:]+"="+strings.TrimSpace(string(data)))
		}
		return err
	})
	return strings.Join(all, " ")
}

func TestMountLosesPower(t *testing.T) {
	testrepo.Thorough(t)
	seen := map[string]bool{}
	for range 40 {
		m, dir := newMount(t)
		if r := m.sh(t, dir, `echo old >old; sync old .; echo new >new`, Fault{}); r.Status != 0 {
			t.Fatalf("%s", r.Errors)
		}
		m.sh(t, dir, `rm old; echo third >third`, Fault{})
		k, err := m.Len()
		if err == nil {
			err = m.Cut(k)
		}
		if err != nil {
			t.Fatal(err)
		}
		seen[contentsOf(dir)] = true
		m.sh(t, dir, `echo after >after`, Fault{}) // the disk still works
		if data, _ := os.ReadFile(filepath.Join(dir, "after")); string(data) != "after\n" {
			t.Errorf("after the power cut a file holds %q", data)
		}
	}
	for _, want := range []string{"old=old", "new=new third=third", "new= third="} {
		if !seen[want] {
			t.Errorf("a power cut never left %q: %v", want, seen)
		}
	}
}

func TestMountTurns(t *testing.T) {
	testrepo.Thorough(t)
	orders := map[string]bool{}
	for range 20 {
		m, dir := newMount(t)
		run := func(who string) *Run {
			return &Run{Dir: dir, Env: os.Environ(), Args: []string{"sh", "-c",
				`for i in 1 2 3 4 5 6; do echo ` + who + ` >>log; done`}}
		}
		r, err := m.Do(run("a"), run("b"))
		if err != nil {
			t.Fatal(err)
		}
		if len(r) != 2 || !r[0].Finished || !r[1].Finished {
			t.Fatalf("%+v", r)
		}
		data, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		orders[string(data)] = true
	}
	if len(orders) < 5 {
		t.Errorf("twenty runs of two programs came to %d orders", len(orders))
	}
}
