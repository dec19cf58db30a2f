// The result of a turn from the protocol's own members: status, artifacts, the run outcome with its
// evidence, the failure (docs/leases.md#outcomes-without-a-turn-result).

package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// derive makes the turn's result for a report without one. It claims nothing that the report does
// not: the rules that judge every result find what is missing.
func (s *Server) derive(ctx context.Context, req *pb.ReportStepOutcomeRequest, evidence *ojson.Object,
	h lease.Holder) ([]byte, error) {
	v, err := s.r.View(ctx)
	if err != nil {
		return nil, err
	}
	turn, ok := v.State.ActiveTurns.Get(h.Ref.StepID)
	if !ok {
		_, err := s.r.CheckLease(ctx, h)
		return nil, err
	}
	d := &deriving{req: req, run: req.GetRunOutcome(), evidence: evidence}
	if role := v.Config.Role(turn.AssignedRole); role != nil {
		d.writes = role.WriteAuthority
	}
	out := ojson.NewObject(
		"schema_version", "1.0",
		"run_id", v.State.Run(),
		"turn_id", turn.TurnID,
		"role", turn.AssignedRole,
		"runtime_id", turn.RuntimeID,
		"status", d.status(),
		"summary", d.summary(),
		"decisions", []any{},
		"objections", d.objections(),
		"files_changed", d.files(),
		"artifacts_created", d.names(),
		"verification", d.verification(),
		"artifact", d.artifact(),
		"proposed_next_role", nextRole(v),
		"phase_transition_request", nil,
		"run_completion_request", nil,
		"needs_human_reason", nil,
	)
	if d.status() == wire.ResultNeedsHuman {
		out.Set("needs_human_reason", cmp.Or(d.run.GetRiskSummary(), d.summary()))
	}
	if items := turn.IntakeContext.Strings("acceptance_contract"); len(items) > 0 {
		out.Set("intent_response", d.answers(items))
	}
	if usd := d.run.GetEstimatedCostUsd(); usd > 0 {
		out.Set("cost", ojson.NewObject("usd", usd))
	}
	out.Set("derived_from", "report_step_outcome")
	if f := req.GetFailure(); f != nil {
		if o, err := messageObject(f); err == nil {
			out.Set("failure", o)
		}
	}
	return ojson.Pretty(out), nil
}

// nextRole returns a role that the phase allows next; a plan decides for itself.
func nextRole(v *runner.View) string {
	if route := v.Config.Route(v.State.Phase); route != nil && len(v.State.OpenCharters()) == 0 {
		for _, id := range route.AllowedNextRoles {
			if id != "" {
				return id
			}
		}
	}
	return "human"
}

type deriving struct {
	req      *pb.ReportStepOutcomeRequest
	run      *pb.RunOutcome
	writes   string // the role's write authority
	evidence *ojson.Object
}

// status returns the strictest status in the report.
func (d *deriving) status() string {
	decision := strictest(d.run)
	switch {
	case d.req.Status != pb.PlanStatus_COMPLETE, decision == pb.OutcomeDecision_REJECT:
		return wire.ResultFailed
	case decision == pb.OutcomeDecision_ESCALATE:
		return wire.ResultNeedsHuman
	case decision == pb.OutcomeDecision_ITERATE:
		return wire.ResultFailed // not done: the task is carried out again
	}
	return wire.ResultCompleted
}

func (d *deriving) summary() string {
	if f := d.req.GetFailure(); f != nil {
		if said := oneLine(cmp.Or(f.Message, f.Code, f.Class), 4000); said != "" {
			return said
		}
	}
	if said := oneLine(d.run.GetSummary(), 4000); said != "" {
		return said
	}
	var parts []string
	for _, a := range d.req.Artifacts {
		if said := oneLine(cmp.Or(a.GetSummary(), a.GetPath(), a.GetArtifactId()), 400); said != "" {
			parts = append(parts, said)
		}
	}
	if len(parts) == 0 {
		for _, e := range d.req.Events {
			if said := oneLine(e.GetMessage(), 400); said != "" {
				parts = []string{said} // the last one
			}
		}
	}
	return cmp.Or(oneLine(strings.Join(parts, "; "), 4000),
		"The runner reported "+strings.ToLower(d.req.Status.String())+" and no more.")
}

