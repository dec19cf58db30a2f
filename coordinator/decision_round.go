// The steps of a decision once every participant has reached its operation.

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// afterStep is called after each step of a decision, for tests that kill processes.
var afterStep = func(string, []*decision.Pending) {}

func reached(name string, pending []*decision.Pending) {
	afterStep(name, pending)
	faults.Point(name)
}

// start starts a git for every move.
func (r *round) start(moves []move) (pending []*decision.Pending, err error) {
	for _, m := range moves {
		p, err := decision.StartMove(r.ctx, m.store, m.Move)
		if err != nil {
			for _, p := range pending {
				p.Abort()
			}
			return nil, r.refused(m.index, err)
		}
		pending = append(pending, p)
	}
	reached("decision.started", pending)
	return pending, nil
}

// prepare writes down the planned moves, locks every ref and writes the outcome. If it returns nil the decision is
// made.
func (r *round) prepare(tx *Tx, c *initiative.Change, d *decision.Decision, pending []*decision.Pending) error {
	if err := tx.held.Check(); err != nil {
		return err
	}
	if err := tx.files(c); err != nil {
		return unwritten(err)
	}
	if err := d.Note(); err != nil {
		return unwritten(err)
	}
	reached("decision.noted", pending)
	if err := d.Write(); err != nil {
		return unwritten(err)
	}
	reached("decision.written", pending)
	for i, p := range pending {
		if err := p.Prepare(r.ctx); err != nil {
			return fmt.Errorf("repository %s cannot move: %w", d.Participants[i].Repo, err)
		}
		reached("decision.prepared", pending)
	}
	// Only because of the lock may others judge us dead.
	if err := tx.held.Check(); err != nil {
		return err
	}
	if err := r.ctx.Err(); err != nil {
		return context.Cause(r.ctx)
	}
	d.Outcome = decision.OutcomeMove
	if err := d.Write(); err != nil {
		d.Outcome = ""
		return unwritten(err)
	}
	reached("decision.made", pending)
	return nil
}

// carryOut moves the refs and the coordinator's files and releases the Acts.
func (r *round) carryOut(tx *Tx, d *decision.Decision, steps []step, moves []move,
	pending []*decision.Pending) (*Decided, error) {
	failed := make([]error, len(pending))
	var wg sync.WaitGroup
	for i, p := range pending {
		wg.Go(func() {
			failed[i] = p.Commit()
			faults.Point("decision.moving")
		})
	}
	wg.Wait()
	reached("decision.moved", pending)
	// A git that was killed at this moment may have moved its ref, and may have left its lock. Settle that as the
	// next command would.
	moved, err := d.Settle(context.WithoutCancel(r.ctx))
	switch {
	case err == nil && moved:
		faults.Point("decision.settled")
		if err = carryOut(tx.store.root, steps); err == nil {
			faults.Point("decision.files")
			err = d.Remove()
		}
		if err != nil {
			err = unwritten(err)
		}
	case err == nil:
		err = errors.Join(&fail.Error{
			Code:    decision.CodeDecisionUndone,
			Message: "nothing was decided, because another program has moved a repository",
		}, d.Remove())
	}
	out := &Decided{Moved: make(map[string]object.OID)}
	for i, p := range pending {
		if moved || failed[i] == nil {
			out.Moved[moves[i].repo] = p.Move.Ref.New
			r.answer[moves[i].index] <- nil
		} else {
			r.answer[moves[i].index] <- err
		}
	}
	out.Late = r.wait()
	return out, err
}

// settleDecision finishes or undoes the decision of an interrupted command. The caller holds the lock.
func (s *Store) settleDecision(ctx context.Context) (wire.Problems, error) {
	d, err := decision.ReadDecision(s.dir)
	if err != nil || d == nil {
		return nil, err
	}
	if d.Workspace != s.dir {
		// The workspace was moved; the record names the old place.
		if err := d.Relocate(s.dir); err != nil {
			return nil, unwritten(err)
		}
	}
	moved, err := d.Settle(ctx)
	if err != nil {
		return nil, err
	}
	faults.Point("decision.settled")
	report := wire.Problems{{
		Code:    "decision_taken_back",
		Field:   decision.DecisionFile,
		Message: "a decision that was interrupted before it was made was taken back; no repository has moved",
	}}
	if moved {
		report = wire.Problems{{
			Code:    "decision_finished",
			Field:   decision.DecisionFile,
			Message: "a decision that was interrupted was finished in all of its repositories",
		}}
		steps := make([]step, len(d.Steps))
		for i, o := range d.Steps {
			ojson.Unmarshal(o, &steps[i])
		}
		more, err := complete(s.root, steps)
		if err == nil {
			err = dropPending(s.root)
		}
		if err != nil {
			return report, unwritten(err)
		}
		report = append(report, more...)
	}
	faults.Point("decision.files")
	if err := d.Remove(); err != nil {
		return report, unwritten(err)
	}
	return report, nil
}
