// What individual rules write into a verdict chain.

package protocol

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxTraced bounds how many findings of one rule a chain names.
const maxTraced = 50

// configOf returns the configuration member that a check of an acceptance uses.
func (a *acceptance) configOf(rule string) string {
	switch rule {
	case verdict.RuleBundle:
		return "/rules/result_repair"
	case verdict.RuleProtected:
		return "/git_hooks/protected"
	case verdict.RuleOverride:
		return gates.Pointer("roles", a.turn.AssignedRole, "decision_authority")
	case verdict.RuleObserved, verdict.RuleEmpty, verdict.RuleProposal:
		return gates.Pointer("roles", a.turn.AssignedRole, "write_authority")
	case verdict.RuleSignoff:
		return "/authority/signoff_documents"
	case verdict.RuleIntent:
		return "/intent_coverage_mode"
	case verdict.RuleCoverage:
		return "/gate_semantic_coverage_mode"
	case verdict.RulePolicies, verdict.RuleReplay:
		return "/policies"
	}
	return ""
}

// traceStages records the five stages up to the first that refuses.
func (a *acceptance) traceStages() {
	t := a.t
	if t.Trace == nil {
		return
	}
	var seen []verdict.Evidence
	if b := a.op.Staged; b != nil {
		seen = []verdict.Evidence{{Path: a.op.StagedPath, SHA256: b.Digest}}
	}
	for _, stage := range result.Stages() {
		s := verdict.Step{
			Rule:     verdict.RuleStage + stage,
			Verdict:  verdict.Pass,
			Spec:     verdict.SpecOf(verdict.RuleStage + stage),
			Evidence: seen,
		}
		switch stage {
		case result.StageArtifact:
			s.Config = gates.Pointer("roles", a.turn.AssignedRole, "write_authority")
		case result.StageProtocol:
			s.Config = gates.Pointer("routing", t.State.Phase)
		}
		if !a.v.OK && a.v.Stage == stage {
			s.Verdict, s.Code = verdict.Fail, a.v.Code()
			for i, p := range a.v.Errors {
				if i == maxTraced {
					break
				}
				s.Steps = append(s.Steps, &verdict.Step{
					Rule:    verdict.RuleStage + stage,
					Subject: p.Field,
					Verdict: verdict.Fail,
					Code:    p.Code,
					Why:     p.Message,
					Spec:    s.Spec,
					Config:  s.Config,
				})
			}
			s.Why = a.v.Errors.Join()
			t.Trace.Add(s)
			return
		}
		t.Trace.Add(s)
	}
}

// tracePolicies records every policy whose scope covers the turn.
func tracePolicies(t *change.Draft, in limits.PolicyInput) {
	if t.Trace == nil {
		return
	}
	for i := range t.Config.Policies {
		p := &t.Config.Policies[i]
		if !limits.PolicyApplies(p, in.Phase, in.Role) {
			continue
		}
		s := verdict.Step{
			Rule:    verdict.RulePolicy + p.Rule,
			Subject: p.ID,
			Verdict: verdict.Pass,
			Spec:    verdict.SpecOf(verdict.RulePolicies),
			Config:  fmt.Sprintf("/policies/%d", i),
		}
		if why := limits.PolicyViolation(p, in); why != "" {
			s.Verdict, s.Why = verdict.Fail, why
			switch {
			case p.Rule == config.RuleRequireReproducibleVerify && in.Replay == nil:
				s.Verdict = verdict.Unknown
			case p.Action == "warn":
				s.Verdict = verdict.Warn
			}
		}
		t.Trace.Add(s)
	}
}

// phaseGate evaluates the exit gate of the phase and records what it looked at.
func phaseGate(t *change.Draft, in gates.Input) gates.Result {
	return traceGate(t, in, gates.EvaluatePhaseExit)
}

// completionGate is like phaseGate, for the end of the run.
func completionGate(t *change.Draft, in gates.Input) gates.Result {
	return traceGate(t, in, gates.EvaluateRunCompletion)
}

func traceGate(t *change.Draft, in gates.Input, eval func(gates.Input) gates.Result) gates.Result {
	if t.Trace == nil {
		return eval(in)
	}
	step := &verdict.Step{Rule: verdict.RuleGate, Spec: verdict.SpecOf(verdict.RuleGate)}
	in.Trace = step
	g := eval(in)
	step.Subject = wire.OrEmpty(g.GateID)
	if g.GateID != nil {
		step.Config = gates.Pointer("gates", *g.GateID)
	} else {
		step.Config = gates.Pointer("routing", in.Phase)
	}
	step.Sum()
	switch g.Action {
	case gates.ActionNoRequest:
		return g
	case gates.ActionGateFailed, gates.ActionUnknownPhase, gates.ActionNotFinalPhase:
		if step.Verdict != verdict.Unknown {
			step.Verdict = verdict.Fail
		}
		step.Why = strings.Join(g.Reasons, "; ")
	}
	t.Trace.Add(*step)
	return g
}

