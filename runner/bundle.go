// The dispatch bundle of a turn: made, checked, handed out, and the index of all bundles
// (docs/bundles.md).

package runner

import (
	"context"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// bundling is the making of a turn's bundle.
type bundling struct {
	cross    map[string][]byte // what the coordinator tells the turn; nil for what it has told already
	again    bool              // of a turn that was dispatched before: its hooks were asked then
	warnings []string          // of the bundle that was made
}

// bundler makes the bundle of the turn that a transition dispatches: its files, by turn and name.
type bundler func(ctx context.Context, t *protocol.Transition) (map[string]map[string][]byte, error)

// bundling is the plan of a bundle: a step that dispatches nothing cannot fail as one that does.
func (c *change) bundling(make *bundling) bundler {
	return func(ctx context.Context, t *protocol.Transition) (map[string]map[string][]byte, error) {
		return c.bundles(ctx, make, t)
	}
}

// bundles builds and seals the bundle of the turn a transition dispatches.
// What hooks and the coordinator had added to an earlier bundle of the same turn
// stays in it.
func (c *change) bundles(
	ctx context.Context, make *bundling, t *protocol.Transition,
) (map[string]map[string][]byte, error) {
	turn, ok := t.State.ActiveTurns.Get(protocol.BundledTurn(t))
	if !ok {
		return nil, nil
	}
	in := turnfiles.Input(c.r.store.Dir(), c.r.Now(), c.view, t.State, t.Index, turn)
	in.Now = c.env.Time()
	in.LastLog = turnfiles.LastLog(c.r.store.Dir(), in)
	in.Warnings = c.newDirt(turn)
	in.PreviousIndex = turnfiles.Index(c.r.store.Dir())
	cross, err := turnfiles.CrossFiles(c.r.store.Dir(), make.cross, turn)
	if err != nil {
		return nil, err
	}
	in.CrossRepo = turnfiles.CrossDocument(cross)
	if in.Messages, err = c.r.messagesFor(ctx, t.Index, turn.TurnID); err != nil {
		return nil, err
	}
	if in.Proposals, err = c.r.proposalsFor(ctx, c.view, turn); err != nil {
		return nil, err
	}
	b, err := dispatch.Build(in)
	if err != nil {
		return nil, err
	}
	maps.Copy(b.Files, cross)
	make.warnings = b.Warnings
	switch {
	case make.again:
		err = turnfiles.Resupply(ctx, c.r.store, c.view, turn, b.Files)
	case turn.Status == wire.TurnDispatched && c.hooks.Has("after_dispatch"):
		b.Files, err = c.supplemented(ctx, turn, b.Files)
	default:
		err = turnfiles.Survive(c.r.store.Dir(), turn, b.Files)
	}
	if err != nil {
		return nil, err
	}
	if len(in.Messages) > 0 { // after what an earlier bundle keeps: its list is shorter
		b.Files[dispatch.MessagesFile] = dispatch.MessagesDocument(in.Messages)
	}
	seal, err := dispatch.Seal(dispatch.Identity{
		RunID:  t.State.Run(),
		TurnID: turn.TurnID,
		Role:   turn.AssignedRole,
	}, c.env.Time(), b.Files)
	if err != nil {
		return nil, err
	}
	b.Files[dispatch.ManifestFile] = seal
	t.Documents[wire.DocDispatchIndex] = dispatch.Index(in)
	return map[string]map[string][]byte{turn.TurnID: b.Files}, nil
}

// newDirt warns about changes in the work tree that are not in the turn's baseline
// (docs/bundles.md): nobody has said whose they are.
func (c *change) newDirt(turn *run.Turn) []dispatch.Warning {
	if c.tree == nil || turn.Baseline == nil {
		return nil
	}
	paths := slices.DeleteFunc(observe.ProjectDirty(c.tree), func(p string) bool {
		return turn.Baseline.DirtySnapshot.Has(p)
	})
	if len(paths) == 0 {
		return nil
	}
	return []dispatch.Warning{dispatch.DirtyTree(paths)}
}

// index brings dispatch/index.json up to a transition that dispatches nothing but
// changes which turns are active: an ended turn must not stay listed.
func (c *change) index(t *protocol.Transition) {
	if _, ok := t.Documents[wire.DocDispatchIndex]; ok || t.Documents == nil ||
		!turnfiles.TurnsMoved(c.view.State, t.State) {
		return
	}
	was := turnfiles.Index(c.r.store.Dir())
	if was == nil {
		return
	}
	t.Documents[wire.DocDispatchIndex] = dispatch.Index(dispatch.Input{
		Config:        c.view.Config,
		State:         t.State,
		Index:         t.Index,
		PreviousIndex: was,
		Now:           c.env.Time(),
	})
}

// keepLog saves the end of the log of a turn about to be accepted: its bundle goes
// with it. The turn goes on where no log can be kept.
func (c *change) keepLog(turn *run.Turn) {
	if dir := dispatch.BundleDir(turn.TurnID); dir != "" {
		_ = c.r.store.KeepLog(dir+"/"+dispatch.LogFile, dispatch.AuditDir(turn.TurnID)+"/"+dispatch.LogFile)
	}
}

// CheckBundle compares the bundle of an active turn with its seal. What cannot
// be read counts as a problem of the bundle.
func (r *Runner) CheckBundle(run string, t *run.Turn) *turnfiles.Bundle {
	return turnfiles.Check(r.store.Dir(), run, t, nil)
}

// VerifyBundle is CheckBundle with the seal itself compared with the one that the
// run has recorded: who can change a bundle can write a new seal as well. A
// bundle that is not on record, as one of another tool may be, has only its seal.
func (r *Runner) VerifyBundle(ctx context.Context, v *gitstore.View, t *run.Turn) (*turnfiles.Bundle, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	b, _, err := turnfiles.Compare(ctx, r.store, v, t)
	return b, err
}

// BundleChanges lists what of an active turn's bundle is not as it was dispatched, none
// when it is or when nothing was sealed for the turn.
func (r *Runner) BundleChanges(ctx context.Context, v *gitstore.View, t *run.Turn) ([]protocol.BundleChange, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	return turnfiles.Changes(ctx, r.store, v, t)
}

// OpenBundle hands out the bundle of an active turn as an agent gets it: the very
// bytes that were verified, against their seal and the seal against the record.
// Errors: bundle_invalid with the findings in details.problems, bundle_unreadable,
// bundle_too_large, and the store's.
func (r *Runner) OpenBundle(ctx context.Context, v *gitstore.View, t *run.Turn) (*dispatch.Verified, error) {
	return turnfiles.Open(ctx, r.store, v, t)
}
