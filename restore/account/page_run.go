// The page of a run.

package account

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func (p *page) run(subject *ojson.Object) {
	project, r := subject.Object("project"), subject.Object("run")
	p.title = cmp.Or(say(project.Value("name")), say(project.Value("id")), "A governed run")
	p.lead = runLead(r)
	p.cards = runCards(r)
	p.head = append(p.head, runHead(project, r, subject.Object("artifacts"))...)
	p.add(nextSection(r))
	p.add(blockSection(r))
	p.add(pictureSection(r))
	p.add(gatesSection(r))
	p.add(approvalsSection(r))
	p.add(decisionsSection(r))
	p.add(objectionsSection(r))
	p.add(costSection(r))
	p.add(turnsSection(r))
	p.add(escalationsSection(r))
	p.rest(r)
}

// runLead describes the status of a run.
func runLead(r *ojson.Object) string {
	status, phase := say(r.Value("status")), say(r.Value("phase"))
	var s []string
	switch status {
	case "", "idle":
		return "No run has been started."
	case "completed":
		s = append(s, "The run is completed.")
	case "blocked":
		why := cmp.Or(say(r.Object("recovery_summary").Value("detail")), say(r.Value("blocked_on")),
			say(r.Value("blocked_reason")))
		s = append(s, "The run is blocked in phase "+phase+": "+strings.TrimRight(why, ".")+".")
	case "paused":
		s = append(s, "The run waits in phase "+phase+".")
	case "active":
		if list := r.Strings("active_roles"); len(list) > 0 {
			s = append(s, fmt.Sprintf("The run is in phase %s; at work: %s.", phase, say(list)))
		} else {
			s = append(s, "The run is in phase "+phase+"; no turn is under way.")
		}
	case "failed":
		if a := r.Object("abandoned"); a != nil {
			s = append(s, "The run was abandoned by "+say(a.Value("by"))+" in phase "+phase+": "+
				strings.TrimRight(say(a.Value("reason")), ".")+".")
			break
		}
		s = append(s, "The run is failed.")
	default:
		s = append(s, "The run is "+status+".")
	}
	passed, gates := 0, r.Objects("gate_summary")
	for _, g := range gates {
		if g.String("status") == "passed" {
			passed++
		}
	}
	tail := text.Count(len(r.Array("turns")), "turn", "turns") + " accepted, " + text.Count(len(r.Array("decisions")),
		"decision", "decisions")
	if len(gates) > 0 {
		tail += fmt.Sprintf(", %d of %s passed", passed, text.Count(len(gates), "gate", "gates"))
	}
	return strings.Join(append(s, tail+"."), " ")
}

func runCards(r *ojson.Object) []fact {
	cards := []fact{{"Status", standing(orNull(r.Value("status")))}}
	if phases := r.Objects("phases"); len(phases) > 0 {
		done := 0
		for _, ph := range phases {
			if ph.String("status") == "done" {
				done++
			}
		}
		c := plain(r.Value("phase"))
		c.share = float64(done) / float64(len(phases))
		cards = append(cards, fact{fmt.Sprintf("Phase, %d of %d done", done, len(phases)), c})
	}
	cards = append(cards, fact{"Turns", plain(len(r.Array("turns")))},
		fact{"Decisions", plain(len(r.Array("decisions")))}, fact{"Objections", plain(len(r.Array("objections")))},
		costCard(r))
	if d := lasting(r.Value("duration_seconds")); d != "" {
		cards = append(cards, fact{"Duration", cell{text: d}})
	}
	return cards
}

// costCard shows the cost; the budget includes the cost of refused attempts.
func costCard(r *ojson.Object) fact {
	b := r.Object("budget_status")
	spent, hasSpent := finite(b, "spent_usd")
	left, limited := finite(b, "remaining_usd")
	if !hasSpent {
		return fact{"Cost", cell{text: money(r.Object("cost_summary").Value("total_usd"))}}
	}
	if spent == 0 {
		return fact{"Cost", cell{text: agentrun.SpentText(0)}}
	}
	c := cell{text: money(b.Value("spent_usd"))}
	if limit := spent + left; limited && limit > 0 {
		c.text += " of " + money(dollars(limit))
		c.share = min(max(spent/limit, 0), 1)
	}
	if b.Bool("exhausted") || b.Bool("warn_mode") {
		c.tone = bad
	}
	return fact{"Cost", c}
}

