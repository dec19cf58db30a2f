// approve --sign --to: a statement for the one who runs approve --statement.

package cli

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// runApproveTo signs the statement of the person for the gate that waits and writes it to
// a new file. The gate goes on waiting.
func runApproveTo(ctx context.Context, f *term.Factory, to string, o runner.ApproveOptions) error {
	path, err := f.Path(to)
	if err != nil {
		return err
	}
	if err := shared.OutputPlace(path, false); err != nil {
		return err
	}
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	o.StatementOnly = true
	var out *runner.Approved
	err = shared.Trusting(ctx, f, r, func() (err error) {
		out, err = r.Approve(ctx, o)
		return err
	})
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return shared.Listed(f, err)
	}
	if err := shared.SaveFile(path, out.Statement, false); err != nil {
		return err
	}
	payload := ojson.NewObject(
		"gate_type", out.Result.GateType,
		"gate_id", out.Result.Gate,
		"statement", "sha256:"+evidence.NewBlob(out.Statement).Digest,
		"path", path,
	)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("Signed for gate %s and wrote %s; the gate waits.\n", p.Bold(term.OneLine(out.Result.Gate)),
			term.OneLine(to))
		p.Printf("%s git agentxchain approve --statement %s\n", p.Dim("next:"), term.OneLine(to))
	})
	return nil
}
