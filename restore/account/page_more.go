// The rest of a run's page: problems and further records.

package account

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func (p *page) rest(r *ojson.Object) {
	p.add(listing("Gate Failures", "gate failures", r.Objects("gate_failures"), []string{"When", "Gate", "Turn",
		"Reasons"}, func(o *ojson.Object) []cell {
		return []cell{moment(o.Value("failed_at")), code(o.Value("gate_id")), code(o.Value("requested_by_turn")),
			plain(reasonsOf(o))}
	}))
	p.add(listing("Gate Actions", "gate actions", r.Objects("gate_actions"), []string{"When", "Gate", "Action",
		"Command", "Outcome", "Output"}, func(o *ojson.Object) []cell {
		out := say(o.Value("status"))
		if v := say(o.Value("exit_code")); v != "" {
			out += ", exit status " + v
		}
		if o.Bool("timed_out") {
			out += ", out of time"
		}
		return []cell{moment(o.Value("timestamp")), code(o.Value("gate_id")), plain(o.Value("action_label")),
			code(o.Value("command")), {text: out, tone: standing(o.Value("status")).tone},
			code(first(o, "spawn_error", "stderr_tail", "stdout_tail"))}
	}))
	p.add(listing("Decisions of People", "decisions", r.Objects("human_decisions"), []string{"When", "What", "Gate",
		"By", "Proof", "Reason"}, func(o *ojson.Object) []cell {
		return []cell{moment(o.Value("timestamp")), plain(o.Value("type")), code(o.Value("gate_id")),
			plain(personOf(o)), plain(ProofText(o)), plain(o.Value("reason"))}
	}))
	p.events(r)
	p.add(delegationSection(r.Object("delegation_summary")))
	p.add(repoDecisionSection(r.Object("repo_decisions")))
	if s := r.Object("ship_status"); s != nil {
		sec := section{title: "Ship Status", facts: []fact{{"Overall", standing(s.Value("overall"))},
			{"Dimensions", cell{text: fmt.Sprintf("%d of %d in order", count(s, "dimensions_passed"),
				count(s, "dimensions_total"))}}}}
		for _, why := range s.Array("blocking_reasons") {
			sec.items = append(sec.items, plain(why))
		}
		p.add(sec)
	}
	p.add(listing("Intake Linkage", "intents", r.Objects("intake_links"), []string{"Intent", "Status", "Priority",
		"Turn", "Updated"}, func(o *ojson.Object) []cell {
		return []cell{code(o.Value("intent_id")), standing(o.Value("status")), plain(o.Value("priority")),
			code(o.Value("target_turn")), moment(o.Value("updated_at"))}
	}))
	if h := r.Object("hook_summary"); h != nil {
		sec := section{
			title: "Hook Activity",
			facts: []fact{{"Runs", plain(h.Value("total"))}, {"Blocked", plain(h.Value("blocked"))}},
		}
		for k, v := range h.Object("events").All() {
			sec.items = append(sec.items, cell{text: harmless(k) + ": " + say(v)})
		}
		p.add(sec)
	}
	if c := r.Object("recovery_classification"); c != nil {
		sec := listing("Recovery Classification", "recoveries", c.Objects("timeline"), []string{"When", "What",
			"Domain", "Severity", "Outcome"}, func(o *ojson.Object) []cell {
			return []cell{moment(o.Value("timestamp")), plain(o.Value("summary")), plain(o.Value("domain")),
				standing(o.Value("severity")), standing(o.Value("outcome"))}
		})
		sec.facts = []fact{
			{"Health", standing(c.Value("health_score"))},
			{"Events", plain(c.Value("total_recovery_events"))},
		}
		p.add(sec)
	}
	p.add(listing("Workflow Artifacts", "artifacts", r.Objects("workflow_kit_artifacts"),
		[]string{"Path", "Required", "Owner", "There"}, func(o *ojson.Object) []cell {
			there := toned(o.Value("exists"), good)
			if !o.Bool("exists") {
				there.tone = neutral
				if o.Bool("required") {
					there.tone = bad
				}
			}
			return []cell{code(o.Value("path")), plain(o.Value("required")), plain(o.Value("owned_by")), there}
		}))
	if c := r.Object("continuity"); c != nil {
		sec := section{title: "Continuity"}
		for _, x := range [...][2]string{
			{"session_id", "Session"},
			{"run_id", "Run"},
			{"checkpoint_reason", "Last checkpoint"},
			{"last_turn_id", "Last turn"},
			{"last_role", "Last role"},
			{"last_phase", "Last phase"},
		} {
			if v := plain(c.Value(x[0])); v.text != "" {
				sec.facts = append(sec.facts, fact{x[1], v})
			}
		}
		if c.Bool("stale_checkpoint") {
			sec.facts = append(sec.facts, fact{"Checkpoint", cell{text: "of another run", tone: warn}})
		}
		p.add(sec)
	}
}

