// monarchic import: a plan becomes roles, phases, gates and charters of a governed run.

package neighbours

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	codec "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type monarchicImportOptions struct {
	File                       string // a path; - is standard input
	Fit                        bridge.FitOptions
	Output                     string // write agentxchain.json there and nothing else; "" for none
	DryRun, Yes, Force, NewRun bool
}

func newMonarchicImportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "import", ArgsUsage: "PLAN|-", Usage: "carry out a PipelineSpec, a Plan or a Task as a governed run",
		Description: "First shows what becomes of the plan: its levels as phases, roles, gates and charters, and " +
			"what is kept without effect. A directory without a project becomes one; a project keeps its " +
			"agentxchain.json, and the tasks are queued as charters in its phases. The run is started but no turn " +
			"is assigned: git agentxchain run gives each charter to its role once everything it depends on is " +
			"done. What cannot be carried out is refused, with its place in the document and what to change.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "dry-run", Usage: "show the plan and write nothing"},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do it without asking"},
			&ucli.StringFlag{
				Name:    "output",
				Aliases: []string{"o"},
				Usage:   "write the agentxchain.json of the plan to `FILE` and nothing else; - for standard output",
			},
			&ucli.BoolFlag{Name: "force", Usage: "with --output: replace FILE"},
			&ucli.StringFlag{Name: "role", Usage: "the `ROLE` of tasks that name none", DefaultText: "dev"},
			&ucli.StringFlag{
				Name:        "agent",
				Usage:       "in a new project: the `AGENT` that does the work of all roles, a name or a command as for init",
				DefaultText: "people do it",
			},
			&ucli.BoolFlag{Name: "new-run", Usage: "start another run when the last one is finished"},
		},
		Action: func(c *ucli.Context) error {
			for _, name := range []string{"output", "role", "agent"} {
				if c.IsSet(name) && term.OneLine(c.String(name)) == "" {
					return term.UsageErrorf("--%s is empty", name)
				}
			}
			o := &monarchicImportOptions{
				File:   c.Args().First(),
				Fit:    bridge.FitOptions{Role: c.String("role"), Agent: c.String("agent")},
				Output: c.String("output"),
				DryRun: c.Bool("dry-run"),
				Yes:    c.Bool("yes"),
				Force:  c.Bool("force"),
				NewRun: c.Bool("new-run"),
			}
			if o.Force && o.Output == "" {
				return term.UsageErrorf("--force says something about --output FILE")
			}
			return runMonarchicImport(c.Context, f, o)
		},
	}
}

func runMonarchicImport(ctx context.Context, f *term.Factory, o *monarchicImportOptions) error {
	data, err := shared.ReadStart(f, o.File, codec.MaxBytes)
	if err != nil {
		return term.Errorf("invalid_input", "the plan cannot be read: %w", err)
	}
	plan, refusal := bridge.ReadPlan(data, planFiles(f, o.File))
	if refusal != nil {
		return shared.Listed(f, refusal)
	}
	if o.Output != "" {
		return importConfig(f, o, plan)
	}
	r, im, err := fitPlan(ctx, f, o, plan)
	if err != nil {
		return shared.Listed(f, err)
	}
	payload := importPayload(im)
	payload.Set("dry_run", o.DryRun)
	printImport(f.Out.Printer(), im)
	if o.DryRun {
		f.Out.Emit(payload, func(p *term.Printer) { p.Printf("\nNothing was changed (--dry-run).\n") })
		return nil
	}
	if !o.Yes {
		agreed, err := f.Prompt.Confirm(ctx, "Queue these charters?", "--yes", false)
		if err != nil {
			return err
		}
		if !agreed {
			f.Out.Notice("Nothing was changed.")
			return nil
		}
	}
	made, r, err := importProject(ctx, f, im, r)
	if err != nil {
		return err
	}
	q, err := r.QueueCharters(ctx, runner.CharterOptions{Plan: im.Record(), Charters: im.Charters, NewRun: o.NewRun})
	shared.TellNotices(f, q.Notices)
	if err != nil {
		return err
	}
	for key, v := range shared.DonePayload(&q.Done).All() {
		payload.Set(key, v)
	}
	then := r.Next(ctx)
	if made != nil {
		payload.Set("created", made.Created)
		payload.Set("kept", wire.NonNil(made.Kept))
		payload.Set("updated", wire.NonNil(made.Updated))
		after := "git agentxchain assign"
		if o.Fit.Agent != "" {
			after = "git agentxchain hooks trust, and git agentxchain run"
		}
		then = &protocol.NextAction{
			Command: made.Commit(),
			Reason:  "A turn that writes files starts from a clean work tree. Then: " + after,
		}
	}
	payload.Set("started_run", q.Started)
	payload.Set("next_action", shared.NextObject(then))
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Println()
		if made != nil {
			p.Field("Written", "%s", term.Counted(len(made.Created), "file"))
		}
		shared.PrintWhere(p, &q.Done)
		p.Field("Queued", "%s of plan %s", term.Counted(len(q.Result.Charters), "charter"),
			p.Bold(term.OneLine(q.Result.PlanID)))
		shared.PrintNext(p, then)
	})
	return nil
}

