// Assigning a turn in a repository: its own assignment, hooks and seal, and the context in the files for the actor
// (docs/coordinator.md#a-turn).

package coordinator

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Given is an assigned turn.
type Given struct {
	initiative.Assignment
	RunID      string // the repository's run
	TurnID     string
	BundlePath string // absolute
	ContextRef string
	Started    bool // a run was started for it
	Warnings   []string
}

// object returns the dispatch for --json: {repo_id, turn_id, workstream_id, role, bundle_path} (docs/commands.md),
// followed by our own members.
func (g *Given) object() *ojson.Object {
	return ojson.NewObject("action", "turn_dispatched", "repo_id", g.Repo, "turn_id", g.TurnID,
		"workstream_id", g.Workstream, "role", g.Role, "bundle_path", g.BundlePath, "repo_run_id", g.RunID,
		"context_ref", g.ContextRef, "reason", g.Reason, "run_started", g.Started)
}

// give assigns a turn. The context is recorded once the repository agrees, and before its run moves: a refusal
// there leaves nothing here, and a kill in between leaves a turn that the next command finds by its context, or a
// run without a turn that the context names.
func (c *Coordinator) give(ctx context.Context, tx *Tx, s *Seen, a *initiative.Assignment) (*Given, error) {
	dir, ok := s.Roots.Path(a.Repo)
	if !ok {
		return nil, &wire.Error{
			Code:    initiative.CodeRepoUnresolved,
			Field:   "repos." + a.Repo,
			Message: "Repository " + a.Repo + " has no place that can be used.",
		}
	}
	cx, ch := initiative.NewContext(&s.Workspace, a, c.env(ctx))
	cx.HandOver(handoffs(c.store.root, s.State.SuperRunID, a.Workstream))
	ch.Files = []initiative.File{
		{Path: path.Join(initiative.ContextDir, cx.Ref, dispatch.CoordinatorJSON), Data: ojson.Pretty(cx.JSON)},
		{Path: path.Join(initiative.ContextDir, cx.Ref, dispatch.CoordinatorText), Data: []byte(cx.Text)},
	}
	begins, assigns := (*protocol.InitRun)(nil).Name(), (*protocol.AssignTurn)(nil).Name()
	agreed := []string{begins, assigns}
	var unrecorded error
	r, err := c.childRunner(ctx, dir, func(ctx context.Context, repo *git.Repository, m decision.Move) error {
		if slices.Contains(agreed, m.Op) {
			if m.Op == begins {
				ch.BeginsRun(strings.TrimPrefix(m.Ref.Name, git.RunRefPrefix))
			}
			if unrecorded = tx.commit(ch); unrecorded != nil {
				return unrecorded
			}
			agreed, s.Documents = nil, tx.Docs
			faults.Point("coordinator.dispatch.context")
		}
		return decision.Alone(ctx, repo, m)
	})
	if err != nil {
		return nil, inRepo(a.Repo, dir, err)
	}
	defer func() { _ = r.Close() }()
	newRun := s.Children[a.Repo].State.Status == wire.StatusCompleted
	out, err := r.AssignTurn(ctx, runner.AssignOptions{
		Role:      a.Role,
		NewRun:    newRun,
		CrossRepo: &runner.CrossRepo{JSON: ojson.Pretty(cx.JSON), Text: []byte(cx.Text)},
	})
	for _, n := range out.Notices {
		c.note(a.Repo + ": " + hintIn(dir, n))
	}
	if out.Turn == nil {
		if err == nil {
			err = &wire.Error{
				Code:    wire.CodeInvalidState,
				Message: "The turn was assigned, but the repository does not say which it is.",
			}
		}
		return nil, c.unstarted(ctx, tx, s, a, out, cmp.Or(unrecorded, inRepo(a.Repo, dir, stepAgain(err, newRun))))
	}
	if err != nil {
		c.note(a.Repo + ": " + err.Error())
	}
	faults.Point("coordinator.dispatch.assigned")
	c.noteTurn(r.Record().Repository(), s, a.Repo, out.Turn.TurnID)
	g := &Given{
		Assignment: *a,
		RunID:      out.Run,
		TurnID:     out.Turn.TurnID,
		ContextRef: cx.Ref,
		Started:    out.Started,
		Warnings:   out.Warnings,
		BundlePath: filepath.Join(dir, filepath.FromSlash(dispatch.BundleDir(out.Turn.TurnID))),
	}
	done := initiative.Dispatched(&s.Workspace, a, g.RunID, g.TurnID, g.ContextRef, c.env(ctx))
	if err := c.commit(context.WithoutCancel(ctx), tx, "dispatch",
		"Gave "+a.Repo+" a turn of workstream "+a.Workstream, done); err != nil {
		return g, err
	}
	s.Documents = tx.Docs
	return g, nil
}

// noteTurn notes in the repository which initiative assigned the turn.
func (c *Coordinator) noteTurn(in *git.Repository, s *Seen, repo, turn string) {
	if err := sibling.NoteTurn(in, s.State.SuperRunID, turn); err != nil {
		c.note(repo + ": it could not be noted there which initiative gave the turn out: " + err.Error())
	}
}

// unstarted follows a repository that has started a run and then refused the turn: the run still belongs to the
// initiative, and must not be mistaken for a foreign one (docs/siblings.md).
func (c *Coordinator) unstarted(ctx context.Context, tx *Tx, s *Seen, a *initiative.Assignment, out *runner.Assigned,
	why error) error {
	if out.Run == "" || out.Run == s.State.RunOf(a.Repo) || !out.Started {
		return why
	}
	if err := c.commit(context.WithoutCancel(ctx), tx, "relink", "Took over the run that "+a.Repo+" has started",
		followRun(&s.Workspace, a.Repo, out.Run, s.Children[a.Repo], c.env(ctx))); err != nil {
		c.note(err.Error())
	}
	s.Documents = tx.Docs
	return why
}

// childRunner opens the project of a repository for an operation of its own. The repository in which this process
// was started has no influence there.
func (c *Coordinator) childRunner(ctx context.Context, dir string, publish decision.Publish) (*runner.Runner, error) {
	s, err := gitstore.OpenForeign(ctx, dir, gitstore.Options{Now: c.opt.Now, Publish: publish})
	if err != nil {
		return nil, err
	}
	return runner.New(s, runner.Options{
		Now:      c.opt.Now,
		LockWait: c.opt.LockWait,
		Getenv:   c.opt.Getenv,
		Terminal: c.opt.Terminal,
		Trust:    c.opt.Trust,

		Background: c.opt.Background,
	}), nil
}
