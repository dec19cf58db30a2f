// A run with new operations here and in the artifact: both sides are joined (docs/restore.md#both-sides-went-on).

package restore

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Joined is what the operations of this clone became.
type Joined = travel.JoinedBundle

// joins reports that the run has new operations on both sides. Another run of a bundle that does cannot be restored.
func (t *restoring) joins() (bool, error) {
	if t.out.Bundle == nil {
		return false, nil
	}
	joins := false
	for i := range t.out.Bundle.Refs {
		ref := &t.out.Bundle.Refs[i]
		switch {
		case ref.Relation != bundle.Diverged:
		case ref.Name != git.RunRefPrefix+t.out.Run:
			return false, t.insideHint(ref.NotFollowing())
		default:
			joins = true
		}
	}
	return joins, nil
}

// join joins both sides instead of bringing in files: those of the project come with git, as after a sync, and the
// governed ones follow the joined record.
func (t *restoring) join(ctx context.Context) error {
	if err := t.sameProject(ctx); err != nil {
		return err
	}
	if t.a != nil && len(t.a.work) > 0 {
		t.out.Notices = append(t.out.Notices, "The artifact carries work in progress on "+
			text.Count(len(t.a.work), "file", "files")+". It belongs to one of two sides that are joined, and is not written")
	}
	_, before := t.out.Bundle.Tips(t.out.Run)
	t.out.Plan = &gitstore.RestorePlan{Run: t.out.Run, Before: before, Relation: gitstore.RestoreJoins}
	t.out.Files, t.out.Status, t.out.Unwritten = 0, "", nil
	if t.opt.DryRun || t.opt.Plan {
		if e := travel.MayJoin(ctx, t.store, t.out.Bundle, t.out.Run); e != nil {
			return t.obstacle(e)
		}
		return nil
	}
	j, err := travel.JoinBundle(ctx, t.store, t.out.Bundle, t.out.Run, t.opt.LockWait, t.opt.Reindex)
	if j != nil {
		t.out.Notices = append(t.out.Notices, j.Notices...)
	}
	if err != nil {
		return err
	}
	t.out.Done, t.out.Joined, t.out.Plan.Op = true, j, j.Tip
	if v, err := t.store.View(ctx); err == nil && v.State != nil {
		t.out.Status = string(v.State.Status)
	}
	return nil
}