// traceApproval records whether the approval policy passes a gate without a person.
func traceApproval(t *change.Draft, g *gates.Result, v gates.ApprovalVerdict) {
	said := verdict.Wait
	if v.Auto {
		said = verdict.Pass
	}
	t.Says(verdict.RuleApproval, wire.OrEmpty(g.GateID), "/approval_policy", said, v.Reason)
}

func tracePeople(t *change.Draft, res *ApproveResult, err *wire.Error) {
	if t.Trace == nil {
		return
	}
	at := gates.GatePointer(res.Gate, "requires_human_approval")
	if t.Config.GateRule(res.Gate) != nil {
		at = gates.Pointer("authority", "gates", res.Gate)
	}
	if err != nil {
		_ = t.Rule(verdict.RulePeople, res.Gate, at, err)
		return
	}
	said := verdict.Pass
	if !res.Passed {
		said = verdict.Wait
	}
	t.Says(verdict.RulePeople, res.Gate, at, said, fmt.Sprintf("%d of %d people agree", len(res.Votes), res.Needed))
}

// traceTimeouts records every time limit that applies.
func traceTimeouts(t *change.Draft, turn *run.Turn) {
	if t.Trace == nil {
		return
	}
	for _, l := range limits.TimeLimits(t.Config, t.State, turn) {
		at := "/timeouts/per_" + l.Scope + "_minutes"
		if r := t.Config.Route(t.State.Phase); l.Scope == "phase" && r != nil && r.TimeoutMinutes != nil {
			at = gates.Pointer("routing", t.State.Phase, "timeout_minutes")
		}
		b := l.At(t.Env.Now)
		said, why := verdict.Pass, fmt.Sprintf("%d of %s minutes", b.ElapsedMinutes, limits.MinutesText(l.Minutes))
		if b.Exceeded {
			said = verdict.Fail
			if l.Action == config.TimeoutWarn {
				said = verdict.Warn
			}
		}
		t.Says(verdict.RuleTimeout+l.Scope, l.Phase, at, said, why)
	}
}

func traceBudget(t *change.Draft) {
	r := t.State.BudgetStatus.RemainingUSD
	if t.Trace == nil || r == nil {
		return
	}
	spent := t.State.BudgetStatus.SpentUSD
	said, why := verdict.Pass, fmt.Sprintf("$%.2f spent of $%.2f", spent, spent+*r)
	if *r <= 0 {
		said = verdict.Fail
		if warnOnly(t.Config) {
			said = verdict.Warn
		}
	}
	t.Says(verdict.RuleBudgetRun, "", "/budget/per_run_max_usd", said, why)
}

func traceProgress(t *change.Draft, out gates.NonProgressResult, threshold int) {
	if t.Trace == nil {
		return
	}
	said, why := verdict.Pass, ""
	if out.Count > 0 {
		why = fmt.Sprintf("gate %s fails in the same way for turn %d of %d in a row", wire.Quoted(out.GateID),
			out.Count, threshold)
	}
	if out.Count >= threshold {
		said = verdict.Fail
	}
	t.Says(verdict.RuleNonProgress, out.GateID, "/run_loop/non_progress_threshold", said, why)
}

// traceRole records which role has the turn.
func traceRole(t *change.Draft, role string, warnings []string, err *wire.Error) {
	if t.Trace == nil {
		return
	}
	at := gates.Pointer("routing", t.State.Phase)
	switch {
	case err != nil:
		_ = t.Rule(verdict.RuleRole, role, at, err)
	case len(warnings) > 0:
		t.Says(verdict.RuleRole, role, at, verdict.Warn, strings.Join(warnings, " "))
	default:
		t.Says(verdict.RuleRole, role, at, verdict.Pass, "")
	}
}

func traceAttempts(t *change.Draft, turn *run.Turn) {
	if t.Trace == nil {
		return
	}
	most := t.Config.Rules.MaxTurnRetries
	said := verdict.Pass
	if turn.Attempt >= most {
		said = verdict.Fail
	}
	t.Says(verdict.RuleAttempts, turn.TurnID, "/rules/max_turn_retries", said,
		fmt.Sprintf("attempt %d of %d", turn.Attempt, most))
}

// traceHooks records what hooks answered: their verdicts are on record, and no rule asks a hook again.
func traceHooks(t *change.Draft, rows []AuditRow) {
	if t.Trace == nil {
		return
	}
	for _, r := range rows {
		if r.Ledger != wire.LedgerHookAudit {
			continue
		}
		phase, name := r.Row.String("hook_phase"), r.Row.String("hook_name")
		action := r.Row.String("orchestrator_action")
		said := verdict.Pass
		switch {
		case strings.HasPrefix(action, "blocked"):
			said = verdict.Fail
		case strings.HasPrefix(action, "warned"):
			said = verdict.Warn
		}
		why := r.Row.String("message")
		if why == "" {
			why = action
		}
		t.Says(verdict.RuleHook+phase, name, gates.Pointer("hooks", phase), said, why)
	}
}
