// The beginning of the overview: what was delivered, what is asked of which person, or the way out.

package dashboard

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// outcome returns the first thing that a reader has to know.
func (v *view) outcome() block {
	st := v.s.Sight.View.State
	if st.Status == wire.StatusCompleted {
		return v.delivered()
	}
	if b := v.waiting(); b != nil && st.Status == wire.StatusBlocked {
		return *b
	}
	if agentrun.HasPending(st) {
		return v.asked()
	}
	return v.next()
}

func (v *view) next() block {
	b := block{ID: "next", Title: "What comes next"}
	switch n := v.s.Sight.Next; {
	case v.srv.opt.Replay != nil:
		b.Empty = "This is a replay: nothing comes next in it."
	case n != nil:
		b.Facts = []fact{{"Command", code(n.Command)}, {"Because", text(n.Reason)}}
	case v.s.Sight.View.State.Status == wire.StatusFailed:
		b.Empty = "The run has ended. The next assignment begins another one: git agentxchain run"
	default:
		b.Empty = "No command is needed now. This page follows what is under way."
	}
	return b
}

// Bounds on what a delivery lists.
const (
	deliveredRows  = 10
	deliveredTurns = 200     // whose files are listed
	deliveredBytes = 4 << 20 // of their rows
)

// delivered shows what a completed run leaves: its cost, who opened its gates, the decisions, the
// files.
func (v *view) delivered() block {
	st, d := v.s.Sight.View.State, v.drawing("")
	sum := d.Total()
	b := block{ID: "delivered", Title: "What was delivered", Facts: []fact{
		{"Took", text(timeline.Lasting(d.End.Sub(d.Start)))},
		{"Turns", text(counted(sum.Turns, "turn", "turns") + ", " + counted(sum.Retries, "retry", "retries"))},
		{"Cost", text(v.spent())},
		{"Completed", v.moment(instant(wire.OrEmpty(st.CompletedAt)))},
	}}
	if v.srv.opt.Replay != nil {
		b.Note = "This is a replay: nothing comes next in it."
	}
	gates := &table{Head: []string{"Gate", "Opened by", "When", "Out of phase"}}
	for _, g := range d.Posts[max(len(d.Posts)-pageSize, 0):] {
		if g.Opened {
			gates.Rows = append(gates.Rows,
				[]cell{gateLink(g.Gate), text(cmp.Or(g.By, "not recorded")), v.moment(g.At), text(g.From)})
		}
	}
	if len(gates.Rows) > 0 {
		b.Parts = append(b.Parts, block{ID: "delivered-gates", Title: "Gates", Table: gates})
	}
	if t := v.decisionRows(deliveredRows); len(t.Rows) > 0 {
		b.Parts = append(b.Parts, block{ID: "delivered-decisions", Title: "Decisions", Table: t,
			All: cell{Text: "All decisions", Href: "/decisions"}})
	}
	if files, note := v.files(); len(files) > 0 {
		part := block{
			ID:     "delivered-files",
			Title:  counted(len(files), "file", "files"),
			Folded: len(files) > deliveredRows,
			Note:   note,
		}
		for _, f := range files[:min(len(files), maxTurnFiles)] {
			part.Lead = append(part.Lead, code(f))
		}
		if n := len(files) - maxTurnFiles; n > 0 {
			part.Lead = append(part.Lead, text(fmt.Sprintf("and %d more", n)))
		}
		b.Parts = append(b.Parts, part)
	}
	return b
}

// files returns the files that the last turns of the run changed.
func (v *view) files() (files []string, note string) {
	rows := v.m.history.entries()
	var mine []entry
	size := 0
	for i := len(rows) - 1; i >= 0; i-- {
		if !v.ofRun(&rows[i]) {
			continue
		}
		if size += int(rows[i].size); len(mine) == deliveredTurns || size > deliveredBytes {
			note = fmt.Sprintf("Those of the last %d turns.", len(mine))
			break
		}
		mine = append(mine, rows[i])
	}
	for _, o := range v.m.history.decode(mine) {
		files = append(files, o.Strings("files_changed")...)
	}
	slices.Sort(files)
	return slices.Compact(files), note
}