// files returns the paths of the artifacts, as in the project.
func (d *deriving) files() []string {
	out := []string{}
	for _, a := range d.req.Artifacts {
		if a.GetPath() == "" {
			continue
		}
		path := a.GetPath()
		if clean, problem := wire.CleanPath(path); problem == "" {
			path = clean
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

func (d *deriving) names() []string {
	out := []string{}
	for _, a := range d.req.Artifacts {
		if id := oneLine(a.GetArtifactId(), 200); id != "" && a.GetPath() == "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

func (d *deriving) artifact() *ojson.Object {
	kind := "review"
	switch {
	case d.writes == wire.Proposed:
		kind = "patch"
	case d.writes == wire.Authoritative && len(d.files()) > 0:
		kind = "workspace"
	}
	return ojson.NewObject("type", kind, "ref", nil)
}

// objections returns what a review has found: the risk, else its own text, or why it failed.
func (d *deriving) objections() []*ojson.Object {
	if list := d.evidence.Objects("objections"); len(list) > 0 {
		return list
	}
	said := oneLine(d.run.GetRiskSummary(), 4000)
	if said == "" && d.writes == wire.ReviewOnly {
		said = oneLine(cmp.Or(d.run.GetSummary(), d.req.GetFailure().GetMessage()), 4000)
	}
	if said == "" {
		return []*ojson.Object{}
	}
	severity := strings.ToLower(strings.TrimSpace(d.run.GetRiskLevel()))
	if !slices.Contains([]string{"low", "medium", "high", "blocking"}, severity) {
		severity = "low"
	}
	return []*ojson.Object{
		ojson.NewObject("id", "OBJ-001", "severity", severity, "statement", said, "status", "raised"),
	}
}

// verification returns what was run, and how it ended: evidence.verification in the form of a turn
// result; else evidence.checks or evidence.commands, lists of objects with command (or name) and
// exit_code (or passed, or status); else the evaluations of the artifacts.
func (d *deriving) verification() *ojson.Object {
	if own := d.evidence.Object("verification"); own != nil {
		return own
	}
	var evidence, commands []any
	failed := false
	add := func(command string, code int) {
		commands = append(commands, command)
		evidence = append(evidence, ojson.NewObject("command", command, "exit_code", code))
		failed = failed || code != 0
	}
	for _, list := range []string{"checks", "commands", "machine_evidence"} {
		for i, c := range d.evidence.Objects(list) {
			command := oneLine(cmp.Or(c.String("command"), c.String("name"), fmt.Sprintf("%s[%d]", list, i)), 1000)
			code, known := c.Int("exit_code")
			if !known && c.Has("passed") {
				known, code = true, exitCode(c.Bool("passed"))
			}
			if said := strings.ToLower(c.String("status")); !known && said != "" {
				known, code = true, 1
				if said == "pass" || said == "passed" || said == "success" {
					code = 0
				}
			}
			if known {
				add(command, code)
			}
		}
	}
	for _, a := range d.req.Artifacts {
		for _, e := range a.GetEvalResults() {
			add("eval "+oneLine(e.GetMetric(), 200), exitCode(e.GetPassed()))
		}
	}
	if evidence == nil {
		return ojson.NewObject("status", "skipped", "commands", []any{},
			"evidence_summary", "The report carries no evidence.", "machine_evidence", []any{})
	}
	status := "pass"
	if failed {
		status = "fail"
	}
	return ojson.NewObject("status", status, "commands", commands,
		"evidence_summary", fmt.Sprintf("%d checks in the evidence of the report.", len(evidence)),
		"machine_evidence", evidence)
}

func exitCode(passed bool) int {
	if passed {
		return 0
	}
	return 1
}

// answers gives each item of the acceptance contract the report's verdict on the whole: an accepted
// outcome addresses them.
func (d *deriving) answers(items []string) []*ojson.Object {
	if list := d.evidence.Objects("intent_response"); len(list) > 0 {
		return list
	}
	status := "deferred"
	if d.run.GetFinalDecision() == pb.OutcomeDecision_ACCEPT {
		status = "addressed"
	}
	return ojson.List(items, func(item string) *ojson.Object {
		return ojson.NewObject("item", item, "status", status, "detail", d.summary())
	})
}
