// Clones in which no command has run: git ignores state.json, so a fresh clone has the record of its run only in
// refs, or only on its remote.

package coordinator

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// arrivals finds the recorded runs of repositories without a state.json, by repository. It sets their children to
// the state of those runs and writes nothing. why names the repositories whose runs must be fetched first: starting
// another would leave the repository with two.
func (c *Coordinator) arrivals(ctx context.Context, s *Seen) (runs map[string]string, why map[string]wire.Problem) {
	runs, why = make(map[string]string), make(map[string]wire.Problem)
	for id := range s.Config.Repos.All() {
		child := s.Children[id]
		dir, ok := s.Roots.Path(id)
		if !ok || child == nil || child.Config == nil || !child.Fresh {
			continue
		}
		name, state, p := c.arrived(ctx, id, dir)
		switch {
		case p != nil:
			why[id] = *p
			child.Fresh = false // it does not start a run
		case name != "":
			runs[id] = name
			s.Children[id] = initiative.NewChild(id, dir, child.Config, state, nil, nil)
		}
	}
	return runs, why
}

// better replaces problems in a list by the more specific ones in why.
func better(list wire.Problems, why map[string]wire.Problem) wire.Problems {
	for i, p := range list {
		if w, ok := why[p.Value]; ok {
			list[i] = w
		}
	}
	return list
}

// arrived returns the recorded run with which a clone would continue: the newest that has not ended, else the
// newest. A problem says that the run is only on a remote, or cannot be believed.
func (c *Coordinator) arrived(ctx context.Context, id, dir string) (string, *run.State, *wire.Problem) {
	problem := func(code, format string, args ...any) *wire.Problem {
		return &wire.Problem{Code: code, Field: "repos." + id, Value: id,
			Message: fmt.Sprintf("repository %s: ", id) + fmt.Sprintf(format, args...)}
	}
	store, err := gitstore.OpenForeign(ctx, dir, gitstore.Options{Now: c.opt.Now})
	if err != nil {
		return "", nil, problem("repo_no_state", "%s", firstLine(err.Error()))
	}
	defer func() { _ = store.Close() }()
	tips, err := chain.RunTips(ctx, store.Repository(), 0)
	if err != nil {
		return "", nil, problem("repo_no_state", "%s", firstLine(err.Error()))
	}
	best, state := "", (*run.State)(nil)
	others := store.Beside(ctx)
	for _, t := range tips {
		if others.Of(ctx, t.Ref.OID) != nil {
			continue
		}
		rec, err := store.OpenRun(ctx, t.Run, t.Ref.OID)
		if err != nil {
			return "", nil, problem("repo_no_state", "%s", firstLine(err.Error()))
		}
		st, err := rec.State()
		if err != nil {
			return "", nil, problem("repo_no_state", "%s", firstLine(err.Error()))
		}
		if ended := st.Status.Ended(); best == "" || !ended {
			best, state = t.Run, st
			if !ended {
				break
			}
		}
	}
	if best != "" {
		if _, err := store.OpenRun(ctx, best, ""); err != nil { // can the ref's content be believed?
			return "", nil, problem("repo_no_state", "%s", firstLine(err.Error()))
		}
		return best, state, nil
	}
	there, remote, err := store.Elsewhere(ctx)
	if err != nil {
		return "", nil, problem("repo_no_state", "%s", firstLine(err.Error()))
	}
	command := Program + " -C " + wire.ShellWord(dir) + " sync " + wire.ShellWord(remote)
	switch {
	case there != "":
		return "", nil, problem(initiative.CodeRunElsewhere, "this clone holds no run, and %s has %s; bring it: %s", remote, there,
			command)
	case remote != "":
		return "", nil, problem(initiative.CodeRunElsewhere, "whether %s has its run was not asked yet; ask: %s", remote, command)
	}
	return "", nil, nil
}

// enter creates the working files of a recorded run in a clone that has none; run is "" if the clone has them.
func (c *Coordinator) enter(ctx context.Context, s *Seen, repo, run string) error {
	if run == "" {
		return nil
	}
	dir, _ := s.Roots.Path(repo)
	store, err := gitstore.OpenForeign(ctx, dir, gitstore.Options{Now: c.opt.Now})
	if err != nil {
		return inRepo(repo, dir, err)
	}
	defer func() { _ = store.Close() }()
	if _, err := store.Repair(ctx, gitstore.FromRef, gitstore.RepairOptions{Run: run, Wait: c.opt.LockWait}); err != nil {
		return inRepo(repo, dir, err)
	}
	c.note(repo + ": the files of run " + run + " were brought from its record")
	return nil
}
