// accept: validate, record and gate a staged turn result.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type acceptOptions struct {
	Turn, Resolution, Normalize string
	Checkpoint                  bool
}

func newAcceptCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "accept", Aliases: []string{"accept-turn"}, Category: shared.CategoryRun, ArgsUsage: "[TURN]",
		Usage: "check the staged result of a turn and record it",
		Description: "Compares the result with the files that really changed, the rules and the evidence. A result " +
			"that passes is recorded, and the gate that it asks for is evaluated. Otherwise accept says why, the " +
			"turn stays active, and your files stay as they are.",
		Flags: []ucli.Flag{
			shared.TurnFlag(),
			term.NewChoiceFlag("resolution", "how to treat a file conflict: `MODE`", "standard", "standard",
				"human_merge"),
			&ucli.StringFlag{
				Name:  "normalize-artifact-type",
				Usage: "treat an empty workspace artifact as `TYPE`; only review is supported",
			},
			&ucli.BoolFlag{Name: "checkpoint", Usage: "commit the turn's files afterwards"},
			&ucli.BoolFlag{
				Name:   "normalize-staged-result",
				Usage:  "accepted for compatibility: results are always normalised",
				Hidden: true,
			},
		},
		Action: shared.OnTurn(func(c *ucli.Context, turn string) error {
			return runAccept(c.Context, f, &acceptOptions{
				Turn:       turn,
				Resolution: c.String("resolution"),
				Normalize:  c.String("normalize-artifact-type"),
				Checkpoint: c.Bool("checkpoint"),
			})
		}),
	}
}

func runAccept(ctx context.Context, f *term.Factory, o *acceptOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	var a *runner.Accepted
	var saved *runner.Checkpointed
	var unsaved error
	err = shared.Trusting(ctx, f, r, func() (err error) {
		opt := runner.AcceptOptions{
			TurnID:            o.Turn,
			Resolution:        o.Resolution,
			NormalizeArtifact: o.Normalize,
		}
		if !o.Checkpoint {
			a, err = r.AcceptTurn(ctx, opt)
			return err
		}
		if a, saved, err = r.AcceptAndCheckpoint(ctx, opt); saved != nil {
			unsaved, err = err, nil
		}
		return err
	})
	shared.TellNotices(f, a.Notices)
	if err != nil {
		if a.Result != nil {
			shared.PrintWarnings(f, a.Result.Warnings)
			payload := shared.DonePayload(&a.Done, "repairs", result.Repairs(a.Result.Repairs),
				"turn", shared.TurnObject(a.Result.Turn), "staging_path", wire.StagingPath(a.Result.Turn.TurnID),
				"next_action", shared.NextObject(r.Next(ctx)))
			f.Out.Emit(payload, nil)
		}
		return shared.Listed(f, err)
	}
	shared.PrintWarnings(f, a.Result.Warnings)
	n := r.Next(ctx)
	if unsaved != nil {
		n = &protocol.NextAction{Command: "git agentxchain checkpoint " + a.Result.Turn.TurnID,
			Reason: "The turn is accepted, and its files are not committed."}
	}
	payload := shared.DonePayload(&a.Done, "turn", acceptedTurn(a.Result), "turn_id", a.Result.Turn.TurnID,
		"staging_path", wire.StagingPath(a.Result.Turn.TurnID), "accepted", a.Result.Entry,
		"warnings", wire.NonNil(a.Result.Warnings), "repairs", result.Repairs(a.Result.Repairs),
		"leftover_files", wire.NonNil(a.Result.Leftover))
	if g := a.Result.Gate; g != nil {
		payload.Set("gate", g.Object(a.Result.GateType == "phase_transition"))
	}
	if saved != nil {
		payload.Set("checkpoint", ojson.OrNull(saved.Commit))
	}
	payload.Set("delegated", shared.DelegatedRows(a.State))
	payload.Set("next_action", shared.NextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) { printAccepted(p, a, saved, n) })
	return unsaved
}

// acceptedTurn returns the turn as acceptance left it: the notes of an earlier refusal no longer
// hold.
func acceptedTurn(res *protocol.AcceptResult) *ojson.Object {
	o := shared.TurnObject(res.Turn)
	o.Set("status", res.Entry.String("status"))
	o.Delete("failed_at")
	o.Delete("failure_reason")
	return o
}

func printAccepted(p *term.Printer, a *runner.Accepted, saved *runner.Checkpointed, n *protocol.NextAction) {
	e := a.Result.Entry
	p.Printf("Turn %s of %s is accepted (%s).\n\n", p.Bold(a.Result.Turn.TurnID),
		p.Bold(term.OneLine(e.String("role"))), term.OneLine(e.String("status")))
	p.Field("Summary", "%s", term.OneLine(e.String("summary")))
	if files := e.Strings("files_changed"); len(files) > 0 {
		p.Field("Files", "%s", term.OneLine(term.JoinComma(files)))
	}
	for _, b := range e.Object("observed_artifact").Objects("pulled") {
		p.Field("Pulled", "%s", term.OneLine(pulledText(b)))
	}
	shared.PrintStatements(p, e)
	if saved != nil && saved.Commit != "" {
		p.Field("Checkpoint", "%.12s", saved.Commit)
	}
	if g := a.Result.Gate; g != nil && (g.GateID != nil || len(g.Reasons) > 0) {
		printGateOutcome(p, g, a.State)
	}
	shared.PrintDelegated(p, a.State)
	shared.PrintWhere(p, &a.Done)
	shared.PrintNext(p, n)
}

// pulledText says what a branch brought during the turn.
func pulledText(b *ojson.Object) string {
	n := term.Counted(len(b.Objects("commits")), "commit")
	if b.Bool("more") {
		n = "more than " + n
	}
	return n + " of " + b.String("remote") + "/" + b.String("branch") + ", not the turn's: " +
		wire.ListSome(b.Strings("files"), 5)
}

// printGateOutcome prints the outcome of a gate evaluation in one line, then the reasons.
func printGateOutcome(p *term.Printer, g *gates.Result, s *run.State) {
	gate := "(none)"
	if g.GateID != nil {
		gate = term.OneLine(*g.GateID)
	}
	switch g.Action {
	case gates.ActionAdvance, gates.ActionComplete:
		p.Field("Gate", "%s %s", gate, p.Green("passed"))
	case gates.ActionAwaitHuman:
		if s.Status == wire.StatusPaused {
			p.Field("Gate", "%s %s", gate, p.Yellow("waits for a person"))
		} else {
			p.Field("Gate", "%s %s (approval policy)", gate, p.Green("passed"))
		}
	default:
		if g.GateID == nil {
			p.Field("Request", "%s", p.Red("not granted"))
		} else {
			p.Field("Gate", "%s %s", gate, p.Red("failed"))
		}
		for _, reason := range g.Reasons {
			p.Printf("%s - %s\n", term.Pad("", 14), term.OneLine(reason))
		}
	}
}
