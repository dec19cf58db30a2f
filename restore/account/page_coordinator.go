// The page of an initiative.

package account

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

func (p *page) coordinator(subject *ojson.Object) {
	c, r := subject.Object("coordinator"), subject.Object("run")
	p.title = cmp.Or(say(c.Value("project_name")), say(c.Value("project_id")), "An initiative")
	p.lead = initiativeLead(c, r, subject)
	p.cards = []fact{
		{"Status", standing(r.Value("status"))},
		{"Phase", plain(r.Value("phase"))},
		{"Repositories", plain(count(r, "repo_ok_count") + count(r, "repo_error_count"))},
		{"Barriers", barrierCard(subject)},
		{"Decisions", plain(len(subject.Array("decision_digest")))},
	}
	if n := count(r, "repo_error_count"); n > 0 {
		p.cards = append(p.cards, fact{"Not exported", toned(n, bad)})
	}
	if d := lasting(r.Value("duration_seconds")); d != "" {
		p.cards = append(p.cards, fact{"Duration", cell{text: d}})
	}
	p.head = append(p.head, initiativeHead(c, r)...)
	p.add(nextSection(r))
	p.add(disagreements(r))
	p.add(recoveryReportSection(subject.Object("recovery_report")))
	p.add(repositoriesSection(subject.Objects("repos")))
	p.add(barrierSection(subject))
	p.add(decisionsSection(ojson.NewObject("decisions", subject.Array("decision_digest"))))
	p.add(listing("Coordinator Timeline", "entries", subject.Objects("coordinator_timeline"), []string{"When", "What",
		"Repository", "Workstream"}, func(o *ojson.Object) []cell {
		return []cell{moment(o.Value("timestamp")), plain(o.Value("summary")), plain(o.Value("repo_id")),
			plain(o.Value("workstream_id"))}
	}))
	p.add(listing("Barrier Transitions", "transitions", subject.Objects("barrier_ledger_timeline"), []string{"When",
		"Barrier", "From", "To", "Because of"}, func(o *ojson.Object) []cell {
		return []cell{moment(o.Value("timestamp")), code(o.Value("barrier_id")),
			standing(o.Value("previous_status")), standing(o.Value("new_status")),
			plain(first(o, "repo_id", "trigger"))}
	}))
	p.events(subject)
	events := listing("Aggregated Child Repo Events", "events", subject.Objects("aggregated_event_timeline"),
		[]string{"When", "Repository", "What"}, func(o *ojson.Object) []cell {
			return []cell{moment(o.Value("timestamp")), plain(o.Value("repo_id")), plain(o.Value("summary"))}
		})
	if events.table == nil {
		events.items = []cell{{text: "None."}}
	}
	p.add(events)
	for _, repo := range subject.Objects("repos") {
		p.add(repositorySection(repo))
	}
}

func initiativeLead(c, r, subject *ojson.Object) string {
	status := say(r.Value("status"))
	var s string
	switch status {
	case "":
		s = "No initiative has been started."
	case "blocked":
		s = "The initiative is blocked: " + strings.TrimRight(cmp.Or(say(r.Value("blocked_reason")),
			"no reason is on record"), ".") + "."
	default:
		s = "The initiative is " + status + "."
	}
	if g := r.Object("pending_gate"); g != nil {
		s += " Gate " + say(g.Value("gate")) + " waits for a person."
	}
	return s + " " + text.Count(count(c, "repo_count"), "repository", "repositories") + ", " +
		text.Count(count(c, "workstream_count"), "workstream", "workstreams") + ", " + barrierCard(subject).text +
		" barriers satisfied."
}

func barrierCard(subject *ojson.Object) cell {
	list := subject.Objects("barrier_summary")
	done := 0
	for _, b := range list {
		if b.String("status") == "satisfied" {
			done++
		}
	}
	c := cell{text: fmt.Sprintf("%d of %d", done, len(list))}
	if len(list) > 0 {
		c.share = float64(done) / float64(len(list))
	}
	return c
}

func initiativeHead(c, r *ojson.Object) []fact {
	var head []fact
	add := func(label string, c cell) {
		if c.text != "" {
			head = append(head, fact{label, c})
		}
	}
	name := say(c.Value("project_name"))
	if id := say(c.Value("project_id")); id != "" {
		name = strings.TrimSpace(name + " (" + id + ")")
	}
	add("Project", cell{text: name})
	add("Initiative", code(r.Value("super_run_id")))
	add("Status", standing(r.Value("status")))
	add("Phase", plain(r.Value("phase")))
	add("Blocked", toned(r.Value("blocked_reason"), bad))
	if g := r.Object("pending_gate"); g != nil {
		add("Pending gate", cell{
			text: strings.TrimSpace(say(g.Value("gate")) + " (" + say(g.Value("gate_type")) + ")"),
			tone: warn,
		})
	}
	add("Started", moment(r.Value("created_at")))
	add("Completed", moment(r.Value("completed_at")))
	add("Duration", cell{text: lasting(r.Value("duration_seconds"))})
	if e := r.Object("recent_coordinator_events"); e != nil {
		add("Coordinator events", cell{text: recentText(e)})
		add("Latest event", latestText(e))
	}
	if e := r.Object("recent_child_repo_events"); e != nil {
		add("Repository events", cell{text: recentText(e)})
	}
	add("Note", plain(r.Value("terminal_observability_note")))
	return head
}

