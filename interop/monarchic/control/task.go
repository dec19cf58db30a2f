// The Task of a leased turn: the assignment in the dispatch bundle (docs/monarchic-export.md#kinds).

package control

import (
	"cmp"
	"context"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Files of a dispatch bundle (docs/bundles.md#what-is-in-it).
const (
	assignmentFile = "ASSIGNMENT.json"
	promptFile     = "PROMPT.md"
	contextFile    = "CONTEXT.md"
)

// task describes an active turn. The bundle's bytes are those that were verified against their
// seal. extensions.agentxchain has what an agent needs beyond the contract: the prompt, the
// context, and the skeleton of the result.
func (s *Server) task(ctx context.Context, turnID string) (*pb.Task, error) {
	v, err := s.r.View(ctx)
	if err != nil {
		return nil, err
	}
	turn, ok := v.State.ActiveTurns.Get(turnID)
	if !ok {
		return nil, &wire.Error{
			Code:    wire.CodeTurnNotActive,
			Field:   "turn_id",
			Message: "Turn " + turnID + " is not active.",
			Hint:    "git agentxchain status",
		}
	}
	bundle, err := s.r.OpenBundle(ctx, v, turn)
	if err != nil {
		return nil, err
	}
	template, err := s.r.Template(ctx, turnID)
	if err != nil {
		return nil, err
	}
	file := func(name string) string {
		data, _ := bundle.File(name)
		return strings.ToValidUTF8(string(data), "\ufffd")
	}
	a, err := ojson.DecodeObject([]byte(file(assignmentFile)))
	if err != nil {
		a = &ojson.Object{}
	}
	role := v.Config.Role(turn.AssignedRole)
	goal := turn.IntakeContext.String("charter")
	if goal == "" && role != nil {
		goal = role.Mandate
	}
	out := &pb.Task{
		Version: contractVersion,
		TaskId:  turnID,
		Role:    roleValue(agentRole(v.Config, turn.AssignedRole)),
		RoleId:  turn.AssignedRole,
		Goal:    cmp.Or(goal, turn.AssignedRole+" turn in "+v.State.Phase),
		Inputs: pick(a, "intake_context", "delegation_context", "delegation_review", "conflict_context",
			"last_rejection"),
		Constraints: pick(a, "write_authority", "reserved_paths", "deadline_at", "allowed_next_roles",
			"budget_reservation_usd"),
		RunContext: &pb.RunContext{
			Version:  contractVersion,
			Repo:     v.Config.Project.ID,
			Worktree: ".",
			Image:    "host",
			Runner:   turn.RuntimeID,
			Labels:   []string{v.State.Phase, turn.AssignedRole},
		},
		GatesRequired: gates(v),
	}
	own := ojson.NewObject("run_id", v.State.Run(), "turn_id", turnID, "role", turn.AssignedRole,
		"runtime_id", turn.RuntimeID, "phase", v.State.Phase, "attempt", turn.Attempt, "deadline_at", turn.DeadlineAt,
		"bundle_path", wire.BundleDir(turnID), "staging_path", wire.StagingPath(turnID), "prompt", file(promptFile),
		"context", file(contextFile), "turn_result_template", template,
		"resolved_role_bundle", bridge.Value(bridge.DispatchedRole(v.Config, turn, a, file(promptFile))))
	if out.Extensions, err = structpb.NewStruct(map[string]any{"agentxchain": toMap(own)}); err != nil {
		return nil, err
	}
	return out, nil
}

// gates returns the gates that end the phase.
func gates(v *runner.View) []string {
	if route := v.Config.Route(v.State.Phase); route != nil && route.ExitGate != "" {
		return []string{route.ExitGate}
	}
	return nil
}

// pick returns the Struct of some members, nil when none of them is present.
func pick(o *ojson.Object, names ...string) *structpb.Struct {
	out := &ojson.Object{}
	for _, name := range names {
		if v, ok := o.Get(name); ok && v != nil {
			out.Set(name, v)
		}
	}
	if out.Len() == 0 {
		return nil
	}
	st, _ := structpb.NewStruct(toMap(out))
	return st
}
