// Whether the branch still has the work that the run goes on from.

package doctor

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// onBranch finds that the branch has neither the commit of the newest accepted turn nor one of its files as committed
// there: a reset or another branch took the work away, and the next role would begin without it. A commit that was
// rebased or squashed has the same files.
func (d *doctor) onBranch(ctx context.Context) {
	v := d.out.View
	if v == nil || v.State == nil || v.State.Run() == "" || v.State.Status.Ended() ||
		wire.OrEmpty(v.State.LastCompletedTurnID) == "" {
		return
	}
	turn := *v.State.LastCompletedTurnID
	line, err := d.rec.LastRow(ctx, wire.LedgerHistory, "turn_id", turn)
	if err != nil || line == nil {
		return // what is wrong with the record was said
	}
	repo := d.rec.Repository()
	made, files := object.OID(line.Row.String("checkpoint_sha")), line.Row.Strings("files_changed")
	head := repo.Head(ctx)
	if head == "" || len(files) == 0 || !made.Valid(repo.ObjectFormat) {
		return
	}
	if has, err := history.Ancestor(ctx, repo, made, head); has || err != nil {
		return // or the commit is not here, as in a clone that never fetched it
	}
	changed, err := history.ChangedBetween(ctx, repo, made, head)
	if err != nil {
		return
	}
	if slices.ContainsFunc(files, func(f string) bool { return !slices.Contains(changed, f) }) {
		return
	}
	d.add("repository", LevelWarning, "git merge "+made.Short()+", or git switch to a branch that has it",
		"commit %s of turn %s is not on this branch, and the next role would begin without its work", made.Short(), turn)
}
