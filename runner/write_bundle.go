// WriteDispatchBundle: rebuilding the bundle of an active turn.

package runner

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// Written is the outcome of WriteDispatchBundle.
type Written struct {
	Done
	Turn     *Turn
	Path     string // of the bundle's directory, project-relative
	Rebuilt  bool   // the bundle was missing or outdated
	Warnings []string
}

// WriteDispatchBundle makes sure that the bundle of an active turn exists, up to date and sealed
// (docs/bundles.md, docs/runner.md#support). AssignTurn, RejectTurn and ReissueTurn have written it
// already; this is for a lost or damaged bundle, and for a turn that another tool has only
// assigned, which it dispatches (turn_dispatched, hooks of after_dispatch). What hooks and the
// coordinator added stays. A correct bundle is left alone: nothing is recorded. turnID may be ""
// for the only active turn.
func (r *Runner) WriteDispatchBundle(ctx context.Context, turnID string) (*Written, error) {
	out := &Written{}
	bundle := &bundling{}
	done, err := r.do(ctx, "dispatch", func(ctx context.Context, c *change) (*plan, error) {
		op := &attempt.DispatchTurn{TurnID: turnID}
		bundle = &bundling{}
		turn := c.target(turnID)
		if turn == nil {
			return &plan{op: op}, nil
		}
		out.Turn, out.Path = turn, wire.BundleDir(turn.TurnID)
		if turn.Status == wire.TurnAssigned {
			if err := c.hooks.WillRun(ctx, "after_dispatch"); err != nil {
				return nil, err
			}
			if _, err := c.look(ctx); err != nil {
				return nil, err
			}
		} else {
			bundle.again = true
			if ok, err := c.bundleStands(ctx, op, bundle, turn); ok || err != nil {
				return nil, err
			}
		}
		out.Rebuilt = true
		return &plan{op: op, bundle: c.bundling(bundle)}, nil
	})
	out.Warnings = bundle.warnings
	out.Done = *done
	if err == nil && done.Transition != nil {
		out.Turn = done.Transition.Result.(*attempt.DispatchResult).Turn
	}
	return out, err
}

// bundleStands reports whether the bundle of a dispatched turn is what it would be if it were built
// now, sealed as recorded.
func (c *change) bundleStands(
	ctx context.Context, op protocol.Operation, bundle *bundling, turn *run.Turn,
) (bool, error) {
	t, refusal := c.ask(c.view.Snapshot(), op)
	if refusal != nil {
		return false, refusal
	}
	b, _, err := turnfiles.Compare(ctx, c.r.store, c.view, turn)
	if err != nil {
		return false, err
	}
	foreign := slices.DeleteFunc(slices.Clone(b.Problems), func(p dispatch.ManifestError) bool {
		return p.Type != dispatch.UnexpectedFile
	})
	if len(foreign) > 0 && len(foreign) == len(b.Problems) {
		// Rebuilding would not help: forbidden additions are not removed either.
		return false, dispatch.Refusal(b.Path, foreign...)
	}
	if len(b.Problems) > 0 {
		return false, nil
	}
	made, err := c.bundles(ctx, bundle, t)
	if err != nil {
		return false, err
	}
	files := made[turn.TurnID]
	delete(files, dispatch.ManifestFile) // it has the time of the sealing
	for name, data := range files {
		if have, ok := b.Files[name]; !ok || have != dispatch.InfoOf(data) {
			return false, nil
		}
	}
	return true, nil
}
