// The rows of an initiative's own record, and of its repositories' events, in words.

package account

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// recoveryReport reads the sections of RECOVERY_REPORT.md.
func (m *coordinatorModel) recoveryReport() *ojson.Object {
	f := m.a.Files[multiRecovery]
	if f == nil {
		return nil
	}
	body, _ := f.Data.(string)
	sections := make(map[string]string)
	at := ""
	for line := range strings.Lines(body) {
		if head, ok := strings.CutPrefix(line, "## "); ok {
			at = strings.TrimSpace(head)
			continue
		}
		if at != "" {
			sections[at] += line
		}
	}
	o := ojson.NewObject("present", true)
	for _, s := range [...][2]string{
		{"trigger", "Trigger"},
		{"impact", "Impact"},
		{"mitigation", "Mitigation"},
		{"owner", "Owner"},
		{"exit_condition", "Exit Condition"},
	} {
		v := strings.TrimSpace(sections[s[1]])
		if strings.HasPrefix(v, "(") && strings.HasSuffix(v, ")") && !strings.Contains(v, "\n") {
			v = "" // the placeholder in an empty report
		}
		o.Set(s[0], orNull(v))
	}
	return o
}

// childEvents returns the events of the repositories, as the artifact combines them.
func (m *coordinatorModel) childEvents() []*ojson.Object {
	return m.summary.Object("aggregated_events").Objects("events")
}

func (m *coordinatorModel) aggregated() []*ojson.Object {
	out := []*ojson.Object{}
	for _, e := range m.childEvents() {
		o := ojson.NewObject("repo_id", ojson.OrNull(e.String("repo_id")), "type", eventType(e, "unknown"))
		for _, k := range [...]string{"timestamp", "run_id", "event_id"} {
			o.Set(k, ojson.OrNull(e.String(k)))
		}
		o.Set("summary", eventSummary(e))
		out = append(out, o)
	}
	return out
}

// asEvents returns the rows of the coordinator's history in the form of events.
func (m *coordinatorModel) asEvents() []*ojson.Object {
	out := make([]*ojson.Object, 0, len(m.own))
	for _, r := range m.own {
		e := ojson.NewObject("event_type", cmp.Or(r.String("type"), "unknown_event"),
			"timestamp", ojson.OrNull(r.String("timestamp")), "turn_id", first(r, "repo_turn_id"),
			"role", ojson.OrNull(r.String("role")), "repo_id", ojson.OrNull(r.String("repo_id")))
		out = append(out, e)
	}
	return out
}

func (m *coordinatorModel) timeline() []*ojson.Object {
	out := []*ojson.Object{}
	for _, r := range m.own {
		var details *ojson.Object
		for _, k := range [...]string{"gate", "projection_ref", "context_ref", "barrier_changes", "blocked_reason"} {
			if v := r.Value(k); ojson.Truthy(v) {
				if details == nil {
					details = &ojson.Object{}
				}
				details.Set(k, v)
			}
		}
		repo := ojson.OrNull(r.String("repo_id"))
		if repo == nil {
			repo = ojson.OrNull(r.String("target_repo_id"))
		}
		out = append(out, ojson.NewObject("type", cmp.Or(r.String("type"), "unknown"),
			"timestamp", ojson.OrNull(r.String("timestamp")), "summary", historySummary(r), "repo_id", repo,
			"workstream_id", ojson.OrNull(r.String("workstream_id")), "details", details))
	}
	return out
}

// historySummary summarises a row of the coordinator's history in a sentence.
func historySummary(r *ojson.Object) string {
	name := func(key string) string { return cmp.Or(r.String(key), "?") }
	switch kind := r.String("type"); kind {
	case "run_initialized":
		return fmt.Sprintf("The initiative began with %d repositories", r.Object("repo_runs").Len())
	case "context_generated":
		return fmt.Sprintf("Context for %s in workstream %s", name("target_repo_id"), name("workstream_id"))
	case "turn_dispatched":
		return fmt.Sprintf("%s of %s was given work in workstream %s", name("role"), name("repo_id"),
			name("workstream_id"))
	case "acceptance_projection":
		s := fmt.Sprintf("A turn of %s counts for workstream %s", name("repo_id"), name("workstream_id"))
		if v := r.String("summary"); v != "" {
			s += ": " + v
		}
		return s
	case "state_resynced":
		return "Read again from its repository: " + strings.Join(sortedNames(r.Strings("resynced_repos")), ", ")
	case "phase_transition_requested":
		return fmt.Sprintf("Phase %s -> %s waits for gate %s", name("from"), name("to"), name("gate"))
	case "phase_transition_approved":
		return fmt.Sprintf("Phase %s -> %s, gate %s approved", name("from"), name("to"), name("gate"))
	case "run_completion_requested":
		return fmt.Sprintf("Completion waits for gate %s", name("gate"))
	case "run_completed":
		return fmt.Sprintf("Completed, gate %s approved", name("gate"))
	case "blocked_resolved":
		return fmt.Sprintf("No longer blocked, now %s", name("to"))
	case "coordinator_retry":
		return fmt.Sprintf("Turn of %s in workstream %s was reissued", name("repo_id"), name("workstream_id"))
	case "":
		return "An entry without a type"
	default:
		return kind
	}
}