// planFiles reads files that a plan names: those below its directory, and none for a plan from
// standard input.
func planFiles(f *term.Factory, file string) bridge.Files {
	if file == "-" {
		return nil
	}
	return func(name string) ([]byte, error) {
		path, err := f.Path(file)
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }()
		src, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		defer func() { _ = src.Close() }()
		if fi, err := src.Stat(); err != nil || !fi.Mode().IsRegular() {
			return nil, errors.Join(err, errors.New(name+" is not a regular file"))
		}
		data, err := io.ReadAll(io.LimitReader(src, codec.MaxBytes+1))
		if err == nil && len(data) > codec.MaxBytes {
			err = errors.New(name + " is too large")
		}
		return data, err
	}
}

// fitPlan fits the plan to the project here, or to a new one when there is none; then the runner is
// nil.
func fitPlan(ctx context.Context, f *term.Factory, o *monarchicImportOptions, plan *bridge.Plan) (*runner.Runner,
	*bridge.Import, error) {
	r, err := shared.Open(ctx, f)
	code := ""
	if coded, ok := errors.AsType[term.CodedError](err); ok {
		code = coded.ErrorCode()
	}
	if code == "not_a_project" || code == "not_a_git_repository" && o.DryRun {
		im, refusal := bridge.ForNewProject(plan, o.Fit)
		return nil, im, asError(refusal)
	}
	if err != nil {
		return nil, nil, err
	}
	v, err := r.View(ctx)
	switch {
	case err != nil:
		return r, nil, err
	case len(v.ConfigProblems) > 0:
		return r, nil, config.Refusal(v.ConfigProblems)
	case o.Fit.Agent != "":
		return r, nil, term.UsageErrorf("--agent is for a new project; this one has runtimes in agentxchain.json")
	}
	s := v.State
	if s.Status == wire.StatusIdle || s.Status.Ended() && o.NewRun {
		s = run.FreshState(v.Config, "")
		s.Status = wire.StatusActive
	}
	if refusal := charters.Takes(s); refusal != nil {
		if s.Status.Ended() {
			refusal.Message = "Run " + s.Run() + " is over; another one starts only on purpose."
			refusal.Hint = "git agentxchain monarchic import --new-run " + wire.ShellWord(o.File)
		}
		return r, nil, refusal
	}
	im, refusal := bridge.ForProject(plan, v.Config, s, o.Fit)
	return r, im, asError(refusal)
}

// importProject makes the directory a project when it is not one.
func importProject(ctx context.Context, f *term.Factory, im *bridge.Import, r *runner.Runner) (*runner.Project,
	*runner.Runner, error) {
	if r != nil {
		return nil, r, nil
	}
	dir, err := f.Dir()
	if err != nil {
		return nil, nil, err
	}
	made, err := runner.InitProject(ctx, dir, runner.ProjectOptions{Name: im.Plan.ID, Config: im.Config})
	if err != nil {
		return nil, nil, err
	}
	r, err = shared.Open(ctx, f)
	return made, r, err
}

// importConfig writes the agentxchain.json that a project of the plan's own would have.
func importConfig(f *term.Factory, o *monarchicImportOptions, plan *bridge.Plan) error {
	im, refusal := bridge.ForNewProject(plan, o.Fit)
	if refusal != nil {
		return shared.Listed(f, refusal)
	}
	if o.Output == "-" {
		_, err := f.Out.Raw().Write(im.Config)
		return err
	}
	path, err := f.Path(o.Output)
	if err != nil {
		return err
	}
	payload := importPayload(im)
	payload.Set("dry_run", o.DryRun)
	payload.Set("output", path)
	printImport(f.Out.Printer(), im)
	if o.DryRun {
		f.Out.Emit(payload, func(p *term.Printer) { p.Printf("\nNothing was changed (--dry-run).\n") })
		return nil
	}
	if err := shared.OutputPlace(path, o.Force); err != nil {
		return err
	}
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		return term.Errorf("invalid_argument", "%s is not a regular file",
			term.OneLine(path)).WithHint("--output - writes to standard output")
	}
	if err := durable.WriteFile(filepath.Dir(path), filepath.Base(path), im.Config, 0o644); err != nil {
		return term.Errorf("io_failed", "cannot write the configuration: %w", err)
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("\nWritten to %s; nothing else was changed.\n", term.OneLine(path))
	})
	return nil
}

