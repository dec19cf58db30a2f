// CONTEXT.md: the state of the run for the actor (docs/bundles.md#what-is-in-it).

package dispatch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// maxDecisions is the length of the decision history (docs/bundles.md#limits).
const maxDecisions = 50

// context writes the sections in the protocol's order. Foreign text never
// starts a line with "#": the effective-context compressor splits the document
// at its "##" headings.
func (v *view) context() []byte {
	d := &document{}
	d.block("# Execution Context")
	d.block(v.currentState())
	if goal := unheaded(v.Config.Project.Goal); goal != "" {
		d.block("## Project Goal")
		d.block(goal)
	}
	d.block(v.intakeIntent())
	d.block(v.crossRepo())
	d.block(v.delegationContext())
	v.delegationReview(d)
	v.messages(d)
	v.proposals(d)
	d.block(v.runtimeContract())
	d.block(v.repoDecisions())
	d.block(v.inherited())
	v.lastTurn(d)
	d.block(v.decisionHistory())
	if b := v.State.BlockedOn; b != nil && strings.TrimSpace(*b) != "" {
		d.block("## Blockers\n\n- " + line(*b))
	}
	if e := v.State.Escalation; e != nil {
		var l list
		l.field("From role", orDash(line(e.String("from_role"))))
		l.field("Reason", orDash(line(e.String("reason"))))
		d.block("## Escalation\n\n" + l.String())
	}
	v.workflowArtifacts(d)
	v.gateFiles(d)
	if v.State.PhaseGateStatus.Len() > 0 {
		var l list
		for gate, status := range v.State.PhaseGateStatus.All() {
			l.add("%s: %s", code(gate), line(status))
		}
		if f := v.State.LastGateFailure; f != nil && f.GateID != nil {
			for _, reason := range f.Reasons {
				l.add("%s did not open: %s", code(*f.GateID), line(reason))
			}
		}
		d.block("## Phase Gate Status\n\n" + l.String())
	}
	return d.bytes()
}

func (v *view) currentState() string {
	var l list
	l.field("Run", orDash(line(v.State.Run())))
	l.field("Status", line(string(v.State.Status)))
	l.field("Phase", line(v.State.Phase))
	ref := "none"
	if r := v.State.AcceptedIntegrationRef; r != nil && *r != "" {
		ref = line(*r)
	}
	l.field("Integration ref", ref)
	l.field("Budget spent", dollars(v.State.BudgetStatus.SpentUSD))
	if r := v.State.BudgetStatus.RemainingUSD; r != nil {
		l.field("Budget remaining", dollars(*r))
	}
	return "## Current State\n\n" + l.String()
}

func dollars(usd float64) string {
	s := strconv.FormatFloat(usd, 'f', 2, 64)
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return "-$" + rest
	}
	return "$" + s
}

func (v *view) intakeIntent() string {
	c := v.Turn.IntakeContext
	if c == nil {
		return ""
	}
	var l list
	for _, m := range [][2]string{
		{"Intent", "intent_id"},
		{"Event", "event_id"},
		{"Source", "source"},
		{"Category", "category"},
	} {
		l.field(m[0], orDash(line(c.String(m[1]))))
	}
	out := "## Intake Intent\n\n" + l.String()
	return out + charter(c)
}

// charter formats the charter and the acceptance contract of a context.
func charter(c *ojson.Object) string {
	var out string
	if s := c.String("charter"); strings.TrimSpace(s) != "" {
		out += "\n\n**Charter:**\n\n" + quote(s)
	}
	if items := c.Strings("acceptance_contract"); len(items) > 0 {
		out += "\n\n**Acceptance Contract:**\n\n" + numbered(items)
	}
	return out
}

func (v *view) delegationContext() string {
	c := v.Turn.DelegationContext
	if c == nil {
		return ""
	}
	var l list
	l.field("Delegation", code(c.String("delegation_id")))
	l.field("Parent role", orDash(line(c.String("parent_role"))))
	l.field("Parent turn", code(c.String("parent_turn_id")))
	if ids := c.Strings("required_decision_ids"); len(ids) > 0 {
		l.field("Required decisions", inlineCodes(ids))
	}
	return "## Delegation Context\n\n" + l.String() + charter(c)
}

func (v *view) delegationReview(d *document) {
	c := v.Turn.DelegationReview
	if c == nil {
		return
	}
	d.block("## Delegation Review")
	d.blockf("The work delegated in turn %s has come back. Judge each result against its contract.",
		code(c.String("parent_turn_id")))
	for _, r := range c.Objects("results") {
		d.blockf("### %s → %s", orDash(line(r.String("delegation_id"))), orDash(line(r.String("to_role"))))
		var l list
		l.field("Child turn", code(r.String("child_turn_id")))
		l.field("Status", orDash(line(r.String("status"))))
		l.field("Summary", orDash(line(r.String("summary"))))
		l.field("Files changed", inlineCodes(r.Strings("files_changed")))
		if ver := r.Object("verification"); ver.Len() > 0 {
			l.field("Verification", orDash(line(ver.String("status"))))
		}
		if ids := r.Strings("required_decision_ids"); len(ids) > 0 {
			l.field("Required decisions", inlineCodes(ids))
			l.field("Satisfied decisions", inlineCodes(r.Strings("satisfied_decision_ids")))
			l.field("Missing decisions", inlineCodes(r.Strings("missing_decision_ids")))
		}
		d.block(l.String() + charter(r))
	}
}

