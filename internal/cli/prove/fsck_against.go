// fsck --against: the runs here compared with those of a remote, a bundle or an export.

package prove

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
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
	if coordinator.IsWorkspace(f.Dir()) {
		return fsckInitiatives(ctx, f, side, run)
	}
	s, err := openFsck(ctx, f)
	if err != nil {
		return err
	}
	a, err := against(ctx, f, s, side, run)
	if err != nil {
		return err
	}
	return toldAgainst(f, a, "run", s.bare)
}

// toldAgainst prints a comparison, and ends with its result. Without a work tree it names no next
// command: only a clone can bring two sides together.
func toldAgainst(f *term.Factory, a *runner.Against, what string, bare bool) error {
	f.Out.Emit(againstPayload(a), func(p *term.Printer) { printAgainst(p, a, what, bare) })
	switch {
	case a.Damaged():
		return term.ExitSilently(term.ExitIntegrity)
	case slices.ContainsFunc(a.Runs, func(x *runner.AgainstRun) bool { return x.State == runner.RunDiverged }):
		return term.ErrFindings()
	}
	return nil
}

// fsckInitiatives compares the initiatives of a workspace with those of a remote, or with the
// export of one.
func fsckInitiatives(ctx context.Context, f *term.Factory, side, name string) error {
	file, err := f.Path(side)
	if err != nil {
		return err
	}
	return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
		kind, err := co.AgainstKind(ctx, side, file)
		if err != nil {
			return err
		}
		switch kind {
		case runner.AgainstRemote:
			a, err := co.Against(ctx, side, name)
			if err != nil {
				return err
			}
			return toldAgainst(f, a, "initiative", false)
		case runner.AgainstBundle:
			return term.Errorf(wire.CodeInvalidArgument, "a bundle holds runs, and this directory is a workspace").
				WithHint("run it in a repository of the initiative, or compare with a remote or an export")
		}
		_, src, _, err := shared.OpenArtifact(f, side)
		if err != nil {
			return err
		}
		defer func() { _ = src.Close() }()
		defer shared.Frugal()()
		files, err := restore.InitiativeFiles(ctx, src)
		if err != nil {
			return err
		}
		x, err := co.AgainstFiles(ctx, files)
		if err != nil {
			return err
		}
		return toldAgainst(f, &runner.Against{Kind: kind, Name: side, Files: true, Runs: []*runner.AgainstRun{x}},
			"initiative", false)
	})
}

func against(ctx context.Context, f *term.Factory, s *checked, side, run string) (*runner.Against, error) {
	file, err := f.Path(side)
	if err != nil {
		return nil, err
	}
	kind, err := s.AgainstKind(ctx, side, file)
	if err != nil {
		return nil, err
	}
	switch kind {
	case runner.AgainstRemote:
		return s.AgainstRemote(ctx, side, run)
	case runner.AgainstBundle:
		a, err := s.AgainstBundle(ctx, file, run)
		if a != nil {
			a.Name = side
		}
		return a, err
	}
	_, src, _, err := shared.OpenArtifact(f, side)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	defer shared.Frugal()()
	dir, err := f.Dir()
	if err != nil {
		return nil, err
	}
	a, err := restore.Against(ctx, dir, src, run)
	if a != nil {
		a.Name = side
	}
	return a, err
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
		rows = append(rows, ojson.NewObject("run_id", r.Run, "state", r.State, "op", ojson.OrNull(string(r.Here)),
			"there_op", ojson.OrNull(string(r.There)),
			"seen_op", ojson.OrNull(string(r.Seen)), "base_op", ojson.OrNull(string(r.Base)), "ahead", r.Ahead,
			"behind", r.Behind,
			"since", ojson.OrNull(since), "code", ojson.OrNull(r.Code), "why", ojson.OrNull(r.Why), "lost_ops", lost,
			"lost_turns", r.LostTurns()))
	}
	return ojson.NewObject("kind", a.Kind, "against", a.Name, "files", a.Files, "damaged", a.Damaged(),
		"compared", rows, "archive", wire.NonNil(a.Lost))
}

