// Checkpoint: commit an accepted turn's files and mark its history row (docs/spec/observation.md#checkpoint-commits).

package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/hooks/githooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// Checkpointed is the outcome of Checkpoint.
type Checkpointed struct {
	Done
	Turn    string
	Commit  string // "" when there was nothing to commit
	Files   []string
	Skipped string // why nothing was committed
}

// Checkpoint commits exactly the files that an accepted turn declared. Anything else in the index
// stays there. turnID may be a unique prefix; "" is the latest turn whose files await a commit,
// else the latest turn.
func (r *Runner) Checkpoint(ctx context.Context, turnID string) (*Checkpointed, error) {
	out := &Checkpointed{}
	done, err := r.do(ctx, "checkpoint", func(ctx context.Context, c *change) (*plan, error) {
		return c.checkpoint(ctx, turnID, out)
	})
	out.Done = *done
	return out, err
}

// checkpoint plans the checkpoint of a turn and fills in out.
func (c *change) checkpoint(ctx context.Context, turnID string, out *Checkpointed) (_ *plan, err error) {
	ref := turnID
	if ref == "" {
		if ref, err = c.lastAwaiting(ctx); err != nil {
			return nil, err
		}
	}
	line, err := c.acceptedRow(ctx, ref)
	if err != nil {
		return nil, err
	}
	row := line.Row
	out.Turn = row.String("turn_id")
	if sha := row.String("checkpoint_sha"); sha != "" {
		out.Skipped = fmt.Sprintf("already checkpointed at %.12s", sha)
		return nil, nil
	}
	if a := row.Object("artifact"); a.String("type") == "patch" &&
		strings.HasPrefix(a.String("ref"), wire.ProposedDir+"/") {
		out.Skipped = "its changes are a proposal that has not been applied"
		return nil, nil
	}
	st, err := c.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := observe.RefuseUnmerged(st); err != nil {
		return nil, err
	}
	for _, p := range row.Strings("files_changed") {
		if _, dirty := st.Dirty[p]; dirty && wire.ProjectOwned(p) && !slices.Contains(out.Files, p) {
			out.Files = append(out.Files, p)
		}
	}
	sha, repo := string(st.Head), c.r.store.Repository()
	if len(out.Files) > 0 {
		if err := observe.RefuseUnderWay(repo); err != nil {
			return nil, err
		}
		if err := observe.RefuseInside(st, out.Files); err != nil {
			return nil, err
		}
		oid, after, err := gitcommit.PathsAs(ctx, repo, out.Files, checkpointMessage(row), gitcommit.As{
			// The person's git hooks may start the turn's work: what runs in them does not count as
			// a person.
			Environ: []string{TurnMarker + "=" + out.Turn},
			Status:  st,
		})
		if err != nil {
			return nil, err
		}
		sha = string(oid)
		if after == nil { // hooks ran
			c.remarkChanged(row, out.Files)
		}
		if err := c.lookAfter(ctx, after); err != nil {
			return nil, err
		}
	} else if elsewhere, err := c.madeElsewhere(ctx, row, st.Head); elsewhere || err != nil {
		out.Skipped = "none of its files is here as the turn left it, and no commit since has changed one; " +
			"git pull brings the commit, where another clone has made it"
		return nil, err
	} else if !allPresent(c, row.Strings("files_changed")) || sha == "" {
		out.Skipped = "none of its files differs from HEAD"
		return nil, nil
	} else if err := gitcommit.Sync(ctx, c.r.store.Repository(), st.Head); err != nil {
		return nil, err // another process made it, perhaps a checkpoint that was killed
	} else if sha, err = c.madeAt(ctx, row.Strings("files_changed"), sha); err != nil {
		return nil, err
	}
	out.Commit, c.still = sha, c.hooks == nil
	return &plan{op: &commits.Checkpoint{TurnID: out.Turn, Row: evidence.NewBlob(line.Raw), Commit: sha}}, nil
}

// remarkChanged tells of committed files that are not as the turn left them: a formatter in a git hook changed them while
// the commit was made, or a person since the acceptance.
func (c *change) remarkChanged(row *ojson.Object, files []string) {
	left := row.Object("observed_artifact").Object("file_markers")
	changed := slices.DeleteFunc(slices.Clone(files), func(p string) bool {
		m := left.String(p)
		return m == "" || m == c.r.store.Fingerprint(p)
	})
	if len(changed) > 0 {
		c.remark("the commit is not what the turn left: a git hook, or a person before it, changed " +
			wire.ListSome(changed, 3) + "; git agentxchain why names no turn for such lines, and verify range does not account for them")
	}
}

// lastAwaiting returns the turn accepted last among those whose files are not committed; "" for
// none. Turns that ran side by side get their checkpoints one after another.
func (c *change) lastAwaiting(ctx context.Context) (string, error) {
	if c.view.Index.Uncheckpointed.Len() == 0 {
		return "", nil
	}
	st, err := c.look(ctx)
	if err != nil {
		return "", err
	}
	if turns := c.view.Index.Awaiting(observe.ProjectDirty(st)); len(turns) > 0 {
		return turns[len(turns)-1], nil
	}
	return "", nil
}

// allPresent reports whether the turn changed files and each is in the work tree, clean: then HEAD
// holds the turn's work (the actor committed it).
func allPresent(c *change, files []string) bool {
	for _, p := range files {
		if c.r.store.Fingerprint(p) == "deleted" {
			return false
		}
	}
	return len(files) > 0
}

