// Claims of turns, as status, claim and show print them.

package shared

import (
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/claims"
)

// ClaimObject returns who works on a turn. ends_at is by the clock of this machine.
func ClaimObject(h *claims.Hold) *ojson.Object {
	return ojson.NewObject("person", h.Person, "email", h.Email, "machine", h.Machine, "here", h.Here,
		"number", h.Number,
		"seconds", int(h.Lasts()/time.Second), "ends_at", wire.FormatTime(h.Ends), "ended", h.Over)
}

// ClaimText says who works on a turn: it continues a sentence after the turn's name.
func ClaimText(p *term.Printer, h *claims.Hold) string {
	who := term.OneLine(h.Who())
	if h.Here {
		who = "this clone"
	}
	if h.Over {
		return "was claimed by " + who + "; the claim ended " + p.Ago(h.Ends)
	}
	return "is claimed by " + who + "; the claim ends " + p.Ago(h.Ends)
}

func ClaimObjects(claims []runner.Claim) []*ojson.Object {
	out := []*ojson.Object{}
	for _, c := range claims {
		o := ojson.Marshal(&c.Claim)
		o.Set("text", external.Claim.String(c.Claim))
		o.Set("op", ojson.OrNull(string(c.Op)))
		out = append(out, o)
	}
	return out
}
