// multi resync and multi resume: the record follows the repositories, and a blocked initiative goes on.

package multi

import (
	"context"
	"errors"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func newMultiResyncCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "resync", Usage: "update the record from what the repositories have done",
		Description: "Counts accepted turns and derives the barriers again. What cannot be trusted, such as a turn that changed a sibling's files or a run that the initiative does not know, blocks the initiative.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "dry-run", Usage: "only show where the record and the repositories disagree"},
		},
		Action: func(c *ucli.Context) error {
			return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				return runMultiResync(c.Context, f, co, c.Bool("dry-run"))
			})
		},
	}
}

func runMultiResync(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, dryRun bool) error {
	var out *coordinator.ResyncDone
	err := shared.TrustingWorkspace(ctx, f, co, func() (err error) {
		out, err = co.Resync(ctx, dryRun)
		return err
	})
	if out == nil {
		return err
	}
	mismatches := []*ojson.Object{}
	for i := range out.Mismatches {
		mismatches = append(mismatches, out.Mismatches[i].Object())
	}
	var payload *ojson.Object
	switch {
	case out.DryRun || out.Resync == nil:
		payload = ojson.NewObject("diverged", len(mismatches) > 0, "mismatches", mismatches)
	default:
		payload = out.Resync.Object()
		payload.Set("diverged", len(mismatches) > 0)
		payload.Set("mismatches", mismatches)
	}
	if !out.DryRun && out.Resync != nil {
		payload.Set("status", string(out.State.Status))
		payload.Set("pending_gate", pendingGate(out.State))
		actionObjects(payload, out.Next)
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		for i := range out.Mismatches {
			p.Printf("[%s] %s\n", out.Mismatches[i].Type, term.OneLine(out.Mismatches[i].Detail))
		}
		switch {
		case err != nil:
		case out.DryRun && len(mismatches) > 0:
			p.Println("Nothing was changed.")
		case out.Resync == nil:
			p.Println("No divergence detected. Coordinator state is consistent with repos.")
		default:
			printCounted(p, out.Resync)
			for _, e := range out.Resync.Errors {
				p.Printf("%s %s\n", p.Yellow("warning:"), term.OneLine(e))
			}
			p.Println("Resync complete.")
		}
		if !out.DryRun && err == nil {
			printActions(p, out.Next)
		}
	})
	if err == nil && out.Resync != nil && !out.Resync.OK {
		e := term.Errorf(initiative.CodeRepoUnresolved, "some repositories could not be read: %s",
			term.OneLine(out.Resync.Errors[0])).WithHint("git agentxchain multi status")
		if out.Lost != "" {
			e.Hint = out.Lost
		}
		return e
	}
	return err
}

func pendingGate(s *initiative.State) any {
	if s.PendingGate == nil {
		return nil
	}
	return ojson.Marshal(s.PendingGate)
}

func newMultiResumeCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "resume", Usage: "resume a blocked initiative",
		Description: "First remove the cause and fill in the sections of .agentxchain/multirepo/RECOVERY_REPORT.md. The report is then archived, so that each incident has its own. If a repository has lost operations permanently, --relink continues with those it has left, even if the initiative is not blocked. An agent inside a dispatched turn cannot resume it.",
		Flags: []ucli.Flag{
			&ucli.StringSliceFlag{
				Name:  "relink",
				Usage: "follow repository `ID` to its present run; may be repeated",
			},
		},
		Action: func(c *ucli.Context) error {
			return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				return runMultiResume(c.Context, f, co, c.StringSlice("relink"))
			})
		},
	}
}

func runMultiResume(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, relink []string) error {
	var out *coordinator.Resumed
	err := shared.TrustingWorkspace(ctx, f, co, func() (err error) {
		out, err = co.Resume(ctx, relink)
		return err
	})
	if out == nil {
		return err
	}
	var resync any
	if out.Resync != nil {
		resync = out.Resync.Object()
	}
	payload := ojson.NewObject("previous_status", string(out.Before),
		"resumed_status", string(out.Status), "blocked_reason", out.Reason, "pending_gate", pendingGate(out.State))
	actionObjects(payload, out.Next)
	payload.Set("resync", resync)
	if err != nil {
		payload = ojson.NewObject("status", string(out.Status),
			"blocked_reason", ojson.OrNull(out.State.BlockedReason), "resync", resync)
		var e *wire.Error
		if errors.As(err, &e) && e.Details.Has("blocked_repos") {
			payload.Set("blocked_repos", e.Details.Strings("blocked_repos"))
		}
		actionObjects(payload, out.Next)
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		if err != nil {
			return
		}
		printCounted(p, out.Resync)
		p.Printf("Coordinator resumed: %s\n", p.Bold(string(out.Status)))
		printActions(p, out.Next)
	})
	return err
}
