// runs: the runs of a repository, and its archive of those that are over.

package travel

import (
	"context"
	"maps"
	"slices"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func NewRunsCommand(f *term.Factory) *ucli.Command {
	older := &ucli.StringFlag{
		Name:  "older-than",
		Usage: "the runs that ended more than `AGE` ago, such as 90d, 12w or 36h",
	}
	dry := &ucli.BoolFlag{Name: "dry-run", Usage: "say what would be done"}
	return &ucli.Command{
		Name:     "runs",
		Category: shared.CategoryMove,
		Usage:    "list the runs of the repository, and archive those that are over",
		Description: "Every run is a ref, and each fetch, push and listing goes through all of them. Archiving a " +
			"run that is over takes its ref away: sync brings the list of archived runs to every clone, a remote " +
			"keeps their operations under one ref a year, and a command that names an archived run fetches it if " +
			"it is not here. With git config agentxchain.archiveAfter AGE, sync archives runs that ended longer " +
			"ago.",
		Subcommands: []*ucli.Command{
			{
				Name: "list", Usage: "list the runs of the repository, newest first",
				Flags: []ucli.Flag{
					&ucli.BoolFlag{Name: "archived", Usage: "the archived runs"},
					&ucli.BoolFlag{Name: "all", Usage: "archived runs too"},
					shared.LimitFlag("show the newest `N` runs, 0 for all"),
				},
				Action: func(c *ucli.Context) error {
					if c.Int("limit") < 0 {
						return term.UsageErrorf("--limit takes 0 or more, not %d", c.Int("limit"))
					}
					return runRunsList(c.Context, f, !c.Bool("archived"), c.Bool("archived") || c.Bool("all"),
						c.Int("limit"))
				},
			},
			{
				Name: "show", ArgsUsage: "RUN", Usage: "show one run: where it is stored, and its status",
				Action: func(c *ucli.Context) error { return runRunsShow(c.Context, f, c.Args().First()) },
			},
			{
				Name: "archive", ArgsUsage: "[RUN...]", Usage: "move runs that are over into the archive",
				Flags: []ucli.Flag{older, dry},
				Action: func(c *ucli.Context) error {
					opt := runner.ArchiveOptions{Runs: c.Args().Slice(), DryRun: c.Bool("dry-run")}
					var err error
					if opt.Before, err = endedBefore(c, f); err != nil {
						return err
					}
					return runRunsArchive(c.Context, f, opt)
				},
			},
			{
				Name: "unarchive", ArgsUsage: "RUN...", Usage: "take runs out of the archive",
				Action: func(c *ucli.Context) error { return runRunsUnarchive(c.Context, f, c.Args().Slice()) },
			},
			{
				Name: "prune", ArgsUsage: "[RUN...]", Usage: "drop archived operations here that a remote has",
				Flags: []ucli.Flag{older, dry, &ucli.StringFlag{
					Name:  "because",
					Usage: "drop the named runs permanently even if no remote has them; why (`TEXT`)",
				}},
				Action: func(c *ucli.Context) error {
					opt := runner.PruneOptions{
						Runs:    c.Args().Slice(),
						DryRun:  c.Bool("dry-run"),
						Because: term.OneLine(c.String("because")),
					}
					if opt.Because != "" && len(opt.Runs) == 0 {
						return term.UsageErrorf("--because removes runs for good: name them")
					}
					var err error
					if opt.Before, err = endedBefore(c, f); err != nil {
						return err
					}
					return runRunsPrune(c.Context, f, opt)
				},
			},
		},
	}
}

// endedBefore reads which runs are meant: the named ones, or those older than an age.
func endedBefore(c *ucli.Context, f *term.Factory) (time.Time, error) {
	switch given := c.String("older-than"); {
	case given == "" && c.NArg() == 0:
		return time.Time{}, term.UsageErrorf("name the runs, or say which with --older-than AGE")
	case given != "" && c.NArg() > 0:
		return time.Time{}, term.UsageErrorf("name the runs or give --older-than, not both")
	case given != "":
		age, err := runner.ParseAge(given)
		if err != nil {
			return time.Time{}, term.UsageErrorf("--older-than: %v", err)
		}
		return f.Now().Add(-age), nil
	}
	return time.Time{}, nil
}

func runRunsList(ctx context.Context, f *term.Factory, live, archived bool, limit int) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	all, err := r.RunList(ctx, live, archived, shared.OneMore(limit))
	if err != nil {
		return err
	}
	all, more := shared.UpTo(limit, all)
	current := r.CurrentRun()
	rows := []*ojson.Object{}
	for i := range all {
		rows = append(rows, runRowObject(&all[i], current))
	}
	f.Out.Page(ctx)
	f.Out.Emit(ojson.NewObject("runs", rows, "more", more), func(p *term.Printer) {
		if len(rows) == 0 {
			p.Println(shared.Nothing(!live, "No run is recorded in this repository.", "No run is archived."))
			return
		}
		t := &term.Table{Header: []string{"", "RUN", "STATUS", "PLACE", "OP", "WHEN"}, Flex: 1}
		own := r.ProjectID(ctx)
		several := slices.ContainsFunc(all, func(row runner.RunRow) bool {
			return row.Project != "" && row.Project != own
		})
		if several {
			t.Header = append(t.Header, "PROJECT")
		}
		for i := range all {
			row, mark := &all[i], ""
			if row.Run == current {
				mark = "*"
			}
			cells := []string{mark, row.Run, row.Status, row.Place, row.Op.Short(), p.Ago(row.At)}
			if several {
				cells = append(cells, row.Project)
			}
			t.Row(cells...)
		}
		p.Table(t)
		if more {
			p.Printf("\nThere are more: -n 0 lists them all.\n")
		}
	})
	return nil
}

