// checkpoint: commit the files of an accepted turn.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func newCheckpointCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "checkpoint", Aliases: []string{"checkpoint-turn"}, Category: shared.CategoryRun, ArgsUsage: "[TURN]",
		Usage: "commit the files of an accepted turn",
		Description: "Commits exactly the files that the turn declared, with the repository's own hooks and " +
			"identity. Other staged changes stay staged. Without TURN it takes the latest accepted turn whose " +
			"files are not committed. TURN may be a unique prefix.",
		Flags:  []ucli.Flag{shared.TurnFlag()},
		Action: shared.OnTurn(func(c *ucli.Context, turn string) error { return runCheckpoint(c.Context, f, turn) }),
	}
}

func runCheckpoint(ctx context.Context, f *term.Factory, turn string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.Checkpoint(ctx, turn)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "turn_id", out.Turn, "commit", ojson.OrNull(out.Commit),
		"files", wire.NonNil(out.Files), "skipped", ojson.OrNull(out.Skipped))
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		if out.Skipped != "" {
			p.Printf("Turn %s: nothing to commit, %s.\n\n", p.Bold(term.OneLine(out.Turn)), out.Skipped)
		} else {
			p.Printf("Turn %s is checkpointed at %s (%s).\n\n", p.Bold(term.OneLine(out.Turn)),
				p.Bold(out.Commit[:min(12, len(out.Commit))]), term.Counted(len(out.Files), "file"))
		}
	})
	return nil
}