// madeElsewhere reports whether the turn's work is missing in this work tree: each of its files
// differs from what the turn left and is as before the turn, in HEAD too. Either the run came from
// another clone whose commit has not arrived, or a person has discarded the work.
func (c *change) madeElsewhere(ctx context.Context, row *ojson.Object, head object.OID) (bool, error) {
	seen := row.Object("observed_artifact")
	left, files := seen.Object("file_markers"), row.Strings("files_changed")
	if len(files) == 0 || head == "" {
		return false, nil
	}
	for _, p := range files {
		if m := left.String(p); m == "" || m == c.r.store.Fingerprint(p) {
			return false, nil
		}
	}
	at, isGit := strings.CutPrefix(seen.String("accepted_ref"), "git:")
	if !isGit {
		return false, nil
	}
	changed, err := history.ChangedBetween(ctx, c.r.store.Repository(), object.OID(at), head)
	if err != nil {
		return false, ctx.Err() // that commit is not here: nothing can be said
	}
	return !slices.ContainsFunc(files, func(p string) bool { return slices.Contains(changed, p) }), nil
}

// madeAt returns the newest commit that changed one of the files, head where that is unknown. A local merge
// over it is a different commit in every clone; this one is the same in all of them.
func (c *change) madeAt(ctx context.Context, files []string, head string) (string, error) {
	repo := c.r.store.Repository()
	paths := make([]string, len(files))
	for i, p := range files {
		paths[i] = repo.Prefix + p
	}
	few, more := git.FitArguments(paths)
	if len(more) > 0 {
		return head, nil
	}
	made, err := history.CommitsOf(ctx, repo, few, 1)
	if err != nil || len(made) == 0 {
		return head, err
	}
	return string(made[0]), nil
}

// acceptedRow finds the history row of an accepted turn by id or unique prefix, or the latest one
// of the run.
func (c *change) acceptedRow(ctx context.Context, ref string) (*run.Line, error) {
	if ref == "" {
		if ref = c.view.Index.LastRow.String("turn_id"); ref == "" {
			return nil, &wire.Error{
				Code:    wire.CodeNotFound,
				Field:   "turn_id",
				Message: "No turn has been accepted yet.",
				Hint:    "git agentxchain status",
			}
		}
	}
	// The row of a complete id is near the end of the ledger; only a prefix needs all of it.
	exact, err := c.r.store.LastRow(ctx, wire.LedgerHistory, "turn_id", ref)
	if err != nil {
		return nil, err
	}
	if exact != nil && exact.Row.String("status") != "reissued" {
		return exact, nil
	}
	found, err := c.r.store.TailRows(ctx, wire.LedgerHistory, 0, func(row *ojson.Object) bool {
		return row.String("status") != "reissued" && strings.HasPrefix(row.String("turn_id"), ref)
	})
	if err != nil {
		return nil, err
	}
	switch len(found) {
	case 0:
		return nil, &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   "turn_id",
			Message: fmt.Sprintf("Accepted turn %s is not in history.", ref),
			Hint:    "git agentxchain history",
		}
	case 1:
		return &found[0], nil
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = found[i].Row.String("turn_id")
	}
	return nil, &wire.Error{
		Code:    wire.CodeTargetRequired,
		Field:   "turn_id",
		Details: ojson.NewObject("matches", ids),
		Message: fmt.Sprintf("%q names %d accepted turns: %s.", ref, len(ids), strings.Join(ids, ", ")),
		Hint:    "git agentxchain history",
	}
}

// checkpointMessage returns the commit message of a checkpoint. Every value is
// made visible on one line, so that a summary cannot pose as a trailer of its own.
func checkpointMessage(row *ojson.Object) string {
	fold := func(s, none string) string {
		if s = text.OneLine(s); s == "" {
			return none
		}
		return s
	}
	id, role, phase := fold(row.String("turn_id"), "(unknown)"), fold(row.String("role"), "(unknown)"),
		fold(row.String("phase"), "(unknown)")
	rt := fold(row.String("runtime_id"), "(unknown)")
	var b strings.Builder
	fmt.Fprintf(&b, "checkpoint: %s (role=%s, phase=%s, runtime=%s)\n\n", id, role, phase, rt)
	// The commit travels with the project, and git gets its message as an argument that every user of the
	// machine can read.
	summary := fold(secrets.Redact(row.String("summary")), "(none)")
	fmt.Fprintf(&b, "Summary: %s\nTurn-ID: %s\nRole: %s\nPhase: %s\nRuntime: %s\n", summary, id, role, phase, rt)
	if intent := fold(row.String("intent_id"), ""); intent != "" {
		fmt.Fprintf(&b, "Intent-ID: %s\n", intent)
	}
	if at := row.String("accepted_at"); at != "" {
		fmt.Fprintf(&b, "Accepted-At: %s\n", fold(at, ""))
	}
	// The guards in git's hooks look for these trailers, and "why" relies on them.
	if run := row.String("run_id"); run != "" {
		fmt.Fprintf(&b, "%s: %s\n", githooks.TrailerRun, fold(run, ""))
	}
	fmt.Fprintf(&b, "%s: %s\n%s: %s\n", githooks.TrailerTurn, id, githooks.TrailerRole, role)
	return b.String()
}
