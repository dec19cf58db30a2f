// Decisions that move several repositories: all of them or none (docs/coordinator.md#gates).

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// Participant is a repository that takes part in a decision.
type Participant struct {
	Repo string // its id in the configuration, "" for the coordinator's own record

	// Act runs the repository's own command for the decision on a store that was opened with
	// gitstore.Options.Publish set to publish, or calls publish itself with a prepared update. publish lets other
	// operations than the decision's pass immediately (hook records and the like); for the decision's own it waits
	// until every participant has reached that point, and returns nil once all of them have moved, or an error if
	// none will. Act runs concurrently with the Acts of the other participants. An Act that ends without having
	// moved anything refuses the decision if it returns an error, and takes no part in it otherwise.
	Act func(ctx context.Context, publish decision.Publish) error

	// Ops are the wire names of the operations that make up the decision; by default approve_transition and
	// approve_completion.
	Ops []string
}

// moveRef returns a participant that moves one prepared ref, such as that of the coordinator's own record
// (gitstore.PrepareInitiative).
func moveRef(repo string, r *git.Repository, m decision.Move) Participant {
	return Participant{
		Repo: repo,
		Ops:  []string{m.Op},
		Act:  func(ctx context.Context, publish decision.Publish) error { return publish(ctx, r, m) },
	}
}

// Decided is the result of a decision.
type Decided struct {
	Moved map[string]object.OID // repository -> its run's current operation
	// Late holds repositories that moved but whose command failed after that (working files that could not be
	// written, a hook); their next command completes them.
	Late map[string]error
}

// decide applies a change together with moves of repositories; without participants it is Commit.
//
// Nothing happens before everything can happen: each participant writes its objects and locks its ref (git
// update-ref, prepared), the planned moves are written to gitstore.DecisionFile, then the outcome, and only then do
// the refs and the coordinator's files move. A participant that refuses or is killed before the outcome is written
// undoes the decision for all. After a kill at any moment the next command on the workspace or in any of the
// repositories finishes what was decided or undoes what was not.
//
// Errors: those of Commit; decision_undone when a participant refused or could not be prepared, which wraps its
// error and names it: nothing has moved then; decision_unsettled when the outcome is written but could not be
// carried out yet.
func (tx *Tx) decide(ctx context.Context, c *initiative.Change, parts []Participant) (*Decided, error) {
	r := newRound(ctx, parts)
	moves, err := r.gather()
	if err != nil {
		return nil, r.undo(err)
	}
	if len(moves) == 0 {
		r.wait()
		return &Decided{}, tx.commit(c)
	}
	faults.Point("decision.gathered")
	pending, err := r.start(moves)
	if err != nil {
		return nil, r.undo(err)
	}
	d := decision.NewDecision(initiative.Schema, tx.store.dir)
	steps := tx.Docs.steps(c)
	for i := range steps {
		d.Steps = append(d.Steps, ojson.Marshal(&steps[i]))
	}
	for i, p := range pending {
		d.Participants = append(d.Participants, p.Participant(moves[i].repo))
	}
	if err := r.prepare(tx, c, d, pending); err != nil {
		for _, p := range pending {
			p.Abort()
		}
		// What cannot be settled now stays recorded for the next command.
		_, serr := d.Settle(context.WithoutCancel(ctx))
		if serr == nil {
			serr = d.Remove()
		}
		return nil, r.undo(errors.Join(err, serr))
	}
	out, err := r.carryOut(tx, d, steps, moves, pending)
	if err == nil {
		tx.advance(c, steps)
	}
	return out, err
}

// move is the pending move of one participant.
type move struct {
	index int
	repo  string
	store *git.Repository
	decision.Move
}

// round is one decision: the Acts and their channels.
type round struct {
	ctx    context.Context
	stop   context.CancelCauseFunc
	parts  []Participant
	ready  chan move    // from an Act that has reached its operation
	over   chan ended   // from an Act that has ended
	answer []chan error // to a waiting Act: nil when it has moved
	left   int          // Acts that have not ended
	waits  map[int]bool // waiting Acts
}

type ended struct {
	index int
	err   error
}

func newRound(ctx context.Context, parts []Participant) *round {
	r := &round{
		parts: parts,
		ready: make(chan move),
		over:  make(chan ended),
		left:  len(parts),
		waits: make(map[int]bool),
	}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	for range parts {
		r.answer = append(r.answer, make(chan error, 1))
	}
	for i, p := range parts {
		go func() { r.over <- ended{i, p.Act(r.ctx, r.publish(i))} }()
	}
	return r
}

// publish returns the function that a participant's Act calls when it reaches its operation.
func (r *round) publish(i int) decision.Publish {
	ops := r.parts[i].Ops
	if ops == nil {
		ops = []string{"approve_transition", "approve_completion"}
	}
	var once sync.Once
	return func(ctx context.Context, repo *git.Repository, m decision.Move) error {
		first := false
		if slices.Contains(ops, m.Op) {
			once.Do(func() { first = true })
		}
		if !first {
			return repo.UpdateRefs(ctx, []git.RefUpdate{m.Ref}, m.Reflog)
		}
		if m.Ref.New == m.Ref.Old {
			return nil
		}
		select {
		case r.ready <- move{i, r.parts[i].Repo, repo, m}:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
		// From here on the outcome decides, not the context.
		return <-r.answer[i]
	}
}

// gather waits until every Act has reached its operation or has ended.
func (r *round) gather() (moves []move, err error) {
	for len(r.waits) < r.left {
		select {
		case m := <-r.ready:
			r.waits[m.index] = true
			moves = append(moves, m)
		case e := <-r.over:
			r.left--
			if e.err != nil {
				return moves, r.refused(e.index, e.err)
			}
		}
	}
	slices.SortFunc(moves, func(a, b move) int { return a.index - b.index })
	if r.ctx.Err() != nil {
		return moves, context.Cause(r.ctx)
	}
	return moves, nil
}

func (r *round) refused(i int, err error) error {
	name := r.parts[i].Repo
	if name == "" {
		return fmt.Errorf("the record of the initiative cannot move: %w", err)
	}
	return fmt.Errorf("repository %s cannot move: %w", name, err)
}

// undo tells the Acts that nothing moves and waits for them to end.
func (r *round) undo(cause error) error {
	e := &fail.Error{
		Code:    decision.CodeDecisionUndone,
		Message: "nothing was decided, because not all repositories could move",
		Err:     cause,
	}
	var hinted interface{ ErrorHint() string }
	if errors.As(cause, &hinted) {
		e.Hint = hinted.ErrorHint()
	}
	if e.Hint == "" {
		e.Hint = "correct that, then run the command again"
	}
	r.stop(e)
	for i := range r.waits {
		r.answer[i] <- e
	}
	r.wait()
	return e
}

// wait waits for the remaining Acts and returns those that failed.
func (r *round) wait() map[string]error {
	failed := make(map[string]error)
	for ; r.left > 0; r.left-- {
		if e := <-r.over; e.err != nil {
			failed[r.parts[e.index].Repo] = e.err
		}
	}
	r.stop(nil)
	return failed
}
