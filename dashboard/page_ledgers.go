// Decisions with what overrides them, and the audit of hooks.

package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func decisions(v *view) error {
	v.Title = "Decisions"
	l := v.m.decisions
	if !v.s.Governed && v.s.Initiative {
		l = v.m.coLedger
	}
	rows := l.entries()
	kind, role, phase, q := v.q.Get("type"), v.q.Get("role"), v.q.Get("phase"), strings.ToLower(v.q.Get("text"))
	b := block{ID: "ledger", Title: "Decided in the run", Filter: &filter{Action: "/decisions", Fields: []field{
		{"type", "Type", kind, choices(len(rows), func(i int) string { return rows[i].Kind }, kind)},
		{"role", "Role", role, choices(len(rows), func(i int) string { return rows[i].Role }, role)},
		{"phase", "Phase", phase, choices(len(rows), func(i int) string { return rows[i].Phase }, phase)},
		{"text", "Text", v.q.Get("text"), nil},
	}}}
	picked, older, newer := v.window(len(rows), func(i int) bool {
		e := &rows[i]
		return (kind == "" || e.Kind == kind) && (role == "" || e.Role == role) && (phase == "" || e.Phase == phase) &&
			(q == "" || holds(q, e.Text, e.ID, e.Ref, e.Turn))
	})
	b.Older, b.Newer = older, newer
	b.Table = &table{Head: []string{"When", "What", "About", "Role", "Phase", "Statement", "Standing", "Turn"}}
	wanted := make([]entry, len(picked))
	for i, at := range picked {
		wanted[i] = rows[at]
	}
	full := l.decode(wanted)
	for i := range wanted {
		e := &wanted[i]
		status := standing(e.Status)
		if len(full) == len(wanted) {
			if by := firstText(full[i], "overridden_by", "superseded_by"); by != "" {
				status = toned("overridden by "+by, warn)
			} else if over := full[i].String("overrides"); over != "" {
				status = toned("overrides "+over, warn)
			}
		}
		what := code(e.ID)
		if e.ID == "" {
			what = text(words(e.Kind))
		}
		b.Table.Rows = append(b.Table.Rows, []cell{v.moment(e.Time), what, text(e.Ref), text(e.Role), text(e.Phase),
			text(e.Text), status, turnLink(e.Turn)})
	}
	if len(picked) == 0 {
		b.Table, b.Empty = nil, "No decision fits the filter."
		if len(rows) == 0 {
			b.Empty = "Nothing has been decided yet."
		}
	}
	v.Lead = counted(len(rows), "entry",
		"entries") + " in the ledger: decisions, verdicts of gates, approvals, conflicts."
	v.Blocks = append(v.Blocks, b)
	if v.s.Governed {
		v.Blocks = append(v.Blocks, v.lastingDecisions(v.m.decisionSummary()))
	}
	v.Blocks = append(v.Blocks, v.findingsOf(l, v.m.repoDecisions)...)
	return nil
}

// lastingDecisions shows the decisions that outlive their run, and what has replaced them.
func (v *view) lastingDecisions(s *ojson.Object) block {
	b := block{ID: "lasting", Title: "Lasting decisions", Empty: "No decision outlives its run."}
	if s == nil {
		return b
	}
	b.Empty = ""
	t := &table{Head: []string{"Decision", "Standing", "Statement", "Role", "Authority", "Instead of"}}
	authority := func(o *ojson.Object) cell {
		if o.Value("authority_level") == nil {
			return cell{}
		}
		return text(plain(o.Value("authority_level")) + " (" + words(o.String("authority_source")) + ")")
	}
	active, over := s.Objects("active"), s.Objects("overridden")
	// Those in force come first, the newest of them before the others.
	all := slices.Concat(over, active)
	picked, older, newer := v.windowOf("lasting-", listSize/2, len(all), func(int) bool { return true })
	b.Older, b.Newer = older, newer
	for _, i := range picked {
		o := all[i]
		status := toned("in force", good)
		if i < len(over) {
			status = toned("overridden by "+o.String("overridden_by"), warn)
		}
		t.Rows = append(t.Rows, []cell{code(o.String("id")), status, text(o.String("statement")),
			text(o.String("role")), authority(o), code(o.String("overrides"))})
	}
	b.Table = t
	b.Note = fmt.Sprintf("%d in force, %d overridden.", len(active), len(over))
	if top := s.Object("operator_summary").String("highest_active_authority_role"); top != "" {
		b.Note += " The highest authority behind one in force is " + plain(top) + "'s."
	}
	return b
}

func hooksPage(v *view) error {
	v.Title = "Hooks"
	l, notes := v.m.hookAudit, v.m.hookNotes
	if !v.s.Governed && v.s.Initiative {
		l, notes = v.m.coHooks, v.m.coNotes
	}
	rows := l.entries()
	phase, name, status := v.q.Get("phase"), v.q.Get("hook"), v.q.Get("status")
	b := block{ID: "audit", Title: "Audit", Filter: &filter{Action: "/hooks", Fields: []field{
		{"phase", "Hook phase", phase, choices(len(rows), func(i int) string { return rows[i].Kind }, phase)},
		{"hook", "Hook", name, choices(len(rows), func(i int) string { return rows[i].Ref }, name)},
		{"status", "Outcome", status, choices(len(rows), func(i int) string { return rows[i].Status }, status)},
	}}}
	picked, older, newer := v.window(len(rows), func(i int) bool {
		e := &rows[i]
		return (phase == "" || e.Kind == phase) && (name == "" || e.Ref == name) &&
			(status == "" || e.Status == status)
	})
	b.Older, b.Newer = older, newer
	b.Table = &table{Head: []string{"When", "Phase", "Hook", "Outcome", "Message", "Turn"}}
	for _, i := range picked {
		e := &rows[i]
		b.Table.Rows = append(b.Table.Rows, []cell{v.moment(e.Time), text(words(e.Kind)), code(e.Ref),
			hookStanding(e.Status), text(e.Text), turnLink(e.Turn)})
	}
	v.Lead = counted(len(rows), "call of a hook", "calls of hooks") + " on record."
	if len(picked) == 0 {
		b.Table, b.Empty = nil, "No call fits the filter."
		if len(rows) == 0 {
			b.Empty, v.Lead = "No hook has run.", ""
		}
	}
	v.Blocks = append(v.Blocks, b)
	if said := notes.entries(); len(said) > 0 {
		n := block{
			ID:    "annotations",
			Title: "What hooks noted",
			Table: &table{Head: []string{"When", "Hook", "Turn", "Note"}},
		}
		full := notes.decode(said[max(0, len(said)-pageSize):])
		slices.Reverse(full)
		for _, o := range full {
			var e entry
			digestHook(o, &e)
			n.Table.Rows = append(n.Table.Rows, []cell{v.moment(e.Time), code(e.Ref), turnLink(e.Turn),
				text(string(ojson.Compact(o.Value("annotations"))))})
		}
		v.Blocks = append(v.Blocks, n)
	}
	v.Blocks = append(v.Blocks, v.findingsOf(l, notes)...)
	return nil
}

func hookStanding(s string) cell {
	c := standing(s)
	switch {
	case strings.HasPrefix(s, "block"), strings.HasPrefix(s, "abort"), strings.HasPrefix(s, "fail"):
		c.Tone = bad
	case strings.HasPrefix(s, "warn"):
		c.Tone = warn
	case strings.HasPrefix(s, "continue"), s == "allow":
		c.Tone = good
	}
	return c
}
