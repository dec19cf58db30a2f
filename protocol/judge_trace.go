// What single rules write into a verdict chain.

package protocol

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxTraced bounds how many findings of one rule a chain names.
const maxTraced = 50

// pointer is a JSON Pointer (RFC 6901) into agentxchain.json.
func pointer(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteByte('/')
		if strings.ContainsAny(n, "~/") {
			n = strings.ReplaceAll(strings.ReplaceAll(n, "~", "~0"), "/", "~1")
		}
		b.WriteString(n)
	}
	return b.String()
}

func gatePointer(gate, member string) string {
	if gate == "" {
		return ""
	}
	return pointer("gates", gate, member)
}

// configOf is the member of the configuration that a check of an acceptance goes by.
func (a *acceptance) configOf(rule string) string {
	switch rule {
	case RuleBundle:
		return "/rules/result_repair"
	case RuleProtected:
		return "/git_hooks/protected"
	case RuleOverride:
		return pointer("roles", a.turn.AssignedRole, "decision_authority")
	case RuleObserved, RuleEmpty, RuleProposal:
		return pointer("roles", a.turn.AssignedRole, "write_authority")
	case RuleSignoff:
		return "/authority/signoff_documents"
	case RuleIntent:
		return "/intent_coverage_mode"
	case RuleCoverage:
		return "/gate_semantic_coverage_mode"
	case RulePolicies, RuleReplay:
		return "/policies"
	}
	return ""
}

// traceStages writes down the five stages up to the first that refuses.
func (a *acceptance) traceStages() {
	t := a.t
	if t.trace == nil {
		return
	}
	var seen []verdict.Evidence
	if b := a.op.Staged; b != nil {
		seen = []verdict.Evidence{{Path: a.op.StagedPath, SHA256: b.Digest}}
	}
	for _, stage := range result.Stages() {
		s := verdict.Step{Rule: RuleStage + stage, Verdict: verdict.Pass, Spec: SpecOf(RuleStage + stage), Evidence: seen}
		switch stage {
		case result.StageArtifact:
			s.Config = pointer("roles", a.turn.AssignedRole, "write_authority")
		case result.StageProtocol:
			s.Config = pointer("routing", t.s.Phase)
		}
		if !a.v.OK && a.v.Stage == stage {
			s.Verdict, s.Code = verdict.Fail, a.v.Code()
			for i, p := range a.v.Errors {
				if i == maxTraced {
					break
				}
				s.Steps = append(s.Steps, &verdict.Step{Rule: RuleStage + stage, Subject: p.Field, Verdict: verdict.Fail,
					Code: p.Code, Why: p.Message, Spec: s.Spec, Config: s.Config})
			}
			s.Why = a.v.Errors.Join()
			t.trace.Add(s)
			return
		}
		t.trace.Add(s)
	}
}

// tracePolicies writes down every policy whose scope the turn is in.
func (t *transition) tracePolicies(in PolicyInput) {
	if t.trace == nil {
		return
	}
	for i := range t.cfg.Policies {
		p := &t.cfg.Policies[i]
		if !policyApplies(p, in.Phase, in.Role) {
			continue
		}
		s := verdict.Step{
			Rule:    RulePolicy + p.Rule,
			Subject: p.ID,
			Verdict: verdict.Pass,
			Spec:    SpecOf(RulePolicies),
			Config:  fmt.Sprintf("/policies/%d", i),
		}
		if why := policyViolation(p, in); why != "" {
			s.Verdict, s.Why = verdict.Fail, why
			switch {
			case p.Rule == config.RuleRequireReproducibleVerify && in.Replay == nil:
				s.Verdict = verdict.Unknown
			case p.Action == "warn":
				s.Verdict = verdict.Warn
			}
		}
		t.trace.Add(s)
	}
}

// phaseGate evaluates the exit gate of the phase and writes down what it looked at.
func (t *transition) phaseGate(in GateInput) GateResult {
	return t.traceGate(in, EvaluatePhaseExit)
}

// completionGate is phaseGate for the end of the run.
func (t *transition) completionGate(in GateInput) GateResult {
	return t.traceGate(in, EvaluateRunCompletion)
}

