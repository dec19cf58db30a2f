// Delegations as a tree, and search.

package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// delegated returns the history rows about delegations.
func (v *view) delegated() []*ojson.Object {
	var out []*ojson.Object
	_ = v.m.history.each(v.m.history.entries(), func(raw []byte) bool {
		// Nearly all rows have nothing to do with it; escapes can hide a name.
		if bytes.Contains(raw, []byte("delegation")) || bytes.Contains(raw, []byte(`\u`)) {
			if o, err := agentrun.DecodeLedgerLine(bytes.Clone(raw)); err == nil {
				out = append(out, o)
			}
		}
		return len(out) < 20_000
	})
	return out
}

// maxBranches bounds the delegations on one page.
const maxBranches = 250

func delegations(v *view) error {
	v.Title = "Delegations"
	summary := restore.DelegationSummary(v.delegated())
	chains := summary.Objects("delegation_chains")
	b := block{ID: "chains", Empty: "No work has been delegated."}
	byTurn := make(map[string]*ojson.Object)
	child := make(map[string]bool)
	for _, c := range chains {
		byTurn[c.String("parent_turn_id")] = c
		for _, d := range c.Objects("delegations") {
			child[d.String("child_turn_id")] = true
		}
	}
	shown := 0
	var branch func(c *ojson.Object, depth int) item
	branch = func(c *ojson.Object, depth int) item {
		it := item{Cells: []cell{text(c.String("parent_role")), turnLink(c.String("parent_turn_id")),
			standing(c.String("outcome"))}}
		if r := c.String("review_turn_id"); r != "" {
			it.Cells = append(it.Cells, text("reviewed in"), turnLink(r))
		}
		for _, d := range c.Objects("delegations") {
			if shown++; shown > maxBranches {
				it.Parts = append(it.Parts, item{Cells: []cell{text("and more")}})
				break
			}
			leaf := item{Cells: []cell{code(d.String("delegation_id")), text("to " + d.String("to_role") + ":"),
				text(d.String("charter")), standing(d.String("status")), turnLink(d.String("child_turn_id"))}}
			if missing := d.Strings("missing_decision_ids"); len(missing) > 0 {
				leaf.Cells = append(leaf.Cells, toned("lacks "+strings.Join(missing, ", "), bad))
			}
			// A delegated turn may itself have delegated; a cycle of them ends.
			if below := byTurn[d.String("child_turn_id")]; below != nil && depth < 20 && below != c {
				leaf.Parts = append(leaf.Parts, branch(below, depth+1))
			}
			it.Parts = append(it.Parts, leaf)
		}
		return it
	}
	picked, older, newer := v.windowOf("", listSize/2, len(chains), func(i int) bool {
		return !child[chains[i].String("parent_turn_id")]
	})
	b.Older, b.Newer = older, newer
	for _, i := range picked {
		b.Tree = append(b.Tree, branch(chains[i], 0))
	}
	if len(chains) > 0 && len(b.Tree) == 0 {
		b.Note = "The delegations form a ring; the first is shown."
		b.Tree = append(b.Tree, branch(chains[0], 0))
	}
	if len(b.Tree) > 0 {
		b.Empty = ""
		v.Lead = counted(len(chains), "turn has", "turns have") + " delegated work, the newest first."
	}
	v.Blocks = append(v.Blocks, b)
	if si := v.s.Sight; si != nil && len(si.View.State.DelegationQueue) > 0 {
		q := block{
			ID:    "queue",
			Title: "Waiting and under way",
			Table: &table{Head: []string{"Delegation", "From", "To", "Charter", "Status", "Turn"}},
		}
		for i, d := range si.View.State.DelegationQueue {
			if i < pageSize && d != nil {
				q.Table.Rows = append(q.Table.Rows, []cell{code(d.DelegationID), text(d.ParentRole), text(d.ToRole),
					text(d.Charter), standing(d.Status), turnLink(wire.OrEmpty(d.ChildTurnID))})
			}
		}
		v.Blocks = append(v.Blocks, q)
	}
	return nil
}

// Bounds of one search.
const (
	searchTime = 2 * time.Second
	searchHits = 100
)

