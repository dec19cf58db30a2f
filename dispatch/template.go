// The turn-result skeleton an actor fills in (docs/spec/results.md#members, docs/bundles.md#what-is-in-it).

package dispatch

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Template returns a turn result for in.Turn with everything known filled in and the rest as placeholders of the
// form <…>, which validation refuses until they are replaced. It returns nil when Build would fail on the same
// input.
func Template(in Input) *ojson.Object {
	v, err := newView(in)
	if err != nil {
		return nil
	}
	return v.template()
}

func (v *view) template() *ojson.Object {
	decision := ojson.NewObject("id", v.freeDecision(), "category", "implementation",
		"statement", "<what was decided>", "rationale", "<why, and what was weighed against it>")
	o := ojson.NewObject(
		"schema_version", "1.0",
		"run_id", v.State.Run(),
		"turn_id", v.Turn.TurnID,
		"role", v.roleID,
		"runtime_id", v.Turn.RuntimeID,
		"status", wire.ResultCompleted,
		"summary", "<one sentence: what this turn achieved>",
		"decisions", []*ojson.Object{decision},
		"objections", v.objectionTemplate(),
		"files_changed", v.filesTemplate(),
		"artifacts_created", []any{},
		"verification", v.verificationTemplate(),
		"artifact", v.artifactTemplate(),
	)
	if v.role.WriteAuthority == wire.Proposed {
		o.Set("proposed_changes", []*ojson.Object{ojson.NewObject(
			"path", "<path from the project root>", "action", "create",
			"content", "<the whole new text of the file>")})
	}
	o.Set("proposed_next_role", v.nextRoleHint())
	o.Set("phase_transition_request", nil)
	o.Set("run_completion_request", nil)
	o.Set("needs_human_reason", nil)
	if items := v.Turn.IntakeContext.Strings("acceptance_contract"); len(items) > 0 {
		var answers []*ojson.Object
		for _, item := range items {
			answers = append(answers,
				ojson.NewObject("item", item, "status", "addressed", "detail", "<how, or why not>"))
		}
		o.Set("intent_response", answers)
	}
	if idle := v.idleTemplate(); idle != nil {
		o.Set("idle_expansion_result", idle)
	}
	o.Set("cost", nil) // unknown; a runtime that measures it fills it in
	return o
}

// decisionsATurn is the distance between the decision numbers of concurrent turns.
const decisionsATurn = 20

// freeDecision returns the id from which the turn may number its decisions: no decision of the run and none that
// outlives its run has it, and no concurrent turn was given it.
func (v *view) freeDecision() string {
	taken := run.DecodeDecisionIDs(v.Index.DecisionIDs)
	rows := v.RepoDecisions
	if rows == nil {
		rows = v.State.RepoDecisions
	}
	for _, row := range rows {
		taken.Add(row.String("id"))
	}
	next := taken.Next()
	first := v.Turn.AssignedSequence
	for _, t := range v.State.ActiveTurns.All() {
		first = min(first, t.AssignedSequence)
	}
	n, _, ok := run.DecisionNumber(next)
	if !ok || first == v.Turn.AssignedSequence || n > run.MaxSmallDecision/2 {
		return next
	}
	return run.DecisionID(n + uint64(decisionsATurn*(v.Turn.AssignedSequence-first)))
}

// freeObjection returns the id from which the turn may number its objections: each turn of a run has a hundred of
// its own.
func (v *view) freeObjection() string {
	return fmt.Sprintf("OBJ-%d01", max(v.Turn.AssignedSequence, 1))
}

// objectionTemplate returns a sample only where a review must object.
func (v *view) objectionTemplate() []*ojson.Object {
	if !v.reviewer() {
		return nil
	}
	o := ojson.NewObject("id", v.freeObjection(), "severity", "medium")
	// The first turn of a run has no earlier turn to object to; the member is optional.
	if id := v.lastTurnID(); id != "" {
		o.Set("against_turn_id", id)
	}
	o.Set("statement", "<what is wrong, missing or risky, concretely>")
	o.Set("status", "raised")
	return []*ojson.Object{o}
}

func (v *view) lastTurnID() string {
	if id := v.State.LastCompletedTurnID; id != nil && *id != "" {
		return *id
	}
	return v.last.String("turn_id")
}

func (v *view) filesTemplate() []string {
	if v.role.WriteAuthority == wire.Authoritative {
		return []string{"<path of each file you changed, from the project root>"}
	}
	return nil
}

func (v *view) verificationTemplate() *ojson.Object {
	asked := v.gate != nil && v.gate.RequiresVerify && !v.remote() // only a runtime that runs commands can pass it
	if v.role.WriteAuthority == wire.Authoritative || asked {
		return ojson.NewObject("status", "pass",
			"commands", []string{"<command you ran>"},
			"evidence_summary", "<what the commands showed>",
			"machine_evidence", []*ojson.Object{ojson.NewObject("command", "<command you ran>", "exit_code", 0)})
	}
	summary := "Nothing was executed in this turn."
	if v.reviewer() {
		summary = "Review by reading; nothing was executed."
	}
	return ojson.NewObject("status", "skipped", "commands", []any{}, "evidence_summary", summary,
		"machine_evidence", []any{})
}

func (v *view) artifactTemplate() *ojson.Object {
	switch v.role.WriteAuthority {
	case wire.Authoritative:
		return ojson.NewObject("type", "workspace", "ref", "git:dirty")
	case wire.Proposed:
		return ojson.NewObject("type", "patch", "ref", nil)
	}
	return ojson.NewObject("type", "review", "ref", nil)
}

// nextRoleHint returns a placeholder that names the choices.
func (v *view) nextRoleHint() string {
	if roles := v.nextRoles(); len(roles) > 0 {
		return "<one of: " + strings.Join(roles, ", ") + ">"
	}
	return "<a role id, or human>"
}

// nextRoles returns the legal values of proposed_next_role; empty when the phase does not restrict them.
func (v *view) nextRoles() []string {
	var out []string
	human := false
	for _, r := range v.allowedNext() {
		human = human || r == "human"
		// Only names that cannot end the placeholder early.
		if !strings.ContainsAny(r, "<>") {
			out = append(out, r)
		}
	}
	if len(out) > 0 && !human {
		out = append(out, "human")
	}
	return out
}

// idleTemplate returns the member that is required of turns that look for new work
// (docs/spec/results.md#idle-expansion).
func (v *view) idleTemplate() *ojson.Object {
	c := v.Turn.IntakeContext
	if c.String("source") != "vision_idle_expansion" {
		return nil
	}
	iteration := 1
	for _, o := range []*ojson.Object{c.Object("idle_expansion"), extraObject(v.Turn, "idle_expansion_context")} {
		if n, ok := o.Int("expansion_iteration"); ok && n > 0 {
			iteration = n
			break
		}
	}
	return ojson.NewObject(
		"kind", "new_intake_intent",
		"expansion_iteration", iteration,
		"vision_traceability", []*ojson.Object{ojson.NewObject(
			"vision_heading", "<heading of VISION.md>", "goal", "<what under it this serves>", "kind", "advances")},
		"new_intake_intent", ojson.NewObject(
			"title", "<short name of the work>",
			"charter", "<what to do and why>",
			"acceptance_contract", []string{"<one checkable condition>"},
			"priority", "p2",
			"template", "generic"),
	)
}

func extraObject(t *run.Turn, key string) *ojson.Object {
	o, _ := t.Extra.Value(key).(*ojson.Object)
	return o
}