func disagreements(r *ojson.Object) section {
	var rows []*ojson.Object
	for _, x := range r.Objects("run_id_mismatches") {
		rows = append(rows, ojson.NewObject("repo", x.Value("repo_id"), "what", "run",
			"record", x.Value("expected_run_id"), "actual", x.Value("actual_run_id")))
	}
	for _, x := range r.Objects("repo_status_drifts") {
		rows = append(rows, ojson.NewObject("repo", x.Value("repo_id"), "what", "status",
			"record", x.Value("coordinator_status"), "actual", x.Value("repo_status")))
	}
	return listing("Repositories that differ from the record", "rows", rows, []string{"Repository", "What",
		"On record", "Found"}, func(o *ojson.Object) []cell {
		return []cell{plain(o.Value("repo")), plain(o.Value("what")), code(o.Value("record")),
			toned(o.Value("actual"), warn)}
	})
}

func recoveryReportSection(o *ojson.Object) section {
	s := section{title: "Recovery Report"}
	for _, x := range [...][2]string{
		{"trigger", "Trigger"},
		{"impact", "Impact"},
		{"mitigation", "Mitigation"},
		{"owner", "Owner"},
		{"exit_condition", "Exit condition"},
	} {
		if c := plain(o.Value(x[0])); c.text != "" {
			s.facts = append(s.facts, fact{x[1], c})
		}
	}
	return s
}

func repositoriesSection(repos []*ojson.Object) section {
	return listing("Repositories", "repositories", repos, []string{"Repository", "Status", "Phase", "Run", "Turns",
		"Cost", "Path"}, func(o *ojson.Object) []cell {
		if !o.Bool("ok") {
			return []cell{plain(o.Value("repo_id")), {text: "failed export, " + say(o.Value("error")), tone: bad},
				{}, code(o.Value("run_id")), {}, {}, code(o.Value("path"))}
		}
		return []cell{plain(o.Value("repo_id")), standing(o.Value("status")), plain(o.Value("phase")),
			code(o.Value("run_id")), plain(len(o.Array("turns"))),
			{text: money(o.Object("cost_summary").Value("total_usd"))}, code(o.Value("path"))}
	})
}

func barrierSection(subject *ojson.Object) section {
	return listing("Barrier Summary", "barriers", subject.Objects("barrier_summary"), []string{"Barrier", "Type",
		"Status", "Required", "Satisfied"}, func(o *ojson.Object) []cell {
		return []cell{code(o.Value("barrier_id")), plain(o.Value("type")), standing(o.Value("status")),
			plain(o.Value("required_repos")), plain(o.Value("satisfied_repos"))}
	})
}

// repositorySection shows one repository with the sections of its run.
func repositorySection(repo *ojson.Object) section {
	s := section{title: "Repository " + say(repo.Value("repo_id"))}
	if !repo.Bool("ok") {
		s.items = []cell{{text: say(repo.Value("repo_id")) + ": failed export, " + say(repo.Value("error")) +
			", path " + say(repo.Value("path")), tone: bad}}
		return s
	}
	s.facts = []fact{{"Status", standing(repo.Value("status"))}}
	if c := code(repo.Value("run_id")); c.text != "" {
		s.facts = append(s.facts, fact{"Run", c})
	}
	if c := toned(repo.Value("blocked_on"), bad); c.text != "" {
		s.facts = append(s.facts, fact{"Blocked on", c})
	}
	inner := &page{}
	inner.add(blockSection(repo))
	inner.add(gatesSection(repo))
	inner.add(approvalsSection(repo))
	inner.add(decisionsSection(repo))
	inner.add(objectionsSection(repo))
	inner.add(costSection(repo))
	inner.add(turnsSection(repo))
	inner.add(listing("Gate Failures", "gate failures", repo.Objects("gate_failures"), []string{"When", "Gate", "Turn",
		"Reasons"}, func(o *ojson.Object) []cell {
		return []cell{moment(o.Value("failed_at")), code(o.Value("gate_id")), code(o.Value("requested_by_turn")),
			plain(reasonsOf(o))}
	}))
	inner.events(repo)
	s.parts = inner.sections
	return s
}
