// Hooks around an acceptance: before_validation, after_validation and
// before_acceptance, each once and in this order (docs/spec/lifecycle.md#accepting-a-turn, docs/hooks.md#phases).

package runner

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func acceptPhases() []string {
	return []string{"before_validation", "after_validation", "before_acceptance", "after_acceptance"}
}

// hookedAcceptance is acceptance with hooks. The engine is asked before anything
// runs whether it would look at the result at all, and again after the hooks that
// may prepare it; what it answers then is what the later hooks are told.
func (c *change) hookedAcceptance(ctx context.Context, opt AcceptOptions) (protocol.Operation, error) {
	if err := c.willRun(ctx, acceptPhases()...); err != nil {
		return nil, err
	}
	op, err := c.acceptance(ctx, opt)
	if err != nil {
		return nil, err
	}
	t, refusal := c.decide(c.view.Snapshot(), op)
	turn := c.target(opt.TurnID)
	if turn == nil || refusal != nil && refusal.Stage == "" {
		return op, nil // the engine refuses it with the same words
	}
	if c.hooks.has("before_validation") {
		if err := c.hook(ctx, c.mayTake(beforeValidation(turn, op), op)); err != nil {
			return nil, err
		}
		c.tree, c.env.Now = nil, c.r.Now()
		if op, err = c.acceptance(ctx, opt); err != nil {
			return nil, err
		}
		op.Overruled = c.asIs
		t, refusal = c.decide(c.view.Snapshot(), op)
	}
	if opt.Patient && refusal == nil {
		if err := c.unfinished(op, t); err != nil {
			return nil, err
		}
	}
	judged := false
	if c.hooks.has("after_validation") {
		judged = true
		if err := c.hook(ctx, c.mayTake(afterValidation(turn, op, t, refusal), op)); err != nil {
			return nil, err
		}
	}
	if refusal != nil || t.Failure != nil {
		return op, nil
	}
	if c.hooks.has("before_acceptance") {
		judged = true
		call, err := c.beforeAcceptance(ctx, turn, op, t)
		if err != nil {
			return nil, err
		}
		if err := c.hook(ctx, c.mayTake(call, op)); err != nil {
			return nil, err
		}
	}
	op.Overruled = c.asIs
	if !judged {
		return op, nil
	}
	return op, c.drifted(ctx, turn, op)
}

// mayTake is a call about a result that a person may have taken as it is.
func (c *change) mayTake(call hooks.Call, op *protocol.AcceptTurn) hooks.Call {
	call.Overruled = c.asItIs(call.TurnID, call.Phase, protocol.WorkDigest(op.Staged, &op.Seen))
	return call
}

func beforeValidation(turn *run.Turn, op *protocol.AcceptTurn) hooks.Call {
	p := ojson.NewObject("turn_id", turn.TurnID, "role_id", turn.AssignedRole, "staging_path", op.StagedPath, "turn_result", nil)
	switch doc, refusal := stagedResult(op); {
	case op.Staged == nil:
		p.Set("read_error", "there is no staged result at "+op.StagedPath)
	case refusal != nil:
		p.Set("parse_error", refusal.Message)
	default:
		p.Set("turn_result", doc)
	}
	return hooks.Call{Phase: "before_validation", TurnID: turn.TurnID, Payload: p}
}

func stagedResult(op *protocol.AcceptTurn) (*ojson.Object, *wire.Error) {
	if op.Staged == nil {
		return nil, nil
	}
	return protocol.DecodeStaged(op.StagedPath, op.Staged.Data)
}

