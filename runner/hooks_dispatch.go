// after_dispatch: the bundle is in its place while hooks look at it and add to it; the result is
// then sealed (docs/bundles.md).

package runner

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// effectiveContext is a file that an adapter makes from the context; hooks still treat it as part
// of the bundle's core (docs/hooks.md#protected-files).
const effectiveContext = "CONTEXT.effective.md"

// supplemented puts the core files of a bundle into place, runs the hooks of after_dispatch and
// returns all files of the bundle. Hooks that say no are in c.stop: the turn is still dispatched,
// and the run is blocked right after. Files that are not recorded in the end are removed by
// conclude, or by the next command when this one is killed.
func (c *change) supplemented(ctx context.Context, turn *run.Turn, core map[string][]byte) (map[string][]byte, error) {
	dir := dispatch.BundleDir(turn.TurnID)
	if dir == "" {
		return nil, turnfiles.UnsafeID(turn.TurnID)
	}
	root, err := os.OpenRoot(c.r.store.Dir())
	if err != nil {
		return nil, projectfile.Unreadable(".", err)
	}
	defer func() { _ = root.Close() }()
	before, err := turnfiles.Contents(root, dir)
	if err != nil {
		return nil, err
	}
	if err := c.tx.OpenBundle(ctx, turn.TurnID); err != nil {
		return nil, err
	}
	faults.Point("hooks.bundle.noted")
	if err := c.r.store.MakeDir(dir); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(core))
	protected := []string{dir + "/" + effectiveContext, dir + "/" + dispatch.ManifestFile}
	for _, name := range names {
		if err := c.r.store.Replace(dir+"/"+name, core[name]); err != nil {
			return nil, err
		}
		protected = append(protected, dir+"/"+name)
	}
	faults.Point("hooks.bundle.open")
	err = c.hook(ctx, hooks.Call{
		Phase:     "after_dispatch",
		TurnID:    turn.TurnID,
		Protected: protected,
		Payload: ojson.NewObject(
			"turn_id", turn.TurnID, "role_id", turn.AssignedRole, "bundle_path", dir,
			"bundle_files", []string{dispatch.AssignmentFile, dispatch.PromptFile, dispatch.ContextFile}),
	})
	if err != nil && c.stop == nil {
		return nil, err
	}
	after, err := dispatch.Collect(root, dir, dispatch.Limits{})
	if err != nil {
		return nil, err
	}
	if odd := after.Odd; len(odd) > 0 && c.stop == nil {
		c.stop = ophooks.Stopped(c.view.State, hooks.Call{
			Phase:  "after_dispatch",
			TurnID: turn.TurnID,
		}, &hooks.Outcome{Blocked: true, Blocker: &hooks.Blocker{HookName: "unknown", Verdict: hooks.VerdictBlock,
			Message: fmt.Sprintf("the bundle holds %q, a %s, which cannot be sealed", odd[0].Path, odd[0].Kind)}})
	}
	return turnfiles.Chosen(core, before, after), nil
}
