// Whether it can be relied on: fsck's findings, signatures, lines that are not rows.

package dashboard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/restore/account"
)

func integrity(v *view) error {
	v.Title = "Integrity"
	d := v.m.check.verdict()
	b := block{ID: "fsck", Title: "The record"}
	switch {
	case v.srv.opt.Replay != nil:
		v.Lead = "The artifact was verified when it was opened."
		b.Empty = "An artifact has no record in git; git agentxchain verify export FILE says what holds of it."
		if p := v.srv.opt.Replay; len(p.Partial) > 0 {
			b.Empty = ""
			b.Note = "Files of which the artifact has only a part, or nothing: what it says about them is not proven."
			b.Table = fileNames(p.Partial)
		}
	case errors.Is(d.Err, errNoRecord), d.Report != nil && d.Report.Runs == 0:
		v.Lead = "No run is recorded in git."
		b.Empty = "There is nothing to check yet."
	case d.Err != nil:
		v.Lead = "The record could not be checked."
		b = errorBlock(d.Err)
	case d.Report == nil:
		v.Lead = "The record is being checked."
		b.Empty = "The first check is under way; the page is brought up to date when it is done."
	default:
		found := 0
		t := &table{Head: []string{"Finding", "Where", "What", "Way out"}}
		for i := range d.Report.Findings {
			f := &d.Report.Findings[i]
			tone := bad
			if f.Note {
				tone = neutral
			} else {
				found++
			}
			if len(t.Rows) < listSize/2 { // each is several lines tall
				where := code(f.Path)
				if f.Op != "" {
					where = opLink(string(f.Op))
				}
				t.Rows = append(t.Rows, []cell{toned(words(f.Code), tone), where, text(f.Message), code(f.Repair)})
			}
		}
		v.Lead = counted(d.Report.Ops, "operation", "operations") + " checked, nothing wrong."
		if found > 0 {
			v.Lead = counted(d.Report.Ops, "operation", "operations") + " checked, " + counted(found, "finding",
				"findings") + "."
		}
		b.Facts = []fact{
			{"Checked", v.moment(d.At)},
			{"Took", text(lasting(d.Took))},
			{"Runs", text(counted(d.Report.Runs, "run", "runs"))},
			{"More", code("git agentxchain fsck --replay")},
		}
		if len(t.Rows) > 0 {
			b.Table = t
		}
		if n := len(d.Report.Findings) - len(t.Rows); n > 0 {
			b.All = text("and " + counted(n, "more finding", "more findings") + ": git agentxchain fsck")
		}
		if d.Stale || d.Checking {
			b.Note = "The run has gone on since; it is checked again in a moment."
		}
	}
	v.Blocks = append(v.Blocks, b, v.signatures())
	var all []*ledger
	for _, l := range v.m.byPath {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *ledger) int { return strings.Compare(a.name, b.name) })
	v.Blocks = append(v.Blocks, v.findingsOf(all...)...)
	files := block{
		ID:    "ledgers",
		Title: "Ledgers",
		Table: &table{Head: []string{"File", "Rows", "Bytes", "Lines that are not rows"}},
	}
	for _, l := range all {
		if !l.exists() {
			continue
		}
		_, badLines := l.findings()
		tone := neutral
		if badLines > 0 {
			tone = warn
		}
		files.Table.Rows = append(files.Table.Rows,
			[]cell{code(l.name), value(len(l.entries())), value(l.bytes()), toned(plain(badLines), tone)})
	}
	if len(files.Table.Rows) == 0 {
		files.Table, files.Empty = nil, "There is no ledger yet."
	}
	v.Blocks = append(v.Blocks, files)
	return nil
}

func (l *ledger) bytes() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.size
}

// signatures lists what people decided, the newest first, and how it is proven.
func (v *view) signatures() block {
	b := block{
		ID:    "signatures",
		Title: "Decisions of people",
		Empty: "No person has decided anything in this run.",
	}
	t := &table{Head: []string{"When", "What", "Gate", "By", "Proof", "Reason"}}
	rows := v.m.decisions.entries()
	var acts []entry
	for i := len(rows) - 1; i >= 0 && len(acts) < 20*pageSize; i-- {
		if slices.Contains(personRows, rows[i].Kind) {
			acts = append(acts, rows[i])
		}
	}
	for _, o := range v.m.decisions.decode(acts) {
		for _, act := range account.PersonActs(o) {
			if len(t.Rows) == pageSize/2 {
				b.Note = fmt.Sprintf("The newest %d.", pageSize/2)
				break
			}
			proof := toned(cut(account.ProofText(act), 100), neutral)
			if act.String("key_id") != "" {
				proof.Tone = good
			}
			t.Rows = append(t.Rows, []cell{v.moment(timeOf(act, "timestamp")), text(words(act.String("type"))),
				code(act.String("gate_id")), text(cmp.Or(act.String("email"), act.String("name"))), proof,
				text(cut(act.String("reason"), 300))})
		}
	}
	return b.filled(t)
}

// personRows lists the types of decision ledger rows by which people decide on gates and runs.
var personRows = []string{
	"human_approval", "human_approval_vote", "human_denial", "approval_withdrawn", "gate_left", "run_abandoned",
	"human_unblock", "human_rejection", "human_overrule", "commits_reconciled",
}
