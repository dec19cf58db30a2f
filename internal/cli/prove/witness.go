// witness: sign where a run stands.

package prove

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func NewWitnessCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "witness",
		Category:  shared.CategoryTrust,
		ArgsUsage: "[RUN]",
		Usage:     "sign which operation is now the newest of a run",
		Description: "For a build job or a second server. Checks the operations of the run, signs which one is now " +
			"the newest, with the key that git signs commits with (ssh, openpgp, x509), and stores the statement " +
			"under refs/agentxchain/witnesses/. sync and bundles include it. verify approvals counts the " +
			"statements of allowed signers. If a run no longer has an operation that one of them signed, the run " +
			"is damaged. If the run is shared, only an operation that a remote has is signed.",
		Action: func(c *ucli.Context) error { return runWitness(c.Context, f, c.Args().First()) },
	}
}

func runWitness(ctx context.Context, f *term.Factory, run string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	st, err := r.Witness(ctx, run)
	if err != nil {
		return err
	}
	f.Out.Emit(ojson.NewObject("run_id", st.Run, "op", st.Operation, "sequence", st.Sequence,
		"principal", st.Principal,
		"at", wire.FormatTime(st.IssuedAt)), func(p *term.Printer) {
		p.Printf("Signed by %s: run %s stands at operation %s, number %d.\n", term.OneLine(st.Principal), st.Run,
			p.Yellow(shared.ShortOp(st.Operation)), st.Sequence)
	})
	return nil
}
