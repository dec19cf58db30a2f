// What an operation changed in the state, member by member.

package look

import (
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// maxBeside is the greatest width of two values on one line.
const maxBeside = 56

func (p opPage) differences(list []ojson.Difference) {
	for _, d := range list {
		at := term.OneLine(d.At)
		switch {
		case !d.Had:
			p.oneSided(at, d.After, "+ ", p.Green)
		case !d.Has:
			p.oneSided(at, d.Before, "- ", p.Red)
		default:
			was, now := p.shown(d.Before), p.shown(d.After)
			if term.DisplayWidth(was)+term.DisplayWidth(now) <= maxBeside {
				p.Printf("  %s: %s -> %s\n", at, p.Red(was), p.Green(now))
				continue
			}
			p.Printf("  %s:\n    %s\n    %s\n", at, p.Red("- "+was), p.Green("+ "+now))
		}
	}
}

// oneSided prints an added or removed value; of an object each member has a line.
func (p opPage) oneSided(at string, v ojson.Value, sign string, style func(string) string) {
	o, ok := v.(*ojson.Object)
	if !ok || o.Len() == 0 {
		p.Printf("  %s\n", style(sign+at+": "+p.shown(v)))
		return
	}
	p.Printf("  %s\n", style(sign+at))
	for k, member := range o.All() {
		p.Printf("      %s\n", style(sign+term.OneLine(k)+": "+p.shown(member)))
	}
}
