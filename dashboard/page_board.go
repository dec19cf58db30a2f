// The coordinator's board: workstreams and repositories, barriers and what each
// waits for.

package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func board(v *view) error {
	v.Title = "Board"
	if !v.s.Initiative {
		return errMissing{"This project coordinates no other repositories."}
	}
	if v.s.InitiativeErr != nil {
		v.Lead = "The initiative cannot be shown as it is."
		v.Blocks = append(v.Blocks, errorBlock(v.s.InitiativeErr))
		return nil
	}
	in := v.s.Standing
	st := in.State
	v.Lead = initiativeLead(in)
	for _, p := range slices.Concat(in.RepoProblems, in.OptionalProblems, in.Refused, in.Findings) {
		v.Notices = append(v.Notices, toned(p.Message, warn))
	}
	for _, e := range []*wire.Error{in.Unread, in.Unapproved} {
		if e != nil {
			v.Notices = append(v.Notices, toned(e.Message, bad))
		}
	}
	for _, m := range in.Uncounted {
		v.Notices = append(v.Notices, toned(m.Detail, warn))
	}
	for _, w := range in.Warnings.Objects("warnings") {
		v.Notices = append(v.Notices, toned(w.String("warning_message"), warn))
	}
	if len(v.Notices) > 20 {
		v.Notices = append(v.Notices[:20:20],
			text("and "+plain(len(v.Notices)-20)+" more: git agentxchain multi status"))
	}
	next := block{
		ID:    "next",
		Title: "What comes next",
		Empty: "No command is needed now: what each workstream waits for stands below.",
	}
	if len(in.Next) > 0 && v.srv.opt.Replay == nil {
		next.Empty, next.Table = "", &table{Head: []string{"Do", "Because"}}
		for _, a := range in.Next {
			next.Table.Rows = append(next.Table.Rows,
				[]cell{code(a.Line(coordinator.Program)), text(a.Reason)})
		}
	}
	rows := in.Board()
	v.Blocks = append(v.Blocks, next, initiativePhases(in))
	if g := graph(rows); g != "" {
		v.Blocks = append(v.Blocks, block{
			ID:      "graph",
			Title:   "What depends on what",
			Drawing: g,
			Note:    "An arrow leads from a workstream to what depends on it; the circle on it is the barrier, filled when it is satisfied. A square is a repository.",
		})
	}
	if d := v.initiativeDrawing(in); len(d.Turns) > 0 {
		v.Blocks = append(v.Blocks, v.pictureOf(d, block{ID: "picture", Title: "The initiative in time"}, nil))
	}
	v.Blocks = append(v.Blocks, workstreams(v, in, rows), repositories(v, in))
	if g := st.PendingGate; g != nil {
		b := block{ID: "gate", Title: "The gate that waits", Facts: []fact{
			{"Gate", code(g.Gate)},
			{"Kind", text(words(g.GateType))},
			{"From", text(g.From)},
			{"To", text(g.To)},
			{"Asked", v.moment(instant(g.RequestedAt))},
			{"Repositories", text(strings.Join(g.RequiredRepos, ", "))},
			{"Approves", text(strings.Join(g.HumanBarriers, ", "))},
		}}
		for _, f := range in.Facts() {
			b.Facts = append(b.Facts, fact{f[0], text(f[1])})
		}
		v.Blocks = append(v.Blocks, b)
	}
	v.Blocks = append(v.Blocks, coordinatorStory(v))
	v.Blocks = append(v.Blocks, v.findingsOf(v.m.coHistory, v.m.coLedger, v.m.coBarriers)...)
	return nil
}

func initiativeLead(in *coordinator.Standing) string {
	st := in.State
	switch {
	case st.Status == multirepo.StatusCompleted:
		return "The initiative is completed."
	case st.Abandoned():
		return "The initiative was ended early (" + plain(st.BlockedReason) + ")."
	case st.Status == multirepo.StatusBlocked:
		return "The initiative is blocked: " + plain(st.BlockedReason)
	case st.PendingGate != nil:
		lead := "Gate " + plain(st.PendingGate.Gate) + " waits for a person"
		if g := in.Gate; g != nil && len(g.Missing) > 0 {
			lead = fmt.Sprintf("Gate %s waits for %s: %d of %d people have agreed", plain(st.PendingGate.Gate),
				plain(wire.ListSome(g.Missing, 3)), len(g.Counting), g.Need)
		}
		return lead + "."
	}
	open := 0
	for _, r := range in.Board() {
		if r.Current && len(r.WaitsFor) > 0 {
			open++
		}
	}
	return "Phase " + plain(st.Phase) + ": " + counted(open, "workstream waits", "workstreams wait") + "."
}

func initiativePhases(in *coordinator.Standing) block {
	b := block{ID: "phases", Title: "Phases", Empty: "The initiative has no phases."}
	order := in.Config.Phases()
	now := slices.Index(order, in.State.Phase)
	var stops []stop
	for i, name := range order {
		s := stop{Name: plain(name), Class: "ahead", Mark: plain(i + 1), Note: "to come"}
		switch {
		case in.State.Status == multirepo.StatusCompleted, i < now:
			s.Class, s.Mark, s.Note = "done", "✓", "done"
		case i == now && in.State.Status == multirepo.StatusBlocked:
			s.Class, s.Mark, s.Note = "stuck", "!", "blocked"
		case i == now:
			s.Class, s.Note = "current", "now"
		}
		stops = append(stops, s)
	}
	if len(stops) > 0 {
		b.Empty, b.Track = "", stops
	}
	return b
}

