// The --json answers of why and blame.

package look

import (
	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// reportObject holds the commits and, on request, every line; else how many lines each writer has.
func reportObject(r *attribution.Report, each bool) *ojson.Object {
	o := ojson.NewObject("path", r.Path)
	commits, seen := []*ojson.Object{}, map[runner.OpID]bool{}
	lines := []*ojson.Object{}
	for i := range r.Lines {
		l := &r.Lines[i]
		if c := l.Commit; !seen[c.OID] && !c.Uncommitted() {
			seen[c.OID] = true
			commits = append(commits, ojson.NewObject("commit", string(c.OID), "author", c.Author, "email", c.Email,
				"time", term.Timestamp(c.Time),
				"summary", c.Summary, "history_ends", r.Shallow[c.OID]))
		}
		lines = append(lines, lineObject(l))
	}
	if each {
		o.Set("lines", lines)
	} else {
		shares := []*ojson.Object{}
		for _, s := range sharesOf(r) {
			row := answerObject(s.line)
			row.Delete("evidence")
			row.Set("author", ojson.OrNull(personOf(s.line)))
			row.Set("lines", s.count)
			shares = append(shares, row)
		}
		o.Set("line_count", len(r.Lines))
		o.Set("shares", shares)
	}
	o.Set("commits", commits)
	return o
}

func personOf(l *attribution.Line) string {
	if l.Kind != attribution.KindPerson {
		return ""
	}
	return l.Commit.Author
}

func lineObject(l *attribution.Line) *ojson.Object {
	commit := string(l.Commit.OID)
	if l.Commit.Uncommitted() {
		commit = ""
	}
	o := ojson.NewObject("line", l.Number, "text", l.Text, "commit", ojson.OrNull(commit), "path", l.Path,
		"original_line", l.Original)
	for k, v := range answerObject(l).All() {
		o.Set(k, v)
	}
	return o
}

func answerObject(l *attribution.Line) *ojson.Object {
	o := ojson.NewObject("kind", string(l.Kind), "certain", l.Kind != attribution.KindUnknown, "turn_id", nil,
		"role", nil, "evidence", ojson.OrNull(string(l.Evidence)))
	if l.Turn != nil {
		o.Set("turn_id", l.Turn.ID)
		o.Set("role", l.Turn.Role)
		if from := l.Turn.ProposedBy(l.Path); from != nil {
			o.Set("proposed_by", from.ID)
		}
	}
	if l.Kind == attribution.KindUnknown {
		may := []string{}
		for _, t := range l.Candidates {
			may = append(may, t.ID)
		}
		o.Set("reason", l.Why)
		o.Set("candidates", may)
		if len(l.Named) > 0 {
			o.Set("named_turns", l.Named)
		}
	}
	return o
}

// attributedTurn returns a turn that an answer names; gates are those of accepted turns when they
// were looked up.
func attributedTurn(t *attribution.Turn, gates []attribution.Gate, full bool) *ojson.Object {
	o := ojson.NewObject("turn_id", t.ID, "run_id", t.Run, "role", t.Role, "runtime_id", ojson.OrNull(t.Runtime),
		"phase", t.Phase, "active", t.Active())
	if t.Active() {
		return o
	}
	for _, k := range []string{"status", "summary", "accepted_at"} {
		o.Set(k, t.Row.String(k))
	}
	o.Set("checkpoint_sha", ojson.OrNull(string(t.Checkpoint())))
	if !full {
		return o
	}
	for _, k := range []string{"decisions", "objections", "verification", "normalized_verification"} {
		o.Set(k, t.Row.Value(k))
	}
	list := []*ojson.Object{}
	for _, g := range gates {
		row := ojson.NewObject("gate_id", g.ID, "from_phase", ojson.OrNull(g.From), "to_phase", ojson.OrNull(g.To),
			"at", term.Timestamp(g.At), "approved_by", nil, "by_rule", g.Rule)
		if g.Name != "" {
			row.Set("approved_by", ojson.NewObject("name", g.Name, "email", g.Email))
		}
		list = append(list, row)
	}
	o.Set("gates", list)
	return o
}
