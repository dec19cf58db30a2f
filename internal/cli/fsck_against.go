// fsck --against: how the runs here stand to those of a remote, a bundle or an export.

package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func runFsckAgainst(ctx context.Context, f *term.Factory, side, run string) error {
	if side == "" {
		return term.UsageErrorf("--against is empty: name a remote, a bundle or an export")
	}
	r, err := openRunner(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	a, err := against(ctx, f, r, side, run)
	if err != nil {
		return err
	}
	f.Out.Emit(againstPayload(a), func(p *term.Printer) { printAgainst(p, a) })
	switch {
	case a.Damaged():
		return term.ExitSilently(term.ExitIntegrity)
	case slices.ContainsFunc(a.Runs, func(x *runner.AgainstRun) bool { return x.State == runner.RunDiverged }):
		return term.ErrFindings()
	}
	return nil
}

func against(ctx context.Context, f *term.Factory, r *runner.Runner, side, run string) (*runner.Against, error) {
	file, err := f.Path(side)
	if err != nil {
		return nil, err
	}
	kind, err := r.Record().AgainstKind(ctx, side, file)
	if err != nil {
		return nil, err
	}
	switch kind {
	case runner.AgainstRemote:
		return r.Record().AgainstRemote(ctx, side, run)
	case runner.AgainstBundle:
		a, err := r.Record().AgainstBundle(ctx, file, run)
		if a != nil {
			a.Name = side
		}
		return a, err
	}
	_, src, _, err := openArtifact(f, side)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	defer frugal()()
	x, err := restore.Against(ctx, r.Record().Dir(), src, run)
	if err != nil {
		return nil, err
	}
	return &runner.Against{Kind: kind, Name: side, Runs: []*runner.AgainstRun{x}}, nil
}

func againstPayload(a *runner.Against) *ojson.Object {
	rows := []*ojson.Object{}
	for _, r := range a.Runs {
		lost := []string{}
		for _, op := range r.Lost {
			lost = append(lost, string(op.Op))
		}
		since := ""
		if !r.Since.IsZero() {
			since = wire.FormatTime(r.Since)
		}
		rows = append(rows, ojson.NewObject("run_id", r.Run, "state", r.State, "op", ojson.OrNull(string(r.Here)), "there_op", ojson.OrNull(string(r.There)),
			"seen_op", ojson.OrNull(string(r.Seen)), "base_op", ojson.OrNull(string(r.Base)), "ahead", r.Ahead, "behind", r.Behind,
			"since", ojson.OrNull(since), "code", ojson.OrNull(r.Code), "why", ojson.OrNull(r.Why), "lost_ops", lost, "lost_turns", r.LostTurns()))
	}
	return ojson.NewObject("kind", a.Kind, "against", a.Name, "damaged", a.Damaged(), "compared", rows, "archive", wire.NonNil(a.Lost))
}

func printAgainst(p *term.Printer, a *runner.Against) {
	there := term.OneLine(a.Name)
	equal, listed, more := 0, 0, 0
	moves := false
	for _, r := range a.Runs {
		if r.State == runner.RunEqual {
			equal++
			continue
		}
		if r.State != runner.RunDamaged && r.State != runner.RunDiverged {
			if listed++; listed > listedRuns {
				more++
				continue
			}
		}
		moves = moves || r.State != runner.RunDamaged
		line := againstLine(r, a.Kind, there)
		if r.State == runner.RunDamaged {
			line = p.Red(line) + " " + p.Dim("["+r.Code+"]")
		}
		p.Printf("run %s: %s\n", term.OneLine(r.Run), line)
		if len(r.Lost) > 0 {
			p.Printf("  lost there: %s, operations %s to %s", counted(len(r.Lost), "operation"), r.Lost[0].Op.Short(), r.Lost[len(r.Lost)-1].Op.Short())
			if turns := r.LostTurns(); len(turns) > 0 {
				p.Printf("; accepted turns: %s", term.OneLine(strings.Join(turns, ", ")))
			}
			p.Println()
		}
	}
	if more > 0 {
		p.Printf("%s more differ; --json lists them.\n", counted(more, "run"))
	}
	for _, l := range a.Lost {
		p.Printf("archive: %s\n", p.Red(term.OneLine(l)))
	}
	p.Printf("%s compared with %s: %d equal\n", counted(len(a.Runs), "run"), there, equal)
	switch {
	case slices.ContainsFunc(a.Runs, func(r *runner.AgainstRun) bool { return len(r.Lost) > 0 }) || len(a.Lost) > 0:
		p.Printf("\nNothing was followed, and this clone still has what it saw. Ask the administrator of the server; to push a run there again: git agentxchain sync %s --forget RUN\n", there)
	case a.Damaged() && a.Kind == runner.AgainstRemote:
		p.Printf("\nNothing was followed. Ask the person who pushed it.\n")
	case a.Damaged():
		p.Printf("\nNothing was taken. Get it again from where it was made.\n")
	case moves && a.Kind == runner.AgainstRemote:
		p.Printf("\nNext: git agentxchain sync %s\n", there)
	}
}

func againstLine(r *runner.AgainstRun, kind, there string) string {
	theirs := counted(r.Behind, "operation")
	if kind == runner.AgainstExport {
		theirs = counted(r.Behind, "row") + " of history and events"
	}
	switch r.State {
	case runner.RunAhead:
		return "here is " + counted(r.Ahead, "operation") + " ahead, " + there + " stands at " + r.Base.Short()
	case runner.RunBehind:
		return there + " is " + theirs + " ahead, here stands at " + r.Base.Short()
	case runner.RunDiverged:
		if r.Why != "" {
			return r.Why
		}
		return "diverged at operation " + r.Base.Short() + " since " + wire.FormatTime(r.Since) + ": " + counted(r.Ahead, "operation") + " here, " + theirs + " on " + there
	case runner.RunMissingHere:
		if r.Why != "" {
			return "not here; " + r.Why
		}
		return "not here, " + theirs + " on " + there
	case runner.RunMissingThere:
		return "not on " + there + ", " + counted(r.Ahead, "operation") + " here"
	}
	return term.OneLine(r.Why)
}
