// Recovery from a block: the report that a person writes, and resuming (docs/coordinator.md#when-it-is-blocked).

package initiative

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// reportPlaceholder is the line that a person replaces. The text is part of the protocol: other implementations
// look for it.
const reportPlaceholder = "(Operator fills this before running multi resume)"

// reportSections returns the sections that must be filled in.
func reportSections() []string { return []string{"## Trigger", "## Impact", "## Mitigation"} }

// Report returns the recovery report for a person to fill in.
func Report(reason, at string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Recovery Report\n\n**Blocked reason:** %s\n\n**Blocked at:** %s\n", wire.OneLine(reason), at)
	for _, s := range append(reportSections(), "## Owner", "## Exit Condition") {
		fmt.Fprintf(&b, "\n%s\n\n%s\n", s, reportPlaceholder)
	}
	return b.String()
}

// CheckReport refuses a report that leaves out what the next person needs: text is nil when no report exists.
// Errors: recovery_report_required, with a Problem for each section that is missing or not filled in.
func CheckReport(text *string) *wire.Error {
	e := &wire.Error{Code: CodeReportRequired, Field: ReportPath}
	if text == nil {
		e.Message = fmt.Sprintf("To resume a blocked initiative, say in %s what happened, in the sections %s.",
			ReportPath, strings.Join(reportSections(), ", "))
		return e
	}
	filled := reportContents(*text)
	for _, s := range reportSections() {
		switch done, has := filled[s]; {
		case !has:
			e.Problems = append(e.Problems, wire.Problem{
				Code:    "section_missing",
				Field:   s,
				Message: fmt.Sprintf("the section %q is missing", s),
			})
		case !done:
			e.Problems = append(e.Problems, wire.Problem{
				Code:    "section_empty",
				Field:   s,
				Message: fmt.Sprintf("the section %q is not filled in", s),
			})
		}
	}
	if len(e.Problems) == 0 {
		return nil
	}
	e.Message = fmt.Sprintf("%s is not complete: %s.", ReportPath, wire.Problems(e.Problems).Join())
	return e
}

// reportContents returns the sections of a report and whether each says
// something of its own.
func reportContents(text string) map[string]bool {
	out := make(map[string]bool)
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			section = line
			if !out[section] { // a section that occurs twice is filled in when either one is
				out[section] = false
			}
		case section == "" || line == "" || strings.EqualFold(line, reportPlaceholder):
		default:
			out[section] = true
		}
	}
	return out
}

// Resume resumes a blocked initiative after a resync. It becomes paused when a gate waits, else active. Errors:
// invalid_state_transition unless it is blocked; recovery_report_required; run_blocked while the resync finds a
// reason or a repository is itself blocked. The Change, if any, must be carried out even then, because it has what
// the resync found.
func Resume(w *Workspace, children Children, report *string, env protocol.Env) (*Change, *Resynced, *wire.Error) {
	if w.State.Abandoned() {
		return nil, nil, AbandonedError(w.State)
	}
	if w.State.Status != StatusBlocked {
		return nil, nil, notIn(w.State, "Only a blocked initiative can be resumed", StatusBlocked)
	}
	if e := CheckReport(report); e != nil {
		return nil, nil, e
	}
	c, r := Resync(w, children, env)
	after := w.With(c)
	switch blocked := after.State.stillBlocked(); {
	case r.BlockedReason != "":
		return c, r, &wire.Error{
			Code:    wire.CodeRunBlocked,
			Field:   "blocked_reason",
			Message: "The initiative stays blocked: " + r.BlockedReason,
		}
	case len(r.Errors) > 0:
		return c, r, &wire.Error{
			Code:    wire.CodeRunBlocked,
			Field:   "repo_runs",
			Message: "The initiative stays blocked: " + strings.Join(r.Errors, " "),
		}
	case len(blocked) > 0:
		state := after.State.Clone()
		state.BlockedReason, state.UpdatedAt = "child repos remain blocked: "+strings.Join(blocked, ", "), env.Time()
		if state.BlockedReason != w.State.BlockedReason || c.State != nil {
			c.State = state
		}
		return c, r, &wire.Error{
			Code:    wire.CodeRunBlocked,
			Field:   "repo_runs",
			Details: ojson.NewObject("blocked_repos", blocked),
			Message: fmt.Sprintf("The initiative stays blocked: %s must recover first.", strings.Join(blocked, ", ")),
		}
	}
	state := after.State.Clone()
	state.Status, state.BlockedReason, state.UpdatedAt = StatusActive, "", env.Time()
	var pending any
	if g := state.PendingGate; g != nil {
		state.Status = StatusPaused
		pending = ojson.NewObject("gate", g.Gate, "gate_type", g.GateType)
	}
	reason := w.State.BlockedReason
	if reason == "" {
		reason = "unknown blocked reason"
	}
	c.State = state
	c.Record(w, &env, rowUnblocked, "from", string(StatusBlocked), "to", string(state.Status), "blocked_reason",
		reason, "pending_gate", pending, "unblocked_by", person(env.Actor))
	c.Decide(w, &env, state.Phase, DecidedRecovery,
		fmt.Sprintf("Took the blocked initiative up again as %s", state.Status), "reason", reason)
	return c, r, nil
}

// Block stops an initiative until a person resumes it.
func Block(w *Workspace, reason string, env protocol.Env) *Change {
	c := &Change{State: w.State.Clone()}
	c.State.block(wire.OneLine(reason))
	c.State.UpdatedAt = env.Time()
	c.Record(w, &env, "run_blocked", "from", string(w.State.Status), "blocked_reason", c.State.BlockedReason)
	return c
}
