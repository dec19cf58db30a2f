// sync: bring the runs of this clone and of a remote together.

package travel

import (
	"context"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func NewSyncCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "sync",
		Category:  shared.CategoryMove,
		ArgsUsage: "[REMOTE]",
		Usage:     "exchange runs with a remote, and join what both sides did",
		Description: "Fetches the records of the remote, checks every operation that arrived, takes over " +
			"operations that continue the runs here, and pushes what the remote lacks. A run is pushed only if it " +
			"has not changed on the remote in the meantime. If both sides have new operations, those made here are " +
			"decided again after the remote's. One that is no longer valid becomes a conflict (git agentxchain " +
			"conflicts); it is never dropped. sync does not follow a remote that has lost operations it had " +
			"before. In a fresh clone it also writes the files of the newest run into the work tree. In a " +
			"workspace (agentxchain-multi.json) it syncs initiatives instead.\n\n" +
			"Without REMOTE it uses agentxchain.remote, else the remote of the branch, else origin, else the only " +
			"remote. The server needs nothing installed.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "branch", Usage: "also push the branch that is checked out, never forced"},
			&ucli.BoolFlag{Name: "no-push", Usage: "only take over what the remote has"},
			&ucli.BoolFlag{
				Name:  "without-commits",
				Usage: "also exchange operations whose commits one side lacks",
			},
			&ucli.StringSliceFlag{
				Name: "forget",
				Usage: "forget what was seen of `RUN` on the remote, which may then go back; " +
					"all stands for the runs that it no longer has",
			},
		},
		Action: func(c *ucli.Context) error {
			if coordinator.IsWorkspace(f.Dir()) {
				return syncWorkspace(c, f)
			}
			return runSync(c.Context, f, runner.SyncOptions{
				Remote:         c.Args().First(),
				Branch:         c.Bool("branch"),
				NoPush:         c.Bool("no-push"),
				WithoutCommits: c.Bool("without-commits"),
				Forget:         c.StringSlice("forget"),
			})
		},
	}
}

func runSync(ctx context.Context, f *term.Factory, opt runner.SyncOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	y, err := r.Sync(ctx, opt)
	if y == nil || err != nil && len(y.Runs) == 0 {
		return err
	}
	shared.TellNotices(f, y.Notices)
	all, cerr := r.Conflicts(ctx)
	if err == nil {
		err = cerr
	}
	open := 0
	for _, c := range all {
		if c.Status == join.ConflictOpen {
			open++
		}
	}
	f.Out.Emit(syncPayload(y, open), func(p *term.Printer) { printSync(p, y, open, "run", err == nil) })
	if err != nil {
		return err
	}
	if open > 0 {
		return term.ErrFindings()
	}
	return refusedRuns(y)
}

// refusedRuns returns the outcome of a sync when something waits for a person.
func refusedRuns(y *runner.Synced) error {
	for _, run := range y.Runs {
		if run.Code != "" {
			return term.ErrFindings()
		}
	}
	return nil
}

// syncWorkspace brings the initiatives of a workspace and of a remote together.
func syncWorkspace(c *ucli.Context, f *term.Factory) error {
	for _, name := range []string{"branch", "without-commits"} {
		if c.Bool(name) {
			return term.UsageErrorf(
				"--%s is about runs; this directory is a workspace, whose initiatives name no commits", name)
		}
	}
	return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
		y, err := co.Sync(c.Context, coordinator.SyncOptions{
			Remote: c.Args().First(),
			NoPush: c.Bool("no-push"),
			Forget: c.StringSlice("forget"),
		})
		if y == nil || err != nil && len(y.Runs) == 0 {
			return err
		}
		f.Out.Emit(syncPayload(y, 0), func(p *term.Printer) { printSync(p, y, 0, "initiative", err == nil) })
		if err != nil {
			return err
		}
		return refusedRuns(y)
	})
}

func syncPayload(y *runner.Synced, open int) *ojson.Object {
	runs := []*ojson.Object{}
	for _, r := range y.Runs {
		o := ojson.NewObject("run_id", r.Run, "state", r.State, "came", r.Came, "went", r.Went,
			"op", ojson.OrNull(string(r.Tip)), "remote_op", ojson.OrNull(string(r.There)))
		if r.Joined != nil {
			o.Set("landed", len(r.Joined.Landed))
			o.Set("same", len(r.Joined.Same))
			o.Set("conflicts", len(r.Joined.Conflicts))
			o.Set("lost_ref", r.Joined.Lost)
		}
		if r.Code != "" {
			o.Set("code", r.Code)
			o.Set("why", r.Why)
			o.Set("hint", r.Hint)
		}
		if r.Aside != "" {
			o.Set("aside_ref", r.Aside)
		}
		runs = append(runs, o)
	}
	came := ojson.List(y.Conflicts, conflictObject)
	return ojson.NewObject("remote", y.Remote, "runs", runs, "entered", ojson.OrNull(y.Entered), "tries", y.Tries,
		"retired", y.Retired, "conflicts", came, "open_conflicts", open)
}

