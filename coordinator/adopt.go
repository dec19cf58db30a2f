// Turns the coordinator finds without a record of its own: given out by a command that was killed, or run by a person in the repository (spec/04 §9, §21.6).

package coordinator

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// adopt records the dispatch of turns whose bundle holds one of our contexts and
// that no row knows: the command that gave them out was killed before it could
// say so.
func (c *Coordinator) adopt(ctx context.Context, s *Seen, env protocol.Env) *Change {
	newest := make(map[string]*ojson.Object) // repository -> its newest context
	for _, row := range s.History.Rows() {
		switch row.String("type") {
		case rowContext:
			newest[row.String("target_repo_id")] = row
		case rowDispatched:
			if at := newest[row.String("repo_id")]; at.String("context_ref") == row.String("context_ref") {
				delete(newest, row.String("repo_id"))
			}
		}
	}
	total := &Change{}
	cur := &s.Workspace
	for _, repo := range s.Config.Repos.Keys() {
		row, child := newest[repo], s.Children[repo]
		dir, ok := s.Roots.Path(repo)
		if row == nil || child == nil || child.State == nil || !ok {
			continue
		}
		for id, turn := range child.State.ActiveTurns.All() {
			if turn == nil || s.History.knows(repo, id) {
				continue
			}
			c.settle(ctx, repo, dir, id)
			if !carries(dir, id, s.State.SuperRunID, row.String("context_ref")) {
				continue
			}
			c.noteFound(ctx, s, repo, dir, id)
			a := &Assignment{Workstream: row.String("workstream_id"), Repo: repo, Role: turn.AssignedRole}
			ch := Dispatched(cur, a, child.run(), id, row.String("context_ref"), env)
			total.merge(ch)
			cur = cur.With(ch)
		}
	}
	return total
}

// settle lets a repository complete its working files when its run has a turn
// whose bundle is not there: the kill may have come in between.
func (c *Coordinator) settle(ctx context.Context, repo, dir, turn string) {
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(dispatch.BundleDir(turn)))); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	r, err := c.childRunner(ctx, dir, nil)
	if err == nil {
		defer func() { _ = r.Close() }()
		tx, terr := r.Store.Begin(ctx, "coordinator", c.wait())
		if err = terr; err == nil {
			err = tx.Close()
		}
	}
	if err != nil {
		c.note(inRepo(repo, dir, err).Error())
	}
}

// noteFound is noteTurn for a turn that was found.
func (c *Coordinator) noteFound(ctx context.Context, s *Seen, repo, dir, turn string) {
	if r, err := c.childRunner(ctx, dir, nil); err == nil {
		c.noteTurn(r.Store.Repository(), s, repo, turn)
		_ = r.Close()
	}
}

// knows reports whether a turn of a repository was given out.
func (h *History) knows(repo, turn string) bool {
	return slices.ContainsFunc(h.dispatched, func(row *ojson.Object) bool {
		return row.String("repo_id") == repo && row.String("repo_turn_id") == turn
	})
}

// carries reports whether the bundle of a turn holds the context of that name.
func carries(dir, turn, superRun, ref string) bool {
	bundle := dispatch.BundleDir(turn)
	root, err := os.OpenRoot(dir)
	if err != nil || bundle == "" {
		return false
	}
	defer func() { _ = root.Close() }()
	data, err := readRegular(root, bundle+"/"+dispatch.CoordinatorJSON, maxConfigBytes)
	if err != nil || data == nil {
		return false
	}
	o, err := ojson.DecodeObject(data)
	return err == nil && o.String("context_ref") == ref && o.String("super_run_id") == superRun
}

// operated finds turns of the initiative's runs that were accepted without having
// been given out: a person has run them. They count where it is beyond doubt for
// what: the repository works on one workstream of the phase, the workstream waits
// for nothing, the turn was accepted in its phase since the initiative began, and
// no other super run, of this workspace or another one, has given it out.
func (w *Workspace) operated(repo string, c *Child) []Mismatch {
	stream := w.sole(repo)
	run := w.State.RunOf(repo)
	if stream == nil || c == nil || c.State == nil || run == "" || c.run() != run {
		return nil
	}
	known := make(map[string]bool)
	for _, row := range w.History.dispatched {
		if row.String("repo_id") == repo {
			turn := row.String("repo_turn_id")
			known[turn], known[c.Follow(turn)] = true, true
		}
	}
	var out []Mismatch
	for turn, row := range c.rows {
		if known[turn] || w.foreign(c, turn) || w.foreign(c, c.origin(turn)) || c.Accepted(turn) == nil || w.History.Projection(repo, turn) != nil ||
			row.String("run_id") != run || row.String("phase") != stream.Phase || row.String("accepted_at") < w.State.CreatedAt {
			continue
		}
		out = append(out, Mismatch{Type: MismatchAccepted, Repo: repo, Turn: turn, Workstream: stream.ID, row: row, accepted: row, turn: turn,
			Detail: "Turn " + turn + " was run in " + repo + " without having been given out, and does not count yet."})
	}
	slices.SortFunc(out, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(a.accepted.String("accepted_at"), b.accepted.String("accepted_at")), cmp.Compare(a.Turn, b.Turn))
	})
	return out
}

// foreign reports that another super run has given the turn out.
func (w *Workspace) foreign(c *Child, turn string) bool {
	by := c.given[turn]
	return w.History.foreign(c.ID, turn) || by != "" && by != w.State.SuperRunID
}

// sole returns the only workstream of the phase that the repository works on, nil
// when there are several or it waits for another.
func (w *Workspace) sole(repo string) *Workstream {
	var out *Workstream
	for _, s := range w.Config.PhaseWorkstreams(w.State.Phase) {
		if !slices.Contains(s.Repos, repo) {
			continue
		}
		if out != nil {
			return nil
		}
		out = s
	}
	if out == nil || slices.ContainsFunc(out.DependsOn, func(dep string) bool { return !w.done(dep, out) }) {
		return nil
	}
	return out
}
