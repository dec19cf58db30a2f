// Starting an initiative: which repositories' runs it links, and its first record
// (docs/coordinator.md#files-and-refs).

package initiative

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// StartStep is what must be done in a repository before the initiative starts.
type StartStep struct {
	Repo string
	Link bool // link its live run; else a run must be started
}

// PlanStart checks the repositories before it touches any of them, so that a start that cannot succeed leaves none
// of them with a new run. The problems are those of required repositories; without problems, the steps may be
// taken. optional has the problems of repositories that the initiative starts without.
func PlanStart(cfg *Config, children Children) (steps []StartStep, problems, optional wire.Problems) {
	linked := make(map[string]string) // run -> repository
	for id, repo := range cfg.Repos.All() {
		step, p := planRepo(id, children[id])
		if p == nil && step.Link {
			run := children[id].Run()
			if other, taken := linked[run]; taken {
				p = sharedRun(id, other, run)
			} else {
				linked[run] = id
			}
		}
		switch {
		case p == nil:
			steps = append(steps, *step)
		case repo.Required:
			problems = append(problems, *p)
		default:
			optional = append(optional, *p)
		}
	}
	return steps, problems, optional
}

// sharedRun returns the problem of a repository that shares a run with another: clones of one project, whose every
// turn would count for both.
func sharedRun(repo, other, run string) *wire.Problem {
	return &wire.Problem{
		Code:  "repo_run_shared",
		Field: "repos." + repo,
		Value: repo,
		Message: fmt.Sprintf("repositories %s and %s are clones of one project: both are in run %s, and a turn would count for both",
			other, repo, run),
	}
}

func planRepo(id string, c *Child) (*StartStep, *wire.Problem) {
	fail := func(code, format string, command ...string) (*StartStep, *wire.Problem) {
		p := &wire.Problem{Code: code, Field: "repos." + id, Value: id, Message: fmt.Sprintf(format, id)}
		for _, run := range command {
			if c.Remote {
				p.Message += ", " + OnServerHint(run)
			} else {
				p.Message += ": " + c.typed(run)
			}
		}
		return nil, p
	}
	switch {
	case c != nil && c.Remote && (c.State == nil || c.Run() == ""):
		return nil, &wire.Problem{
			Code:    RemoteOnly,
			Field:   "repos." + id,
			Value:   id,
			Message: onServer(id, "its run is started"),
		}
	case c == nil || c.Config == nil:
		return fail("repo_not_governed", "repository %s is not a governed project that can be loaded")
	case c.State == nil && c.Fresh:
		return &StartStep{Repo: id}, nil
	case c.State == nil:
		return fail("repo_no_state", "repository %s has no governed state that can be read")
	case c.State.Status == wire.StatusActive && c.Run() != "":
		return &StartStep{Repo: id, Link: true}, nil
	case c.State.Status == wire.StatusCompleted:
		return fail("repo_completed", "the run of repository %s is complete; start a new one there first",
			"assign --new-run")
	case c.State.Status == wire.StatusFailed:
		return fail("repo_init_failed", "the run of repository %s was abandoned; start a new one there first",
			"assign --new-run")
	case c.Run() == "":
		return &StartStep{Repo: id}, nil
	case c.State.Status == wire.StatusBlocked:
		return fail("repo_blocked", "the run of repository %s is blocked; resolve that first", "status")
	}
	return fail("repo_init_failed", "the run of repository %s is "+string(c.State.Status)+"; continue it first", "status")
}

// StartedRun is a run that the initiative uses.
type StartedRun struct {
	Repo, RunID, Phase string
	Initialized        bool // it was started for the initiative
}

// Start begins an initiative with the present runs of its repositories: an active state in the first phase, and a
// barrier for every workstream. before is the state of an earlier initiative in the workspace, nil for none, and
// decision the number of the next decision there. A live initiative is never replaced: run_exists
// (docs/siblings.md).
func Start(cfg *Config, before *State, decision int, runs []StartedRun, env protocol.Env) (*Change, *wire.Error) {
	if before != nil && !before.Over() {
		return nil, &wire.Error{
			Code:  wire.CodeRunExists,
			Field: StatePath,
			Message: fmt.Sprintf("Initiative %s is %s in this workspace; a new one can start when it has ended.",
				before.SuperRunID, before.Status),
		}
	}
	now := env.Time()
	s := &State{
		SchemaVersion: Schema,
		SuperRunID:    superRunID(&env),
		ProjectID:     cfg.ProjectID,
		Status:        StatusActive,
		CreatedAt:     now,
		UpdatedAt:     now,
	}
	if phases := cfg.Phases(); len(phases) > 0 {
		s.Phase = phases[0]
	}
	linked := ojson.NewObject()
	for _, r := range runs {
		run := &RepoRun{RunID: &r.RunID, Status: RepoLinked, Phase: r.Phase, Initialized: r.Initialized}
		if r.Initialized {
			run.Status = RepoInitialized
		}
		s.RepoRuns.Set(r.Repo, run)
		linked.Set(r.Repo, ojson.NewObject("run_id", r.RunID, "initialized_by_coordinator", r.Initialized))
	}
	c := &Change{State: s, Barriers: NewBarriers(cfg, now)}
	c.History = []*ojson.Object{ojson.NewObject("type", "run_initialized", "super_run_id", s.SuperRunID,
		"project_id", cfg.ProjectID, "repo_runs", linked, "timestamp", now)}
	repositories := "repositories"
	if len(runs) == 1 {
		repositories = "repository"
	}
	c.Decide(&Workspace{
		State:        s,
		NextDecision: decision,
	}, &env, s.Phase, decidedInit,
		fmt.Sprintf("Started the initiative %s over %d %s", cfg.ProjectID, len(runs), repositories))
	return c, nil
}

// superRunID returns srun_<epoch ms>_<8 hex>.
func superRunID(env *protocol.Env) string {
	id := env.ID("srun")
	return fmt.Sprintf("srun_%d_%s", env.Now.UnixMilli(), id[len(id)-8:])
}
