// Tests of judging recorded operations again: an equal configuration changes nothing, and nothing is written.

package gitstore

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/google/go-cmp/cmp"
)

// stretch is how many operations package chain compares with the record at once.
const stretch = 16

// equalConfig judges a run again under its own configuration, decoded again, and returns how many operations were
// judged.
func equalConfig(t testing.TB, s *Store, run string) (judged int, err error) {
	t.Helper()
	ctx := context.Background()
	ops, err := s.Chain(ctx, run, "")
	if err != nil {
		return 0, err
	}
	var n atomic.Int64
	var made sync.Map // of configurations, by id
	err = chain.EachOp(ctx, s.repo, ops, 0, len(ops), func(_ int, op *chain.RecordedOp) (*protocol.Transition, error) {
		same, ok := made.Load(op.ConfigID)
		if !ok {
			cfg, _, err := config.Decode(ojson.Pretty(op.Config.Raw))
			if err != nil {
				return nil, err
			}
			same = cfg
			made.Store(op.ConfigID, cfg)
		}
		c := (&whatif.Past{Op: string(op.Op), Record: op.Record, Before: op.Before}).Under(same.(*config.Config), true)
		for _, d := range c.Differences {
			t.Errorf("an equal configuration changes %s %s: %s %s, %s instead of %s", op.Name, op.Op.Short(), d.Rule,
				d.Subject, d.After, d.Before)
		}
		if c.Was == nil {
			return nil, nil
		}
		n.Add(1)
		return c.Was.Transition, nil
	})
	return int(n.Load()), err
}

// judgedAgain judges the run of a store test again under an equal configuration. It skips what the test left
// unreadable, pipes included, on which git would block.
func judgedAgain(t testing.TB, d *driver) {
	pipes := filepath.WalkDir(d.Dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !e.Type().IsRegular() {
			return errors.New("not a file")
		}
		return err
	})
	if pipes != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	refs, err := chain.Runs(ctx, d.store.repo)
	if err != nil || t.Failed() {
		return
	}
	for _, ref := range refs {
		_, _ = equalConfig(t, d.store, strings.TrimPrefix(ref.Name, git.RunRefPrefix))
	}
}

// files lists all files below a directory with size and time of change.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out[path] = info.ModTime().Format(time.RFC3339Nano) + " " + info.Mode().String() + " " +
				string(ojson.Int(int(info.Size())))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestJudgingAgainWritesNothing(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	d.turns(3)
	refs, err := chain.Runs(t.Context(), d.store.repo)
	if err != nil || len(refs) != 1 {
		t.Fatalf("%v, %v", refs, err)
	}
	before := files(t, d.Dir)
	n, err := equalConfig(t, d.store, strings.TrimPrefix(refs[0].Name, git.RunRefPrefix))
	if err != nil || n < 7 {
		t.Fatalf("%d operations judged: %v", n, err)
	}
	after := files(t, d.Dir)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was %s and is %s", path, was, after[path])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	}
}