func asError(e *wire.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// importPayload returns the result of the import, for --json.
func importPayload(im *bridge.Import) *ojson.Object {
	phases, roles, charters, notes := []*ojson.Object{}, []*ojson.Object{}, []*ojson.Object{}, []*ojson.Object{}
	for _, ph := range im.Phases {
		phases = append(phases, ojson.NewObject("phase", ph.Name, "new", ph.Level > 0, "tasks", ph.Tasks,
			"roles", ph.Roles, "max_concurrent_turns", ph.Concurrent,
			"exit_gate", ojson.OrNull(ph.Gate), "requires_human_approval", ph.Human))
	}
	for _, r := range im.Roles {
		roles = append(roles, ojson.NewObject("role", r.ID, "new", r.New, "title", r.Title,
			"write_authority", r.Authority, "runtime", r.Runtime, "tasks", r.Tasks))
	}
	for _, c := range im.Charters {
		charters = append(charters,
			ojson.NewObject("charter_id", c.CharterID, "phase", c.Phase, "role", c.Role, "charter", c.Charter,
				"depends_on", wire.NonNil(c.DependsOn), "gates_required", wire.NonNil(c.GatesRequired),
				"acceptance_contract", wire.NonNil(c.AcceptanceContract)))
	}
	for _, n := range im.Plan.Notes {
		notes = append(notes, ojson.NewObject("note", n.Text, "at", n.Pointers))
	}
	o := ojson.NewObject("plan_id", im.Plan.ID, "kind", im.Plan.Kind, "objective", ojson.OrNull(im.Plan.Objective),
		"new_project", im.Config != nil,
		"phases", phases, "roles", roles, "charters", charters, "notes", notes)
	o.Set("config", nil)
	if im.Config != nil {
		if doc, err := ojson.DecodeObject(im.Config); err == nil {
			o.Set("config", doc)
		}
	}
	return o
}

func printImport(p *term.Printer, im *bridge.Import) {
	p.Field("Plan", "%s (%s), %s", p.Bold(term.OneLine(im.Plan.ID)), im.Plan.Kind,
		term.Counted(len(im.Charters), "task"))
	if im.Plan.Objective != "" {
		p.Field("Objective", "%s", term.OneLine(im.Plan.Objective))
	}
	where := "a new one: agentxchain.json is written"
	if im.Config == nil {
		where = "the one here; its agentxchain.json stays as it is"
	}
	p.Field("Project", "%s", where)
	for _, r := range im.Roles {
		p.Field("Role", "%s, %s, runtime %s: %s", p.Bold(term.OneLine(r.ID)), term.OneLine(r.Authority),
			term.OneLine(r.Runtime), term.Counted(r.Tasks, "task"))
	}
	for _, ph := range im.Phases {
		gate := "opens by itself"
		switch {
		case ph.Gate != "" && ph.Human:
			gate = "gate " + ph.Gate + ", passed by a person"
		case ph.Gate != "":
			gate = "gate " + ph.Gate
		}
		beside := ""
		if ph.Concurrent > 1 {
			beside = ", up to " + strconv.Itoa(ph.Concurrent) + " turns side by side"
		}
		p.Field("Phase", "%s, %s%s", p.Bold(term.OneLine(ph.Name)), term.OneLine(gate), beside)
	}
	p.Println()
	t := term.NewTable("TASK", "PHASE", "ROLE", "AFTER", "GOAL")
	for _, c := range im.Charters {
		after := term.JoinComma(c.DependsOn)
		if after == "" {
			after = "-"
		}
		t.Row(c.CharterID, c.Phase, c.Role, after, c.Charter)
	}
	p.Table(t)
	if len(im.Plan.Notes) > 0 {
		p.Println()
	}
	for _, n := range im.Plan.Notes {
		where := n.Pointers[0]
		if more := len(n.Pointers) - 1; more > 0 {
			where += " and " + term.Counted(more, "other place")
		}
		p.Field("Note", "%s (%s)", term.OneLine(n.Text), term.OneLine(where))
	}
}
