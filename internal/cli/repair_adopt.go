// repair --adopt: a person looks at a run that another tool began and adopts it.

package cli

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func runAdopt(ctx context.Context, f *term.Factory, o *repairOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	a, err := r.Adoptable(ctx)
	if err != nil {
		return err
	}
	payload := adoptionObject(a)
	payload.Set("dry_run", o.DryRun)
	payload.Set("done", !o.DryRun)
	if o.DryRun {
		f.Out.Emit(payload, func(p *term.Printer) {
			for _, line := range adoptionLines(a) {
				p.Printf("%s\n", line)
			}
			p.Printf("\nNothing was changed (--dry-run).\n")
		})
		return nil
	}
	if !o.Yes && runner.InsideTurn(nil) == "" {
		for _, line := range adoptionLines(a) {
			f.Out.Notice("%s", line)
		}
		agreed, err := f.Prompt.Confirm(ctx, "Adopt this run, and answer for it?", "--yes", false)
		if err != nil {
			return err
		}
		if !agreed {
			f.Out.Notice("Nothing was adopted.")
			return nil
		}
	}
	out, err := r.Adopt(ctx, runner.ConfirmOptions{Shown: a.View.Open, Reason: o.Reason, Consent: o.Consent})
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	for _, m := range []string{"run_id", "op"} {
		payload.Set(m, shared.DonePayload(&out.Done).Value(m))
	}
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		if o.Yes {
			for _, line := range adoptionLines(a) {
				p.Printf("%s\n", line)
			}
			p.Println()
		}
		p.Printf("Run %s is adopted (operation %s).\n\n", term.OneLine(out.Run), p.Yellow(out.Op.Short()))
	})
	return nil
}

// adoptionLines returns what a person is asked to answer for, each with its row.
func adoptionLines(a *runner.Adoption) []string {
	s := a.View.State
	lines := []string{"Another tool began run " + term.OneLine(s.Run()) + ": " + string(s.Status) + ", in phase " +
		term.OneLine(s.Phase) + "."}
	if a.Leaves != "" {
		lines = append(lines, "Run "+term.OneLine(a.Leaves)+", which is not over, is left for it.")
	}
	for _, x := range a.Accounts {
		lines = append(lines, "  "+term.OneLine(x.Text))
		by := x.File + ": " + x.Row
		if x.At != "" {
			by += ", " + x.At
		}
		lines = append(lines, "      "+term.OneLine(by))
	}
	return lines
}

func adoptionObject(a *runner.Adoption) *ojson.Object {
	rows := []*ojson.Object{}
	for i := range a.Accounts {
		rows = append(rows, ojson.Marshal(&a.Accounts[i]))
	}
	s := a.View.State
	return ojson.NewObject("run_id", s.Run(), "op", nil, "side", "adopt", "status", string(s.Status), "phase", s.Phase,
		"leaves", ojson.OrNull(a.Leaves), "accounts", rows, "claims", shared.ClaimObjects(a.View.Open))
}
