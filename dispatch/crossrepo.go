// What the coordinator of several repositories tells a turn, in the actor's documents (docs/coordinator.md#a-turn).

package dispatch

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// CoordinatorJSON and CoordinatorText are the coordinator's files in a bundle.
const (
	CoordinatorJSON = "COORDINATOR_CONTEXT.json"
	CoordinatorText = "COORDINATOR_CONTEXT.md"
)

// maxUpstream is how many acceptances of siblings are listed; the files have all.
const maxUpstream = 20

// crossRepo returns the section of CONTEXT.md about the sibling repositories, "" for a turn outside any initiative.
// It is rendered from the document, not copied from its text, so that siblings' words stay quoted.
func (v *view) crossRepo() string {
	o := v.CrossRepo
	if o == nil {
		return ""
	}
	var l list
	l.field("Initiative", line(o.String("super_run_id")))
	l.field("Workstream", line(o.String("workstream_id")))
	l.field("This repository", line(o.String("target_repo_id")))
	l.field("Context", code(o.String("context_ref")))
	out := "## Cross-Repo Context\n\n" + l.String()

	rows := o.Objects("upstream_acceptances")
	skipped := max(len(rows)-maxUpstream, 0)
	var up list
	for _, row := range rows[skipped:] {
		text := fmt.Sprintf("**%s** (%s): %s", line(row.String("repo_id")), line(row.String("workstream_id")),
			orDash(line(row.String("summary"))))
		for _, d := range row.Array("decisions") {
			if what := decisionLine(d); what != "" {
				text += "; decided " + what
			}
		}
		if files := row.Strings("files_changed"); len(files) > 0 {
			text += "; changed " + someCode(files)
		}
		up.add("%s", text)
	}
	out += "\n\n**Accepted in sibling repositories:**\n\n"
	if skipped > 0 {
		out += fmt.Sprintf("%d earlier ones are in %s.\n\n", skipped, code(CoordinatorText))
	}
	if len(rows) == 0 {
		up.add("nothing yet")
	}
	out += up.String()
	var bars list
	for _, b := range o.Objects("active_barriers") {
		text := fmt.Sprintf("%s: %s (%s)", code(b.String("barrier_id")), line(b.String("type")),
			line(b.String("status")))
		if ids := requiredIDs(b, o.String("target_repo_id")); len(ids) > 0 {
			text += ", needs from here " + line(strings.Join(ids, ", "))
		}
		bars.add("%s", text)
	}
	if s := bars.String(); s != "" {
		out += "\n\n**Barriers that are open:**\n\n" + s
	}
	for _, h := range o.Objects("intake_handoffs") {
		out += "\n\n**Handed over** as " + code(h.String("intent_id")) + " from " + line(h.String("source_repo")) +
			":" + charter(h)
	}
	return out
}

// crossRepoDuty returns the section of PROMPT.md on what to do about the siblings.
func (v *view) crossRepoDuty() string {
	o := v.CrossRepo
	if o == nil {
		return ""
	}
	var l list
	l.add("This turn is a part of workstream %s of an initiative over several repositories. What the others have done is in the section Cross-Repo Context of %s.",
		code(o.String("workstream_id")), code(ContextFile))
	l.add("Change nothing outside of this repository: a result that names a sibling's files is refused.")
	for _, s := range o.Strings("required_followups") {
		l.add("%s", line(s))
	}
	return "## Cross-Repo Work\n\n" + l.String()
}

func requiredIDs(barrier *ojson.Object, repo string) []string {
	for _, key := range []string{"required_decision_ids_by_repo", "alignment_decision_ids"} {
		if m := barrier.Object(key); m != nil {
			return m.Strings(repo)
		}
	}
	return nil
}

func decisionLine(d ojson.Value) string {
	switch d := d.(type) {
	case string:
		return code(d)
	case *ojson.Object:
		if id := d.String("id"); id != "" {
			return strings.TrimSpace(code(id) + " " + line(d.String("statement")))
		}
	}
	return ""
}

// someCode lists the first ten of many paths.
func someCode(paths []string) string {
	var parts []string
	for _, p := range paths[:min(len(paths), 10)] {
		parts = append(parts, code(p))
	}
	text := strings.Join(parts, ", ")
	if n := len(paths) - 10; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
