// Tools that carry out a turn: assign, instructions, stage, verify, accept.

package mcpserver

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// maxInstructions bounds each text of a turn's instructions; the agent reads a longer one from the
// file.
const maxInstructions = 512 << 10

// assign implements agentxchain_assign_turn.
func assign(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	got, err := r.AssignTurn(ctx, runner.AssignOptions{Role: a.String("role")})
	if err != nil {
		return nil, err
	}
	o := ojson.NewObject("run_id", got.Run, "started_run", got.Started)
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	if err := describe(ctx, r, v.State, got.Turn, o); err != nil {
		return nil, err
	}
	if len(got.Warnings) > 0 {
		o.Set("warnings", got.Warnings)
	}
	return o, nil
}

// turnInstructions implements agentxchain_turn_instructions.
func turnInstructions(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	turn, refused := run.ResolveTurn(v.State, a.String("turn_id"), "show")
	if refused != nil {
		refused.Hint = "agentxchain_assign_turn assigns a turn; agentxchain_status names the active ones"
		return nil, refused
	}
	o := ojson.NewObject("run_id", v.State.Run())
	return o, describe(ctx, r, v.State, turn, o)
}

// describe adds what an agent needs to carry out a turn. The texts are the sealed ones: a text that
// was replaced since is refused.
func describe(ctx context.Context, r *runner.Runner, s *run.State, t *run.Turn, o *ojson.Object) error {
	o.Set("turn_id", t.TurnID)
	o.Set("role", t.AssignedRole)
	o.Set("phase", s.Phase)
	o.Set("status", t.Status)
	o.Set("attempt", t.Attempt)
	o.Set("runtime_id", t.RuntimeID)
	if t.DeadlineAt != "" {
		o.Set("deadline_at", t.DeadlineAt)
	}
	o.Set("staging_path", wire.StagingPath(t.TurnID))
	o.Set("bundle_path", wire.BundleDir(t.TurnID))
	for _, part := range []struct{ member, file string }{{"prompt", "PROMPT.md"}, {"context", "CONTEXT.md"}} {
		data, err := sealed(ctx, r, t, part.file)
		if err != nil {
			return err
		}
		text := string(data)
		if len(text) > maxInstructions {
			text = text[:maxInstructions]
			for !utf8.ValidString(text[len(text)-min(len(text), 4):]) && len(text) > 0 {
				text = text[:len(text)-1]
			}
			o.Set(part.member+"_truncated", true)
		}
		o.Set(part.member, text)
	}
	template, err := r.Template(ctx, t.TurnID)
	if err != nil {
		return err
	}
	o.Set("result_template", template)
	return nil
}

// sealed reads a file of a turn's bundle as it was sealed; nil when there is none.
func sealed(ctx context.Context, r *runner.Runner, t *run.Turn, name string) ([]byte, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	b, err := r.OpenBundle(ctx, v, t)
	if err != nil {
		return nil, err
	}
	data, _ := b.File(name)
	return data, nil
}

// stage implements agentxchain_stage_result.
func stage(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	v, ok := a.Get("result")
	if !ok {
		return nil, refusal(wire.CodeInvalidArgument, "result is required: the turn result, a JSON object.")
	}
	var data []byte
	switch v := v.(type) {
	case string: // an agent that has written its JSON into a string
		data = []byte(v)
	default:
		data = ojson.Pretty(v)
	}
	got, err := r.StageResult(ctx, a.String("turn_id"), data)
	if err != nil {
		return nil, err
	}
	return ojson.NewObject("turn_id", got.TurnID, "staging_path", got.Path, "bytes", got.Size,
		"next", "agentxchain_verify_turn, then agentxchain_accept_turn"), nil
}

// verify implements agentxchain_verify_turn. It runs and records nothing.
func verify(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	turn, v, _, err := r.Validate(ctx, a.String("turn_id"))
	if err != nil {
		return nil, err
	}
	o := ojson.NewObject("turn_id", turn.TurnID, "valid", v.OK)
	if !v.OK {
		o.Set("failed_stage", v.Stage)
		o.Set("error_class", v.Class)
		o.Set("problems", problems(v.Errors))
	}
	if len(v.Warnings) > 0 {
		o.Set("warnings", v.Warnings)
	}
	return o, nil
}

// accept implements agentxchain_accept_turn. A refusal says what to correct.
func accept(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	got, err := r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: a.String("turn_id")})
	if err != nil {
		o := &ojson.Object{}
		var refused *wire.Error
		if errors.As(err, &refused) && refused.Stage != "" {
			o.Set("failed_stage", refused.Stage)
		}
		return o, err
	}
	res := got.Result
	o := ojson.NewObject("run_id", got.Run, "turn_id", res.Turn.TurnID, "status", string(got.State.Status),
		"phase", got.State.Phase, "accepted", res.Entry)
	if len(res.Warnings) > 0 {
		o.Set("warnings", res.Warnings)
	}
	if res.Gate != nil {
		o.Set("gate", res.Gate.Object(res.GateType == "phase_transition"))
	}
	o.Set("pending_gates", pendingGates(got.State))
	if a.Bool("checkpoint") {
		if err := commit(ctx, r, res.Turn.TurnID, o); err != nil {
			return o, err
		}
	}
	if n := r.Next(ctx); n != nil {
		o.Set("next_action", ojson.NewObject("command", n.Command, "reason", n.Reason))
	}
	return o, nil
}

// checkpoint implements agentxchain_checkpoint.
func checkpoint(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	o := &ojson.Object{}
	return o, commit(ctx, r, a.String("turn_id"), o)
}

func commit(ctx context.Context, r *runner.Runner, turnID string, o *ojson.Object) error {
	saved, err := r.Checkpoint(ctx, turnID)
	if err != nil {
		return err
	}
	o.Set("turn_id", saved.Turn)
	o.Set("checkpoint", ojson.OrNull(saved.Commit))
	if saved.Skipped != "" {
		o.Set("skipped", saved.Skipped)
	}
	return nil
}

// reject implements agentxchain_reject_turn.
func reject(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	if a.String("reason") == "" {
		return nil, refusal(wire.CodeInvalidArgument, "reason is required: what the next attempt has to do better.")
	}
	got, err := r.RejectTurn(ctx, runner.RejectOptions{TurnID: a.String("turn_id"), Reason: a.String("reason")})
	if err != nil {
		return nil, err
	}
	t := got.Result.Turn
	return ojson.NewObject("run_id", got.Run, "turn_id", t.TurnID, "attempt", t.Attempt, "turn_status", t.Status,
		"status", string(got.State.Status), "blocked_on", got.State.BlockedOn), nil
}

// escalate implements agentxchain_escalate: the one way out that is always open to an agent.
func escalate(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	if a.String("reason") == "" {
		return nil, refusal(wire.CodeInvalidArgument, "reason is required: what a person has to decide.")
	}
	got, err := r.Escalate(ctx, protocol.Escalate{
		TurnID: a.String("turn_id"),
		Reason: a.String("reason"),
		Detail: a.String("detail"),
	})
	if err != nil {
		return nil, err
	}
	return ojson.NewObject("run_id", got.Run, "status", string(got.State.Status), "blocked_on", got.Result.BlockedOn,
		"escalation_id", ojson.OrNull(got.Result.EscalationID),
		"instruction", "The run waits for a person now. Tell them, and stop."), nil
}