func runRowObject(row *runner.RunRow, current string) *ojson.Object {
	o := ojson.NewObject("run_id", row.Run, "current", row.Run == current, "place", row.Place, "status", row.Status,
		"op", string(row.Op), "kind", ojson.OrNull(row.Last), "at", term.Timestamp(row.At),
		"project_id", ojson.OrNull(row.Project))
	if row.Archive != nil {
		o.Set("archive", ojson.Marshal(row.Archive))
	}
	return o
}

func runRunsShow(ctx context.Context, f *term.Factory, name string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	row, err := r.RunNamed(ctx, name)
	if err != nil {
		return err
	}
	current := r.CurrentRun()
	answer := runRowObject(row, current)
	answer.Set("witnesses", row.Witnesses)
	f.Out.Emit(answer, func(p *term.Printer) {
		p.Printf("Run:       %s\n", term.OneLine(row.Run))
		p.Printf("Project:   %s\n", term.OneLine(row.Project))
		p.Printf("Status:    %s\n", term.OneLine(row.Status))
		p.Printf("Place:     %s\n", row.Place)
		p.Printf("Newest:    %s, %s\n", row.Op.Short(), p.Ago(row.At))
		if e := row.Archive; e != nil {
			p.Printf("Archived:  by %s, %s; %s\n", term.OneLine(e.By), shared.Ago(p, e.At),
				term.Counted(e.Ops, "operation"))
		}
		if row.Witnesses > 0 {
			p.Printf("Witnesses: %d, git agentxchain verify approvals --run %s\n", row.Witnesses,
				term.OneLine(row.Run))
		}
		p.Printf("\nNext: git agentxchain log %s\n", term.OneLine(row.Run))
	})
	return nil
}

func runRunsArchive(ctx context.Context, f *term.Factory, opt runner.ArchiveOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	done, err := r.ArchiveRuns(ctx, opt)
	if err != nil {
		return err
	}
	shared.TellNotices(f, done.Notices)
	used := ojson.List(slices.Sorted(maps.Keys(done.InUse)), func(run string) *ojson.Object {
		return ojson.NewObject("run_id", run, "worktree", done.InUse[run])
	})
	answer := ojson.NewObject("dry_run", opt.DryRun, "archived", entryObjects(done.Archived),
		"already", wire.NonNil(done.Already), "in_use", used)
	f.Out.Emit(answer, func(p *term.Printer) {
		tellEntries(p, done.Archived, shared.Nothing(opt.DryRun, "Archived", "Would be archived"))
		for _, run := range done.Already {
			p.Printf("Already archived: %s\n", term.OneLine(run))
		}
		for _, run := range slices.Sorted(maps.Keys(done.InUse)) {
			p.Printf("Left where it is: %s; the work tree %s is in it\n", term.OneLine(run),
				term.OneLine(done.InUse[run]))
		}
		switch {
		case len(done.Archived) == 0 && len(done.Already) == 0:
			p.Println("No run to archive.")
		case !opt.DryRun && len(done.Archived) > 0 && r.HasRemote(ctx):
			p.Printf("\nNext: git agentxchain sync, which brings the archive to the remote\n")
		}
	})
	return nil
}

func entryObjects(list []*runner.ArchiveEntry) []*ojson.Object {
	return ojson.List(list, func(e *runner.ArchiveEntry) *ojson.Object { return ojson.Marshal(e) })
}

// tellEntries prints what was done with runs, the first of them by name.
func tellEntries(p *term.Printer, list []*runner.ArchiveEntry, what string) {
	for i, e := range list {
		if i == shared.ListedRuns {
			p.Printf("%s: %d more\n", what, len(list)-i)
			break
		}
		p.Printf("%s: %s (%s, %s)\n", what, term.OneLine(e.Run), term.OneLine(e.Status),
			term.Counted(e.Ops, "operation"))
	}
}

func runRunsUnarchive(ctx context.Context, f *term.Factory, runs []string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	done, err := r.UnarchiveRuns(ctx, runs)
	if err != nil {
		return err
	}
	f.Out.Emit(ojson.NewObject("unarchived", entryObjects(done)), func(p *term.Printer) {
		tellEntries(p, done, "Out of the archive")
		if r.HasRemote(ctx) {
			p.Printf("\nNext: git agentxchain sync, so that other clones see it\n")
		}
	})
	return nil
}

func runRunsPrune(ctx context.Context, f *term.Factory, opt runner.PruneOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	done, err := r.PruneRuns(ctx, opt)
	if err != nil {
		return err
	}
	shared.TellNotices(f, done.Notices)
	answer := ojson.NewObject("dry_run", opt.DryRun, "pruned", entryObjects(done.Pruned),
		"removed", entryObjects(done.Removed), "kept", wire.NonNil(done.Kept))
	f.Out.Emit(answer, func(p *term.Printer) {
		tellEntries(p, done.Pruned,
			shared.Nothing(opt.DryRun, "Pruned here, kept by a remote", "Would be pruned here, kept by a remote"))
		tellEntries(p, done.Removed, shared.Nothing(opt.DryRun, "Removed for good", "Would be removed for good"))
		if n := len(done.Kept); n > 0 {
			p.Printf("Kept: %s that no remote is known to keep. git agentxchain sync brings the archive to the remote.\n", term.Counted(n, "run"))
		}
		switch {
		case len(done.Pruned)+len(done.Removed)+len(done.Kept) == 0:
			p.Println("No run to prune.")
		case !opt.DryRun && len(done.Pruned)+len(done.Removed) > 0:
			p.Printf("\nNext: git gc, which frees the space when git finds it safe\n")
		}
	})
	return nil
}
