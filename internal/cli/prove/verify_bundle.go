// verify bundle: does an agent receive for its turn what was sealed for it?

package prove

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

func newVerifyBundleCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "bundle",
		ArgsUsage: "[TURN]",
		Usage:     "compare the dispatch bundles of active turns with their seals",
		Description: "Compares every file below the bundle directory with MANIFEST.json, and that file with the " +
			"seal in the run's record. Changes nothing. TURN is the id of an active turn, or a unique prefix of " +
			"it; by default all active turns are checked.",
		Flags: []ucli.Flag{shared.TurnFlag()},
		Action: shared.OnTurn(func(c *ucli.Context, turn string) error {
			return runVerifyBundle(c.Context, f, turn)
		}),
	}
}

func runVerifyBundle(ctx context.Context, f *term.Factory, id string) error {
	r, v, err := shared.OpenView(ctx, f)
	if err != nil {
		return err
	}
	var turns []*run.Turn
	switch {
	case id != "":
		turn, err := shared.ActiveTurn(v, id, "verify bundle")
		if err != nil {
			return err
		}
		turns = append(turns, turn)
	case v.State.ActiveTurns.Len() == 0:
		_, refusal := run.ResolveTurn(v.State, "", "verify")
		return refusal
	default:
		for _, t := range v.State.ActiveTurns.All() {
			if t != nil {
				turns = append(turns, t)
			}
		}
	}
	valid := true
	rows := make([]*ojson.Object, len(turns))
	bundles := make([]*turnfiles.Bundle, len(turns))
	for i, t := range turns {
		if bundles[i], err = r.VerifyBundle(ctx, v, t); err != nil {
			return err
		}
		rows[i] = bundleObject(t, bundles[i])
		valid = valid && len(bundles[i].Problems) == 0
	}
	f.Out.Emit(ojson.NewObject("run_id", v.State.Run(), "valid", valid, "bundles", rows), func(p *term.Printer) {
		for i, t := range turns {
			printBundle(p, t, bundles[i])
		}
	})
	if !valid {
		return term.ErrFindings()
	}
	return nil
}

// bundleObject returns the outcome for one turn as data.
func bundleObject(t *run.Turn, b *turnfiles.Bundle) *ojson.Object {
	problems := make([]*ojson.Object, len(b.Problems))
	for i, e := range b.Problems {
		problems[i] = ojson.NewObject("type", e.Type, "path", ojson.OrNull(e.Path), "detail", e.Detail)
	}
	o := ojson.NewObject("turn_id", t.TurnID, "role", t.AssignedRole, "path", ojson.OrNull(b.Path),
		"valid", len(b.Problems) == 0, "finalized_at", nil, "files", nil)
	if b.Manifest != nil {
		o.Set("finalized_at", ojson.OrNull(b.Manifest.FinalizedAt))
		o.Set("files", len(b.Manifest.Files))
	}
	o.Set("problems", problems)
	return o
}

func printBundle(p *term.Printer, t *run.Turn, b *turnfiles.Bundle) {
	if len(b.Problems) == 0 {
		p.Printf("%s: %s, %s\n", t.TurnID, term.Counted(len(b.Manifest.Files), "file"), p.Green("as sealed"))
		return
	}
	p.Printf("%s: %s\n", term.OneLine(t.TurnID), p.Red("not as sealed"))
	for _, e := range b.Problems {
		p.Printf("  %s %s\n", term.OneLine(e.Detail), p.Dim("["+e.Type+"]"))
	}
	p.Printf("  %s %s\n", p.Dim("fix:"),
		"git agentxchain repair --from-ref puts the recorded bundle back; git agentxchain reissue "+
			term.OneLine(t.TurnID)+" makes a new one")
}
