// The sections of PROMPT.md about what happened before: a rejected attempt, an injected intent, a file conflict
// (docs/bundles.md#what-is-in-it rows 8-10).

package dispatch

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func (v *view) previousAttempt() string {
	r := v.Turn.LastRejection
	if v.Turn.Attempt <= 1 || r == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Previous Attempt Failed\n\n")
	if n, ok := r.Int("attempt"); ok {
		fmt.Fprintf(&b,
			"Attempt %d of this turn was rejected. Correct exactly what is named here, and keep what was good.\n", n)
	} else {
		b.WriteString(
			"An earlier attempt of this turn was rejected. Correct exactly what is named here, and keep what was good.\n",
		)
	}
	if s := r.String("failed_stage"); s != "" {
		b.WriteString("\n**Failed stage:** " + line(s) + "\n")
	}
	if s := r.String("reason"); s != "" {
		b.WriteString("\n**Reason:**\n\n" + quote(s) + "\n")
	}
	if errs := r.Strings("validation_errors"); len(errs) > 0 {
		b.WriteString("\n**Validation errors:**\n\n" + numbered(errs) + "\n")
	}
	return b.String()
}

func (v *view) injectedIntent() string {
	c := v.Turn.IntakeContext
	if c == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("### Active Injected Intent — respond to this as your primary charter\n")
	if s := c.String("charter"); s != "" {
		b.WriteString("\n" + quote(s) + "\n")
	}
	if items := c.Strings("acceptance_contract"); len(items) > 0 {
		b.WriteString("\nAcceptance contract; answer each item in `intent_response`:\n\n" + numbered(items) + "\n")
	}
	if s := c.String("phase_scope"); s != "" {
		b.WriteString("\nIt is meant for phase " + code(s) + ".\n")
	}
	b.WriteString(v.plannedTask())
	return b.String()
}

// plannedTask says what the plan states of a charter besides its goal, and the progress of the phase. A plan moves
// the run on by itself, so its turns need not ask.
func (v *view) plannedTask() string {
	id := v.Turn.CharterID()
	if id == "" {
		return ""
	}
	c := v.Turn.IntakeContext
	var b strings.Builder
	fmt.Fprintf(&b,
		"\nIt is task %s of plan %s. Do this task only: the other tasks of the plan have turns of their own, and the run moves on by itself once those of this phase are done.\n",
		code(id), code(c.String("plan_id")))
	q := v.State.Charter(id)
	if q != nil && len(q.DependsOn) > 0 {
		b.WriteString("\nIt builds on tasks that are done: " + inlineCodes(q.DependsOn) + ".\n")
	}
	if q != nil && len(q.GatesRequired) > 0 {
		b.WriteString("\nIt is done only with a `verification.status` of `pass`; the plan asks for " +
			inlineCodes(q.GatesRequired) + ".\n")
	}
	if task := c.Object("task"); task.Len() > 0 {
		b.WriteString("\n**What the plan gives it** (whole in ASSIGNMENT.json)\n\n" + fenced("json",
			cut(clean(string(ojson.Pretty(task))), maxQuoteRunes)) + "\n")
	}
	return b.String()
}

func (v *view) conflict() string {
	c := v.Turn.ConflictContext
	if c == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("## File Conflict - Retry Required\n\n")
	b.WriteString("Your earlier attempt changed files that another turn, accepted in the meantime, changed too. Start from the files as they are now and do the work on top of them.\n")
	section := func(title, body string) {
		if body != "" {
			b.WriteString("\n**" + title + "**\n\n" + body + "\n")
		}
	}
	section("Conflicting files", codes(c.Strings("conflicting_files")))
	section("Accepted since your assignment", turnsSince(c.Objects("accepted_turns_since")))
	section("Forward revisions (yours to build on, no conflict)", codes(c.Strings("forward_revision_files")))
	section("Turns they revise", turnsSince(c.Objects("forward_revision_turns_since")))
	section("Files of yours without a conflict", codes(c.Strings("non_conflicting_files_preserved")))
	if s := c.String("guidance"); s != "" {
		section("Guidance", quote(s))
	}
	return b.String()
}

func turnsSince(turns []*ojson.Object) string {
	var l list
	for i, t := range turns {
		if i == maxListItems {
			l.add("… and %d more, left out here", len(turns)-i)
			break
		}
		l.add("%s (%s): %s", code(t.String("turn_id")), line(t.String("role")),
			inlineCodes(t.Strings("files_changed")))
	}
	return l.String()
}