func (v *view) runtimeContract() string {
	c := v.capability()
	yes := "no"
	if c.localBinary {
		yes = "yes"
	}
	var l list
	l.field("Runtime", orDash(line(v.Turn.RuntimeID))+" ("+line(c.runtimeType)+")")
	l.field("Transport", line(c.transport))
	l.field("Can write files", line(c.canWrite))
	l.field("Review behaviour", c.reviewBehavior)
	l.field("Proposal support", line(c.proposals))
	l.field("Requires local binary", yes)
	l.field("Workflow artifact ownership", line(c.ownership))
	l.field("Effective write path for this role", c.effectivePath)
	l.field("Effective workflow artifact ownership for this role", line(c.effectiveOw))
	for _, n := range c.notes {
		l.field("Note", n)
	}
	return "## Runtime Capability Contract\n\n" + l.String()
}

func (v *view) repoDecisions() string {
	rows := v.RepoDecisions
	if rows == nil {
		rows = v.State.RepoDecisions
	}
	var l list
	left := 0
	for _, r := range rows {
		// A snapshot's rows may lack a status; only an explicit other status counts.
		if s := r.String("status"); s != "" && s != "active" {
			continue
		}
		if len(l) == maxListItems {
			left++
			continue
		}
		by := line(r.String("role"))
		if role := v.Config.Role(r.String("role")); role != nil && role.DecisionAuthority != nil {
			by += fmt.Sprintf(", authority %d", *role.DecisionAuthority)
		}
		item := fmt.Sprintf("**%s** (%s, by %s): %s", orDash(line(r.String("id"))), orDash(line(r.String("category"))),
			orDash(by), line(r.String("statement")))
		if o := r.String("overrides"); o != "" {
			item += " — supersedes " + line(o)
		}
		l.add("%s", item)
	}
	if len(l) == 0 {
		return ""
	}
	if left > 0 {
		l.add("… and %d more, left out here; see %s", left, code(".agentxchain/repo-decisions.jsonl"))
	}
	return "## Active Repo Decisions\n\nThese bind every run in this repository until a decision of equal or higher authority overrides them.\n\n" +
		l.String()
}

// inherited returns the context inherited from a parent run: in full for the run's first turn, abridged afterwards.
func (v *view) inherited() string {
	c := v.State.InheritedContext
	if c == nil {
		return ""
	}
	var l list
	l.field("Parent run", code(c.String("parent_run_id")))
	l.field("Parent status", orDash(line(c.String("parent_status"))))
	if s := c.String("parent_completed_at"); s != "" {
		l.field("Parent completed at", line(s))
	}
	if s := c.String("parent_blocked_reason"); s != "" {
		l.field("Parent blocked on", line(s))
	}
	if s := c.Object("parent_retrospective").String("headline"); s != "" {
		l.field("Outcome", line(s))
	}
	decisions, turns := c.Objects("recent_decisions"), c.Objects("recent_accepted_turns")
	if v.State.LastCompletedTurnID != nil || v.Index.Accepted > 0 {
		l.field("Recent decisions", strconv.Itoa(len(decisions)))
		l.field("Recent accepted turns", strconv.Itoa(len(turns)))
		return "## Inherited Run Context\n\n" + l.String()
	}
	if p := c.Strings("parent_phases_completed"); len(p) > 0 {
		l.field("Phases completed", inlineCodes(p))
	}
	if p := c.Strings("parent_roles_used"); len(p) > 0 {
		l.field("Roles used", inlineCodes(p))
	}
	out := "## Inherited Run Context\n\n" + l.String()
	var more list
	for _, r := range decisions {
		more.add("**%s** (%s): %s", orDash(line(r.String("id"))), orDash(line(r.String("decided_by"))),
			line(r.String("statement")))
	}
	if len(more) > 0 {
		out += "\n\n**Recent decisions:**\n\n" + more.String()
	}
	more = nil
	for _, r := range turns {
		more.add("%s (%s, %s): %s", code(r.String("turn_id")), orDash(line(r.String("role"))),
			orDash(line(r.String("phase"))), line(r.String("summary")))
	}
	if len(more) > 0 {
		out += "\n\n**Recent accepted turns:**\n\n" + more.String()
	}
	if ws := c.Strings("warnings"); len(ws) > 0 {
		out += "\n\n**Warnings:**\n\n" + numbered(ws)
	}
	return out
}

func (v *view) decisionHistory() string {
	rows, total := v.Decisions, v.DecisionCount
	if rows == nil {
		rows, total = v.Index.RecentDecisions, v.Index.Decisions
	}
	var made []*ojson.Object
	for _, r := range rows {
		if r.String("id") != "" {
			made = append(made, r)
		}
	}
	if len(made) == 0 {
		return ""
	}
	total = max(total, len(made))
	made = made[max(0, len(made)-maxDecisions):]
	var b strings.Builder
	b.WriteString("## Decision History\n\n| ID | Phase | Role | Runtime | Statement |\n|----|-------|------|---------|-----------|\n")
	for _, r := range made {
		role := r.String("role")
		if role == "" {
			role = r.String("decided_by")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", tableText(r.String("id")), tableText(r.String("phase")),
			tableText(role), tableText(r.String("runtime_id")), tableText(r.String("statement")))
	}
	fmt.Fprintf(&b, "\n_%d of %d decisions shown, the newest last._", len(made), total)
	return b.String()
}

func tableText(s string) string { return orDash(cell(line(s))) }