func (t *transition) traceGate(in GateInput, eval func(GateInput) GateResult) GateResult {
	if t.trace == nil {
		return eval(in)
	}
	step := &verdict.Step{Rule: RuleGate, Spec: SpecOf(RuleGate)}
	in.Trace = step
	g := eval(in)
	step.Subject = wire.OrEmpty(g.GateID)
	if g.GateID != nil {
		step.Config = pointer("gates", *g.GateID)
	} else {
		step.Config = pointer("routing", in.Phase)
	}
	step.Sum()
	switch g.Action {
	case ActionNoRequest:
		return g
	case ActionGateFailed, ActionUnknownPhase, ActionNotFinalPhase:
		if step.Verdict != verdict.Unknown {
			step.Verdict = verdict.Fail
		}
		step.Why = strings.Join(g.Reasons, "; ")
	}
	t.trace.Add(*step)
	return g
}

// traceFile writes down one document of a gate. One that nobody looked at when the
// operation was decided is unknown: it counts as missing, and may have been there.
func traceFile(in GateInput, gate string, a *config.GateArtifact, findings, warnings []GateFinding) {
	if in.Trace == nil {
		return
	}
	at := gatePointer(gate, "requires_files")
	if !a.PathRules {
		at = pointer("workflow_kit", "phases", in.Phase, "artifacts")
	}
	s := verdict.Step{Rule: RuleGateFile, Subject: a.Path, Verdict: verdict.Pass, Spec: SpecOf(RuleGateFile), Config: at}
	if !in.Files.Taken(a.Path) {
		s.Verdict, s.Why = verdict.Unknown, "it was not looked at when the operation was decided"
		in.Trace.Add(s)
		return
	}
	s.Evidence = []verdict.Evidence{{Path: a.Path, SHA256: in.Files.facts[a.Path].Digest}}
	for _, f := range findings {
		s.Add(verdict.Step{Rule: RuleGate + "." + f.Code, Subject: subjectOf(f), Verdict: verdict.Fail, Why: f.Reason,
			Spec: SpecOf(RuleGate + "." + f.Code), Config: at})
	}
	for _, f := range warnings {
		s.Add(verdict.Step{Rule: RuleGate + "." + f.Code, Subject: subjectOf(f), Verdict: verdict.Warn, Why: f.Reason,
			Spec: SpecOf(RuleGate + "." + f.Code), Config: at})
	}
	if in.Config.Authority != nil && a.Required && in.Files.Exists(a.Path) && !in.Person {
		if m := in.Marks; m == nil || !m.Has(a.Path) {
			s.Add(verdict.Step{Rule: RuleGate + "." + FindingDocumentStale, Subject: a.Path, Verdict: verdict.Unknown,
				Why:  "what it was when the phase began was not recorded",
				Spec: SpecOf(RuleGate + "." + FindingDocumentStale), Config: "/authority"})
		}
	}
	if len(s.Steps) > 0 {
		s.Sum()
		s.Why = s.Steps[0].Why
	}
	in.Trace.Add(s)
}

func subjectOf(f GateFinding) string {
	switch {
	case f.Role != "":
		return f.Role
	case f.Semantics != "":
		return f.Semantics
	}
	return f.Path
}

func traceVerification(in GateInput, gate string, findings []GateFinding) {
	if in.Trace == nil {
		return
	}
	s := verdict.Step{Rule: RuleGateVerify, Subject: in.VerificationStatus, Verdict: verdict.Pass, Spec: SpecOf(RuleGateVerify),
		Config: gatePointer(gate, "requires_verification_pass")}
	for _, f := range findings {
		s.Verdict, s.Code, s.Why = verdict.Fail, f.Code, f.Reason
		if f.Code == FindingNotReproducible {
			s.Config = "/rules/strict_verification"
		}
	}
	in.Trace.Add(s)
}

// traceStale writes down documents that are what they were when the phase began.
func traceStale(in GateInput, paths []string, findings []GateFinding) {
	if in.Trace == nil {
		return
	}
	for i, p := range paths {
		s := verdict.Step{Rule: RuleGate + "." + FindingDocumentStale, Subject: p, Verdict: verdict.Warn,
			Why: p + " is what it was before", Spec: SpecOf(RuleGate + "." + FindingDocumentStale), Config: "/authority"}
		if i < len(findings) {
			s.Verdict, s.Why = verdict.Fail, findings[i].Reason
		}
		in.Trace.Add(s)
	}
}

func tracePerson(in GateInput, gate string, person bool, why string) {
	if in.Trace == nil || !person || in.Person {
		return
	}
	s := verdict.Step{Rule: RuleGatePerson, Subject: gate, Verdict: verdict.Wait, Spec: SpecOf(RuleGatePerson),
		Config: gatePointer(gate, "requires_human_approval"), Why: "a person approves it"}
	if why != "" {
		s.Why = why
	}
	if in.Config.GateRule(gate) != nil {
		s.Config = pointer("authority", "gates", gate)
	}
	in.Trace.Add(s)
}

