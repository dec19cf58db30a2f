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

// bundling says how to make a turn's bundle.
type bundling struct {
	cross    map[string][]byte // what the coordinator tells the turn; nil keeps what it told before
	again    bool              // the turn was dispatched before: its hooks ran then
	warnings []string          // about the bundle that was made
}

// bundler makes the bundle of the turn that a transition dispatches, as files by turn and name.
type bundler func(ctx context.Context, t *protocol.Transition) (map[string]map[string][]byte, error)

// bundling returns the bundler of a plan, which makes nothing for a step that dispatches nothing.
func (c *change) bundling(make *bundling) bundler {
	return func(ctx context.Context, t *protocol.Transition) (map[string]map[string][]byte, error) {
		return c.bundles(ctx, make, t)
	}
}

// bundles builds and seals the bundle of the turn that a transition dispatches. What hooks and the
// coordinator added to an earlier bundle of the same turn stays in it.
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
	if len(in.Messages) > 0 { // replaces the shorter list that an earlier bundle keeps
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
// (docs/bundles.md): it is unknown whose they are.
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

// index updates dispatch/index.json for a transition that dispatches nothing but changes which
// turns are active: an ended turn must not stay listed.
func (c *change) index(t *protocol.Transition) {
	if _, ok := t.Documents[wire.DocDispatchIndex]; ok || t.Documents == nil ||
		!turnfiles.TurnsMoved(c.view.State, t.State) {
		return
	}
	if was := turnfiles.Index(c.r.store.Dir()); was != nil {
		t.Documents[wire.DocDispatchIndex] = Reindex(c.view.Config, c.view.State, t, was, c.env.Time())
	}
}

// CheckBundle compares the bundle of an active turn with its seal. An unreadable file counts as a
// problem of the bundle.
func (r *Runner) CheckBundle(run string, t *run.Turn) *turnfiles.Bundle {
	return turnfiles.Check(r.store.Dir(), run, t, nil)
}

// VerifyBundle is CheckBundle and also compares the seal with the recorded one: a process that can
// change a bundle can write a new seal as well. An unrecorded bundle, such as one of another tool,
// has only its seal.
func (r *Runner) VerifyBundle(ctx context.Context, v *gitstore.View, t *run.Turn) (*turnfiles.Bundle, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	b, _, err := turnfiles.Compare(ctx, r.store, v, t)
	return b, err
}

// BundleChanges lists how an active turn's bundle differs from the dispatched one, nothing when it
// does not or when nothing was sealed for the turn.
func (r *Runner) BundleChanges(ctx context.Context, v *gitstore.View, t *run.Turn) ([]protocol.BundleChange, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	return turnfiles.Changes(ctx, r.store, v, t)
}

// OpenBundle returns the bundle of an active turn as an agent gets it: the very bytes whose seal,
// and the seal's record, were verified. Errors: bundle_invalid with the findings in
// details.problems, bundle_unreadable, bundle_too_large, and the store's.
func (r *Runner) OpenBundle(ctx context.Context, v *gitstore.View, t *run.Turn) (*dispatch.Verified, error) {
	return turnfiles.Open(ctx, r.store, v, t)
}