func afterValidation(turn *run.Turn, op *protocol.AcceptTurn, t *protocol.Transition, refusal *wire.Error) hooks.Call {
	ok, stage, errs, warnings := true, any(nil), []string{}, []string{}
	var result any
	if doc, bad := stagedResult(op); doc != nil && bad == nil {
		result = doc
	}
	if refusal != nil { // there was nothing to validate
		ok, stage, errs = false, refusal.Stage, []string{refusal.Message}
	} else if res, is := t.Result.(*protocol.AcceptResult); is && res.Validation != nil {
		v := res.Validation
		ok, warnings = v.OK, append(warnings, v.Warnings...)
		if !v.OK {
			stage, errs = v.Stage, append(errs, v.Errors.Messages()...)
		}
		switch {
		case v.Validated != nil:
			result = v.Validated
		case v.Result != nil && v.Result.Raw != nil:
			result = v.Result.Raw
		}
	}
	return hooks.Call{Phase: "after_validation", TurnID: turn.TurnID, Protected: []string{op.StagedPath}, Payload: ojson.NewObject(
		"turn_id", turn.TurnID, "role_id", turn.AssignedRole, "validation_ok", ok, "validation_stage", stage, "errors", errs, "warnings", warnings,
		"turn_result", result)}
}

func (c *change) beforeAcceptance(ctx context.Context, turn *run.Turn, op *protocol.AcceptTurn, t *protocol.Transition) (hooks.Call, error) {
	changes, err := c.classify(ctx, turn, &op.Seen)
	if err != nil {
		return hooks.Call{}, err
	}
	var result any
	if res, ok := t.Result.(*protocol.AcceptResult); ok && res.Validation != nil && res.Validation.Result != nil {
		result = res.Validation.Result.Raw
	}
	return hooks.Call{Phase: "before_acceptance", TurnID: turn.TurnID, Protected: []string{op.StagedPath}, Payload: ojson.NewObject(
		"turn_id", turn.TurnID, "role_id", turn.AssignedRole, "turn_result", result, "observed_changes", changes, "conflict_detected", false)}, nil
}

// classify sorts what was observed into {added, modified, deleted}, compared with
// the turn's baseline.
func (c *change) classify(ctx context.Context, turn *run.Turn, seen *result.Observation) (*ojson.Object, error) {
	kinds := map[byte][]string{'A': {}, 'M': {}, 'D': {}}
	since := make(map[string]byte)
	base := turn.Baseline
	if base != nil && base.HeadRef != nil && *base.HeadRef != "" {
		changes, err := c.r.store.Repository().DiffChanges(ctx, git.OID(*base.HeadRef))
		if err != nil {
			return nil, err
		}
		for _, ch := range changes {
			since[ch.Path] = ch.Status
		}
	}
	for _, p := range seen.FilesChanged {
		mark, _ := seen.Markers.Get(p)
		was, dirty := "", false
		if base != nil {
			was, dirty = base.DirtySnapshot.Get(p)
		}
		status, tracked := since[p]
		kind := byte('M')
		switch {
		case mark == "deleted":
			kind = 'D'
		case dirty && was != "deleted": // it was there when the turn began
		case !tracked || status == 'A':
			kind = 'A'
		}
		kinds[kind] = append(kinds[kind], p)
	}
	return ojson.NewObject("added", kinds['A'], "modified", kinds['M'], "deleted", kinds['D']), nil
}

// drifted looks at the work tree once more: the result was judged on one that no
// hook may have changed since.
func (c *change) drifted(ctx context.Context, turn *run.Turn, op *protocol.AcceptTurn) error {
	c.tree, c.env.Now = nil, c.r.Now()
	now, err := c.observe(ctx, turn)
	if err != nil {
		return err
	}
	was := &op.Seen
	for _, p := range was.FilesChanged {
		a, _ := was.Markers.Get(p)
		if b, ok := now.Markers.Get(p); !ok || a != b {
			op.Drift = append(op.Drift, p)
		}
	}
	for _, p := range now.FilesChanged {
		if !was.Markers.Has(p) {
			op.Drift = append(op.Drift, p)
		}
	}
	if a, b := was.HeadRef, now.HeadRef; (a == nil) != (b == nil) || a != nil && *a != *b {
		op.Drift = append(op.Drift, "HEAD")
	}
	slices.Sort(op.Drift)
	return nil
}
