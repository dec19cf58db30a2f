// restore: a run artifact, or the bundle of a run's history, into this checkout.

package travel

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type restoreOptions struct {
	Input  string // a path; - is standard input; "" for a bundle alone
	Repo   string // take the run of this repository out of the artifact of an initiative; "" for none
	Bundle string // a path; "" for none
	Onto   bool
	DryRun bool
	Plan   bool
	GiveUp bool
	Work   bool // write work in progress
	NoWork bool // do not
	NoRec  bool // leave out the record in the artifact
}

func NewRestoreCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "restore",
		Category:  shared.CategoryMove,
		ArgsUsage: "[FILE|-]",
		Usage:     "continue a run from its artifact in this checkout",
		Description: "Makes the governed files those of the run artifact FILE and records the run here, so that " +
			"work continues in this checkout. In the artifact of an initiative, --repo ID names the repository " +
			"whose run to restore. restore first checks everything: the artifact as verify export does, that it " +
			"belongs to this project and this commit, and that no uncommitted change is in the way. Then either " +
			"everything takes effect or nothing. Displaced files are kept. The run's record comes from the " +
			"artifact, or from --bundle.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "input", Usage: "read `FILE`, - for standard input (same as the argument)"},
			&ucli.StringFlag{
				Name:  "repo",
				Usage: "restore the run of repository `ID` from the artifact of an initiative",
			},
			&ucli.StringFlag{
				Name:  "bundle",
				Usage: "also restore the history in the git bundle `FILE`; without an artifact, restore the newest operation in it",
			},
			&ucli.BoolFlag{Name: "no-record",
				Usage: "ignore the record in the artifact: its files are recorded as one operation"},
			&ucli.BoolFlag{
				Name:  "onto",
				Usage: "restore onto a HEAD that has moved on, if no commit since contradicts the artifact",
			},
			&ucli.BoolFlag{Name: "dry-run", Usage: "check everything and show the plan; change nothing"},
			&ucli.BoolFlag{
				Name:  "plan",
				Usage: "as --dry-run, and list what is in the way instead of stopping at the first",
			},
			&ucli.BoolFlag{Name: "with-work", Usage: "write the work in progress that is in the artifact"},
			&ucli.BoolFlag{Name: "without-work",
				Usage: "restore the run without the work in progress that is in the artifact"},
			&ucli.BoolFlag{
				Name:  "give-up-turns",
				Usage: "give up active turns here that the artifact does not know; their files are kept",
			},
		},
		Action: shared.OnOne("artifact", "input", func(c *ucli.Context, input string) error {
			if err := term.NotEmpty(c, "input", "repo", "bundle"); err != nil {
				return err
			}
			o := &restoreOptions{
				Input:  input,
				Repo:   c.String("repo"),
				Bundle: c.String("bundle"),
				Onto:   c.Bool("onto"),
				DryRun: c.Bool("dry-run"),
				Plan:   c.Bool("plan"),
				GiveUp: c.Bool("give-up-turns"),
				Work:   c.Bool("with-work"),
				NoWork: c.Bool("without-work"),
				NoRec:  c.Bool("no-record"),
			}
			switch {
			case o.Work && o.NoWork:
				return term.UsageErrorf("--with-work and --without-work cannot be used together")
			case input == "" && o.Bundle == "":
				return term.UsageErrorf(
					"restore needs --input FILE, the artifact of a run (- for standard input), or --bundle FILE")
			case input == "" && o.Repo != "":
				return term.UsageErrorf(
					"--repo takes a run out of the artifact of an initiative; name the artifact with --input")
			case input == "" && o.Onto:
				return term.UsageErrorf(
					"--onto is about the commit an artifact was made at; name the artifact with --input")
			}
			return runRestore(c.Context, f, o)
		}),
	}
}

