// What the hooks around an acceptance are told (docs/hooks.md#phases).

package ophooks

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// BeforeValidation returns the call that asks before the result of a turn is judged.
func BeforeValidation(turn *run.Turn, op *protocol.AcceptTurn) hooks.Call {
	p := ojson.NewObject("turn_id", turn.TurnID, "role_id", turn.AssignedRole, "staging_path", op.StagedPath,
		"turn_result", nil)
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

// AfterValidation returns the call that reports the judgement of a result: t, or the refusal to
// judge it.
func AfterValidation(turn *run.Turn, op *protocol.AcceptTurn, t *protocol.Transition, refusal *wire.Error) hooks.Call {
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
	return hooks.Call{
		Phase:     "after_validation",
		TurnID:    turn.TurnID,
		Protected: []string{op.StagedPath},
		Payload: ojson.NewObject(
			"turn_id", turn.TurnID, "role_id", turn.AssignedRole, "validation_ok", ok, "validation_stage", stage,
			"errors", errs, "warnings", warnings,
			"turn_result", result),
	}
}

// BeforeAcceptance returns the call that asks whether the turn may be accepted as in t.
func BeforeAcceptance(ctx context.Context, repo *git.Repository, turn *run.Turn, op *protocol.AcceptTurn,
	t *protocol.Transition) (hooks.Call, error) {
	changes, err := classify(ctx, repo, turn, &op.Seen)
	if err != nil {
		return hooks.Call{}, err
	}
	var result any
	if res, ok := t.Result.(*protocol.AcceptResult); ok && res.Validation != nil && res.Validation.Result != nil {
		result = res.Validation.Result.Raw
	}
	return hooks.Call{
		Phase:     "before_acceptance",
		TurnID:    turn.TurnID,
		Protected: []string{op.StagedPath},
		Payload: ojson.NewObject(
			"turn_id", turn.TurnID, "role_id", turn.AssignedRole, "turn_result", result, "observed_changes", changes,
			"conflict_detected", false),
	}, nil
}

// classify sorts the observed files into {added, modified, deleted}, compared with the turn's
// baseline.
func classify(ctx context.Context, repo *git.Repository, turn *run.Turn, seen *result.Observation) (*ojson.Object,
	error) {
	kinds := map[byte][]string{'A': {}, 'M': {}, 'D': {}}
	since := make(map[string]byte)
	base := turn.Baseline
	if base != nil && base.HeadRef != nil && *base.HeadRef != "" {
		changes, err := gitstatus.DiffChanges(ctx, repo, object.OID(*base.HeadRef))
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

// Drift lists the differences between the work tree and what was observed before hooks ran.
func Drift(was, now *result.Observation) []string {
	var out []string
	for _, p := range was.FilesChanged {
		if b, ok := now.Markers.Get(p); !ok || was.Markers.Value(p) != b {
			out = append(out, p)
		}
	}
	for _, p := range now.FilesChanged {
		if !was.Markers.Has(p) {
			out = append(out, p)
		}
	}
	if a, b := was.HeadRef, now.HeadRef; (a == nil) != (b == nil) || a != nil && *a != *b {
		out = append(out, "HEAD")
	}
	slices.Sort(out)
	return out
}
