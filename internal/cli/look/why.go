// why: from a line of a file to the turn that wrote it, and what was decided there.

package look

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func NewWhyCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "why",
		Category:  shared.CategoryLook,
		ArgsUsage: "PATH[:LINE]",
		Usage:     "show which turn wrote a line, and what was decided there",
		Description: "PATH:LINE, or PATH:FROM-TO, is a place in the file as it is now. Without a line, why lists " +
			"the turns of the whole file. It names a turn only on evidence that survives rebase, amend, squash and " +
			"cherry-pick. Otherwise it says that it cannot tell, and which turns are possible.",
		Flags:  []ucli.Flag{linesFlag()},
		Action: linesAction(f, runWhy),
	}
}

func runWhy(ctx context.Context, f *term.Factory, q *linesQuestion, report *attribution.Report) error {
	whole := len(q.Ranges) == 0
	turns := turnsOf(report)
	gates := make(map[*attribution.Turn][]attribution.Gate)
	for _, t := range turns {
		if whole {
			break // a listing shows less
		}
		list, err := attribution.Gates(t)
		if err != nil {
			return err
		}
		gates[t] = list
	}
	payload := reportObject(report, !whole)
	for i, o := range payload.Objects("lines") {
		if claims := q.said(&report.Lines[i]); len(claims) > 0 {
			o.Set("foreign", foreignObjects(claims))
		}
	}
	list := ojson.List(turns, func(t *attribution.Turn) *ojson.Object {
		return attributedTurn(t, gates[t], !whole)
	})
	payload.Set("turns", list)
	f.Out.Page(ctx)
	f.Out.Emit(payload, func(p *term.Printer) {
		if whole {
			printSummary(p, report)
			return
		}
		for i, b := range blocksOf(report, q) {
			if i > 0 {
				p.Println()
			}
			printBlock(p, report, b, gates)
			printForeign(p, q.said(b[0]))
		}
	})
	return nil
}

// block is a group of neighbouring lines with the same answer from the same commit.
type block []*attribution.Line

func blocksOf(r *attribution.Report, q *linesQuestion) []block {
	var out []block
	for i := range r.Lines {
		l := &r.Lines[i]
		if n := len(out); n > 0 {
			if last := out[n-1][len(out[n-1])-1]; last.Number+1 == l.Number && last.Commit == l.Commit &&
				sameAnswer(&last.Answer, &l.Answer) && slices.Equal(q.said(last), q.said(l)) {
				out[n-1] = append(out[n-1], l)
				continue
			}
		}
		out = append(out, block{l})
	}
	return out
}

func sameAnswer(a, b *attribution.Answer) bool {
	return a.Kind == b.Kind && a.Turn == b.Turn && a.Evidence == b.Evidence && a.Why == b.Why &&
		slices.Equal(a.Candidates, b.Candidates)
}

