// What other tools said about a line, as why shows it: beside the answer, and never as part of it.

package look

import (
	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/attribution/foreign"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// said returns what other tools said about a line.
func (q *linesQuestion) said(l *attribution.Line) []foreign.Claim {
	if l.Commit.Uncommitted() {
		return nil
	}
	return q.Others.Claims(l.Commit.OID, l.Path, l.Original)
}

func foreignObjects(claims []foreign.Claim) []*ojson.Object {
	var out []*ojson.Object
	for _, c := range claims {
		about := "line"
		if c.Whole {
			about = "file"
		}
		out = append(out, ojson.NewObject("source", c.Source, "about", about, "agent", ojson.OrNull(c.Agent),
			"model", ojson.OrNull(c.Model),
			"session", ojson.OrNull(c.Session), "person", ojson.OrNull(c.Person), "verified", false))
	}
	return out
}

func printForeign(p *term.Printer, claims []foreign.Claim) {
	for _, c := range claims {
		who := c.Agent
		switch {
		case who == "" && c.Person != "":
			who = c.Person
		case who == "":
			who = "an agent it does not name"
		case c.Model != "":
			who += " (" + c.Model + ")"
		}
		text := term.OneLine(who) + " wrote it"
		if c.Whole {
			text = "a session of " + term.OneLine(who) + " touched the file in this commit"
		}
		if c.Person != "" && c.Agent != "" {
			text += ", for " + term.OneLine(c.Person)
		}
		if c.Session != "" {
			text += ", session " + term.OneLine(c.Session)
		}
		p.Field("Says "+c.Source, "%s %s", text, p.Yellow("(not verified)"))
	}
}
