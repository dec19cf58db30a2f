// While an agent is at work, only we change the record: changes that would look like another tool's are refused,
// and undone when the agent is done.

package gitstore

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// restorePatience is how long putting the record back waits for the lock.
const restorePatience = 10 * time.Second

// AtWork says which agents are carrying out turns of a project.
type AtWork struct {
	Held []string // turns being carried out, or whose agent is asking
	Left []string // turns that were cut off: their process was killed
}

// AgentsAtWork returns the agents at work on the project.
func (s *Store) AgentsAtWork() AtWork {
	if s.opts.AtWork == nil {
		return AtWork{}
	}
	return s.opts.AtWork()
}

// refuseJournals keeps an agent from completing an acceptance that only it has prepared. The caller holds the lock.
func (s *Store) refuseJournals() error {
	entries, err := s.readJournals()
	if err != nil || len(entries) == 0 {
		return err
	}
	if w := s.AgentsAtWork(); len(w.Held) > 0 {
		return touched(w.Held[0], entries[0].path)
	}
	return nil
}

// refuseTouched refuses working files that were changed while an agent was at
// work. Edits that the rules would allow another tool are no different: an agent
// that knows the format could approve its own gate with them.
func (s *Store) refuseTouched(in *inspection) error {
	files := in.touched()
	if len(files) == 0 {
		return nil
	}
	w := s.AgentsAtWork()
	if len(w.Held) > 0 {
		return touched(w.Held[0], files...)
	}
	if len(w.Left) == 0 {
		return nil
	}
	rec := in.tip
	if rec == nil {
		rec = in.before
	}
	oid, err := rec.DocOID(wire.DocState)
	if err != nil {
		return err
	}
	data, err := rec.Reader.Blob(oid)
	if err != nil {
		return err
	}
	state, perr := run.DecodeState(data)
	if perr != nil {
		return perr
	}
	for _, turn := range w.Left {
		if state.ActiveTurns.Has(turn) {
			return touched(turn, files...)
		}
	}
	return nil
}

func touched(turn string, files ...string) error {
	return fail.Errorf(record.CodeStateTampered, nil,
		"%s changed while the agent of turn %s was at work, and not by git agentxchain", strings.Join(files, ", "),
		turn).WithHint("%s", record.RepairHint)
}

// touched names the files of the record that differ from the last recorded ones: the state and the ledgers. The
// other documents are hints that people edit.
func (in *inspection) touched() []string {
	var names []string
	switch in.sit {
	case sitIdle, sitAdopt:
		if in.before == nil {
			return nil // nothing was recorded before
		}
		names = append(names, string(wire.DocState))
	case sitExternal:
		if oid, err := in.tip.DocOID(wire.DocState); err != nil || oid != in.oidOf(wire.DocState) {
			names = append(names, string(wire.DocState))
		}
	default:
		return nil
	}
	for _, l := range wire.Ledgers() {
		if diff := in.diffs[l]; diff != nil && diff.Kind != record.Same {
			names = append(names, l.Path())
		}
	}
	return names
}

// RestoreTouched restores the record's working files to what was last recorded if anything else has changed them;
// it is called when an agent has ended. It keeps the changed contents, see RepairPlan. It returns nil when nothing
// was changed, even if the files are merely behind.
func (s *Store) RestoreTouched(ctx context.Context) (*RepairPlan, error) {
	cache := s.readCache()
	if cache == nil || cache.Run == "" {
		return nil, nil // nothing is known to have been recorded in this work tree
	}
	if ok, err := s.untouched(ctx); ok || err != nil {
		return nil, err
	}
	// Check again under the lock: what looked like an edit may have been an operation in progress.
	lock, borrowed, err := s.lockOf(ctx, "repair", restorePatience)
	if err != nil {
		return nil, err
	}
	if !borrowed {
		defer func() { _ = lock.Release() }()
	}
	if ok, err := s.untouched(ctx); ok || err != nil {
		return nil, err
	}
	if cache = s.readCache(); cache == nil || cache.Run == "" {
		return nil, nil
	}
	plan, err := s.repairFromRef(ctx, RepairOptions{Run: cache.Run})
	if err != nil {
		return nil, err
	}
	if err := s.displaceJournals(plan); err != nil || len(plan.Actions) == 0 {
		return nil, err
	}
	return plan, nil
}

// untouched reports whether only operations have changed the record. An error means a problem that restoring the
// record would not fix.
func (s *Store) untouched(ctx context.Context) (bool, error) {
	if entries, err := s.readJournals(); err != nil || len(entries) > 0 {
		return false, err
	}
	in, err := s.inspect(ctx)
	if err == nil {
		return len(in.touched()) == 0, nil
	}
	code := fail.CodeOf(err)
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		code = refusal.Code
	}
	switch code {
	case record.CodeLedgerTampered, record.CodeStateTampered, fail.CodeUnreadable, wire.CodeInvalidState,
		wire.CodeInvalidJSON:
		return false, nil
	}
	return false, err
}

// displaceJournals moves away prepared acceptances that no person asked for.
func (s *Store) displaceJournals(plan *RepairPlan) error {
	entries, err := s.readJournals()
	if err != nil || len(entries) == 0 {
		return err
	}
	dir, err := s.keepDir()
	if err != nil {
		return err
	}
	for _, j := range entries {
		a := RepairAction{Path: j.path, Action: "remove", Kept: path.Join(dir, path.Base(j.path))}
		if err := s.restoreFile(a, nil); err != nil {
			return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be moved away", j.path)
		}
		plan.Actions = append(plan.Actions, a)
	}
	return nil
}
