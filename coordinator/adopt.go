// Turns that the coordinator finds without a record of its own: assigned by a command that was killed, or run by a
// person in the repository (docs/coordinator.md#a-turn).

package coordinator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// adopt records the dispatch of turns whose bundle holds one of our contexts and that no row mentions: the command
// that assigned them was killed before it could record them. It also follows a run that such a command started
// without assigning a turn in it.
func (c *Coordinator) adopt(ctx context.Context, s *Seen, env protocol.Env) *initiative.Change {
	newest := make(map[string]*ojson.Object) // repository -> its newest context
	for _, row := range s.History.Rows() {
		switch row.String("type") {
		case initiative.RowContext:
			newest[row.String("target_repo_id")] = row
		case initiative.RowDispatched:
			if at := newest[row.String("repo_id")]; at.String("context_ref") == row.String("context_ref") {
				delete(newest, row.String("repo_id"))
			}
		}
	}
	total := &initiative.Change{}
	cur := &s.Workspace
	for _, repo := range s.Config.Repos.Keys() {
		row, child := newest[repo], s.Children[repo]
		dir, ok := s.Roots.Path(repo)
		if row == nil || child == nil || child.State == nil || !ok {
			continue
		}
		for id, turn := range child.State.ActiveTurns.All() {
			if turn == nil || s.History.Knows(repo, id) {
				continue
			}
			c.settle(ctx, repo, dir, id)
			if !carries(dir, id, s.State.SuperRunID, row.String("context_ref")) {
				continue
			}
			c.noteFound(ctx, s, repo, dir, id)
			a := &initiative.Assignment{Workstream: row.String("workstream_id"), Repo: repo, Role: turn.AssignedRole}
			ch := initiative.Dispatched(cur, a, child.Run(), id, row.String("context_ref"), env)
			total.Merge(ch)
			cur = cur.With(ch)
		}
		if run := child.Run(); run != "" && run == row.String("begins_run_id") && run != cur.State.RunOf(repo) {
			ch := followRun(cur, repo, run, child, env)
			total.Merge(ch)
			cur = cur.With(ch)
		}
	}
	return total
}

// settle lets a repository complete its working files when its run has a turn whose bundle is incomplete, that is,
// has no seal: a kill or a disk failure may have interrupted it.
func (c *Coordinator) settle(ctx context.Context, repo, dir, turn string) {
	if _, err := os.Lstat(filepath.Join(dir,
		filepath.FromSlash(dispatch.BundleDir(turn)), dispatch.ManifestFile)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	r, err := c.childRunner(ctx, dir, nil)
	if err == nil {
		defer func() { _ = r.Close() }()
		_, err = r.CompleteFiles(ctx, "coordinator")
	}
	if err != nil {
		c.note(inRepo(repo, dir, err).Error())
	}
}

// noteFound is noteTurn for a found turn.
func (c *Coordinator) noteFound(ctx context.Context, s *Seen, repo, dir, turn string) {
	if r, err := c.childRunner(ctx, dir, nil); err == nil {
		c.noteTurn(r.Record().Repository(), s, repo, turn)
		_ = r.Close()
	}
}

// carries reports whether the bundle of a turn holds the context of that name.
func carries(dir, turn, superRun, ref string) bool {
	bundle := dispatch.BundleDir(turn)
	root, err := os.OpenRoot(dir)
	if err != nil || bundle == "" {
		return false
	}
	defer func() { _ = root.Close() }()
	data, err := readRegular(root, bundle+"/"+dispatch.CoordinatorJSON, initiative.MaxConfigBytes)
	if err != nil || data == nil {
		return false
	}
	o, err := ojson.DecodeObject(data)
	return err == nil && o.String("context_ref") == ref && o.String("super_run_id") == superRun
}
