// The timeline: the operations of the record, or the events when there is none.

package dashboard

import (
	"fmt"
	"strings"
	"time"
)

// happening is one line of the timeline.
type happening struct {
	Time                    time.Time
	Op, Kind, Turn          string
	Role, Phase, Who, Title string
}

// happenings returns a function for line i of the timeline, from the oldest, and their number.
func (v *view) happenings() (n int, at func(i int) happening, recorded bool) {
	if ops := v.s.Ops; len(ops) > 0 {
		return len(ops), func(i int) happening {
			op := &ops[len(ops)-1-i]
			return happening{
				Time:  op.Time,
				Op:    string(op.Op),
				Kind:  op.Name,
				Turn:  op.Turn,
				Role:  op.Role,
				Phase: v.s.phases[i],
				Who:   op.Actor,
				Title: op.Subject,
			}
		}, true
	}
	rows := v.m.events.entries()
	return len(rows), func(i int) happening {
		e := &rows[i]
		return happening{Time: e.Time, Kind: e.Kind, Turn: e.Turn, Role: e.Role, Phase: e.Phase, Title: e.Text}
	}, false
}

func timelinePage(v *view) error {
	v.Title = "Timeline"
	n, at, recorded := v.happenings()
	q, role, phase, kind := strings.ToLower(v.q.Get("text")), v.q.Get("role"), v.q.Get("phase"), v.q.Get("type")
	b := block{ID: "timeline", Filter: &filter{Action: "/timeline", Fields: []field{
		{"type", "Type", kind, choices(n, func(i int) string { return at(i).Kind }, kind)},
		{"role", "Role", role, choices(n, func(i int) string { return at(i).Role }, role)},
		{"phase", "Phase", phase, choices(n, func(i int) string { return at(i).Phase }, phase)},
		{"text", "Text", v.q.Get("text"), nil},
	}}}
	rows, older, newer := v.window(n, func(i int) bool {
		h := at(i)
		return (role == "" || h.Role == role) && (phase == "" || h.Phase == phase) && (kind == "" || h.Kind == kind) &&
			(q == "" || holds(q, h.Title, h.Who, h.Turn, h.Op, h.Kind))
	})
	b.Older, b.Newer = older, newer
	if recorded {
		v.Lead = counted(n, "operation is", "operations are") + " recorded. Each is a commit of the run's own history."
		b.Table = &table{Head: []string{"When", "Operation", "What", "Role", "Phase", "Turn", "By"}}
	} else {
		v.Lead = "The events of the run; " + map[bool]string{
			true:  "an artifact has no record of operations.",
			false: "no operation is recorded.",
		}[v.srv.opt.Replay != nil]
		b.Table = &table{Head: []string{"When", "Event", "What", "Role", "Phase", "Turn"}}
	}
	for _, i := range rows {
		h := at(i)
		if recorded {
			what := opLink(h.Op)
			b.Table.Rows = append(b.Table.Rows, []cell{v.moment(h.Time), what, {Text: plain(h.Title)}, text(h.Role),
				text(h.Phase), turnLink(h.Turn), text(h.Who)})
			continue
		}
		b.Table.Rows = append(b.Table.Rows, []cell{v.moment(h.Time), text(words(h.Kind)), text(h.Title), text(h.Role),
			text(h.Phase), turnLink(h.Turn)})
	}
	if len(rows) == 0 {
		b.Table, b.Empty = nil, "Nothing has happened yet."
		if n > 0 {
			b.Empty = "Nothing fits the filter."
		}
	}
	v.Blocks = []block{b}
	return nil
}

// events shows the event log as it is written.
func events(v *view) error {
	v.Title = "Events"
	rows := v.m.events.entries()
	kind, run, q := v.q.Get("type"), v.q.Get("run"), strings.ToLower(v.q.Get("text"))
	b := block{ID: "events", Filter: &filter{Action: "/event-log", Fields: []field{
		{"type", "Type", kind, choices(len(rows), func(i int) string { return rows[i].Kind }, kind)},
		{"run", "Run", run, choices(len(rows), func(i int) string { return rows[i].Run }, run)},
		{"text", "Text", v.q.Get("text"), nil},
	}}}
	picked, older, newer := v.window(len(rows), func(i int) bool {
		e := &rows[i]
		return (kind == "" || e.Kind == kind) && (run == "" || e.Run == run) &&
			(q == "" || holds(q, e.Text, e.Kind, e.Turn, e.ID, e.Role))
	})
	b.Older, b.Newer = older, newer
	b.Table = &table{Head: []string{"When", "Event", "Status", "Phase", "Role", "Turn", "What"}}
	for _, i := range picked {
		e := &rows[i]
		b.Table.Rows = append(b.Table.Rows, []cell{v.moment(e.Time), text(words(e.Kind)), standing(e.Status),
			text(e.Phase), text(e.Role), turnLink(e.Turn), text(e.Text)})
	}
	v.Lead = counted(len(rows), "event", "events") + ", the newest first."
	if len(picked) == 0 {
		b.Table, b.Empty = nil, "Nothing fits the filter."
		if len(rows) == 0 {
			b.Empty, v.Lead = "Nothing has happened yet.", ""
		}
	}
	v.Blocks = append([]block{b}, v.findingsOf(v.m.events)...)
	return nil
}

// findingsOf reports lines that are not rows.
func (v *view) findingsOf(list ...*ledger) (out []block) {
	t := &table{Head: []string{"File", "Line", "Why it is not a row"}}
	all := 0
	for _, l := range list {
		bad, n := l.findings()
		all += n
		for _, f := range bad {
			if len(t.Rows) < 50 {
				t.Rows = append(t.Rows, []cell{code(l.name), text(fmt.Sprint(f.Line)), text(f.Why)})
			}
		}
	}
	if all > 0 {
		out = append(out, block{
			ID:    "unreadable",
			Title: "Lines that are not rows",
			Note:  counted(all, "line is", "lines are") + " left out: " + "nothing that lists rows counts them.",
			Table: t,
		})
	}
	return out
}
