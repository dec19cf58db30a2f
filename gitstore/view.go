// View is a consistent view of a project's run, without locking or writing.

package gitstore

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// View is the state of a project at one moment.
type View struct {
	Run string     // "" when no run has been started
	Op  object.OID // newest recorded operation, "" when nothing is recorded

	Config         *config.Config // the configuration that governs the run
	ConfigProblems wire.Problems
	// the one in the work tree, with ConfigProblems; Config itself unless RuleChanges says otherwise
	Working       *config.Config
	RuleChanges   []config.RuleChange // from Config to Working: not in force until adopted
	NextRules     []config.RuleChange // from the rules of the ended run to Working, with which the next run begins
	State         *run.State          // repaired in memory; nil when there is no state.json
	RawState      *run.State          // as written
	StateBytes    []byte
	StateNotes    []string // what the repair changed
	Index         *run.Index
	RepoDecisions []run.Line
	Session       *ojson.Object // nil when absent or unreadable: it is only a hint
	HumanTasks    []byte        // nil when absent

	// Open lists claims of other tools, in the record or in the working files, that no person has confirmed: they
	// do not count as passed here. See Confirm.
	Open []proof.Claim
	// Lost describes a run that was recorded and has no record here any more, nil for any other run.
	Lost *LostRun
	// Leaves is the unfinished run this work tree was in before, if another tool began a different one.
	Leaves string
	// Unasked is a remote whose runs were never fetched, when there is no run; "" for none.
	Unasked string
	// Arrived lists decisions of people that came with the run's ref and were not made in this clone, oldest first.
	Arrived []proof.Arrival

	// Notices are sentences for the person at the terminal: files behind the recorded run, changes of another tool,
	// what a transaction repaired.
	Notices []string

	behind *chain.RecordedRun // the recorded run that the working files are behind; nil when they are not
}

// Begun reports whether another tool began the run and no person has adopted it.
func (v *View) Begun() bool { return v.Run != "" && v.Op == "" }

// Onwards returns the command that shows the run: the one that fetches runs which were never fetched, if any.
func (v *View) Onwards() string {
	if v.Unasked != "" {
		return "git agentxchain sync " + wire.ShellWord(v.Unasked)
	}
	return "git agentxchain status"
}

// Snapshot returns what the rules need. The View must not be changed afterwards.
func (v *View) Snapshot() *protocol.Snapshot {
	return &protocol.Snapshot{
		Config:        v.Config,
		State:         v.State,
		Index:         v.Index,
		RepoDecisions: v.RepoDecisions,
		Session:       v.Session,
		HumanTasks:    v.HumanTasks,
	}
}

// View inspects the project without locking it or changing anything on disk, except that it first settles an
// interrupted restore or join. When the working files are behind the recorded run, View serves the recorded one; when
// another tool changed them in a permitted way, it serves the files. A Notice says so.
//
// Errors: ledger_tampered and state_tampered name the file, the line and both remedies; invalid_state, invalid_json
// and invalid_config are about the files.
func (s *Store) View(ctx context.Context) (*View, error) {
	settled, err := s.SettleRestore(ctx)
	if err != nil {
		return nil, err
	}
	in, err := s.inspect(ctx)
	if (err != nil || in.sit == sitExternal) && ctx.Err() == nil {
		// A restore may have begun, or come and gone, since we started; a join may not have brought the files along.
		more, serr := s.SettleRestore(ctx)
		if serr == nil {
			var joined string
			joined, serr = s.settleJoined(ctx)
			more += joined
		}
		if serr != nil {
			return nil, serr
		}
		if settled += more; err != nil || more != "" {
			in, err = s.inspect(ctx)
		}
	}
	if err == nil {
		err = s.refuseTouched(in)
	}
	if err != nil {
		return nil, err
	}
	v, err := s.viewOf(in)
	if err != nil {
		return nil, err
	}
	if settled != "" {
		v.Notices = append(v.Notices, settled)
	}
	// While a live process holds the lock it is updating the files.
	if n := in.notice(); n != "" && !(in.sit == sitBehind && s.locked()) {
		v.Notices = append(v.Notices, n)
	}
	return v, nil
}

// viewOf decodes an inspection.
func (s *Store) viewOf(in *inspection) (*View, error) {
	v := &View{Run: in.run}
	if err := v.setConfig(in); err != nil {
		return nil, err
	}
	if in.tip != nil {
		v.Op = in.tip.Op
	}
	v.Open, v.Arrived = in.open, in.past
	if in.sit == sitBehind {
		v.behind = in.tip
		return v, s.viewRecorded(v, in.tip)
	}
	state := in.docs[wire.DocState]
	v.setDocs(state, in.docs[wire.DocSession], in.docs[wire.DocHumanTasks])
	if !state.exists {
		return v, nil
	}
	if err := v.setState(state.data); err != nil {
		return nil, err
	}
	var err error
	if v.RepoDecisions, err = s.repoDecisions(in); err != nil {
		return nil, err
	}
	switch in.sit {
	case sitClean:
		v.Index, err = in.tip.ReadIndex()
	default:
		v.Index = run.BuildIndex(v.Config, v.State, s.workingRows())
		v.Open = append(v.Open, in.pending(v)...)
		v.Lost = in.lost
		if in.sit == sitAdopt && unfinished(in.before) {
			v.Leaves = in.before.Run
		}
	}
	return v, err
}

func (v *View) setDocs(state, session, tasks document) {
	if state.exists {
		v.StateBytes = state.data
	}
	if session.exists {
		if o, err := ojson.DecodeObject(session.data); err == nil {
			v.Session = o
		}
	}
	if tasks.exists {
		v.HumanTasks = tasks.data
		if v.HumanTasks == nil {
			v.HumanTasks = []byte{}
		}
	}
}

func (v *View) setState(data []byte) error {
	st, perr := run.DecodeState(data)
	if perr != nil {
		return perr
	}
	v.RawState = st
	v.State, v.StateNotes = run.RepairState(st, v.Config)
	if p := run.CheckState(v.State); len(p) > 0 {
		return run.StateError(p)
	}
	return nil
}

// viewRecorded fills a view from what an operation recorded.
func (s *Store) viewRecorded(v *View, rec *chain.RecordedRun) error {
	docs := make(map[wire.Document]document)
	for _, d := range wire.Documents() {
		data, ok, err := rec.Reader.File(rec.Root, record.DocumentFile(d))
		if err != nil {
			return err
		}
		docs[d] = document{data, ok}
	}
	v.setDocs(docs[wire.DocState], docs[wire.DocSession], docs[wire.DocHumanTasks])
	if err := v.setState(v.StateBytes); err != nil {
		return err
	}
	data, err := rec.Reader.Ledger(rec.Root, wire.LedgerRepoDecisions)
	if err != nil {
		return err
	}
	v.RepoDecisions = slices.Collect(record.RowsOf(data))
	v.Index, err = rec.ReadIndex()
	return err
}

// repoDecisions reads the rows the rules need whole.
func (s *Store) repoDecisions(in *inspection) ([]run.Line, error) {
	var data []byte
	if diff := in.diffs[wire.LedgerRepoDecisions]; diff != nil && diff.Data != nil {
		data = diff.Data
	} else {
		var err error
		if data, _, _, err = s.work.Read(wire.LedgerRepoDecisions.Path(), workdir.MaxLedger); err != nil {
			return nil, unreadable(wire.LedgerRepoDecisions.Path(), err)
		}
	}
	return slices.Collect(record.RowsOf(data)), nil
}
