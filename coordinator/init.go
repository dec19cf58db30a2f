// Starting an initiative in a workspace: runs of the repositories are linked or started
// (docs/coordinator.md#files-and-refs).

package coordinator

import (
	"context"
	"fmt"
	"path"

	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// CodeStartFailed means that an initiative could not start because of its repositories; the Problems say which and
// why.
const CodeStartFailed = "repo_init_failed"

// Started is a started initiative.
type Started struct {
	State    *initiative.State
	Optional wire.Problems // repositories that it continues without, and why
}

// Init starts an initiative. Every repository is checked before any is touched. A live initiative is never replaced
// (run_exists); one that has ended is kept below archive/. Errors: config_missing and those of the configuration,
// repo_unresolved, repo_init_failed with a Problem for each required repository, run_exists, locked.
func (c *Coordinator) Init(ctx context.Context) (*Started, error) {
	tx, err := c.lock(ctx, "init", true)
	if err != nil {
		return nil, err
	}
	defer c.end(ctx, tx)
	if e := unresolved(tx.Docs); e != nil {
		return nil, e
	}
	d := tx.Docs
	env := c.env(ctx)
	if e := personOnly(env.Actor, "start an initiative", Program+" multi init"); e != nil {
		return nil, e
	}
	if _, e := initiative.Start(d.Config, d.State, d.NextDecision, nil, env); e != nil {
		e.Hint = Program + " multi status"
		return nil, e
	}
	if err := c.noneRecorded(ctx, d); err != nil {
		return nil, err
	}
	base, err := c.beginning(ctx, d.Config)
	if err != nil {
		return nil, err
	}
	s := c.see(ctx, d, false)
	out := &Started{Optional: d.OptionalProblems}
	arrived, why := c.arrivals(ctx, s)
	problems := phaseProblems(d.Config, s.Children)
	steps, bad, optional := initiative.PlanStart(d.Config, s.Children)
	problems = append(problems, better(bad, why)...)
	out.Optional = append(out.Optional, better(optional, why)...)
	if len(problems) > 0 {
		return nil, startFailed(problems, s.Refused)
	}
	var runs []initiative.StartedRun
	var began []string
	for _, step := range steps {
		run := initiative.StartedRun{Repo: step.Repo, Initialized: !step.Link}
		if st := s.Children.State(step.Repo); step.Link {
			run.RunID, run.Phase = st.Run(), st.Phase
			if err := c.enter(ctx, s, step.Repo, arrived[step.Repo]); err != nil {
				return nil, err
			}
		} else if run.RunID, run.Phase, err = c.startRun(ctx, s, step.Repo); err != nil {
			if !d.Config.Repo(step.Repo).Required {
				out.Optional = append(out.Optional, wire.Problem{
					Code:    CodeStartFailed,
					Field:   "repos." + step.Repo,
					Value:   step.Repo,
					Message: err.Error(),
				})
				continue
			}
			e := &wire.Error{
				Code:    CodeStartFailed,
				Field:   "repos." + step.Repo,
				Message: err.Error(),
				Hint:    "correct that, then: " + Program + " multi init",
			}
			if len(began) > 0 {
				e.Message += fmt.Sprintf(" Runs have begun in %s; the next start continues them.",
					initiative.OrNone(began))
			}
			return nil, e
		} else {
			began = append(began, step.Repo)
		}
		runs = append(runs, run)
	}
	ch, e := initiative.Start(d.Config, d.State, d.NextDecision, runs, env)
	if e != nil {
		return nil, e
	}
	ch.State.AuthorityBase = base
	if d.State != nil {
		dir := path.Join(initiative.Dir, "archive", safeName(d.State.SuperRunID))
		ch.Files = append(ch.Files, initiative.File{Path: dir + "/state.json", Data: ojson.Pretty(d.State.Object())},
			initiative.File{Path: dir + "/barriers.json", Data: ojson.Pretty(d.Barriers.Object())})
	}
	if err := tx.commit(ch); err != nil {
		return nil, err
	}
	for _, name := range []string{initiative.HistoryPath, initiative.DecisionsPath, initiative.BarrierLedgerPath} {
		if err := writeNew(c.store.root, initiative.File{Path: name, Keep: true}); err != nil {
			return nil, unwritten(err)
		}
	}
	c.record(ctx, tx.Docs, "init", "Started the initiative "+d.Config.ProjectID)
	c.keepBeginning(ctx, tx.Docs.State)
	out.State = tx.Docs.State
	return out, nil
}

// noneRecorded refuses a start in a workspace whose repository has the record of an unfinished initiative, or a
// remote that may have one: a second initiative would assign turns in the same repositories.
func (c *Coordinator) noneRecorded(ctx context.Context, d *Documents) error {
	home := c.repository(ctx)
	if home == nil {
		return nil
	}
	tips, err := travel.InitiativeTips(ctx, home.Repository())
	if err != nil {
		return err
	}
	for _, t := range tips {
		if d.State != nil && d.State.SuperRunID == t.Name {
			continue
		}
		files, err := record.InitiativeFiles(ctx, home.Repository(), t.Op)
		if err != nil {
			continue // an unreadable initiative cannot be continued either
		}
		st, err := stateOf(files)
		if err != nil || st.Over() || st.ProjectID != d.Config.ProjectID {
			continue
		}
		where := "The repository of this workspace has the record of"
		if t.Remote != "" {
			where = "The remote " + t.Remote + " has"
		}
		return &wire.Error{
			Code:    wire.CodeRunExists,
			Field:   initiative.StatePath,
			Message: fmt.Sprintf("%s initiative %s, which is %s.", where, ojson.Shown(t.Name), st.Status),
			Hint:    Program + " multi restore continues it here",
		}
	}
	if len(tips) > 0 || d.State != nil {
		return nil
	}
	known, remote, err := transport.Elsewhere(ctx, home.Repository(), nil)
	if err != nil || known != "" || remote == "" {
		return err
	}
	return &wire.Error{
		Code:    initiative.CodeRunElsewhere,
		Field:   initiative.StatePath,
		Message: fmt.Sprintf("It is not known yet whether %s has an initiative of this workspace.", ojson.Shown(remote)),
		Hint:    Program + " sync " + wire.ShellWord(remote) + "; if it finds none: " + Program + " multi init",
	}
}

// notStarted makes the refusal of a workspace without an initiative name the command that brings one, if the
// repository of the workspace knows of one or its remote was not asked.
func (c *Coordinator) notStarted(ctx context.Context, err error) error {
	e := refusalOf(err)
	if e == nil || e.Code != initiative.CodeNoCoordinator {
		return err
	}
	d, unread := read(c.store.root, c.store.dir, true)
	if unread != nil {
		return err
	}
	if why := refusalOf(c.noneRecorded(ctx, d)); why != nil {
		e.Message += " " + why.Message
		e.Hint = why.Hint
	}
	return e
}

// safeName turns a name from a file into one that is not a path.
func safeName(s string) string {
	out := []rune(s)
	for i, r := range out {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			out[i] = '_'
		}
	}
	if len(out) == 0 || len(out) > 100 {
		return "unnamed"
	}
	return string(out)
}

