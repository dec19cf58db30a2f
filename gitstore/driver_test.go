// A driver that runs real operations against a store, for the store's tests.

package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	turnresult "github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const testConfig = `{
  "schema_version": "1.0",
  "project": {"id": "demo", "name": "Demo", "default_branch": "main"},
  "roles": {
    "qa": {"title": "QA", "mandate": "Review everything.", "write_authority": "review_only", "runtime": "manual-qa"},
    "pm": {"title": "PM", "mandate": "Plan.", "write_authority": "review_only", "runtime": "manual-pm"}
  },
  "runtimes": {"manual-qa": {"type": "manual"}, "manual-pm": {"type": "manual"}},
  "routing": {"review": {"entry_role": "qa", "allowed_next_roles": ["qa", "pm", "human"]}},
  "gates": {},
  "hooks": {}
}
`

// tick is where the drivers' clocks start.
var tick = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// driver applies operations to one project.
type driver struct {
	t     testing.TB
	store *Store
	n     int
	Dir   string

	// interrupted, when not negative, is how many ledgers the next commit still writes before it stops like a
	// crash.
	interrupted int
}

func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := gitCommand(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	return cmd
}

// newDriver makes a repository with an idle project.
func newDriver(t testing.TB) *driver {
	t.Helper()
	return scaffold(t, testrepo.New(t, testrepo.Options{}).Dir)
}

// template is a prepared project that tests copy: making one takes a dozen processes and syncs.
type template struct {
	once sync.Once
	dir  string
	n    int
	make func(d *driver)
}

// copy returns a driver on a fresh copy of the template.
func (tp *template) copy(t testing.TB) *driver {
	t.Helper()
	tp.once.Do(func() {
		tp.dir, _ = os.MkdirTemp("", "gitstore-template")
		d := newDriver(t)
		tp.make(d)
		if err := d.store.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(tp.dir, os.DirFS(d.Dir)); err != nil {
			t.Fatal(err)
		}
		tp.n = d.n
	})
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.CopyFS(dir, os.DirFS(tp.dir)); err != nil {
		t.Fatal(err)
	}
	d := openDriver(t, dir)
	d.n = tp.n
	return d
}

var (
	idleProject    = &template{make: func(*driver) {}}
	freshRun       = &template{make: func(d *driver) { d.must(initOp(false)) }}
	oneTurn        = &template{make: func(d *driver) { d.must(initOp(false)); d.turns(1) }}
	oneTurnAndNext = &template{make: func(d *driver) { d.must(initOp(false)); d.turns(1); d.must(assignOp) }}
	startedRun     = &template{make: func(d *driver) { d.must(initOp(false)); d.turns(2); d.must(assignOp) }}
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, tp := range []*template{idleProject, freshRun, oneTurn, oneTurnAndNext, startedRun} {
		if tp.dir != "" {
			_ = os.RemoveAll(tp.dir)
		}
	}
	os.Exit(code)
}

// scaffold turns dir, inside a repository, into an idle project.
func scaffold(t testing.TB, dir string) *driver {
	t.Helper()
	s, err := OpenAt(context.Background(), dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Decode([]byte(testConfig))
	if err != nil {
		t.Fatal(err)
	}
	err = s.WriteNew([]NewFile{
		{Path: wire.ConfigPath, Data: []byte(testConfig)},
		{Path: string(wire.DocState), Data: run.FreshState(cfg, "").Encode()},
		{Path: wire.LedgerHistory.Path()},
		{Path: wire.LedgerDecisions.Path()},
		{Path: wire.LedgerTalk.Path(), Data: []byte("# Talk\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	return openDriver(t, dir)
}

func testOptions() Options {
	return Options{
		Now:   func() time.Time { return tick },
		Actor: &evidence.Actor{Name: "Ada", Email: "ada@example.org"},
	}
}

func openDriver(t testing.TB, dir string) *driver {
	t.Helper()
	s, err := Open(context.Background(), dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, store: s, Dir: dir, interrupted: -1}
	t.Cleanup(func() {
		if _, ok := t.(*testing.T); ok {
			judgedAgain(t, d)
		}
		_ = s.Close()
	})
	return d
}

// env is deterministic and advances one second with every operation.
func (d *driver) env(salt string) protocol.Env {
	d.n++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s-%d", salt, d.n))
	return protocol.Env{Now: tick.Add(time.Duration(d.n) * time.Second), Seed: hex.EncodeToString(sum[:16]),
		Actor: evidence.Actor{Name: "Ada", Email: "ada@example.org", Terminal: true}}
}

// try runs one operation under the lock.
func (d *driver) try(op func(v *View) protocol.Operation) (*Committed, *protocol.Transition, error) {
	ctx := context.Background()
	tx, err := d.store.Begin(ctx, "test", time.Second)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = tx.Close() }()
	return d.in(tx, op)
}

func (d *driver) in(tx *Tx, op func(v *View) protocol.Operation) (*Committed, *protocol.Transition, error) {
	o := op(tx.View())
	env := d.env(tx.View().Run)
	tr, perr := protocol.Apply(tx.View().Snapshot(), o, env)
	if perr != nil {
		return nil, nil, perr
	}
	ch := Change{Record: protocol.NewRecord(o, env), Transition: tr}
	if _, ok := o.(*protocol.AssignTurn); ok {
		ch.Bundles = map[string]map[string][]byte{tr.Turn: {
			"ASSIGNMENT.json": []byte("{}\n"),
			"hook/notes.txt":  []byte("of a hook\n"),
			"PROMPT.md":       []byte("do it\n"),
			"CONTEXT.md":      []byte("all\n"),
			"MANIFEST.json":   []byte("{\"turn\":\"" + tr.Turn + "\"}\n"),
		}}
	}
	out, err := tx.Commit(context.Background(), ch)
	return out, tr, err
}

func (d *driver) must(op func(v *View) protocol.Operation) (*Committed, *protocol.Transition) {
	d.t.Helper()
	out, tr, err := d.try(op)
	if err != nil {
		d.t.Fatalf("%+v", err)
	}
	if tr.Failure != nil {
		d.t.Fatalf("%v", tr.Failure)
	}
	return out, tr
}

func initOp(restart bool) func(*View) protocol.Operation {
	return func(v *View) protocol.Operation {
		return &protocol.InitRun{Prior: evidence.NewBlob(v.StateBytes), Restart: restart}
	}
}

func assignOp(*View) protocol.Operation {
	return &protocol.AssignTurn{
		Role:     "qa",
		Baseline: &run.Baseline{Kind: "git_worktree", Clean: true, CapturedAt: "2026-01-02T03:04:05.000Z"},
	}
}

// result returns a valid staged result of the only active turn.
func result(v *View) []byte {
	turn := v.State.OnlyTurn()
	return ojson.Pretty(ojson.NewObject(
		"schema_version", "1.0", "run_id", v.Run, "turn_id", turn.TurnID, "role", turn.AssignedRole,
		"runtime_id", turn.RuntimeID,
		"status", "completed", "summary", "Looked at turn "+turn.TurnID, "decisions", []*ojson.Object{
			ojson.NewObject("id", "DEC-001", "category", "scope", "statement", "Keep it small.", "rationale",
				"It is easier to review.")},
		"objections", []*ojson.Object{ojson.NewObject("id", "OBJ-001", "severity", "low", "statement",
			"Names could be better.", "status", "raised")},
		"files_changed", []string{}, "artifacts_created", []string{},
		"verification", ojson.NewObject("status", "skipped", "commands", []string{},
			"evidence_summary", "nothing to run", "machine_evidence", []*ojson.Object{}),
		"artifact", ojson.NewObject("type", "review", "ref", nil), "proposed_next_role", "qa",
		"phase_transition_request", nil,
		"run_completion_request", false, "needs_human_reason", nil,
		"cost", ojson.NewObject("input_tokens", 1, "output_tokens", 1, "usd", ojson.Number("0.01"))))
}

func (d *driver) stage(v *View) []byte {
	d.t.Helper()
	data := result(v)
	name := filepath.Join(d.Dir, filepath.FromSlash(wire.StagingPath(v.State.OnlyTurn().TurnID)))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		d.t.Fatal(err)
	}
	return data
}

func (d *driver) acceptOp(v *View) protocol.Operation {
	return &protocol.AcceptTurn{
		StagedPath: wire.StagingPath(v.State.OnlyTurn().TurnID),
		Staged:     evidence.NewBlob(d.stage(v)),
		Seen:       turnresult.Observation{Available: true},
		Files:      []evidence.FileBlob{},
		Proposed:   []evidence.FileBlob{},
	}
}

// turns runs n assign-accept pairs.
func (d *driver) turns(n int) {
	d.t.Helper()
	for range n {
		d.must(assignOp)
		d.must(d.acceptOp)
	}
}

func (d *driver) view() *View {
	d.t.Helper()
	v, err := d.store.View(context.Background())
	if err != nil {
		d.t.Fatalf("%+v", err)
	}
	return v
}

func (d *driver) path(name string) string { return filepath.Join(d.Dir, filepath.FromSlash(name)) }

func (d *driver) read(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

func (d *driver) write(name, data string) {
	d.t.Helper()
	if err := os.WriteFile(d.path(name), []byte(data), 0o666); err != nil {
		d.t.Fatal(err)
	}
}

// opened returns a repository that is closed at the end of the test.
func opened(t testing.TB, r *testrepo.Repo) *git.Repository {
	t.Helper()
	repo, err := git.Discover(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	return repo
}

// smallCommit returns the objects of a commit of n files, and the commit's id. The commit is the last object.
func smallCommit(t testing.TB, format string, seed string, n int) []object.Object {
	t.Helper()
	var objs []object.Object
	var list []object.TreeEntry
	for i := range n {
		o := object.New(format, object.KindBlob, []byte(fmt.Sprintf("%s blob %d\n", seed, i)))
		objs = append(objs, o)
		list = append(list, object.TreeEntry{Mode: object.ModeFile, Name: fmt.Sprintf("f%03d", i), OID: o.OID})
	}
	tree := object.New(format, object.KindTree, object.EncodeTree(list))
	raw, err := object.EncodeCommit(format, &object.Commit{
		Tree:      tree.OID,
		Author:    object.Signature{Name: "a", Email: "a@b"},
		Committer: object.Signature{Name: "a", Email: "a@b"},
		Message:   seed + "\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(objs, tree, object.New(format, object.KindCommit, raw))
}

// filesBehind returns the object files of a repository.
func filesBehind(repo *git.Repository) *git.ObjectFiles {
	return repo.Objects().(*git.ObjectFiles)
}