// printSync prints a sync; what names one of the synced things. For a sync that did not end, the state of both sides
// is unknown.
func printSync(p *term.Printer, y *runner.Synced, open int, what string, ended bool) {
	remote := term.OneLine(y.Remote)
	if y.Tracking {
		p.Printf("From now on, git fetch %s also fetches the records of %ss.\n", remote, what)
	}
	same, moved := 0, 0
	gone := goneRuns(y)
	if len(gone) > 1 {
		first := gone[0]
		p.Printf("%s: refused (%s)\n", term.Counted(len(gone), what), first.Code)
		p.Printf("  the remote no longer has them: %s\n", term.OneLine(wire.ListSome(runNames(gone), 3)))
		p.Printf("  next: %s\n", term.OneLine(first.Hint))
	}
	for _, r := range y.Runs {
		if len(gone) > 1 && slices.Contains(gone, r) {
			continue
		}
		if r.State == runner.SyncSame && r.Code == "" {
			same++
			continue
		}
		if r.Code == "" && r.Joined == nil {
			if moved++; moved > shared.ListedRuns {
				continue
			}
		}
		p.Printf("%s %s: %s\n", what, term.OneLine(r.Run), syncLine(r, remote, what))
		if r.Joined != nil {
			printConflicts(p, r.Joined.Conflicts)
		}
		if r.Why != "" {
			p.Printf("  %s\n", term.OneLine(r.Why))
		}
		if r.Aside != "" {
			p.Printf("  kept for a look: %s\n", term.OneLine(r.Aside))
		}
		if r.Hint != "" {
			p.Printf("  next: %s\n", term.OneLine(r.Hint))
		}
	}
	for _, c := range y.Conflicts {
		p.Printf("%s of run %s came from %s: %s", p.Yellow("conflict "+c.Op[:12]), term.OneLine(c.Run), remote,
			conflictSubject(c))
		if c.Status == join.ConflictOpen {
			p.Printf(": %s\n", term.OneLine(c.Message))
		} else {
			p.Printf(" is settled: %s by %s\n", term.OneLine(c.Settled), term.OneLine(c.By))
		}
	}
	if moved > shared.ListedRuns {
		p.Printf("%s more came or went; --json lists them.\n", term.Counted(moved-shared.ListedRuns, what))
	}
	if y.Retired > 0 {
		p.Printf("%s moved into the archive of %s.\n", term.Counted(y.Retired, "run"), remote)
	}
	switch {
	case !ended || y.Retired > 0:
	case len(y.Runs) == 0:
		p.Printf("No %s here, and none on %s.\n", what, remote)
		if what != "run" {
			p.Printf("\nNext: git agentxchain multi init\n")
		}
	case same == len(y.Runs) && len(y.Conflicts) == 0:
		p.Printf("Everything here is on %s, and everything there is here.\n", remote)
	}
	switch {
	case y.Over:
		p.Printf("The workspace shows initiative %s, which has ended.\n\nNext: git agentxchain multi status\n",
			term.OneLine(y.Entered))
	case y.Entered != "" && what != "run":
		p.Printf("The workspace continues with initiative %s.\n\nNext: git agentxchain multi status\n",
			term.OneLine(y.Entered))
	case y.Entered != "":
		p.Printf("The work tree is in run %s.\n\nNext: git agentxchain status\n", term.OneLine(y.Entered))
	}
	if open > 0 {
		p.Printf("\n%s for a person: git agentxchain conflicts\n", term.Counted(open, "conflict")+map[bool]string{
			true:  " waits",
			false: " wait",
		}[open == 1])
	}
}

// goneRuns returns the runs that the remote no longer has at all and whose way out is the same command, as after a move
// to another server.
func goneRuns(y *runner.Synced) []*runner.SyncedRun {
	var out []*runner.SyncedRun
	for _, r := range y.Runs {
		if r.Code != "" && r.There == "" && r.Hint != "" && (len(out) == 0 || r.Hint == out[0].Hint) {
			out = append(out, r)
		}
	}
	return out
}

func runNames(runs []*runner.SyncedRun) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		out[i] = r.Run
	}
	return out
}

// joinedParts say how many operations came from the other side, and what became of those of this clone; j is nil
// where none was decided again.
func joinedParts(came int, j *runner.Joined, unit, side string) (parts []string) {
	if came > 0 {
		parts = append(parts, term.Counted(came, unit)+" came from "+side)
	}
	if j == nil {
		return parts
	}
	parts = append(parts, term.Counted(len(j.Landed), "operation")+" of this clone decided again after them")
	if n := len(j.Same); n > 0 {
		parts = append(parts, text.Count(n, "operation was", "operations were")+" there already")
	}
	if len(j.Conflicts) > 0 {
		parts = append(parts, term.Counted(len(j.Conflicts), "conflict"))
	}
	return parts
}

// printConflicts lists the operations that a join left out.
func printConflicts(p *term.Printer, list []*runner.Conflict) {
	for _, c := range list {
		p.Printf("  %s  %s: %s\n", p.Yellow("conflict "+c.Op[:12]), conflictSubject(c), term.OneLine(c.Message))
	}
}

func syncLine(r *runner.SyncedRun, remote, what string) string {
	unit := shared.UnitOf(what)
	parts := joinedParts(r.Came, r.Joined, unit, remote)
	if r.Went > 0 {
		parts = append(parts, term.Counted(r.Went, unit)+" went to "+remote)
	}
	switch r.State {
	case runner.SyncRefused:
		parts = append(parts, "refused ("+r.Code+")")
	case runner.SyncArchive:
		parts = append(parts, "archived")
	case runner.SyncWaits:
		parts = append(parts, "waits")
	}
	return strings.Join(parts, ", ")
}