func runRestore(ctx context.Context, f *term.Factory, o *restoreOptions) error {
	name, src, size := "", io.Reader(nil), int64(0)
	if o.Input != "" {
		var file io.ReadCloser
		var err error
		if name, file, size, err = shared.OpenArtifact(f, o.Input); err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		src = file
	}
	bundle := ""
	if o.Bundle != "" {
		var err error
		if bundle, err = f.Path(o.Bundle); err != nil {
			return err
		}
		if name == "" {
			name = bundle
		}
	}
	defer shared.Frugal()()
	const unit = 1 << 20
	reading, writing := f.Out.Progress("verifying, MiB", int(size/unit)), f.Out.Progress("restoring, files", 0)
	defer reading.Done()
	var r *runner.Runner
	out, err := restore.Restore(ctx, src, restore.Options{
		Into: func(ctx context.Context, use func(*restore.Store) error) error {
			reading.Done()
			var err error
			if r, err = shared.Open(ctx, f); err != nil {
				return err
			}
			if err := mayRestore(r, o); err != nil {
				return err
			}
			return r.Alone(use)
		},
		Repo: o.Repo, Bundle: bundle, NoRecord: o.NoRec, Onto: o.Onto, DryRun: o.DryRun ||
			o.Plan, Plan: o.Plan, GiveUp: giveUp(ctx, f, o),
		Work: takeWork(ctx, f, o), LockWait: 10 * time.Second,
		Reindex:  runner.Reindex,
		Verify:   restore.VerifyOptions{Progress: func(n int64) { reading.Step(int(n / unit)) }},
		Progress: func(done, _ int) { writing.Step(done) },
	})
	writing.Done()
	if err != nil {
		return shared.Listed(f, err)
	}
	if out.Joined != nil {
		out.Notices = append(out.Notices, r.SignJoined(ctx, out.Joined.Joined)...)
	}
	shared.TellNotices(f, out.Notices)
	for _, u := range out.Unwritten {
		f.Out.Warn("not restored, it belongs to the machine it was made on: %s", term.OneLine(u))
	}
	var then *protocol.NextAction
	if out.Done && out.Run != "" {
		then = r.Next(ctx)
	}
	f.Out.Emit(restorePayload(name, o, out, then), func(p *term.Printer) { printRestore(p, name, out, then) })
	if len(out.Obstacles) > 0 {
		return term.ErrFindings()
	}
	return nil
}

// giveUp answers whether to give up active turns here: by the flag, else by asking.
func giveUp(ctx context.Context, f *term.Factory, o *restoreOptions) func(string) (bool, error) {
	return func(question string) (bool, error) {
		if o.GiveUp || o.Plan || o.DryRun || !f.Interactive() || o.Input == "-" {
			return o.GiveUp, nil
		}
		return f.Prompt.Confirm(ctx, term.OneLine(question)+" Give up?", "git agentxchain restore --give-up-turns",
			false)
	}
}

// takeWork answers whether to write work in progress: by a flag, else by asking.
func takeWork(ctx context.Context, f *term.Factory, o *restoreOptions) func(string) (bool, bool, error) {
	return func(question string) (yes, decided bool, err error) {
		if o.Work || o.NoWork || !f.Interactive() || o.Input == "-" {
			return o.Work, o.Work || o.NoWork, nil
		}
		yes, err = f.Prompt.Confirm(ctx, term.OneLine(question)+" Write it?", "git agentxchain restore --with-work",
			false)
		return yes, err == nil, err
	}
}

// mayRestore refuses what an agent could use to answer for itself.
func mayRestore(r *runner.Runner, o *restoreOptions) error {
	if id := r.InsideTurn(); id != "" && !o.DryRun && !o.Plan {
		return &wire.Error{
			Code:    wire.CodeInsideTurn,
			Field:   "turn_id",
			Message: "Turn " + id + " cannot replace the run it works for: this process was dispatched for it.",
			Hint:    "a person runs git agentxchain restore outside of the turn",
		}
	}
	return nil
}

