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
	p.title = cmp.Or(say(member(c, "project_name")), say(member(c, "project_id")), "An initiative")
	p.lead = initiativeLead(c, r, subject)
	p.cards = []fact{
		{"Status", standing(member(r, "status"))},
		{"Phase", plain(member(r, "phase"))},
		{"Repositories", plain(count(r, "repo_ok_count") + count(r, "repo_error_count"))},
		{"Barriers", barrierCard(subject)},
		{"Decisions", plain(len(subject.Array("decision_digest")))},
	}
	if n := count(r, "repo_error_count"); n > 0 {
		p.cards = append(p.cards, fact{"Not exported", toned(n, bad)})
	}
	if d := lasting(member(r, "duration_seconds")); d != "" {
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
		return []cell{moment(member(o, "timestamp")), plain(member(o, "summary")), plain(member(o, "repo_id")),
			plain(member(o, "workstream_id"))}
	}))
	p.add(listing("Barrier Transitions", "transitions", subject.Objects("barrier_ledger_timeline"), []string{"When",
		"Barrier", "From", "To", "Because of"}, func(o *ojson.Object) []cell {
		return []cell{moment(member(o, "timestamp")), code(member(o, "barrier_id")),
			standing(member(o, "previous_status")), standing(member(o, "new_status")),
			plain(first(o, "repo_id", "trigger"))}
	}))
	p.events(subject)
	events := listing("Aggregated Child Repo Events", "events", subject.Objects("aggregated_event_timeline"),
		[]string{"When", "Repository", "What"}, func(o *ojson.Object) []cell {
			return []cell{moment(member(o, "timestamp")), plain(member(o, "repo_id")), plain(member(o, "summary"))}
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
	status := say(member(r, "status"))
	var s string
	switch status {
	case "":
		s = "No initiative has been started."
	case "blocked":
		s = "The initiative is blocked: " + strings.TrimRight(cmp.Or(say(member(r, "blocked_reason")),
			"no reason is on record"), ".") + "."
	default:
		s = "The initiative is " + status + "."
	}
	if g := r.Object("pending_gate"); g != nil {
		s += " Gate " + say(member(g, "gate")) + " waits for a person."
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
	name := say(member(c, "project_name"))
	if id := say(member(c, "project_id")); id != "" {
		name = strings.TrimSpace(name + " (" + id + ")")
	}
	add("Project", cell{text: name})
	add("Initiative", code(member(r, "super_run_id")))
	add("Status", standing(member(r, "status")))
	add("Phase", plain(member(r, "phase")))
	add("Blocked", toned(member(r, "blocked_reason"), bad))
	if g := r.Object("pending_gate"); g != nil {
		add("Pending gate", cell{
			text: strings.TrimSpace(say(member(g, "gate")) + " (" + say(member(g, "gate_type")) + ")"),
			tone: warn,
		})
	}
	add("Started", moment(member(r, "created_at")))
	add("Completed", moment(member(r, "completed_at")))
	add("Duration", cell{text: lasting(member(r, "duration_seconds"))})
	if e := r.Object("recent_coordinator_events"); e != nil {
		add("Coordinator events", cell{text: recentText(e)})
		add("Latest event", latestText(e))
	}
	if e := r.Object("recent_child_repo_events"); e != nil {
		add("Repository events", cell{text: recentText(e)})
	}
	add("Note", plain(member(r, "terminal_observability_note")))
	return head
}

func disagreements(r *ojson.Object) section {
	var rows []*ojson.Object
	for _, x := range r.Objects("run_id_mismatches") {
		rows = append(rows, ojson.NewObject("repo", member(x, "repo_id"), "what", "run",
			"record", member(x, "expected_run_id"), "actual", member(x, "actual_run_id")))
	}
	for _, x := range r.Objects("repo_status_drifts") {
		rows = append(rows, ojson.NewObject("repo", member(x, "repo_id"), "what", "status",
			"record", member(x, "coordinator_status"), "actual", member(x, "repo_status")))
	}
	return listing("Repositories that differ from the record", "rows", rows, []string{"Repository", "What",
		"On record", "Found"}, func(o *ojson.Object) []cell {
		return []cell{plain(member(o, "repo")), plain(member(o, "what")), code(member(o, "record")),
			toned(member(o, "actual"), warn)}
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
		if c := plain(member(o, x[0])); c.text != "" {
			s.facts = append(s.facts, fact{x[1], c})
		}
	}
	return s
}

func repositoriesSection(repos []*ojson.Object) section {
	return listing("Repositories", "repositories", repos, []string{"Repository", "Status", "Phase", "Run", "Turns",
		"Cost", "Path"}, func(o *ojson.Object) []cell {
		if !o.Bool("ok") {
			return []cell{plain(member(o, "repo_id")), {text: "failed export, " + say(member(o, "error")), tone: bad},
				{}, code(member(o, "run_id")), {}, {}, code(member(o, "path"))}
		}
		return []cell{plain(member(o, "repo_id")), standing(member(o, "status")), plain(member(o, "phase")),
			code(member(o, "run_id")), plain(len(o.Array("turns"))),
			{text: money(member(o.Object("cost_summary"), "total_usd"))}, code(member(o, "path"))}
	})
}

func barrierSection(subject *ojson.Object) section {
	return listing("Barrier Summary", "barriers", subject.Objects("barrier_summary"), []string{"Barrier", "Type",
		"Status", "Required", "Satisfied"}, func(o *ojson.Object) []cell {
		return []cell{code(member(o, "barrier_id")), plain(member(o, "type")), standing(member(o, "status")),
			plain(member(o, "required_repos")), plain(member(o, "satisfied_repos"))}
	})
}

// repositorySection is one repository with the sections of its run.
func repositorySection(repo *ojson.Object) section {
	s := section{title: "Repository " + say(member(repo, "repo_id"))}
	if !repo.Bool("ok") {
		s.items = []cell{{text: say(member(repo, "repo_id")) + ": failed export, " + say(member(repo, "error")) +
			", path " + say(member(repo, "path")), tone: bad}}
		return s
	}
	s.facts = []fact{{"Status", standing(member(repo, "status"))}}
	if c := code(member(repo, "run_id")); c.text != "" {
		s.facts = append(s.facts, fact{"Run", c})
	}
	if c := toned(member(repo, "blocked_on"), bad); c.text != "" {
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
		return []cell{moment(member(o, "failed_at")), code(member(o, "gate_id")), code(member(o, "requested_by_turn")),
			plain(reasonsOf(o))}
	}))
	inner.events(repo)
	s.parts = inner.sections
	return s
}