// maxColumns is how many repositories have a column each; of more only their number in each state
// is shown.
const maxColumns = 10

// workstreams returns the board itself: a row for each workstream, a column for each repository.
func workstreams(v *view, in *coordinator.Standing, rows []coordinator.Row) block {
	b := block{ID: "workstreams", Title: "Workstreams", Empty: "There are no workstreams.", Plain: true}
	repos := in.Config.Repos.Keys()
	columns := repos
	if len(repos) > maxColumns {
		repos, columns = nil, []string{"Repositories"}
	}
	t := &table{Head: append(append([]string{"Workstream", "Phase"}, columns...), "Barrier", "Waits for")}
	for i := range t.Head {
		t.Head[i] = plain(t.Head[i])
	}
	var picked []int
	picked, b.Older, b.Newer = v.windowOf("workstreams-", listSize, len(rows), func(int) bool { return true })
	for _, i := range picked {
		r := rows[len(rows)-1-i] // a window begins at the end
		name := text(r.Workstream.ID)
		if r.Current {
			name.Tone = good
		}
		row := []cell{name, text(r.Workstream.Phase)}
		if repos == nil {
			row = append(row, text(tally(r.Cells)))
		}
		for _, id := range repos {
			c := cell{}
			for _, x := range r.Cells {
				if x.Repo == id {
					c = boardCell(x)
				}
			}
			row = append(row, c)
		}
		barrier := toned("missing", bad)
		if r.Barrier != nil {
			barrier = standing(r.Barrier.Status)
			barrier.Text += " (" + plain(words(r.Barrier.Type)) + ")"
		}
		waits := text(strings.Join(r.WaitsFor, "; "))
		if len(r.WaitsFor) == 0 {
			waits = text("nothing")
		}
		t.Rows = append(t.Rows, append(row, barrier, waits))
	}
	return b.filled(t)
}

// tally counts the repositories in each state, in the order of appearance.
func tally(cells []coordinator.Cell) string {
	var order, out []string
	number := map[string]int{}
	for _, x := range cells {
		state := words(x.State)
		if x.State == coordinator.CellOpen {
			state = "open"
		}
		if number[state]++; number[state] == 1 {
			order = append(order, state)
		}
	}
	for _, state := range order {
		out = append(out, plain(number[state])+" "+state)
	}
	return strings.Join(out, ", ")
}

func boardCell(x coordinator.Cell) cell {
	c := standing(x.State)
	switch x.State {
	case coordinator.CellDone:
		c.Tone = good
	case coordinator.CellWorking:
		c.Text = "working"
	case coordinator.CellAccepted, coordinator.CellLoose, coordinator.CellPartial, coordinator.CellGate:
		c.Tone = warn
	case coordinator.CellOpen:
		c.Text, c.Tone = "open", neutral
	}
	if x.Turn != "" {
		c.Text += " " + plain(x.Turn)
	}
	if len(x.Missing) > 0 {
		c.Text += ", lacks " + plain(strings.Join(x.Missing, ", "))
	}
	if x.Entry {
		c.Text += " (begins here)"
	}
	return c
}

func repositories(v *view, in *coordinator.Standing) block {
	b := block{ID: "repositories", Title: "Repositories", Empty: "There are none.", Plain: true}
	t := &table{Head: []string{"Repository", "Status", "Phase", "Run", "Path", "Checkout", "At work on", "Since",
		"More"}}
	rows := in.Repos()
	var picked []int
	picked, b.Older, b.Newer = v.windowOf("repositories-", listSize, len(rows), func(int) bool { return true })
	for _, i := range picked {
		r := rows[len(rows)-1-i]
		var notes []string
		for _, d := range r.Objects("details") {
			notes = append(notes, d.String("label")+" "+d.String("value"))
		}
		t.Rows = append(t.Rows, []cell{text(r.String("repo_id")), standing(r.String("status")),
			text(r.String("phase")), code(r.String("run_id")), code(r.String("path")),
			text(in.CheckoutText(r.String("repo_id"))),
			text(strings.Join(r.Strings("active_turns"), ", ")), v.moment(oldest(r)), text(strings.Join(notes, ", "))})
	}
	return b.filled(t)
}

// oldest returns since when a repository has had its oldest active turn, the zero time for none.
func oldest(row *ojson.Object) time.Time {
	var at time.Time
	for _, turn := range row.Objects("turns") {
		if since := instant(turn.String("since")); !since.IsZero() && (at.IsZero() || since.Before(at)) {
			at = since
		}
	}
	return at
}

// coordinatorStory returns the newest part of the initiative's history.
func coordinatorStory(v *view) block {
	b := block{ID: "history", Title: "History of the initiative", Empty: "Nothing has happened yet."}
	rows := v.m.coHistory.entries()
	picked, older, newer := v.window(len(rows), func(int) bool { return true })
	t := &table{Head: []string{"When", "What", "About", "Turn", "Text"}}
	for _, i := range picked {
		e := &rows[i]
		t.Rows = append(t.Rows, []cell{v.moment(e.Time), text(words(e.Kind)), text(e.Ref), code(e.Turn), text(e.Text)})
	}
	if len(t.Rows) > 0 {
		b.Empty, b.Table, b.Older, b.Newer = "", t, older, newer
	}
	return b
}
