// checkpoint: commit the files of an accepted turn.

package cli

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

func newCheckpointCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "checkpoint", Aliases: []string{"checkpoint-turn"}, Category: categoryRun, ArgsUsage: "[TURN]",
		Usage:       "commit the files of an accepted turn",
		Description: "Commits exactly what the turn declared, with the repository's own hooks and identity; other staged changes stay staged. TURN may be a unique prefix; by default the latest accepted turn whose files are not committed.",
		Flags:       []ucli.Flag{turnFlag()},
		Action: func(c *ucli.Context) error {
			turn, err := one(c, "turn", "turn")
			if err != nil {
				return err
			}
			return runCheckpoint(c.Context, f, turn)
		},
	}
}

func runCheckpoint(ctx context.Context, f *term.Factory, turn string) error {
	r, err := openRunner(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	out, err := r.Checkpoint(ctx, turn)
	tellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	n := next(ctx, r)
	payload := donePayload(&out.Done)
	payload.Set("turn_id", out.Turn)
	payload.Set("commit", ojson.OrNull(out.Commit))
	payload.Set("files", wire.NonNil(out.Files))
	payload.Set("skipped", ojson.OrNull(out.Skipped))
	payload.Set("next_action", nextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		if out.Skipped != "" {
			p.Printf("Turn %s: nothing to commit, %s.\n\n", p.Bold(term.OneLine(out.Turn)), out.Skipped)
		} else {
			p.Printf("Turn %s is checkpointed at %s (%s).\n\n", p.Bold(term.OneLine(out.Turn)), p.Bold(out.Commit[:min(12, len(out.Commit))]), counted(len(out.Files), "file"))
		}
		printWhere(p, &out.Done)
		printNext(p, n)
	})
	return nil
}
