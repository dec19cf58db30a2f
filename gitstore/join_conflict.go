// The conflicts of a join: operations that fail, and one that the other side already has.

package gitstore

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/conflict"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
)

// addConflict records that an operation fails.
func addConflict(ctx context.Context, repo *git.Repository, j *Joined, onto object.OID, o sideOp,
	why *join.Refusal) error {
	c, err := keepConflict(ctx, repo, j, onto, o, why, join.ConflictOpen)
	if err == nil {
		j.Conflicts = append(j.Conflicts, c)
	}
	return err
}

// keepSame keeps the newest operation of this side when the other side already has its counterpart. The run that
// was begun after it here names it as the run before, wherever that run goes.
func keepSame(ctx context.Context, repo *git.Repository, j *Joined, onto object.OID, o sideOp) error {
	_, err := keepConflict(ctx, repo, j, onto, o, join.RecordedThere(), join.ConflictSettled)
	return err
}

// keepConflict writes a conflict. Its time and author are those of the losing operation, so every machine that
// makes the same join writes the same record.
func keepConflict(ctx context.Context, repo *git.Repository, j *Joined, onto object.OID, o sideOp, why *join.Refusal,
	status string) (*join.Conflict, error) {
	c := &join.Conflict{
		Run:     j.Run,
		Op:      string(o.info.Op),
		Name:    o.info.Name,
		Turn:    o.info.Turn,
		Role:    o.info.Role,
		Actor:   o.rec.Env.Actor.Name,
		Email:   o.rec.Env.Actor.Email,
		At:      o.rec.Env.Time(),
		Onto:    string(onto),
		Reason:  why.Reason,
		Code:    why.Code,
		Message: why.Message,
		Ways:    why.Ways,
		Status:  status,
	}
	if status == join.ConflictSettled {
		c.Settled, c.By = join.WayDrop, c.Actor+" <"+c.Email+">"
		if why.Reason == join.Same {
			c.Settled = join.Same
		}
	}
	oid, err := conflict.Write(ctx, repo, c, o.info.Op, record.Signature(&o.rec.Env))
	if err != nil {
		return nil, err
	}
	j.tips = append(j.tips, oid)
	j.refs = append(j.refs, git.RefUpdate{Name: conflict.Ref(c), New: oid})
	return c, nil
}