// startRun starts a run in a repository with the repository's own operation.
func (c *Coordinator) startRun(ctx context.Context, s *Seen, repo string) (run, phase string, err error) {
	dir, ok := s.Roots.Path(repo)
	if !ok {
		return "", "", &wire.Error{
			Code:    initiative.CodeRepoUnresolved,
			Message: "Repository " + repo + " has no place that can be used.",
		}
	}
	r, err := c.childRunner(ctx, dir, nil)
	if err != nil {
		return "", "", inRepo(repo, dir, err)
	}
	defer func() { _ = r.Close() }()
	done, err := r.InitRun(ctx, runner.InitRunOptions{CreatedBy: "coordinator"})
	if err != nil {
		return "", "", inRepo(repo, dir, err)
	}
	return done.Run, done.State.Phase, nil
}

// phaseProblems compares the phases of the repositories with the initiative's.
func phaseProblems(cfg *initiative.Config, children initiative.Children) wire.Problems {
	var out wire.Problems
	for _, repo := range cfg.Repos.Keys() {
		if child := children[repo]; child != nil {
			if p := initiative.CheckPhases(cfg, child); p != nil {
				out = append(out, *p)
			}
		}
	}
	return out
}

// startFailed returns the error of a failed start; it adds why a repository could not be read.
func startFailed(problems, refused wire.Problems) *wire.Error {
	for i, p := range problems {
		if p.Code == initiative.RemoteOnly {
			continue
		}
		for _, r := range refused {
			if r.Value == p.Value && r.Message != p.Message {
				problems[i].Message += ": " + r.Message
				break
			}
		}
	}
	e := &wire.Error{
		Code:     CodeStartFailed,
		Field:    problems[0].Field,
		Problems: problems,
		Message:  "The initiative cannot start: " + problems[0].Message,
		Hint:     "correct that, then: " + Program + " multi init",
	}
	if problems[0].Code == initiative.RemoteOnly {
		e.Hint = Program + " sync fetches a run that its server has; else " + initiative.OnServerHint("assign")
	}
	if n := len(problems) - 1; n > 0 {
		e.Message += fmt.Sprintf(" (and %d more)", n)
	}
	return e
}