func search(v *view) error {
	v.Title = "Search"
	v.Query = strings.TrimSpace(v.q.Get("q"))
	if v.Query == "" {
		v.Lead = "Turns, decisions, objections, events: every word of the ledgers can be searched for."
		v.Blocks = []block{{ID: "found", Empty: "Type something into the field above."}}
		return nil
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), searchTime)
	defer cancel()
	release, ok := v.srv.slot(ctx)
	if !ok {
		return errBusy
	}
	defer release()
	quoted := ojson.AppendString(nil, v.Query) // as a row spells it
	needle := strings.ToLower(string(quoted[1 : len(quoted)-1]))
	b := block{ID: "found", Table: &table{Head: []string{"When", "Where", "What", "Role", "Text", "Turn"}}}
	full := false
	for _, in := range []struct {
		l    *ledger
		name string
	}{
		{v.m.history, "turn"},
		{v.m.decisions, "decision ledger"},
		{v.m.repoDecisions, "lasting decision"},
		{v.m.escalations, "escalation"},
		{v.m.events, "event"},
		{v.m.hookAudit, "hook"},
		{v.m.coHistory, "initiative"},
		{v.m.coLedger, "initiative's ledger"},
	} {
		hits, done := in.l.find(ctx, needle, strings.ToLower(v.Query), searchHits-len(b.Table.Rows))
		for i := range hits {
			e := &hits[i].entry
			b.Table.Rows = append(b.Table.Rows, []cell{v.moment(e.Time), text(in.name),
				text(cmp.Or(words(e.Kind), e.ID)), text(e.Role), text(cmp.Or(hits[i].around, e.Text)),
				turnLink(e.Turn)})
		}
		if !done {
			full = true
			break
		}
	}
	v.Lead = counted(len(b.Table.Rows), "place holds", "places hold") + " what you are looking for."
	if full {
		v.Lead = "The first " + counted(len(b.Table.Rows), "place",
			"places") + " that were found; narrow the search for others."
	}
	if found := b.Table.Rows; len(found) == 0 {
		b.Table, b.Empty, v.Lead = nil, "Nothing in the ledgers holds this text.", ""
	} else {
		var picked []int
		picked, b.Older, b.Newer = v.window(len(found), func(int) bool { return true })
		b.Table.Rows, b.Plain = nil, true
		for _, i := range picked {
			b.Table.Rows = append(b.Table.Rows, found[len(found)-1-i])
		}
	}
	v.Blocks = []block{b}
	return nil
}

// hit is a row that contains the searched text, with the words around it.
type hit struct {
	entry  entry
	around string
}

// find looks for a text, ignoring case, from the newest row back: spelled is how a row writes it,
// and decides which rows are worth decoding. done is false when it stopped before the oldest.
func (l *ledger) find(ctx context.Context, spelled, needle string, limit int) (hits []hit, done bool) {
	rows := l.entries()
	const portion = 2000
	for end := len(rows); end > 0; end -= portion {
		part := slices.Clone(rows[max(0, end-portion):end])
		slices.Reverse(part)
		i, stopped := -1, false
		err := l.each(part, func(raw []byte) bool {
			i++
			if ctx.Err() != nil || len(hits) >= limit {
				stopped = true
				return false
			}
			if !bytes.Contains(bytes.ToLower(raw), []byte(spelled)) {
				return true
			}
			row, err := agentrun.DecodeLedgerLine(bytes.Clone(raw))
			if err != nil {
				return true
			}
			if where, text := holding(row, needle, ""); text != "" {
				hits = append(hits, hit{part[i], where + ": " + text})
			}
			return true
		})
		if stopped || err != nil {
			return hits, false
		}
	}
	return hits, true
}

// holding finds the first text within a value that contains the needle: its member, and the words
// around it.
func holding(v any, needle, member string) (string, string) {
	switch v := v.(type) {
	case string:
		lower := strings.ToLower(v)
		if at := strings.Index(lower, needle); at >= 0 {
			if len(lower) != len(v) {
				return member, cut(v, 200) // the lower-case form is longer, so there is no place to point at
			}
			return member, around(v, at, len(needle))
		}
	case ojson.Number:
		if string(v) == needle {
			return member, string(v)
		}
	case []any:
		for _, x := range v {
			if m, text := holding(x, needle, member); text != "" {
				return m, text
			}
		}
	case *ojson.Object:
		for k, x := range v.All() {
			if m, text := holding(x, needle, words(k)); text != "" {
				return m, text
			}
		}
	}
	return "", ""
}

// around returns the text around a place, cut at characters.
func around(s string, at, n int) string {
	from, to := max(0, at-60), min(len(s), at+n+100)
	out := strings.ToValidUTF8(s[from:to], "")
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return out
}