// reasonsOf says why a gate stayed shut.
func reasonsOf(o *ojson.Object) []string {
	list := o.Strings("reasons")
	for _, f := range o.Strings("missing_files") {
		if !strings.Contains(strings.Join(list, "\n"), f) {
			list = append(list, "missing: "+f)
		}
	}
	if o.Bool("missing_verification") && len(list) == 0 {
		list = append(list, "a verification is missing")
	}
	return list
}

// events adds the sections that runs and initiatives share.
func (p *page) events(r *ojson.Object) {
	p.add(listing("Approval Policy", "approvals", r.Objects("approval_policy_events"), []string{"When", "Gate",
		"Action", "Why"}, func(o *ojson.Object) []cell {
		return []cell{moment(o.Value("timestamp")), code(o.Value("gate_id")), plain(o.Value("action")),
			plain(o.Value("reason"))}
	}))
	p.add(listing("Governance Events", "events", r.Objects("governance_events"), []string{"When", "What", "Turn",
		"Role", "Detail"}, func(o *ojson.Object) []cell {
		return []cell{moment(o.Value("timestamp")), plain(o.Value("type")), code(o.Value("turn_id")),
			plain(o.Value("role")), {text: governanceText(o)}}
	}))
	p.add(listing("Timeout Events", "events", r.Objects("timeout_events"), []string{"When", "What", "Scope", "Turn",
		"Limit", "Over by", "Action"}, func(o *ojson.Object) []cell {
		minutes := func(key string) cell {
			v := say(o.Value(key))
			if v != "" {
				v += " min"
			}
			return cell{text: v}
		}
		return []cell{moment(o.Value("timestamp")), plain(o.Value("type")), plain(o.Value("scope")),
			code(o.Value("turn_id")), minutes("limit_minutes"), minutes("exceeded_by_minutes"),
			plain(o.Value("action"))}
	}))
}

func governanceText(o *ojson.Object) string {
	var parts []string
	for _, v := range o.Objects("violations") {
		parts = append(parts, strings.TrimSpace(say(v.Value("policy_id"))+": "+say(v.Value("message"))))
	}
	if files := say(o.Value("conflicting_files")); files != "" {
		parts = append(parts, "files "+files)
	}
	for _, x := range [...][2]string{
		{"operator_reason", ""},
		{"resolution_method", "by "},
		{"blocked_on", "on "},
		{"reason", ""},
		{"previous_blocked_on", "was "},
		{"resolved_via", "via "},
	} {
		if v := say(o.Value(x[0])); v != "" {
			parts = append(parts, x[1]+v)
		}
	}
	return strings.Join(parts, "; ")
}

func delegationSection(d *ojson.Object) section {
	var rows []*ojson.Object
	for _, chain := range d.Objects("delegation_chains") {
		for _, x := range chain.Objects("delegations") {
			row := ojson.NewObject("from", chain.Value("parent_role"), "outcome", chain.Value("outcome"))
			for k, v := range x.All() {
				row.Set(k, v)
			}
			rows = append(rows, row)
		}
	}
	s := listing("Delegation Summary", "delegations", rows, []string{"Id", "From", "To", "Task", "Standing",
		"Decisions missing"}, func(o *ojson.Object) []cell {
		missing := toned(o.Value("missing_decision_ids"), bad)
		return []cell{code(o.Value("delegation_id")), plain(o.Value("from")), plain(o.Value("to_role")),
			plain(o.Value("charter")), standing(o.Value("status")), missing}
	})
	return s
}

func repoDecisionSection(d *ojson.Object) section {
	s := listing("Repo Decisions", "decisions", d.Objects("active"), []string{"Id", "Category", "Statement", "Role",
		"Authority", "Replaces"}, func(o *ojson.Object) []cell {
		return []cell{code(o.Value("id")), plain(o.Value("category")), plain(o.Value("statement")),
			plain(o.Value("role")), plain(o.Value("authority_level")), code(o.Value("overrides"))}
	})
	if d != nil {
		s.facts = []fact{
			{"In force", plain(d.Value("active_count"))},
			{"Overridden", plain(d.Value("overridden_count"))},
		}
	}
	t, note := rowsOf("decisions", d.Objects("overridden"), []string{"Id", "Statement", "Overridden by"},
		func(o *ojson.Object) []cell {
			return []cell{code(o.Value("id")), plain(o.Value("statement")), code(o.Value("overridden_by"))}
		})
	if t != nil {
		s.parts = append(s.parts, section{title: "Overridden", table: t, note: note})
	}
	return s
}

// personOf returns the name and address of the person who decided.
func personOf(o *ojson.Object) string {
	name, email := o.String("name"), o.String("email")
	switch {
	case name == "":
		return email
	case email == "":
		return name
	}
	return name + " <" + email + ">"
}