func restorePayload(name string, o *restoreOptions, out *restore.Outcome, then *protocol.NextAction) *ojson.Object {
	actions := []*ojson.Object{}
	for _, a := range out.Plan.Actions {
		actions = append(actions, ojson.NewObject("path", a.Path, "action", a.Action))
	}
	doc := ojson.NewObject("input", name, "repo_id", ojson.OrNull(o.Repo), "root", out.Dir, "run_id", ojson.OrNull(
		out.Run), "status", ojson.OrNull(out.Status), "dry_run", o.DryRun || o.Plan, "done", out.Done,
		"restored_files", out.Files, "unchanged", out.Plan.Same, "actions", actions, "relation", out.Plan.Relation,
		"op", ojson.OrNull(string(out.Plan.Op)), "previous_op", ojson.OrNull(string(out.Plan.Before)),
		"kept", ojson.OrNull(out.Plan.Kept))
	keep, obstacles := []*ojson.Object{}, []*ojson.Object{}
	for _, k := range out.Keep {
		keep = append(keep, ojson.NewObject("path", k.Path, "kind", k.Kind, "turn_id", ojson.OrNull(k.Turn)))
	}
	for _, e := range out.Obstacles {
		paths := []string{}
		for _, p := range e.Problems {
			paths = append(paths, p.Field)
		}
		obstacles = append(obstacles,
			ojson.NewObject("code", e.Code, "message", e.Message, "hint", e.Hint, "paths", paths))
	}
	doc.Set("keep", keep)
	doc.Set("obstacles", obstacles)
	doc.Set("same_tree", out.SameTree)
	work := ojson.List(out.Work, func(w restore.RestoredWork) *ojson.Object {
		return ojson.NewObject("path", w.Path, "change", w.Change)
	})
	doc.Set("work", work)
	doc.Set("with_work", out.WithWork)
	doc.Set("head", nil)
	if out.Head != nil {
		doc.Set("head", out.Head.Object())
	}
	doc.Set("bundle", nil)
	if b := out.Bundle; b != nil {
		refs := []*ojson.Object{}
		for _, ref := range b.Refs {
			refs = append(refs, ojson.NewObject("ref", ref.Name, "oid", string(ref.OID),
				"here", ojson.OrNull(string(ref.Here)), "relation", ref.Relation))
		}
		doc.Set("bundle", ojson.NewObject("operations", b.Ops, "refs", refs))
	}
	doc.Set("joined", joinedObject(out.Joined))
	doc.Set("next", shared.NextObject(then))
	doc.Set("notices", wire.NonNil(out.Notices))
	return doc
}

// joinedObject is what a join made of the operations of both sides, null for none.
func joinedObject(j *restore.Joined) any {
	if j == nil {
		return nil
	}
	conflicts := ojson.List(j.Conflicts, conflictObject)
	return ojson.NewObject("came", j.Came, "landed", len(j.Landed), "same", len(j.Same), "conflicts", conflicts,
		"lost_ref", j.Lost)
}