func runHead(project, r, artifacts *ojson.Object) []fact {
	name := say(project.Value("name"))
	if id := say(project.Value("id")); id != "" {
		name = strings.TrimSpace(name + " (" + id + ")")
	}
	var head []fact
	add := func(label string, c cell) {
		if c.text != "" {
			head = append(head, fact{label, c})
		}
	}
	add("Project", cell{text: name})
	add("Goal", plain(project.Value("goal")))
	add("Template", plain(project.Value("template")))
	if mode := say(project.Value("protocol_mode")); mode != "" {
		add("Protocol", cell{text: fmt.Sprintf("%s (config schema %s)", mode, say(project.Value("schema_version")))})
	}
	add("Run", code(r.Value("run_id")))
	add("Status", standing(r.Value("status")))
	add("Phase", plain(r.Value("phase")))
	add("Blocked on", toned(r.Value("blocked_on"), bad))
	add("Active turns", named(r.Value("active_turn_count"), r.Value("active_turn_ids")))
	add("Retained turns", named(r.Value("retained_turn_count"), r.Value("retained_turn_ids")))
	add("Active roles", plain(r.Value("active_roles")))
	if b := r.Object("budget_status"); b != nil {
		text := "spent " + money(b.Value("spent_usd"))
		if left, ok := finite(b, "remaining_usd"); ok {
			text += ", " + agentrun.LeftText(left)
		}
		c := cell{text: text}
		if b.Bool("warn_mode") || b.Bool("exhausted") {
			c.text, c.tone = c.text+" [OVER BUDGET]", bad
		}
		add("Budget", c)
	}
	add("Started", moment(r.Value("created_at")))
	add("Completed", moment(r.Value("completed_at")))
	add("Duration", cell{text: lasting(r.Value("duration_seconds"))})
	if pv := r.Object("provenance"); pv != nil {
		text := say(pv.Value("trigger"))
		for _, x := range [...][2]string{
			{"parent_run_id", " from run "},
			{"intake_intent_id", " for intent "},
			{"trigger_reason", ", "},
			{"created_by", ", by "},
		} {
			if v := say(pv.Value(x[0])); v != "" {
				text += x[1] + v
			}
		}
		add("Provenance", cell{text: text})
	}
	add("Inherited from", code(r.Object("inherited_context").Value("parent_run_id")))
	if d := r.Object("dashboard_session"); d != nil && d.String("status") != "not_running" {
		add("Dashboard session", cell{text: strings.TrimSpace(say(d.Value("status")) + " " + say(d.Value("url")))})
	}
	if e := r.Object("recent_event_summary"); e != nil {
		add("Recent events", cell{text: recentText(e)})
		add("Latest event", latestText(e))
	}
	if s := r.Object("scope"); s != nil && count(s, "turns_of_other_runs") > 0 {
		add("Not told", cell{text: text.Count(count(s, "turns_of_other_runs"), "turn",
			"turns") + " of earlier runs in the same ledgers; --all-runs tells them"})
	}
	add("Entries",
		cell{
			text: fmt.Sprintf("%d history, %d decisions, %d hook audit, %d notifications; %d dispatch and %d staging files",
				count(artifacts, "history_entries"), count(artifacts, "decision_entries"),
				count(artifacts, "hook_audit_entries"), count(artifacts, "notification_audit_entries"),
				count(artifacts, "dispatch_artifact_files"), count(artifacts, "staging_artifact_files")),
		})
	return head
}

// named formats a count with the names of what is counted.
func named(n, names any) cell {
	c := plain(n)
	if s := say(names); s != "" {
		c.text += " (" + s + ")"
	}
	return c
}

func recentText(e *ojson.Object) string {
	return fmt.Sprintf("%s, %d in the last %d minutes", say(e.Value("freshness")), count(e, "recent_count"),
		count(e, "window_minutes"))
}

func latestText(e *ojson.Object) cell {
	last := e.Object("latest_event")
	if last == nil {
		return cell{}
	}
	return cell{
		text: strings.TrimSpace(say(last.Value("summary")) + " at " + moment(last.Value("timestamp")).text),
	}
}

func nextSection(r *ojson.Object) section {
	return listing("Next Actions", "actions", r.Objects("next_actions"), []string{"Do", "Because"},
		func(o *ojson.Object) []cell {
			return []cell{code(o.Value("command")), plain(o.Value("reason"))}
		})
}

func blockSection(r *ojson.Object) section {
	s := section{title: "Recovery"}
	rec := r.Object("recovery_summary")
	if rec == nil {
		return s
	}
	for _, x := range [...][2]string{
		{"category", "Category"},
		{"typed_reason", "Reason"},
		{"detail", "Detail"},
		{"owner", "Who has to act"},
		{"recovery_action", "Way out"},
		{"turn_id", "Turn"},
	} {
		if c := plain(rec.Value(x[0])); c.text != "" {
			s.facts = append(s.facts, fact{x[1], c})
		}
	}
	if c := moment(rec.Value("blocked_at")); c.text != "" {
		s.facts = append(s.facts, fact{"Since", c})
	}
	if v, ok := rec.Value("turn_retained").(bool); ok {
		s.facts = append(s.facts, fact{"Turn retained", plain(v)})
	}
	return s
}

