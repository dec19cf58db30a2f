// How much a check of all runs reads, by the number of runs.

package gitstore

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// countedObjects counts how often each object is read.
type countedObjects struct {
	*git.ObjectFiles
	mu    sync.Mutex
	reads map[object.OID]int
}

func (c *countedObjects) Read(ctx context.Context, oid object.OID) (string, []byte, error) {
	c.mu.Lock()
	c.reads[oid]++
	c.mu.Unlock()
	return c.ObjectFiles.Read(ctx, oid)
}

func (c *countedObjects) Check(oid object.OID, kind string, data []byte) error {
	c.mu.Lock()
	c.reads[oid]++
	c.mu.Unlock()
	return c.ObjectFiles.Check(oid, kind, data)
}

// TestFsckReadsWhatRunsShareOnce checks three runs and nine: both read the ledgers from before the first run
// equally often and start equally many git processes, even when a run is missing that the next one names.
func TestFsckReadsWhatRunsShareOnce(t *testing.T) {
	type cost struct{ processes, shared int }
	costs := make(map[string]map[int]cost)
	for _, n := range []int{3, 9} {
		d := newDriver(t)
		refs := d.chained(n)
		trace := filepath.Join(t.TempDir(), "trace")
		repo := d.store.repo
		repo.Git.Env = append(repo.Git.Env, "GIT_TRACE="+trace)
		counted := &countedObjects{ObjectFiles: filesBehind(repo), reads: make(map[object.OID]int)}
		repo.ObjectStore, d.store.objects = counted, counted
		first := gitIn(t, d.Dir, "rev-list", "--max-parents=0", refs[0].Name)
		tree := object.OID(bytes.TrimSpace([]byte(gitIn(t, d.Dir, "rev-parse", first[:40]+"^{tree}"))))
		var shared []object.OID
		for _, l := range []wire.Ledger{wire.LedgerHistory, wire.LedgerEvents} {
			segs, err := d.store.reader(t.Context()).Slots(tree, record.LedgerDir(l), false)
			if err != nil || len(segs) < 5 {
				t.Fatalf("%s has %d segments: %v", l.Path(), len(segs), err)
			}
			shared = append(shared, segs[:len(segs)-1]...)
		}
		check := func(name string, opt proof.Options, missing int) {
			if err := os.WriteFile(trace, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			counted.reads = make(map[object.OID]int)
			r, err := d.store.Fsck(t.Context(), opt)
			if err != nil || r.Runs != n-missing || r.Ops != 3*r.Runs || len(r.Findings) != missing {
				t.Fatalf("%s of %d runs: %v %s", name, n, err, checked{r})
			}
			data, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			if missing == 0 && bytes.Contains(data, []byte("--verify-objects")) {
				t.Errorf("%s of %d runs: git checks sound objects again", name, n)
			}
			c := cost{processes: bytes.Count(data, []byte("trace: built-in: git"))}
			for _, oid := range shared {
				c.shared += counted.reads[oid]
			}
			if costs[name] == nil {
				costs[name] = make(map[int]cost)
			}
			costs[name][n] = c
		}
		check("plain", proof.Options{Run: "*"}, 0)
		check("replay", proof.Options{Run: "*", Replay: true}, 0)
		gitIn(t, d.Dir, "update-ref", "-d", refs[1].Name)
		check("replay without a run", proof.Options{Run: "*", Replay: true}, 1)
	}
	for name, c := range maps.All(costs) {
		if c[3] != c[9] || c[3].processes == 0 {
			t.Errorf("%s: of 3 runs %+v, of 9 runs %+v", name, c[3], c[9])
		}
	}
}

// TestFsckNamesDamageOfEachRun removes an object that three runs share, and one that only the last has.
func TestFsckNamesDamageOfEachRun(t *testing.T) {
	d := newDriver(t)
	refs := d.chained(3)
	loosen(t, d)
	for _, name := range []string{refs[1].Name + ":ledger/history/000000/00", refs[2].Name + ":state.json"} {
		blob := strings.TrimSpace(gitIn(t, d.Dir, "rev-parse", name))
		if err := os.Remove(d.path(".git/objects/" + blob[:2] + "/" + blob[2:])); err != nil {
			t.Fatal(err)
		}
	}
	e := openDriver(t, d.Dir)
	r, err := e.store.Fsck(t.Context(), proof.Options{Run: "*"})
	if err != nil {
		t.Fatal(err)
	}
	missing := make(map[string]map[string]bool)
	for _, x := range r.Findings {
		if x.Code == fail.CodeObjectMissing {
			if missing[x.Run] == nil {
				missing[x.Run] = make(map[string]bool)
			}
			missing[x.Run][x.Message] = true
		}
	}
	for i, want := range []int{1, 1, 2} {
		if got := missing[strings.TrimPrefix(refs[i].Name, git.RunRefPrefix)]; len(got) != want {
			t.Errorf("run %d: %d objects are missing, want %d\n%s", i, len(got), want, checked{r})
		}
	}
}
