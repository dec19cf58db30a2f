// blame: a file line by line with the role and the turn that wrote each line.

package look

import (
	"context"
	"strconv"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func NewBlameCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "blame",
		Category:  shared.CategoryLook,
		ArgsUsage: "PATH[:LINE]",
		Usage:     "show each line of a file with its role and turn",
		Description: "Like git blame, with the role and turn that wrote each line. \"-\" marks a person's commit, " +
			"\"?\" a line whose author cannot be determined. why explains a line.",
		Flags:  []ucli.Flag{linesFlag()},
		Action: linesAction(f, runBlame),
	}
}

func runBlame(ctx context.Context, f *term.Factory, q *linesQuestion, report *attribution.Report) error {
	payload := reportObject(report, true)
	list := ojson.List(turnsOf(report), func(t *attribution.Turn) *ojson.Object {
		return attributedTurn(t, nil, false)
	})
	payload.Set("turns", list)
	f.Out.Page(ctx)
	f.Out.Emit(payload, func(p *term.Printer) { printBlame(p, report) })
	return nil
}

// blameColumns returns the texts to the left of a line.
func blameColumns(l *attribution.Line) (commit, role, turn, date string) {
	if l.Commit.Uncommitted() {
		commit, date = "not commit", "          "
	} else {
		commit, date = l.Commit.OID.Short(), l.Commit.Time.Format(time.DateOnly)
	}
	switch l.Kind {
	case attribution.KindTurn:
		role, turn = term.OneLine(l.Turn.Role), term.OneLine(l.Turn.ID)
	case attribution.KindUnknown:
		role, turn = "?", "?"
	default:
		role, turn = "-", term.OneLine(l.Commit.Author)
		if l.Commit.Uncommitted() {
			turn = "-"
		}
	}
	return commit, role, term.Truncate(turn, 21), date
}

func printBlame(p *term.Printer, r *attribution.Report) {
	roles, turns, numbers := 0, 0, 0
	for i := range r.Lines {
		_, role, turn, _ := blameColumns(&r.Lines[i])
		roles, turns = max(roles, term.DisplayWidth(role)), max(turns, term.DisplayWidth(turn))
		numbers = max(numbers, len(strconv.Itoa(r.Lines[i].Number)))
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		commit, role, turn, date := blameColumns(l)
		role = term.Pad(role, roles)
		if l.Kind == attribution.KindTurn {
			role = p.Cyan(role)
		} else if l.Kind == attribution.KindUnknown {
			role = p.Yellow(role)
		}
		n := strconv.Itoa(l.Number)
		p.Printf("%s %s %s %s %s%s) %s\n", p.Yellow(commit), role, term.Pad(turn, turns), p.Dim(date),
			strings.Repeat(" ", numbers-len(n)), n, term.Clean(l.Text))
	}
}