// traceApproval writes down whether the approval policy passes a gate without a person.
func (t *transition) traceApproval(g *GateResult, v ApprovalVerdict) {
	said := verdict.Wait
	if v.Auto {
		said = verdict.Pass
	}
	t.says(RuleApproval, wire.OrEmpty(g.GateID), "/approval_policy", said, v.Reason)
}

func (t *transition) tracePeople(res *ApproveResult, err *wire.Error) {
	if t.trace == nil {
		return
	}
	at := gatePointer(res.Gate, "requires_human_approval")
	if t.cfg.GateRule(res.Gate) != nil {
		at = pointer("authority", "gates", res.Gate)
	}
	if err != nil {
		_ = t.rule(RulePeople, res.Gate, at, err)
		return
	}
	said := verdict.Pass
	if !res.Passed {
		said = verdict.Wait
	}
	t.says(RulePeople, res.Gate, at, said, fmt.Sprintf("%d of %d people agree", len(res.Votes), res.Needed))
}

// traceTimeouts writes down every time limit that applies.
func (t *transition) traceTimeouts(turn *run.Turn) {
	if t.trace == nil {
		return
	}
	for _, l := range timeLimits(t.cfg, t.s, turn) {
		at := "/timeouts/per_" + l.scope + "_minutes"
		if r := t.cfg.Route(t.s.Phase); l.scope == "phase" && r != nil && r.TimeoutMinutes != nil {
			at = pointer("routing", t.s.Phase, "timeout_minutes")
		}
		b := l.at(t.env.Now)
		said, why := verdict.Pass, fmt.Sprintf("%d of %s minutes", b.ElapsedMinutes, minutesText(l.minutes))
		if b.Exceeded {
			said = verdict.Fail
			if l.action == config.TimeoutWarn {
				said = verdict.Warn
			}
		}
		t.says(RuleTimeout+l.scope, l.phase, at, said, why)
	}
}

func (t *transition) traceBudget() {
	r := t.s.BudgetStatus.RemainingUSD
	if t.trace == nil || r == nil {
		return
	}
	spent := t.s.BudgetStatus.SpentUSD
	said, why := verdict.Pass, fmt.Sprintf("$%.2f spent of $%.2f", spent, spent+*r)
	if *r <= 0 {
		said = verdict.Fail
		if t.warnOnly() {
			said = verdict.Warn
		}
	}
	t.says(RuleBudgetRun, "", "/budget/per_run_max_usd", said, why)
}

func (t *transition) traceProgress(out NonProgressResult, threshold int) {
	if t.trace == nil {
		return
	}
	said, why := verdict.Pass, ""
	if out.Count > 0 {
		why = fmt.Sprintf("gate %s fails in the same way for turn %d of %d in a row", wire.Quoted(out.GateID), out.Count, threshold)
	}
	if out.Count >= threshold {
		said = verdict.Fail
	}
	t.says(RuleNonProgress, out.GateID, "/run_loop/non_progress_threshold", said, why)
}

// traceRole writes down whose turn it is.
func (t *transition) traceRole(role string, warnings []string, err *wire.Error) {
	if t.trace == nil {
		return
	}
	at := pointer("routing", t.s.Phase)
	switch {
	case err != nil:
		_ = t.rule(RuleRole, role, at, err)
	case len(warnings) > 0:
		t.says(RuleRole, role, at, verdict.Warn, strings.Join(warnings, " "))
	default:
		t.says(RuleRole, role, at, verdict.Pass, "")
	}
}

func (t *transition) traceAttempts(turn *run.Turn) {
	if t.trace == nil {
		return
	}
	most := t.cfg.Rules.MaxTurnRetries
	said := verdict.Pass
	if turn.Attempt >= most {
		said = verdict.Fail
	}
	t.says(RuleAttempts, turn.TurnID, "/rules/max_turn_retries", said, fmt.Sprintf("attempt %d of %d", turn.Attempt, most))
}

// traceHooks writes down what hooks answered: their verdicts are recorded, and no rule
// asks a hook again.
func (t *transition) traceHooks(rows []AuditRow) {
	if t.trace == nil {
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
		t.says(RuleHook+phase, name, pointer("hooks", phase), said, why)
	}
}