// gatesSection shows the phases in order with their gates, then gates that are not the exit of a phase.
func gatesSection(r *ojson.Object) section {
	s := section{title: "Gate Outcomes"}
	statuses := make(map[string]*ojson.Object)
	for _, g := range r.Objects("gate_summary") {
		statuses[g.String("gate_id")] = g
	}
	t := &table{head: []string{"Phase", "Standing", "Gate", "Outcome"}}
	for _, ph := range r.Objects("phases") {
		row := []cell{plain(ph.Value("phase")), standing(ph.Value("status")), code(ph.Value("exit_gate")), {}}
		if g := statuses[ph.String("exit_gate")]; g != nil {
			row[3] = standing(g.Value("status"))
			delete(statuses, ph.String("exit_gate"))
		}
		t.rows = append(t.rows, row)
	}
	for _, g := range r.Objects("gate_summary") {
		if statuses[g.String("gate_id")] != nil {
			t.rows = append(t.rows, []cell{{}, {}, code(g.Value("gate_id")), standing(g.Value("status"))})
		}
	}
	if len(t.rows) > 0 {
		s.table = t
	}
	return s
}

func approvalsSection(r *ojson.Object) section {
	return listing("Approvals", "approvals", r.Objects("approvals"), []string{"When", "Gate", "Opened", "By",
		"Why"}, func(o *ojson.Object) []cell {
		opened := say(o.Value("gate_type"))
		if opened == "run_completion" {
			opened = "completion of the run"
		} else if from := say(o.Value("from_phase")); from != "" {
			opened = strings.TrimSuffix(from+" -> "+say(o.Value("to_phase")), " -> ")
		}
		by := cmp.Or(say(o.Value("by")), "not recorded")
		if mail := say(o.Value("email")); mail != "" {
			by += " <" + mail + ">"
		}
		return []cell{moment(o.Value("timestamp")), code(o.Value("gate_id")), {text: opened}, {text: by},
			plain(o.Value("reason"))}
	})
}

func decisionsSection(r *ojson.Object) section {
	return listing("Decisions", "decisions", r.Objects("decisions"), []string{"Id", "Role", "Phase", "Statement",
		"Rationale"}, func(o *ojson.Object) []cell {
		return []cell{code(o.Value("id")), plain(o.Value("role")), plain(o.Value("phase")),
			plain(o.Value("statement")), plain(o.Value("rationale"))}
	})
}

func objectionsSection(r *ojson.Object) section {
	return listing("Objections", "objections", r.Objects("objections"), []string{"Id", "Role", "Severity", "Statement",
		"Status"}, func(o *ojson.Object) []cell {
		sev := plain(o.Value("severity"))
		if sev.text == "high" || sev.text == "blocking" || sev.text == "critical" {
			sev.tone = bad
		}
		return []cell{code(o.Value("id")), plain(o.Value("role")), sev, plain(o.Value("statement")),
			plain(o.Value("status"))}
	})
}

func costSection(r *ojson.Object) section {
	s := section{title: "Cost Summary"}
	c := r.Object("cost_summary")
	if c == nil {
		return s
	}
	total, _ := finite(c, "total_usd")
	s.facts = []fact{{"Total", cell{text: money(c.Value("total_usd"))}},
		{"Turns with a cost",
			cell{text: fmt.Sprintf("%d of %d", count(c, "costed_turn_count"), count(c, "turn_count"))}}}
	if v := c.Value("total_input_tokens"); v != nil {
		s.facts = append(s.facts,
			fact{"Tokens", cell{text: say(v) + " in, " + say(c.Value("total_output_tokens")) + " out"}})
	}
	share := func(o *ojson.Object) float64 {
		if f, _ := finite(o, "usd"); total > 0 && f > 0 {
			return min(f/total, 1)
		}
		return 0
	}
	for _, by := range [...][3]string{{"By role", "by_role", "role"}, {"By phase", "by_phase", "phase"}} {
		t, note := rowsOf("rows", c.Objects(by[1]), []string{strings.ToUpper(by[2][:1]) + by[2][1:], "Cost",
			"Turns"}, func(o *ojson.Object) []cell {
			return []cell{plain(o.Value(by[2])), {text: money(o.Value("usd")), share: share(o)},
				plain(o.Value("turns"))}
		})
		if t != nil {
			s.parts = append(s.parts, section{title: by[0], table: t, note: note})
		}
	}
	return s
}

func turnsSection(r *ojson.Object) section {
	return listing("Turn Timeline", "turns", r.Objects("turns"), []string{"When", "Role", "Phase", "Turn",
		"What was done", "Files", "Cost", "Took"}, func(o *ojson.Object) []cell {
		done := say(o.Value("summary"))
		if st := say(o.Value("status")); st != "completed" {
			done = "[" + st + "] " + done
		}
		if to := say(o.Value("phase_transition")); to != "" {
			done += " (asks for phase " + to + ")"
		}
		return []cell{moment(o.Value("accepted_at")), plain(o.Value("role")), plain(o.Value("phase")),
			code(o.Value("turn_id")), {text: done}, plain(o.Value("files_changed_count")),
			{text: money(o.Value("cost_usd"))}, {text: milliseconds(o.Value("duration_ms"))}}
	})
}