// turnsOf returns every turn that an answer names, in the order of the lines.
func turnsOf(r *attribution.Report) []*attribution.Turn {
	var out []*attribution.Turn
	add := func(t *attribution.Turn) {
		if t != nil && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for i := range r.Lines {
		add(r.Lines[i].Turn)
		for _, t := range r.Lines[i].Candidates {
			add(t)
		}
	}
	return out
}

// evidenceText says what a piece of evidence means.
func evidenceText(e attribution.Evidence) string {
	switch e {
	case attribution.ByCheckpoint:
		return "the commit is the turn's checkpoint"
	case attribution.ByRange:
		return "the actor committed it during the turn"
	case attribution.ByProposal:
		return "a person applied what the turn proposed in the commit"
	case attribution.ByAccepted:
		return "not committed yet, and the file is as it was accepted"
	case attribution.ByTrailer:
		return "the commit names the turn, and the turn's own change added the line"
	case attribution.ByPatch:
		return "the commit changes the file exactly as the turn did"
	case attribution.ByContent:
		return "of all turns only this one's change added the line"
	}
	return string(e)
}

func printBlock(p *term.Printer, r *attribution.Report, b block, gates map[*attribution.Turn][]attribution.Gate) {
	first, last := b[0], b[len(b)-1]
	where := fmt.Sprintf("%s:%d", term.OneLine(r.Path), first.Number)
	if last != first {
		where += fmt.Sprintf("-%d", last.Number)
	}
	p.Println(p.Bold(where))
	for _, l := range b {
		p.Printf("  %s\n", term.Clean(strings.ReplaceAll(l.Text, "\n", " ")))
	}
	if first.Commit.Uncommitted() {
		p.Field("Commit", "not committed yet")
	} else {
		p.Field("Commit", "%s %s", p.Yellow(first.Commit.OID.Short()), term.OneLine(first.Commit.Summary))
		p.Field("Committed by", "%s, %s", term.OneLine(first.Commit.Author), p.Ago(first.Commit.Time))
	}
	if first.Path != r.Path && !first.Commit.Uncommitted() {
		p.Field("File then", "%s", term.OneLine(first.Path))
	}
	if r.Shallow[first.Commit.OID] {
		p.Field("History", "%s", p.Yellow("this clone's history ends at the commit"))
	}
	switch first.Kind {
	case attribution.KindTurn:
		printAttributed(p, first.Turn, gates[first.Turn])
		p.Field("Evidence", "%s: %s", first.Evidence, evidenceText(first.Evidence))
		if from := first.Turn.ProposedBy(first.Path); from != nil {
			p.Field("Proposed by", "%s of role %s, which this turn applied", term.OneLine(from.ID),
				term.OneLine(from.Role))
		}
	case attribution.KindPerson:
		p.Field("Turn", "no turn: a person's commit by %s", term.OneLine(first.Commit.Author))
	case attribution.KindPending:
		p.Field("Turn", "no turn has declared the file")
	default:
		p.Field("Turn", "%s: %s", p.Yellow("cannot be told"), term.OneLine(first.Why))
		for _, t := range first.Candidates {
			state := ""
			if t.Active() {
				state = ", not accepted yet"
			}
			p.Field("May be", "%s of role %s%s", term.OneLine(t.ID), term.OneLine(t.Role), state)
		}
		for _, id := range first.Named {
			p.Field("It names", "%s, which no run here has accepted", term.OneLine(id))
		}
	}
}

// printAttributed prints what a turn decided and how it ended.
func printAttributed(p *term.Printer, t *attribution.Turn, gates []attribution.Gate) {
	p.Field("Turn", "%s", p.Bold(term.OneLine(t.ID)))
	p.Field("Role", "%s, runtime %s, phase %s", p.Bold(term.OneLine(t.Role)), term.OneLine(t.Runtime),
		term.OneLine(t.Phase))
	p.Field("Run", "%s", term.OneLine(t.Run))
	row := t.Row
	if at := row.String("accepted_at"); at != "" {
		p.Field("Accepted", "%s", term.OneLine(shared.Ago(p, at)))
	}
	p.Field("Summary", "%s", term.OneLine(row.String("summary")))
	shared.PrintStatements(p, row)
	if n := row.Object("normalized_verification"); n != nil {
		p.Field("Verification", "%s: %s", term.OneLine(n.String("status")), term.OneLine(n.String("reason")))
	}
	if s := row.Object("verification").String("evidence_summary"); s != "" {
		p.Field("Checked", "%s", term.OneLine(s))
	}
	for _, g := range gates {
		by := "no approval was asked for"
		switch {
		case g.Name != "":
			by = "approved by " + g.Name
		case g.Rule:
			by = "approved by a rule of the configuration"
		}
		p.Field("Gate passed", "%s, %s (%s)", term.OneLine(g.ID), term.OneLine(by), p.Ago(g.At))
	}
}

func printSummary(p *term.Printer, r *attribution.Report) {
	if len(r.Lines) == 0 {
		p.Printf("%s is empty.\n", term.OneLine(r.Path))
		return
	}
	t := &term.Table{Header: []string{"LINES", "TURN", "ROLE", "PHASE", "WHEN", "SUMMARY"}, Flex: 5}
	for _, s := range sharesOf(r) {
		switch l := s.line; l.Kind {
		case attribution.KindTurn:
			t.Row(strconv.Itoa(s.count), l.Turn.ID, l.Turn.Role, l.Turn.Phase,
				shared.Ago(p, l.Turn.Row.String("accepted_at")), l.Turn.Row.String("summary"))
		case attribution.KindUnknown:
			ids := make([]string, len(l.Candidates))
			for i, c := range l.Candidates {
				ids[i] = c.ID
			}
			text := l.Why
			if len(ids) > 0 {
				text += ": may be " + term.JoinComma(ids)
			}
			t.Row(strconv.Itoa(s.count), "unknown", "", "", "", text)
			t.Emphasise(1, p.Yellow)
		case attribution.KindPending:
			t.Row(strconv.Itoa(s.count), "not committed", "", "", "", "")
		default:
			t.Row(strconv.Itoa(s.count), "no turn", "", "", p.Ago(l.Commit.Time), "commits by "+l.Commit.Author)
		}
	}
	p.Table(t)
}

// share is how many lines of a file have the same writer.
type share struct {
	line  *attribution.Line // one of them
	count int
}

// sharesOf counts the lines by writer, the largest share first.
func sharesOf(r *attribution.Report) []share {
	var out []share
	for i := range r.Lines {
		l := &r.Lines[i]
		k := slices.IndexFunc(out, func(s share) bool {
			return s.line.Kind == l.Kind && s.line.Turn == l.Turn && s.line.Why == l.Why &&
				slices.Equal(s.line.Candidates, l.Candidates) &&
				(l.Kind != attribution.KindPerson || s.line.Commit.Author == l.Commit.Author)
		})
		if k < 0 {
			k = len(out)
			out = append(out, share{line: l})
		}
		out[k].count++
	}
	slices.SortStableFunc(out, func(a, b share) int { return b.count - a.count })
	return out
}
