// hooks install, uninstall, status, canary and run: the guards in git's own hooks.

package guards

import (
	"cmp"
	"context"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/hooks/githooks"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newGitHooksCommands(f *term.Factory) []*ucli.Command {
	var server bool
	serverFlag := &ucli.BoolFlag{
		Name:        "server",
		Usage:       "install pre-receive in a bare repository that people push to",
		Destination: &server,
	}
	simple := func(name, usage, description string, run func(context.Context, *term.Factory) error,
		flags ...ucli.Flag) *ucli.Command {
		return &ucli.Command{
			Name:        name,
			Usage:       usage,
			Description: description,
			Flags:       flags,
			Action:      func(c *ucli.Context) error { return run(c.Context, f) },
		}
	}
	return []*ucli.Command{
		simple("install", "guard this repository through git's own hooks",
			"Installs pre-commit, prepare-commit-msg, commit-msg, pre-push and reference-transaction. Existing "+
				"hooks still run, before ours. With git 2.54 and later this changes only the repository's "+
				"configuration; with earlier versions it uses the hooks directory or, if core.hooksPath names another, "+
				"a directory of ours that forwards everything to it. Also defines the merge driver and the text "+
				"conversion for ledgers. Installing twice changes nothing.",
			func(ctx context.Context, f *term.Factory) error { return runHooksInstall(ctx, f, server) }, serverFlag),
		{
			Name:      "uninstall",
			Usage:     "remove the guards and restore what was there before",
			ArgsUsage: "[DIRECTORY]",
			Description: "Restores the earlier hooks and configuration, byte for byte. Settings that were changed since stay. " +
				"Of several projects in the repository, only the one in DIRECTORY is no longer judged (default: the one that " +
				"the command runs in). The directory need not exist any more.",
			Action: func(c *ucli.Context) error { return runHooksUninstall(c.Context, f, c.Args().First()) },
		},
		simple("status", "check whether the guards still run",
			"A hook manager that overwrites our hooks, or a setting that makes git look elsewhere, silently "+
				"switches a guard off. Exit status 1 if a guard does not run.", runHooksStatus),
		simple("canary", "attempt known violations in a throwaway repository, to prove that the guards work",
			"Creates a governed repository below the git directory, guarded exactly as this one. There it attempts "+
				"violations with real git commands, with honest work in between, and then removes the repository. It "+
				"does not touch your refs, index, work tree and settings, and leaves out the hooks that the guards run "+
				"first. Exit status 1 if a violation goes through or honest work does not.", runHooksCanary),
		{
			Name:            "run",
			Usage:           "judge for one of git's hooks; the scripts call it",
			ArgsUsage:       "NAME [ARG...]",
			SkipFlagParsing: true,
			Description: "Judges what git is about to do, as the hook NAME. It takes the arguments and " +
				"standard input that git gives the hook. Hook managers can call it from their own hooks. Exit " +
				"status 3 if it refuses.",
			Action: func(c *ucli.Context) error { return runHooksRun(c.Context, f, c.Args().Slice()) },
		},
	}
}

func runHooksInstall(ctx context.Context, f *term.Factory, server bool) error {
	opt := githooks.Options{Server: server}
	var repo *runner.Repository
	if server {
		r, err := shared.Repository(ctx, f, runner.DiscoverRepository)
		if err != nil {
			return err
		}
		repo = r
	} else {
		r, err := shared.Open(ctx, f)
		if runner.IsBare(err) {
			return term.Errorf("bare_repository", "%s", err.Error()).
				WithHint("git agentxchain hooks install --server, where it is the repository that is pushed to")
		}
		if err != nil {
			return err
		}
		repo, opt.Project = r.Record().Repository(), r.Record().Repository().Prefix
	}
	var err error
	if opt.Binary, err = githooks.OwnBinary(); err != nil {
		return err
	}
	if !server {
		if err := runner.TrackRuns(ctx, repo); err != nil {
			return err
		}
	}
	res, err := githooks.Install(ctx, repo, opt)
	if err != nil {
		return err
	}
	f.Out.Emit(hooksResult(res), func(p *term.Printer) {
		if res.Changes == nil {
			p.Println("The guards are in place already.")
			return
		}
		p.Printf("Guarding with %s.\n", strings.Join(res.Names, ", "))
		p.Field("Through", "%s", throughText(res.Way))
		for _, n := range res.Names {
			if before := res.Chained[n]; before != "" {
				p.Field("Runs first", "%s", before)
			}
		}
		p.Field("Next", "%s", p.Bold("git agentxchain hooks canary"))
	})
	return nil
}

// projectDirs names projects by their directories in the repository.
func projectDirs(prefixes []string) string {
	dirs := make([]string, len(prefixes))
	for i, p := range prefixes {
		dirs[i] = term.OneLine(cmp.Or(p, "the top directory"))
	}
	return strings.Join(dirs, ", ")
}