// printAgainst prints a comparison; what names one of the compared things.
func printAgainst(p *term.Printer, a *runner.Against, what string, bare bool) {
	unit := shared.UnitOf(what)
	there := term.OneLine(a.Name)
	equal, listed, more := 0, 0, 0
	moves := false
	for _, r := range a.Runs {
		if r.State == runner.RunEqual {
			equal++
			continue
		}
		if r.State != runner.RunDamaged && r.State != runner.RunDiverged {
			if listed++; listed > shared.ListedRuns {
				more++
				continue
			}
		}
		moves = moves || r.State != runner.RunDamaged
		line := againstLine(r, a.Files, there, unit)
		if r.State == runner.RunDamaged {
			line = p.Red(line) + " " + p.Dim("["+r.Code+"]")
		}
		p.Printf("%s %s: %s\n", what, term.OneLine(r.Run), line)
		if len(r.Lost) > 0 {
			p.Printf("  lost there: %s, from %s to %s", term.Counted(len(r.Lost), unit), r.Lost[0].Op.Short(),
				r.Lost[len(r.Lost)-1].Op.Short())
			if turns := r.LostTurns(); len(turns) > 0 {
				p.Printf("; accepted turns: %s", term.OneLine(strings.Join(turns, ", ")))
			}
			p.Println()
		}
	}
	if more > 0 {
		p.Printf("%s more differ; --json lists them.\n", term.Counted(more, what))
	}
	for _, l := range a.Lost {
		p.Printf("archive: %s\n", p.Red(term.OneLine(l)))
	}
	p.Printf("%s compared with %s: %d equal\n", term.Counted(len(a.Runs), what), there, equal)
	switch {
	case slices.ContainsFunc(a.Runs, func(r *runner.AgainstRun) bool { return len(r.Lost) > 0 }):
		p.Printf("\nNothing was followed, and this clone still has what it saw. Ask the administrator of the server; to push a run there again: git agentxchain sync %s --forget RUN\n", there)
	case len(a.Lost) > 0 && !slices.ContainsFunc(a.Runs,
		func(r *runner.AgainstRun) bool { return r.State == runner.RunDamaged }):
		p.Printf("\nNothing was followed, and this clone still has the lists it saw. Ask the administrator of the server; "+
			"git agentxchain sync %s pushes them there again.\n", there)
	case a.Damaged() && a.Kind == runner.AgainstRemote:
		p.Printf("\nNothing was followed. Ask the person who pushed it.\n")
	case a.Damaged():
		p.Printf("\nNothing was taken. Get it again from where it was made.\n")
	case moves && a.Kind == runner.AgainstRemote && !bare:
		p.Printf("\nNext: git agentxchain sync %s\n", there)
	}
}

func againstLine(r *runner.AgainstRun, files bool, there, unit string) string {
	theirs := term.Counted(r.Behind, unit)
	if files {
		theirs = term.Counted(r.Behind, "row") + map[bool]string{true: " of history",
			false: " of history and events"}[unit == "change"]
	}
	switch r.State {
	case runner.RunAhead:
		return "here is " + term.Counted(r.Ahead, unit) + " ahead, " + there + " stands at " + r.Base.Short()
	case runner.RunBehind:
		return there + " is " + theirs + " ahead, here stands at " + r.Base.Short()
	case runner.RunDiverged:
		if r.Why != "" {
			return r.Why
		}
		return "diverged at " + unit + " " + r.Base.Short() + " since " + wire.FormatTime(r.Since) + ": " +
			term.Counted(r.Ahead, unit) + " here, " + theirs + " on " + there
	case runner.RunMissingHere:
		if r.Why != "" {
			return "not here; " + r.Why
		}
		return "not here, " + theirs + " on " + there
	case runner.RunMissingThere:
		return "not on " + there + ", " + term.Counted(r.Ahead, unit) + " here"
	}
	return term.OneLine(r.Why)
}
