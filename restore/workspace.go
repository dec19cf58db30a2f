// The source checkout of a run artifact, and what prevents restoring the artifact (docs/export.md#what-is-in-it).

package restore

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Blockers that other tools know by these words.
const (
	blockerNoHead = "Export restore requires a stable git HEAD in the source checkout."
	blockerDirty  = "Dirty path outside governed continuity roots: "
)

// workspace asks git about the checkout. It holds the lock meanwhile, and the lock file does not count as a change.
func (r *runExport) workspace(ctx context.Context) error {
	repo := r.store.Repository()
	status, err := gitstatus.Of(ctx, repo, repo.Prefix)
	if err != nil {
		return err
	}
	locks := path.Dir(wire.LockPath) + "/"
	var dirty, outside []string
	for _, p := range status.Paths() {
		if !strings.HasPrefix(p, locks) {
			dirty = append(dirty, strings.ToValidUTF8(p, "\ufffd"))
		}
	}
	if repo.Prefix != "" {
		whole, err := gitstatus.Of(ctx, repo, "")
		if err != nil {
			return err
		}
		for _, p := range whole.Paths() {
			if !strings.HasPrefix(p, repo.Prefix) && p != strings.TrimSuffix(repo.Prefix, "/") {
				outside = append(outside, strings.ToValidUTF8(p, "\ufffd"))
			}
		}
	}
	slices.SortStableFunc(dirty, collate)
	slices.SortStableFunc(outside, collate)
	e := r.e
	var head, tree any
	if status.Head == "" {
		e.Blockers = append(e.Blockers, blockerNoHead)
	} else {
		head = string(status.Head)
		oid, err := repo.TreeOf(ctx, status.Head)
		if err != nil {
			return err
		}
		tree = string(oid)
	}
	for _, p := range dirty {
		if !restorable(strings.TrimSuffix(p, "/")) {
			e.Blockers = append(e.Blockers, blockerDirty+p)
			e.Offer = !r.opt.WithWork
		}
	}
	for _, p := range outside {
		e.Blockers = append(e.Blockers, blockerDirty+"(repository) "+p)
	}
	if r.live {
		e.Blockers = append(e.Blockers, "A dashboard is running, and its session files belong to this machine.")
	}
	for _, c := range e.Cut {
		e.Blockers = append(e.Blockers, "Content was left out on request: "+c)
	}
	for _, b := range r.left {
		e.Blockers = append(e.Blockers, b+".")
	}
	all := e.Blockers
	if r.opt.WithWork && status.Head != "" {
		if err := r.work(status, dirty); err != nil {
			return err
		}
		// Readers that do not know work in progress must not restore without it.
		e.Blockers = withoutCarried(all, r.carried)
	}
	orEmpty := func(list []string) []string {
		if list == nil {
			return []string{}
		}
		return list
	}
	r.git = ojson.NewObject("is_repo", true, "head_sha", head, "head_tree", tree, "dirty_paths", orEmpty(dirty),
		"restore_supported", len(all) == 0, "restore_blockers", orEmpty(all))
	return nil
}
