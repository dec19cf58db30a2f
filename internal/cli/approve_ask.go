// The question of approve: it shows what it is about, and a person answers.

package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// gateAnswer is a person's answer to a gate.
type gateAnswer int

const (
	answerQuit gateAnswer = iota // leave everything as it is
	answerYes
	answerNo
)

// askPending shows the gate and asks until there is an answer. A no needs a reason: the given one,
// or what the person types; without one the question is asked again. End of input counts as quit.
func askPending(
	ctx context.Context,
	f *term.Factory,
	g *gate.Pending,
	reason string,
) (gateAnswer, string, error) {
	const flags = "--yes, or --deny --reason TEXT"
	f.Out.Aside(func(p *term.Printer) {
		printPendingGate(p, g)
		p.Println()
	})
	question := "Open gate " + term.OneLine(g.Gate) + "? [y]es [n]o [d]iff [o]bjections [q]uit:"
	for {
		line, err := f.Prompt.Line(ctx, question, flags)
		if ended(err) {
			return answerQuit, "", nil
		}
		if err != nil {
			return answerQuit, "", err
		}
		switch strings.ToLower(line) {
		case "y", "yes":
			return answerYes, reason, nil
		case "q", "quit":
			return answerQuit, "", nil
		case "d", "diff":
			f.Out.Paged(ctx, func(p *term.Printer) { printGateDiff(p, g) })
		case "o", "objections":
			f.Out.Paged(ctx, func(p *term.Printer) {
				if len(g.Objections) == 0 {
					p.Println("No objection is open.")
				}
				printObjections(p, g)
			})
		case "n", "no":
			if strings.TrimSpace(reason) == "" {
				reason, err = f.Prompt.Line(ctx, "Why not? The next turn reads it:", flags)
				if ended(err) {
					return answerQuit, "", nil
				}
				if err != nil {
					return answerQuit, "", err
				}
			}
			if strings.TrimSpace(reason) != "" {
				return answerNo, reason, nil
			}
			f.Out.Notice("A no needs a reason.")
		default:
			f.Out.Notice("y opens the gate, n refuses it with a reason, d shows how its documents have changed, " +
				"o the open objections, q leaves it waiting.")
		}
	}
}

// ended reports the end of input at a question: the person has gone.
func ended(err error) bool {
	var e *term.Error
	return errors.As(err, &e) && e.Code == "prompt_unavailable"
}