// The state that an operation yields is used as the state before the next one exactly where it matches the record,
// whichever of the two differs.
func TestEachOpHandsOutRecordedStates(t *testing.T) {
	d := newDriver(t)
	d.must(initOp(false))
	d.turns(10)
	ops, err := d.store.Chain(t.Context(), "", "")
	if err != nil || len(ops) <= stretch {
		t.Fatalf("%d operations: %v", len(ops), err)
	}
	before := func(wrong func(i int) bool) (states []string) {
		states = make([]string, len(ops))
		err := chain.EachOp(t.Context(), d.store.repo, ops, 0, len(ops),
			func(i int, op *chain.RecordedOp) (*protocol.Transition, error) {
				states[i] = string(op.Before.State.Encode())
				if wrong == nil {
					return nil, nil
				}
				next := protocol.Judge(op.Before, op.Record.Op, op.Record.Env).Transition
				if wrong(i) {
					next.State = next.State.Clone()
					next.State.Phase = "elsewhere"
				}
				return next, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return states
	}
	want := before(nil)
	for _, at := range []int{-1, 0, 1, stretch - 2, stretch - 1, stretch, len(ops) - 1} {
		for i, got := range before(func(i int) bool { return i == at }) {
			if got != want[i] {
				t.Errorf("operation %d yields something else: operation %d is handed out on a state that was not recorded", at, i)
			}
		}
	}
}

// BenchmarkJudgeAgain judges every operation of a run under two configurations.
func BenchmarkJudgeAgain(b *testing.B) {
	d := newDriver(b)
	d.must(initOp(false))
	d.turns(100)
	refs, err := chain.Runs(b.Context(), d.store.repo)
	if err != nil {
		b.Fatal(err)
	}
	run, n := strings.TrimPrefix(refs[0].Name, git.RunRefPrefix), 0
	for b.Loop() {
		if n, err = equalConfig(b, d.store, run); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

// EachOpBack, which visits operations while git lists them, sees the same operations and inputs as EachOp.
func TestEachOpBack(t *testing.T) {
	testrepo.Thorough(t)
	ctx := context.Background()
	d := freshRun.copy(t)
	for _, add := range []func(){func() {}, func() {
		d.turns(63)
		d.must(assignOp)
	}, func() { d.must(d.acceptOp) }, func() { d.turns(64) }} {
		add() // 1, 128, 129 and 257 operations
		ops, err := d.store.Chain(ctx, "", "")
		if err != nil {
			t.Fatal(err)
		}
		type seen struct {
			op    object.OID
			state string
		}
		var mu sync.Mutex
		visited := func(into map[int]seen) func(int, *chain.RecordedOp) (*protocol.Transition, error) {
			return func(i int, op *chain.RecordedOp) (*protocol.Transition, error) {
				mu.Lock()
				defer mu.Unlock()
				into[i] = seen{op.Op, string(op.Before.State.Encode())}
				return nil, nil
			}
		}
		want, got := make(map[int]seen), make(map[int]seen)
		if err := chain.EachOp(ctx, d.store.repo, ops, 0, len(ops), visited(want)); err != nil {
			t.Fatal(err)
		}
		listed, err := chain.EachOpBack(ctx, d.store.repo, ops[len(ops)-1].Op,
			func(back int, op *chain.RecordedOp) (*protocol.Transition, error) {
				return visited(got)(len(ops)-1-back, op)
			})
		if err != nil || !reflect.DeepEqual(listed, ops) || len(want) != len(ops) || !maps.Equal(got, want) {
			t.Fatalf("%d operations: %d listed, %d visited, %v", len(ops), len(listed), len(got), err)
		}
	}
	stop := errors.New("stop")
	_, tip, err := d.store.Newest(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chain.EachOpBack(ctx, d.store.repo, tip,
		func(back int, _ *chain.RecordedOp) (*protocol.Transition, error) {
			if back == 70 {
				return nil, stop
			}
			return nil, nil
		}); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	if _, _, err := d.store.Newest(ctx, "run_0000000000000000"); fail.CodeOf(err) != "no_run" {
		t.Errorf("error %v", err)
	}
}

// A chain is walked as git log lists it, and ends where a shallow clone ends.
func TestLogAsGitLists(t *testing.T) {
	ctx := context.Background()
	d := freshRun.copy(t)
	d.turns(3)
	same := func() (tip object.OID, n int) {
		ops, err := d.store.Log(ctx, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		var listed []string
		for _, op := range ops {
			listed = append(listed, string(op.Op))
		}
		if want := strings.Fields(gitIn(t, d.Dir, "rev-list", "--first-parent", listed[0])); !slices.Equal(listed, want) {
			t.Errorf("listed %q, and git lists %q", listed, want)
		}
		return ops[2].Op, len(ops)
	}
	third, whole := same()
	if err := os.WriteFile(filepath.Join(d.Dir, ".git", "shallow"), []byte(third+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, n := same(); n != 3 || whole < 7 {
		t.Errorf("%d operations of %d in a shallow clone, want 3", n, whole)
	}
}

// The decisions that outlive runs are those of the tree before each operation, wherever a worker's span begins and
// ends.
func TestRepoDecisionsOfASpan(t *testing.T) {
	ctx := context.Background()
	d := freshRun.copy(t)
	decide := func(decision *ojson.Object) {
		d.must(assignOp)
		d.must(func(v *View) protocol.Operation {
			op := d.acceptOp(v).(*protocol.AcceptTurn)
			doc, err := ojson.DecodeObject(op.Staged.Data)
			if err != nil {
				t.Fatal(err)
			}
			doc.Set("decisions", []any{decision})
			data := ojson.Pretty(doc)
			d.write(op.StagedPath, string(data))
			op.Staged = evidence.NewBlob(data)
			return op
		})
	}
	lasting := func(id string, more ...any) *ojson.Object {
		o := ojson.NewObject("id", id, "category", "scope", "statement", "Keep "+id+".", "rationale", "It lasts.",
			"durability", "repo")
		for i := 0; i < len(more); i += 2 {
			o.Set(more[i].(string), more[i+1])
		}
		return o
	}
	d.turns(2)
	decide(lasting("DEC-500"))
	d.turns(2)
	decide(lasting("DEC-501"))
	decide(lasting("DEC-502", "overrides", "DEC-500"))
	d.turns(1)
	ops, err := d.store.Chain(ctx, "", "")
	if err != nil {
		t.Fatal(err)
	}
	want := make([]string, len(ops))
	kinds := make(map[string]bool)
	for i := range ops {
		var rows []run.Line
		data, err := d.store.reader(ctx).Ledger(ops[max(i-1, 0)].Tree, wire.LedgerRepoDecisions)
		if err != nil {
			t.Fatal(err)
		}
		for row := range record.RowsOf(data) {
			rows = append(rows, row)
		}
		want[i] = fmt.Sprint(len(rows), string(data))
		kinds[want[i]] = true
	}
	if len(kinds) != 4 {
		t.Fatalf("the ledger is in %d states, want none, one row, two, and one of three amended", len(kinds))
	}
	for from := range ops {
		for to := from + 1; to <= len(ops); to++ {
			err := chain.EachOp(ctx, d.store.repo, ops, from, to,
				func(i int, op *chain.RecordedOp) (*protocol.Transition, error) {
					var got strings.Builder
					for _, row := range op.Before.RepoDecisions {
						got.Write(row.Raw)
						got.WriteByte('\n')
					}
					if text := fmt.Sprint(len(op.Before.RepoDecisions), got.String()); text != want[i] {
						t.Errorf("operation %d of %d to %d was decided on\n%s\nand not on\n%s", i, from, to, want[i],
							text)
					}
					return nil, nil
				})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A pack index that leads git to other objects changes nothing in the listing.
func TestLyingIndexOfPacks(t *testing.T) {
	ctx := context.Background()
	d := freshRun.copy(t)
	d.turns(2)
	want, err := d.store.Log(ctx, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, d.Dir, "gc", "-q")
	gitIn(t, d.Dir, "multi-pack-index", "write")
	name := filepath.Join(d.Dir, ".git", "objects", "pack", pack.MidxName)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const row = 12
	for table := data[row:]; string(table[:4]) != "\x00\x00\x00\x00"; table = table[row:] {
		if string(table[:4]) != "OOFF" { // which pack an object is in, and where
			continue
		}
		at := data[binary.BigEndian.Uint64(table[4:]):binary.BigEndian.Uint64(table[4+row:])]
		for ; len(at) >= 16; at = at[16:] {
			first := bytes.Clone(at[:8])
			copy(at, at[8:16])
			copy(at[8:], first)
		}
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha1.Sum(data[:len(data)-sha1.Size]) //nolint:gosec // git's own checksum
	copy(data[len(data)-sha1.Size:], sum[:])
	if err := os.WriteFile(name, data, 0o644); err != nil { //nolint:gosec // as git has it
		t.Fatal(err)
	}
	if kind := gitIn(t, d.Dir, "cat-file", "-t", string(want[0].Op)) + gitIn(t, d.Dir, "cat-file", "-t", string(want[1].Op)); kind == "commitcommit" {
		t.Fatal("git is not misled")
	}
	got, err := d.store.Log(ctx, "", 0)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("with an index that lies: %v (-want +got):\n%s", err, diff)
	}
	tips, err := chain.RunTips(ctx, d.store.repo, 0)
	if err != nil || len(tips) != 1 || tips[0].Last.Name != want[0].Name {
		t.Errorf("with an index that lies: got %+v, %v", tips, err)
	}
}
