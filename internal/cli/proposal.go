// proposal: look at what a role proposed, apply it or reject it.

package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/proposal"
)

func newProposalCommand(f *term.Factory) *ucli.Command {
	file := &ucli.StringSliceFlag{Name: "file", Usage: "only the file at `PATH`; may be repeated"}
	in := &ucli.StringFlag{
		Name:  "in",
		Usage: "apply as uncommitted work of the active, authoritative `TURN`; inside a turn, of that turn",
	}
	sub := func(name, usage string, flags []ucli.Flag,
		do func(context.Context, *ucli.Context, *runner.Runner, string) error,
	) *ucli.Command {
		return &ucli.Command{
			Name: name, ArgsUsage: "[TURN]", Usage: usage, Flags: append([]ucli.Flag{shared.TurnFlag()}, flags...),
			Action: shared.OnTurn(func(c *ucli.Context, turn string) error {
				r, err := shared.Open(c.Context, f)
				if err != nil {
					return err
				}
				return do(c.Context, c, r, turn)
			}),
		}
	}
	return &ucli.Command{
		Name: "proposal", Category: shared.CategoryRun,
		Usage: "show, apply and reject what roles without write access proposed",
		Description: "When a turn of a role with write_authority proposed on a remote runtime is accepted, its " +
			"changes are kept as a proposal. TURN may be a unique prefix; the default is the only proposal that " +
			"waits.",
		Subcommands: []*ucli.Command{
			{
				Name: "list", Usage: "list the proposals of the run",
				Action: func(c *ucli.Context) error { return runProposalList(c.Context, f) },
			},
			sub("show", "show one proposal: its files and what became of it", nil,
				func(ctx context.Context, _ *ucli.Context, r *runner.Runner, turn string) error {
					return showProposal(ctx, f, r, turn, false)
				}),
			sub("diff", "show what applying the proposal would change now", nil,
				func(ctx context.Context, _ *ucli.Context, r *runner.Runner, turn string) error {
					return showProposal(ctx, f, r, turn, true)
				}),
			sub("apply", "write the proposed files and commit them", []ucli.Flag{file, in},
				func(ctx context.Context, c *ucli.Context, r *runner.Runner, turn string) error {
					out, err := r.ApplyProposal(ctx, turn, c.StringSlice("file"), c.String("in"))
					return tellDecided(f, out, err)
				}),
			sub("reject", "reject the proposal", []ucli.Flag{
				&ucli.StringFlag{Name: "reason", Usage: "why (`TEXT`); required"},
			},
				func(ctx context.Context, c *ucli.Context, r *runner.Runner, turn string) error {
					if strings.TrimSpace(c.String("reason")) == "" {
						return term.UsageErrorf("proposal reject needs --reason TEXT")
					}
					out, err := r.RejectProposal(ctx, turn, c.String("reason"))
					return tellDecided(f, out, err)
				}),
		},
	}
}

func runProposalList(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	all, err := r.Proposals(ctx)
	if err != nil {
		return err
	}
	rows := ojson.List(all, shared.ProposalObject)
	f.Out.Emit(ojson.NewObject("proposals", rows), func(p *term.Printer) {
		if len(all) == 0 {
			p.Println("This run has no proposals.")
		}
		for _, one := range all {
			p.Printf("%s  %-8s  %s, role %s\n",
				one.Turn, one.Status, term.Counted(len(one.Files), "file"), term.OneLine(one.Role))
		}
	})
	return nil
}