func throughText(way string) string {
	switch way {
	case githooks.WayConfig:
		return "this repository's git configuration (hook.agentxchain-*)"
	case githooks.WayRedirect:
		return "core.hooksPath, which leads to a directory that passes on to the one it named"
	}
	return "the repository's hooks directory"
}

func hooksResult(res *githooks.Result) *ojson.Object {
	changes := ojson.List(res.Changes, func(c githooks.Change) *ojson.Object {
		return ojson.NewObject("what", c.What, "path", c.Path)
	})
	chained := ojson.NewObject()
	for _, n := range res.Names {
		if before := res.Chained[n]; before != "" {
			chained.Set(n, before)
		}
	}
	return ojson.NewObject("way", ojson.OrNull(res.Way), "dir", ojson.OrNull(res.Dir), "hooks", wire.NonNil(res.Names),
		"chained", chained, "changes", changes)
}

func runHooksUninstall(ctx context.Context, f *term.Factory, project string) error {
	repo, err := shared.Repository(ctx, f, runner.DiscoverRepository)
	if err != nil {
		return err
	}
	res, err := githooks.Uninstall(ctx, repo, project)
	if err != nil {
		return err
	}
	f.Out.Emit(hooksResult(res), func(p *term.Printer) {
		switch {
		case res.Way == "":
			p.Println("No guards were installed here.")
			return
		case len(res.Kept) > 0:
			p.Printf("The guards judge %s no longer. They stay for %s.\n",
				term.OneLine(cmp.Or(project, "this project")), projectDirs(res.Kept))
			return
		}
		p.Println("The guards are gone; the hooks and settings that were there are back.")
	})
	return nil
}

func runHooksStatus(ctx context.Context, f *term.Factory) error {
	repo, err := shared.Repository(ctx, f, runner.DiscoverRepository)
	if err != nil {
		return err
	}
	st, err := githooks.Check(ctx, repo)
	if err != nil {
		return err
	}
	guards := ojson.List(st.Guards, func(g githooks.GuardState) *ojson.Object {
		return ojson.NewObject("hook", g.Name, "live", g.Live, "why", ojson.OrNull(g.Why), "path", g.Path,
			"chained", ojson.OrNull(g.Chained))
	})
	silent := len(st.Silent())
	f.Out.Emit(ojson.NewObject("installed", st.Installed, "way", ojson.OrNull(st.Way),
		"binary", ojson.OrNull(st.Binary), "silent", silent, "guards", guards,
		"gone", wire.NonNil(st.Gone)), func(p *term.Printer) {
		defer func() {
			for _, prefix := range st.Gone {
				p.Field("Note", "%s", githooks.GoneText(prefix))
			}
		}()
		if !st.Installed {
			p.Println("No guards are installed here.")
			if len(st.Others) > 0 {
				p.Printf("Those of this repository judge %s.\n", projectDirs(st.Others))
			}
			p.Field("Next", "%s", p.Bold(githooks.InstallCommand(repo)))
			return
		}
		t := term.NewTable("HOOK", "STATE", "RUNS FIRST")
		for _, g := range st.Guards {
			if g.Live {
				t.Row(g.Name, "live", g.Chained)
				t.Emphasise(1, p.Green)
				continue
			}
			t.Row(g.Name, "silent: "+g.Why, g.Chained)
			t.Emphasise(1, p.Red)
		}
		p.Table(t)
		if silent > 0 {
			p.Field("Next", "%s", p.Bold(githooks.InstallCommand(repo)))
		}
	})
	if silent > 0 {
		return term.ErrFindings()
	}
	return nil
}

// runHooksRun answers git. Standard output stays empty: git shows what a hook writes to standard
// error.
func runHooksRun(ctx context.Context, f *term.Factory, args []string) error {
	if len(args) == 0 {
		return term.UsageErrorf("hooks run needs the NAME of a hook: %s", strings.Join(githooks.Names(), ", "))
	}
	if !githooks.KnownName(args[0]) {
		return term.UsageErrorf("there is no guard for a hook named %q; there is %s", term.OneLine(args[0]),
			strings.Join(githooks.Names(), ", "))
	}
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	findings, err := githooks.Run(ctx, githooks.Invocation{
		Name:   args[0],
		Args:   args[1:],
		Stdin:  f.Env.Stdin,
		Dir:    dir,
		Getenv: f.Env.Getenv,
		Stderr: f.Env.Stderr,
	})
	if err != nil {
		return err
	}
	list := make([]*ojson.Object, len(findings))
	for i, x := range findings {
		list[i] = ojson.NewObject("rule", x.Rule, "path", x.Path, "commit", ojson.OrNull(x.Commit),
			"turn_id", ojson.OrNull(x.Turn), "message", x.Message, "way_out", ojson.OrNull(x.Hint))
		f.Out.Notice("agentxchain: %s", x.String())
	}
	f.Out.Emit(ojson.NewObject("hook", args[0], "refused", len(findings) > 0, "findings", list), nil)
	if len(findings) > 0 {
		return term.ExitSilently(term.ExitRefused)
	}
	return nil
}