func printRestore(p *term.Printer, name string, out *restore.Outcome, then *protocol.NextAction) {
	head := "Restored from %s\n"
	if !out.Done {
		head = "Would restore from %s\n"
	}
	p.Printf(head, term.OneLine(name))
	run := out.Run
	if run == "" {
		run = "none"
	}
	p.Field("Run", "%s (%s)", term.OneLine(run), relationText(out.Plan))
	if out.Status != "" {
		p.Field("Status", "%s", term.OneLine(out.Status))
	}
	switch inPlace := "%d, of which %d are in place already"; {
	case out.Joined != nil:
		j := out.Joined
		p.Field("Joined", "%s", strings.Join(joinedParts(j.Came, j.Joined, "operation", "the artifact"), ", "))
		printConflicts(p, j.Conflicts)
	case out.Plan.Relation == restore.Joins:
		p.Field("Files", "those of the joined record")
	case !out.Done:
		p.Field("Files", inPlace, out.Files, out.Plan.Same)
		for _, a := range out.Plan.Actions {
			p.Printf("  %s %s\n", term.Pad(a.Action, 8), term.OneLine(a.Path))
		}
		for _, k := range out.Keep {
			p.Printf("  %s %s (%s)\n", term.Pad("keep", 8), term.OneLine(k.Path), k.Kind)
		}
	default:
		p.Field("Files", inPlace, out.Files, out.Plan.Same)
		p.Field("Changed", "%s", changes(out.Plan.Actions))
	}
	if n := len(out.Work); n > 0 {
		switch {
		case !out.Done:
			p.Field("Work", "%s in progress, written on a yes (--with-work) or left (--without-work)", term.Counted(n,
				"file"))
			for _, w := range out.Work {
				p.Printf("  %s %s\n", term.Pad(w.Change, 8), term.OneLine(w.Path))
			}
		case out.WithWork:
			p.Field("Work", "%s in progress, written", term.Counted(n, "file"))
		default:
			p.Field("Work", "%s in progress, left in the artifact", term.Counted(n, "file"))
		}
	}
	if out.SameTree {
		p.Field("HEAD", "another commit than the artifact's, with the same files")
	}
	if turn, n := workOf(out.Keep); n > 0 {
		p.Field("Kept as is", "%s, which count as work of turn %s: commit or move away what is not",
			term.Counted(n, "change"), turn)
	}
	for _, e := range out.Obstacles {
		p.Printf("%s %s\n", p.Red("In the way:"), term.OneLine(e.Message))
		if e.Hint != "" {
			p.Printf("  next: %s\n", term.OneLine(e.Hint))
		}
	}
	if o := out.Head; o != nil {
		p.Field("HEAD", "%s, %s after the artifact's %s", o.Head.Short(), term.Counted(o.Commits, "commit"),
			o.Exported.Short())
		for _, d := range o.Deciding {
			p.Printf("  %s: %s\n", term.OneLine(d.Path), term.OneLine(d.Why))
		}
		p.Printf("  %s changed since without a bearing on the run\n", term.Counted(o.Passed, "other file"))
	}
	if b := out.Bundle; b != nil {
		p.Field("History", "%s", term.Counted(b.Ops, "operation"))
		for _, ref := range b.Refs {
			p.Printf("  %s %s\n", term.Pad(ref.Relation, 8), ref.Name)
		}
	}
	if out.Plan.Op != "" {
		p.Field("Operation", "%s", p.Yellow(out.Plan.Op.Short()))
	}
	if out.Plan.Kept != "" {
		p.Field("Kept", "what was there before is in %s", term.OneLine(out.Plan.Kept))
	}
	if !out.Done {
		p.Printf("\nNothing was changed.\n")
	}
	shared.PrintNext(p, then)
}

// workOf counts the changes that count as work of an active turn.
func workOf(keep []restore.Kept) (turn string, n int) {
	for _, k := range keep {
		if k.Turn != "" {
			turn = k.Turn
			n++
		}
	}
	return turn, n
}

func relationText(plan *restore.Plan) string {
	switch plan.Relation {
	case restore.Adopts:
		return "not recorded here before"
	case restore.Same:
		return "as it is recorded here"
	case restore.Continues:
		if plan.Before == "" {
			return "continues from its history in the bundle"
		}
		return "continues from operation " + plan.Before.Short()
	case restore.Joins:
		return "new operations here and in the artifact"
	case restore.Replaces:
		return "takes the place of operation " + plan.Before.Short() + ", which stays in the run's history"
	}
	return "the project has no run"
}

// changes counts the actions by kind.
func changes(actions []restore.Action) string {
	n := map[string]int{}
	for _, a := range actions {
		n[a.Action]++
	}
	var parts []string
	for _, k := range [...][2]string{{"create", "created"}, {"replace", "replaced"}, {"remove", "removed"}} {
		if n[k[0]] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[k[0]], k[1]))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