func showProposal(ctx context.Context, f *term.Factory, r *runner.Runner, turn string, diff bool) error {
	one, err := r.Proposal(ctx, turn)
	if err != nil {
		return err
	}
	payload := shared.ProposalObject(one)
	var patch strings.Builder
	if diff {
		for _, file := range one.Files {
			if !file.Applied {
				patch.WriteString(proposedPatch(&file))
			}
		}
		payload.Set("diff", patch.String())
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		if diff {
			p.Printf("%s", text.Lines(patch.String()))
			return
		}
		p.Printf("Proposal of turn %s, role %s: %s.\n\n", p.Bold(one.Turn), term.OneLine(one.Role), one.Status)
		p.Field("Summary", "%s", term.OneLine(one.Summary))
		if one.Reason != "" {
			p.Field("Reason", "%s", term.OneLine(one.Reason))
		}
		for _, file := range one.Files {
			done := ""
			if file.Applied {
				done = " (applied)"
				if file.InTurn != "" {
					done = " (applied by turn " + file.InTurn + ")"
				}
			} else if file.Merged {
				done = " (merged with later changes)"
			}
			p.Printf("  %-6s  %s%s\n", term.OneLine(file.Action), term.OneLine(file.Path), done)
		}
		if one.Status == proposal.Pending || one.Status == proposal.Partial {
			p.Printf("\nLook:   git agentxchain proposal diff %[1]s\nApply:  git agentxchain proposal apply %[1]s\n",
				one.Turn)
		}
	})
	return nil
}

// proposedPatch returns the change of one file as a patch of one hunk: everything between the lines
// that both begin with and those that both end with.
func proposedPatch(file *proposal.File) string {
	before, after := bytes.SplitAfter(file.Before, []byte("\n")), bytes.SplitAfter(file.After, []byte("\n"))
	trim := func(l [][]byte) [][]byte {
		if len(l[len(l)-1]) == 0 {
			l = l[:len(l)-1]
		}
		return l
	}
	before, after = trim(before), trim(after)
	if file.Before == nil && file.After == nil ||
		file.Before != nil && file.After != nil && bytes.Equal(file.Before, file.After) {
		return ""
	}
	start := 0
	for start < len(before) && start < len(after) && bytes.Equal(before[start], after[start]) {
		start++
	}
	endB, endA := len(before), len(after)
	for endB > start && endA > start && bytes.Equal(before[endB-1], after[endA-1]) {
		endB, endA = endB-1, endA-1
	}
	var b strings.Builder
	from, to := "a/"+file.Path, "b/"+file.Path
	if file.Before == nil {
		from = "/dev/null"
	}
	if file.After == nil {
		to = "/dev/null"
	}
	span := func(from, to int) string {
		if from == to {
			return fmt.Sprintf("%d,0", from)
		}
		return fmt.Sprintf("%d,%d", from+1, to-from)
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n@@ -%s +%s @@\n", from, to, span(start, endB), span(start, endA))
	lines := func(mark string, l [][]byte) {
		for _, line := range l {
			b.WriteString(mark + string(line))
			if !bytes.HasSuffix(line, []byte("\n")) {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	lines("-", before[start:endB])
	lines("+", after[start:endA])
	return b.String()
}

func tellDecided(f *term.Factory, out *runner.Decided, err error) error {
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "turn_id", out.Proposal.Turn, "commit", ojson.OrNull(out.Commit),
		"in_turn", ojson.OrNull(out.InTurn), "files", wire.NonNil(out.Files), "left", wire.NonNil(out.Left))
	f.Out.Emit(payload, func(p *term.Printer) {
		if out.Commit == "" && out.InTurn == "" {
			p.Printf("The proposal of turn %s is rejected.\n", p.Bold(out.Proposal.Turn))
			return
		}
		if what := term.Counted(len(out.Files), "file"); out.InTurn != "" {
			p.Printf("%s of the proposal of turn %s applied as work of turn %s, which has to declare them in files_changed.\n",
				what, p.Bold(out.Proposal.Turn), p.Bold(out.InTurn))
		} else {
			p.Printf("%s of the proposal of turn %s applied at %s.\n",
				what, p.Bold(out.Proposal.Turn), p.Bold(out.Commit[:min(12, len(out.Commit))]))
		}
		if len(out.Left) > 0 {
			p.Field("Left", "%s", term.OneLine(strings.Join(out.Left, ", ")))
		}
	})
	return nil
}
