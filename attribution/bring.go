// Fetches from a remote what a shallow checkout lacks to judge a range.

package attribution

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// deepenings are the numbers of commits to ask for, one after the other, until the range is here. More is never
// fetched: a base that shares no history with the head would bring all of it.
var deepenings = []int{50, 200, 1000, 5000}

// deepest returns their sum.
func deepest() int {
	n := 0
	for _, by := range deepenings {
		n += by
	}
	return n
}

// Bring fetches what this clone lacks to judge base..head: the record, the ends, and the history between them. It
// returns the ends as commit ids. It pushes nothing, and moves no ref of a run back that went on here.
//
// Errors: no_remote, remote_failed, unknown_range when the remote lacks an end too, record_missing when it has no
// recorded run, history_shallow when the range is longer than what is fetched.
func Bring(ctx context.Context, repo *git.Repository, base, head string) (object.OID, object.OID, error) {
	remote, err := transport.PickRemote(ctx, repo, "")
	if err != nil {
		return "", "", err
	}
	if err := transport.FetchRecord(ctx, repo, remote); err != nil {
		return "", "", err
	}
	runs, err := chain.RunRecords(ctx, repo)
	if err != nil {
		return "", "", err
	}
	if len(runs) == 0 {
		return "", "", &wire.Error{
			Code:    CodeRecordMissing,
			Message: fmt.Sprintf("%s has no record of any run: it was not pushed there.", remote),
			Hint: "git agentxchain sync in the clone that has the runs pushes it; git config agentxchain.sync auto " +
				"there does so after every operation",
		}
	}
	j := &judge{ctx: ctx, repo: repo, out: &Range{}, asked: base + ".." + head}
	if j.out.Base, err = j.bringCommit(remote, base); err != nil {
		return "", "", err
	}
	if j.out.Head, err = j.bringCommit(remote, head); err != nil {
		return "", "", err
	}
	for _, by := range deepenings {
		if j.whole() == nil {
			break
		}
		if err := transport.Deepen(ctx, repo, remote, by, j.out.Base, j.out.Head); err != nil {
			return "", "", err
		}
	}
	return j.out.Base, j.out.Head, nil
}

// bringCommit is like resolve, but also asks the remote.
func (j *judge) bringCommit(remote, name string) (object.OID, error) {
	id, err := j.resolve(name)
	if err == nil {
		return id, nil
	}
	if id, err = transport.FetchCommit(j.ctx, j.repo, remote, name); err != nil {
		return "", err
	}
	if id == "" {
		return "", &wire.Error{
			Code:    CodeUnknownRange,
			Message: fmt.Sprintf("%q names no commit of this clone, and none of %s.", name, remote),
			Hint:    "git ls-remote " + remote + " lists its branches and tags",
		}
	}
	return j.resolve(string(id))
}
