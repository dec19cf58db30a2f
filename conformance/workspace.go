// The workspace: a fixture's setup in memory, and the engine applied to it (docs/conformance.md#becoming-a-target).

package conformance

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// workspace is a governed project that exists only in memory and is not a git repository. Every applied transition
// updates state and ledgers.
type workspace struct {
	ctx      context.Context // of the programs that the fixture starts
	fixture  *Fixture
	args     *ojson.Object
	cfg      *config.Config
	problems wire.Problems // the findings about cfg that count here
	before   *ojson.Object // the state at setup
	state    *run.State
	ledgers  map[wire.Ledger][]run.Line
	repo     []run.Line  // repo-decisions.jsonl
	staged   ojson.Value // the staged turn result, or nil
	isStaged bool
	files    []evidence.FileBlob // setup.filesystem in order
	bundles  map[string]textFiles
	now      time.Time
	seed     string
}

// newWorkspace builds what the fixture's setup describes.
func newWorkspace(f *Fixture, now time.Time, seed string) (*workspace, error) {
	w := &workspace{fixture: f, args: f.Args, now: now, seed: seed, ledgers: make(map[wire.Ledger][]run.Line)}
	raw, err := inflateConfig(f.Setup.Value("config"))
	if err != nil {
		return nil, fmt.Errorf("setup.config: %w", err)
	}
	cfg, problems := config.DecodeObject(raw)
	w.cfg, w.problems = cfg.WithoutDefaultKit(), subset(problems)
	if w.state, err = inflateState(f.Setup.Value("state"), w.cfg); err != nil {
		return nil, fmt.Errorf("setup.state: %w", err)
	}
	w.before = ojson.Marshal(w.state).Clone()
	for _, l := range []struct {
		key    string
		ledger wire.Ledger
	}{{"history", wire.LedgerHistory}, {"ledger", wire.LedgerDecisions}} {
		if w.ledgers[l.ledger], err = rows(f.Setup.Value(l.key)); err != nil {
			return nil, fmt.Errorf("setup.%s: %w", l.key, err)
		}
	}
	for _, row := range w.state.RepoDecisions {
		w.repo = append(w.repo, line(row))
	}
	// Setup or args may have the staged result; the setup takes precedence.
	if w.staged, w.isStaged = f.Setup.Get("turn_result"); w.staged == nil {
		w.staged, w.isStaged = f.Args.Get("turn_result")
	}
	if err := w.setFiles(f.Setup); err != nil {
		return nil, fmt.Errorf("setup.filesystem: %w", err)
	}
	if w.bundles, err = textTree(f.Setup.Value("dispatch_bundle")); err != nil {
		return nil, fmt.Errorf("setup.dispatch_bundle: %w", err)
	}
	return w, nil
}

// rows reads an array of ledger rows.
func rows(v ojson.Value) ([]run.Line, error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, fmt.Errorf("must be an array, not %s", ojson.TypeName(v))
	}
	var out []run.Line
	for i, v := range list {
		row, ok := v.(*ojson.Object)
		if !ok {
			return nil, fmt.Errorf("entry %d must be an object, not %s", i, ojson.TypeName(v))
		}
		out = append(out, line(row))
	}
	return out, nil
}

func line(row *ojson.Object) run.Line {
	return run.Line{Raw: ojson.Compact(row), Row: row}
}

// setFiles reads setup.filesystem. It refuses paths that leave the project, and paths of files that the rest of the
// setup makes.
func (w *workspace) setFiles(setup *ojson.Object) error {
	v := setup.Value("filesystem")
	o, ok := v.(*ojson.Object)
	if !ok && v != nil {
		return fmt.Errorf("must be an object, not %s", ojson.TypeName(v))
	}
	made := []string{wire.ConfigPath, string(wire.DocState), wire.LedgerHistory.Path(), wire.LedgerDecisions.Path(),
		wire.FlatStagingPath}
	for p, v := range o.All() {
		data, ok := v.(string)
		if !ok {
			return fmt.Errorf("%s must be text, not %s", show(p), ojson.TypeName(v))
		}
		clean, problem := wire.CleanPath(p)
		switch {
		case problem != "":
			return fmt.Errorf("%s is not a path inside the project (%s)", show(p), problem)
		case slices.Contains(made, clean):
			return fmt.Errorf("%s is made from another member of the setup", show(p))
		}
		w.files = append(w.files, evidence.FileBlob{Path: clean, Blob: evidence.NewBlob([]byte(data))})
	}
	return nil
}

// facts returns the files for a gate evaluation.
func (w *workspace) facts() *evidence.Files {
	facts := make([]evidence.FileFact, len(w.files))
	for i, f := range w.files {
		facts[i] = evidence.FileFact{Path: f.Path, Exists: true, Data: f.Blob.Data}
	}
	return evidence.NewFiles(facts)
}

// index derives the index from the present ledgers, as for a run that another tool changed.
func (w *workspace) index() *run.Index {
	return run.BuildIndex(w.cfg, w.state, func(l wire.Ledger) iter.Seq[run.Line] {
		return slices.Values(w.ledgers[l])
	})
}

// apply runs an engine operation on the workspace and applies its outcome, including a recorded refusal.
func (w *workspace) apply(op protocol.Operation) (*protocol.Transition, *wire.Error) {
	tr, refused := w.propose(op)
	if tr == nil {
		return nil, refused
	}
	w.state = tr.State
	for _, a := range tr.Appends {
		if a.Ledger.JSONL() {
			w.take(a)
		}
	}
	return tr, tr.Failure
}

// propose runs an engine operation and leaves the workspace unchanged.
func (w *workspace) propose(op protocol.Operation) (*protocol.Transition, *wire.Error) {
	snap := &protocol.Snapshot{Config: w.cfg, State: w.state, Index: w.index(), RepoDecisions: w.repo}
	env := protocol.Env{Now: w.now, Seed: w.seed, Actor: evidence.Actor{Name: "conformance"}}
	return protocol.Apply(snap, op, env)
}

// take adds an append's lines to its ledger, read back from bytes as the store would.
func (w *workspace) take(a ledger.Append) {
	start := 0
	for i, c := range a.Data {
		if c != '\n' {
			continue
		}
		raw := a.Data[start:i]
		start = i + 1
		// A line that the engine wrote but cannot read must not count as a row.
		if row, err := run.DecodeLedgerLine(raw); err == nil {
			w.ledgers[a.Ledger] = append(w.ledgers[a.Ledger], run.Line{Raw: raw, Row: row})
		}
	}
}

// stateUnchanged compares the present state with the state at setup, ignoring the order of members and the spelling
// of numbers.
func (w *workspace) stateUnchanged() bool { return ojson.Equal(w.before, ojson.Marshal(w.state)) }

// phaseUnchanged does the same for the phase alone.
func (w *workspace) phaseUnchanged() bool { return w.before.String("phase") == w.state.Phase }

// textArg returns a string argument, "" when it is absent or null.
func (w *workspace) textArg(key string) (string, error) {
	v := w.args.Value(key)
	s, ok := v.(string)
	if !ok && v != nil {
		return "", badArg(key, "a string", v)
	}
	return s, nil
}

func badArg(key, want string, v ojson.Value) error {
	return fmt.Errorf("input.args.%s must be %s, not %s", key, want, ojson.TypeName(v))
}
