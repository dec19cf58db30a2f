// The overview: where the run is, whom it waits for, what was decided, what is wrong.

package dashboard

import (
	"fmt"
	"slices"
	"strings"

	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

func overview(v *view) error {
	v.Title = "Overview"
	if !v.s.Governed && v.s.Initiative {
		return board(v)
	}
	if v.s.SightErr != nil {
		v.Lead = "The run cannot be shown as it is. What its files say is on the other pages."
		v.Blocks = append(v.Blocks, errorBlock(v.s.SightErr))
		v.Blocks = append(v.Blocks, v.lastEvents())
		return nil
	}
	si := v.s.Sight
	if si == nil {
		return errMissing{"There is no run here."}
	}
	v.Lead = v.lead()
	v.Notices = append(v.Notices, v.notices()...)
	v.Blocks = append(v.Blocks, v.outcome(), v.phases(), v.picture())
	done := si.View.State.Status == wire.StatusCompleted
	if !done {
		v.Blocks = append(v.Blocks, v.activeTurns())
	}
	v.Blocks = append(v.Blocks, v.cost())
	if !done {
		v.Blocks = append(v.Blocks, v.gates())
	}
	if b := v.limits(); b != nil {
		v.Blocks = append(v.Blocks, *b)
	}
	if !done {
		v.Blocks = append(v.Blocks, v.lastDecisions())
	}
	v.Blocks = append(v.Blocks, v.lastTurns(), v.about())
	return nil
}

// lead returns the one sentence.
func (v *view) lead() string {
	si := v.s.Sight
	st := si.View.State
	switch st.Status {
	case wire.StatusCompleted:
		return "The run is completed."
	case wire.StatusFailed:
		if text := st.Abandoned.Text(); text != "" {
			return "The run was " + plain(text)
		}
	case wire.StatusBlocked:
		what := wire.OrEmpty(st.BlockedOn)
		if si.Recovery != nil && wire.OrEmpty(si.Recovery.Detail) != "" {
			what = *si.Recovery.Detail
		}
		return "The run is blocked: " + plain(what)
	}
	if w := st.Waiting(); w != nil {
		if w.Type == agentrun.GateCompletion {
			return "Waiting for a person: gate " + plain(w.Gate) + " completes the run."
		}
		return fmt.Sprintf("Waiting for a person: gate %s, from %s to %s.", plain(w.Gate), plain(w.From), plain(w.To))
	}
	if len(si.Lost) > 0 {
		return "Turn " + plain(si.Lost[0].Turn.TurnID) + " seems abandoned."
	}
	if n := len(si.Turns); n > 0 {
		var who []string
		for _, t := range si.Turns {
			s := t.Turn.AssignedRole
			switch {
			case t.Staged != "":
				s += " (result staged)"
			case !t.Deadline.IsZero() && v.Now.After(t.Deadline):
				s += " (overdue)"
			}
			who = append(who, s)
		}
		return fmt.Sprintf("%s in phase %s: %s.", counted(n, "turn is under way", "turns are under way"),
			plain(st.Phase), plain(strings.Join(who, ", ")))
	}
	if si.View.Run == "" || st.Status == wire.StatusIdle {
		return "No run has been started yet."
	}
	return "Phase " + plain(st.Phase) + ": no turn is under way."
}

// notices returns what is wrong, worst first.
func (v *view) notices() (out []cell) {
	si := v.s.Sight
	for _, p := range si.View.ConfigProblems {
		out = append(out, toned("agentxchain.json: "+p.Message, bad))
	}
	if d := v.m.check.verdict(); d.Report != nil && !d.Report.Clean() {
		out = append(out, cell{
			Text: "The record of the run is not valid; see the findings.",
			Href: "/integrity",
			Tone: bad,
		})
	}
	for _, l := range si.Lost {
		out = append(out, toned(fmt.Sprintf("Turn %s (%s) is %s: %s", l.Turn.TurnID, l.Turn.AssignedRole, l.Kind,
			words(l.Failure)), bad))
	}
	if si.Conflicts > 0 {
		out = append(out, toned(counted(si.Conflicts, "conflict waits", "conflicts wait")+
			" for a person: git agentxchain conflicts.", bad))
	}
	for _, n := range slices.Concat(si.View.Notices, si.View.StateNotes) {
		out = append(out, toned(n, warn))
	}
	if n := v.unreadable(); n > 0 {
		out = append(out, cell{Text: counted(n, "line of the ledgers is not a row",
			"lines of the ledgers are not rows") + " and left out; see which.", Href: "/integrity", Tone: warn})
	}
	if v.s.OpsErr != nil {
		out = append(out, toned("The recorded operations cannot be read: "+v.s.OpsErr.Error(), bad))
	}
	if si.Untrusted {
		out = append(out,
			toned("Hooks or runtimes are configured that this machine does not trust yet: git agentxchain hooks trust.",
				warn))
	}
	if len(out) > 20 {
		out = append(out[:20:20], text(fmt.Sprintf("and %d more", len(out)-20)))
	}
	return out
}

func (v *view) unreadable() (n int) {
	for _, l := range v.m.byPath {
		_, all := l.findings()
		n += all
	}
	return n
}

// phases draws the track.
func (v *view) phases() block {
	si := v.s.Sight
	st := si.View.State
	order := si.View.Config.Phases()
	now := slices.Index(order, st.Phase)
	var stops []stop
	for i, name := range order {
		s := stop{Name: plain(name), Class: "ahead", Mark: fmt.Sprint(i + 1), Note: "to come"}
		switch {
		case st.Status == wire.StatusCompleted && i <= now, i < now:
			s.Class, s.Mark, s.Note = "done", "✓", "done"
		case i == now && st.Status == wire.StatusIdle:
			s.Note = "not started"
		case i == now && st.Status == wire.StatusBlocked:
			s.Class, s.Mark, s.Note = "stuck", "!", "blocked"
		case i == now && agentrun.HasPending(st):
			s.Class, s.Note = "current", "waits for a person"
		case i == now:
			s.Class, s.Note = "current", "now"
			if at := instant(wire.OrEmpty(st.PhaseEnteredAt)); !at.IsZero() {
				s.Note = "for " + lasting(v.Now.Sub(at))
			}
		}
		stops = append(stops, s)
	}
	b := block{ID: "phases", Title: "Phases"}
	if len(stops) == 0 {
		b.Empty = "The configuration has no phases."
		return b
	}
	if now < 0 {
		b.Note = "The run is in phase " + plain(st.Phase) + ", which the configuration does not have."
	}
	b.Track = stops
	return b
}

func (v *view) activeTurns() block {
	si := v.s.Sight
	b := block{ID: "active", Title: "Who is at work"}
	if len(si.Turns) == 0 {
		b.Empty = "No turn is under way."
		return b
	}
	t := &table{Head: []string{"Turn", "Role", "Runtime", "Status", "Since", "Deadline", "Result"}}
	for _, ts := range si.Turns {
		t.Rows = append(t.Rows, v.activeRow(ts))
	}
	b.Table = t
	return b
}

func (v *view) activeRow(ts status.Turn) []cell {
	deadline := v.moment(ts.Deadline)
	if !ts.Deadline.IsZero() && v.Now.After(ts.Deadline) {
		deadline.Tone = bad
		deadline.Text = "overdue since " + lasting(v.Now.Sub(ts.Deadline))
	}
	staged := text("none yet")
	if ts.Staged != "" {
		staged = toned("staged", good)
	}
	return []cell{turnLink(ts.Turn.TurnID), text(ts.Turn.AssignedRole), text(ts.Turn.RuntimeID),
		standing(ts.Turn.Status), v.moment(instant(ts.Turn.AssignedAt)), deadline, staged}
}

func (v *view) lastDecisions() block {
	b := block{ID: "decided", Title: "Last decisions", Empty: "Nothing has been decided yet."}
	if t := v.decisionRows(5); len(t.Rows) > 0 {
		b.Empty, b.Table, b.All = "", t, cell{Text: "All decisions", Href: "/decisions"}
	}
	return b
}

// decisionRows returns the newest n decisions of the run.
func (v *view) decisionRows(n int) *table {
	rows := v.m.decisions.entries()
	t := &table{Head: []string{"When", "What", "Role", "Statement"}}
	for i := len(rows) - 1; i >= 0 && len(t.Rows) < n; i-- {
		if e := &rows[i]; e.Kind == "decision" && v.ofRun(e) {
			t.Rows = append(t.Rows, []cell{v.moment(e.Time), decisionLink(e.ID), text(e.Role), text(e.Text)})
		}
	}
	return t
}

func (v *view) lastTurns() block {
	b := block{ID: "done", Title: "Last turns", Empty: "No turn has been accepted yet."}
	rows := v.m.history.entries()
	t := &table{Head: []string{"When", "Turn", "Role", "Phase", "What was done"}}
	for i := len(rows) - 1; i >= 0 && len(t.Rows) < 5; i-- {
		if e := &rows[i]; v.ofRun(e) {
			t.Rows = append(t.Rows,
				[]cell{v.moment(e.Time), turnLink(e.Turn), text(e.Role), text(e.Phase), text(e.Text)})
		}
	}
	if len(t.Rows) > 0 {
		b.Empty, b.Table, b.All = "", t, cell{Text: "All turns", Href: "/turns"}
	}
	return b
}

func (v *view) lastEvents() block {
	b := block{ID: "happened", Title: "Last events", Empty: "Nothing has happened yet."}
	rows := v.m.events.entries()
	t := &table{Head: []string{"When", "Event", "Role", "What"}}
	for i := len(rows) - 1; i >= 0 && len(t.Rows) < 10; i-- {
		e := &rows[i]
		t.Rows = append(t.Rows, []cell{v.moment(e.Time), text(words(e.Kind)), text(e.Role), text(e.Text)})
	}
	if len(t.Rows) > 0 {
		b.Empty, b.Table, b.All = "", t, cell{Text: "All events", Href: "/event-log"}
	}
	return b
}

// ofRun reports rows of the run that is shown; a row that names none belongs to the run under way
// when it was written.
func (v *view) ofRun(e *entry) bool {
	if v.s.Sight == nil || v.s.Sight.View.Run == "" {
		return true
	}
	if e.Run == "" {
		return e.Time.IsZero() || !e.Time.Before(instant(wire.OrEmpty(v.s.Sight.View.State.CreatedAt)))
	}
	return e.Run == v.s.Sight.View.Run
}

func (v *view) about() block {
	si := v.s.Sight
	st, cfg := si.View.State, si.View.Config
	b := block{ID: "about", Title: "About the run"}
	add := func(label string, c cell) {
		if c.Text != "" {
			b.Facts = append(b.Facts, fact{label, c})
		}
	}
	add("Run", code(si.View.Run))
	add("Project", text(cfg.Project.ID))
	add("Goal", text(cfg.Project.Goal))
	add("Template", text(cfg.Template))
	add("Started", v.moment(instant(wire.OrEmpty(st.CreatedAt))))
	add("Completed", v.moment(instant(wire.OrEmpty(st.CompletedAt))))
	if st.Provenance != nil {
		add("Started by", text(strings.TrimSpace(st.Provenance.String("created_by")+" "+
			st.Provenance.String("trigger")+" "+st.Provenance.String("trigger_reason"))))
		add("Goes on from", code(st.Provenance.String("parent_run_id")))
	}
	add("Branch", text(si.Branch))
	if n := len(si.Uncommitted); n > 0 && v.srv.opt.Replay == nil {
		add("Not committed", text(counted(n, "file", "files")+" of accepted turns"))
	}
	if len(v.s.Ops) > 0 {
		add("Record", cell{Text: counted(len(v.s.Ops), "operation", "operations"), Href: "/timeline"})
	}
	if p := v.srv.opt.Replay; p != nil {
		add("Exported", v.moment(instant(p.Exported)))
		add("Artifact", text(p.Artifact))
		add("Schema", text(p.Schema))
		if len(p.Partial) > 0 {
			add("Partly there", text(strings.Join(p.Partial, ", ")))
		}
	}
	return b
}