// asked shows what a person is asked for: by whom, over which documents, the command.
func (v *view) asked() block {
	si := v.s.Sight
	st := si.View.State
	b := block{ID: "asked", Title: "What is asked of a person"}
	w := st.Waiting()
	gate, from, turn := w.Gate, w.From, w.By
	asked := "that the run is complete"
	if w.Type == agentrun.GatePhase {
		asked = "the step from " + w.From + " to " + w.To
	}
	b.Facts = append(b.Facts, fact{"Approve", text(asked)})
	b.Facts = append(b.Facts, fact{"Gate", gateLink(gate)})
	b.Facts = append(b.Facts, fact{"Of", text(approvers(si.View.Config.GateRule(gate)))})
	if d := v.drawing(""); len(d.Waits) > 0 {
		if w := d.Waits[len(d.Waits)-1]; w.Open {
			b.Facts = append(b.Facts, fact{"Waiting since", v.moment(w.Start)})
		}
	}
	if turn != "" {
		b.Facts = append(b.Facts, fact{"Asked for by", turnLink(turn)})
	}
	if n := si.Next; n != nil && v.srv.opt.Replay == nil {
		b.Facts = append(b.Facts, fact{"Command", code(n.Command)}, fact{"Because", text(n.Reason)})
	}
	if v.srv.opt.AllowApprove {
		b.All = cell{Text: "Approve it here", Href: approvePath}
	}
	docs := block{ID: "asked-documents", Title: "Documents to read"}
	for _, path := range gates.Files(si.View.Config, from) {
		if len(docs.Lead) < pageSize {
			docs.Lead = append(docs.Lead, code(path))
		}
	}
	if len(docs.Lead) > 0 {
		b.Parts = append(b.Parts, docs)
	}
	if e, ok := v.m.history.ofTurn(turn); ok {
		if row, err := v.m.history.row(e); err == nil {
			for _, part := range v.changed(row).Parts {
				part.ID, part.Title, part.Folded = "asked-diff", "What the turn changed", true
				b.Parts = append(b.Parts, part)
			}
		}
	}
	return b
}

// waiting shows why the run waits, and the way out.
func (v *view) waiting() *block {
	si := v.s.Sight
	st, r := si.View.State, si.Recovery
	if r == nil {
		return nil
	}
	b := &block{
		ID:    "waiting",
		Title: "The way out",
		Facts: []fact{{"Reason", toned(words(r.TypedReason), warn)}, {"Who has to act", text(r.Owner)}},
	}
	detail := wire.OrEmpty(r.Detail)
	if detail != "" {
		b.Facts = append(b.Facts, fact{"Detail", text(detail)})
	}
	for _, t := range st.ActiveTurns.All() {
		if why := cmp.Or(t.FailureReason, t.LastRejection.String("reason")); why != "" && why != detail {
			b.Facts = append(b.Facts, fact{"Turn", turnLink(t.TurnID)}, fact{"Last answer", text(why)})
		}
	}
	b.Facts = append(b.Facts, fact{"Way out", code(r.RecoveryAction)})
	if n := si.Next; n != nil && v.srv.opt.Replay == nil {
		b.Facts = append(b.Facts, fact{"Command", code(n.Command)})
	}
	if br := st.BlockedReason; br != nil {
		b.Facts = append(b.Facts, fact{"Since", v.moment(instant(br.BlockedAt))})
	}
	if e := si.Escalation; e != nil {
		b.Facts = append(b.Facts, fact{"Escalation", code(e.String("escalation_id"))})
		if asked := firstText(e, "detail", "reason", "title"); asked != detail {
			b.Facts = append(b.Facts, fact{"Asked", text(asked)})
		}
	}
	for _, g := range r.Guidance {
		b.Facts = append(b.Facts, fact{"Advice", text(g.Reason + " " + g.Command)})
	}
	return b
}
