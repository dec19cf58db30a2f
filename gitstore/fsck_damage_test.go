// Damage to every object that an operation added: fsck finds what it would find through git's own check.

package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// askedOfGit leaves the check of objects to git.
type askedOfGit struct{ git.Objects }

// twoWays checks the run, and again with git checking all objects.
func (d *driver) twoWays(replay bool) (ours, gits string, codes []string) {
	d.t.Helper()
	check := func(asked bool) (string, *proof.Report) {
		e := openDriver(d.t, d.Dir)
		if asked {
			e.store.repo.ObjectStore = askedOfGit{e.store.repo.Objects()}
		}
		r, err := e.store.Fsck(context.Background(), proof.Options{Run: "*", Replay: replay})
		if err != nil {
			d.t.Fatalf("%+v", err)
		}
		lines := strings.Split(checked{r}.String(), "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n"), r
	}
	ours, r := check(false)
	gits, _ = check(true)
	for _, f := range r.Findings {
		codes = append(codes, f.Code)
	}
	return ours, gits, codes
}

// TestFsckFindsEveryDamagedObject damages each object that operations added, one at a time: in the middle of a span
// of checked operations, and on both sides of where spans meet.
func TestFsckFindsEveryDamagedObject(t *testing.T) {
	testrepo.Thorough(t)
	d := newDriver(t)
	d.must(initOp(false))
	d.turns(33) // 64 operations are checked in a row
	loosen(t, d)
	ref := git.RunRefPrefix + d.view().Run
	ops := strings.Fields(gitIn(t, d.Dir, "rev-list", "--reverse", ref))
	at := []int{64}
	switch {
	case os.Getenv("AGENTXCHAIN_LONG_TESTS") != "":
		at = []int{0, 1, 2, 62, 63, 64, 65, len(ops) - 2, len(ops) - 1}
	case testrepo.All(t.Name()):
		at = []int{0, 63, 64}
	}
	number := 0
	for _, i := range at {
		damage := map[string]string{"the commit": ops[i]}
		args := []string{"diff-tree", "-r", "-t", "--root", "--no-commit-id", "--diff-filter=AM", ops[i]}
		for line := range strings.Lines(gitIn(t, d.Dir, args...)) {
			head, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
			damage[name] = strings.Fields(head)[3]
		}
		damage["the tree"] = strings.TrimSpace(gitIn(t, d.Dir, "rev-parse", ops[i]+"^{tree}"))
		for name, oid := range damage {
			path := d.path(".git/objects/" + oid[:2] + "/" + oid[2:])
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var other bytes.Buffer
			if err := object.Deflate(&other, []byte("blob 4\x00else")); err != nil {
				t.Fatal(err)
			}
			number++
			how := number % 4
			damaged := [][]byte{nil, whole[:len(whole)/2], other.Bytes(), slices.Clone(whole)}[how]
			if how == 3 {
				damaged[len(damaged)-1] ^= 1 // of the checksum, which no content reveals
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if damaged != nil {
				err = os.WriteFile(path, damaged, 0o444)
			}
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("operation %d, %s damaged in way %d", i, name, how)
			ours, gits, codes := d.twoWays(number%2 == 0)
			if ours != gits {
				t.Errorf("%s: found\n%s\nwhere git leads to\n%s", what, ours, gits)
			}
			want := []string{fail.CodeObjectMissing, fail.CodeObjectCorrupt}
			if !slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(want, c) }) {
				t.Errorf("%s: %s", what, ours)
			}
			_ = os.Remove(path)
			if err := os.WriteFile(path, whole, 0o444); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ours, _, codes := d.twoWays(true); len(codes) > 0 {
		t.Errorf("mended: %s", ours)
	}
	t.Logf("%d objects damaged", number)
}

// TestFsckFindsDamageInPacks flips single bits in packs, both as we write them and as git does.
func TestFsckFindsDamageInPacks(t *testing.T) {
	testrepo.Serving(t)
	for _, how := range []string{"as written", "by git"} {
		d := newDriver(t)
		d.must(initOp(false))
		d.turns(8)
		if how == "by git" {
			gitIn(t, d.Dir, "gc", "-q")
		}
		packs, err := filepath.Glob(d.path(".git/objects/pack/*.pack"))
		if err != nil || len(packs) == 0 {
			t.Fatal(packs, err)
		}
		found, flips := 0, 0
		step := 4999
		switch {
		case os.Getenv("AGENTXCHAIN_LONG_TESTS") != "":
			step = 89
		case testrepo.All(t.Name()):
			step = 997
		}
		for _, pack := range packs {
			whole, err := os.ReadFile(pack)
			if err != nil {
				t.Fatal(err)
			}
			_ = os.Chmod(pack, 0o644)
			for i := 12; i < len(whole)-20; i += step {
				damaged := slices.Clone(whole)
				damaged[i] ^= 1 << (i % 8)
				if err := os.WriteFile(pack, damaged, 0o644); err != nil {
					t.Fatal(err)
				}
				flips++
				ours, gits, codes := d.twoWays(i%2 == 0)
				if ours != gits {
					t.Errorf("%s, %s byte %d: found\n%s\nwhere git leads to\n%s", how, filepath.Base(pack), i, ours, gits)
				}
				if len(codes) > 0 {
					found++
				}
			}
			if err := os.WriteFile(pack, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		// Objects that no operation of the run reaches are not checked: the project's own files, older operations.
		if found < flips/2 {
			t.Errorf("%s: %d of %d changed bits were found", how, found, flips)
		}
		t.Logf("%s: %d of %d changed bits were found", how, found, flips)
	}
}
