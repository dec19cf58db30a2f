// Conflicts: operations that failed when two sides of a run were joined, each kept under its own ref with the
// losing operation as its parent.

package conflict

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// file is the only file of a conflict's commit.
const file = "conflict.json"

func Ref(c *join.Conflict) string { return record.ConflictRefPrefix + c.Run + "/" + c.Op }

// Write writes the commit of a conflict.
func Write(ctx context.Context, repo *git.Repository, c *join.Conflict, parent object.OID,
	by object.Signature) (object.OID,
	error) {
	edit, err := record.NewReader(ctx, repo).Edit("")
	if err != nil {
		return "", err
	}
	if err := edit.Put(file, ojson.Pretty(ojson.Marshal(c))); err != nil {
		return "", err
	}
	oid, err := edit.Commit("the conflict", &object.Commit{
		Tree:      edit.Finish(),
		Parents:   []object.OID{parent},
		Author:    by,
		Committer: by,
		Message: record.Message("conflict: "+c.Name+" of run "+c.Run+" ("+c.Status+")",
			record.TrailerRun, c.Run, record.TrailerTurn, c.Turn, record.TrailerRole, c.Role, record.TrailerOrigin,
			c.Op),
	})
	if err != nil {
		return "", err
	}
	return oid, repo.Objects().Write(ctx, edit.Objects)
}

// All lists the conflicts of all runs, open ones first. It skips refs that do not hold a conflict, because foreign
// refs are not trusted.
func All(ctx context.Context, repo *git.Repository) ([]*join.Conflict, error) {
	refs, err := repo.ListRefs(ctx, record.ConflictRefPrefix)
	if err != nil {
		return nil, err
	}
	var out []*join.Conflict
	for _, ref := range refs {
		if c := At(ctx, repo, ref.Name, ref.OID); c != nil {
			out = append(out, c)
		}
	}
	join.SortConflicts(out)
	return out, nil
}

// maxConflict bounds the size of a conflict, in bytes.
const maxConflict = 1 << 20

// At reads the conflict at a ref, nil when it is not a conflict.
func At(ctx context.Context, repo *git.Repository, name string, oid object.OID) *join.Conflict {
	if oid == "" {
		return nil
	}
	data, _, err := chain.FileAt(ctx, repo, oid, file)
	if err != nil || len(data) > maxConflict {
		return nil
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	c := &join.Conflict{}
	if errs := ojson.Unmarshal(o, c); len(errs) > 0 || Ref(c) != name || !object.OID(c.Op).Valid(repo.ObjectFormat) {
		return nil
	}
	return c
}

// Find returns the conflict whose losing operation has an id that begins with name.
func Find(ctx context.Context, repo *git.Repository, name string) (*join.Conflict, error) {
	all, err := All(ctx, repo)
	if err != nil {
		return nil, err
	}
	var found *join.Conflict
	for _, c := range all {
		if len(name) >= 4 && strings.HasPrefix(c.Op, name) {
			if found != nil {
				return nil, fail.Errorf(wire.CodeInvalidArgument, nil, "%q is the beginning of several conflicts",
					name).
					WithHint("git agentxchain conflicts")
			}
			found = c
		}
	}
	if found == nil {
		return nil, fail.Errorf(wire.CodeNotFound, nil, "%q names no conflict",
			name).WithHint("git agentxchain conflicts")
	}
	return found, nil
}

// Settle records how a conflict was settled, in a commit on top of it.
func Settle(ctx context.Context, repo *git.Repository, env protocol.Env, c *join.Conflict, how, because string) error {
	ref := Ref(c)
	at, err := repo.ReadRef(ctx, ref)
	if err != nil {
		return err
	}
	c.Status, c.Settled, c.Because, c.By = join.ConflictSettled, how, because, env.Actor.Name+" <"+env.Actor.Email+">"
	oid, err := Write(ctx, repo, c, at, record.Signature(&env))
	if err != nil {
		return err
	}
	move := git.RefUpdate{Name: ref, New: oid, Old: at}
	if err := repo.UpdateRefs(ctx, []git.RefUpdate{move}, "agentxchain: conflict settled"); err != nil &&
		fail.CodeOf(err) != fail.CodeWorkBehind {
		repo.Abandon(move)
		return err
	}
	return repo.Reached([]git.RefUpdate{move})
}

// LosingResult returns the staged result of the acceptance that lost, nil when the conflict is not about an
// acceptance.
func LosingResult(ctx context.Context, repo *git.Repository, c *join.Conflict) ([]byte, error) {
	r := record.NewReader(ctx, repo)
	commit, err := r.Commit(object.OID(c.Op))
	if err != nil {
		return nil, err
	}
	rec, err := r.Record(commit.Tree)
	if err != nil {
		return nil, err
	}
	if op, ok := rec.Op.(*protocol.AcceptTurn); ok && op.Staged != nil {
		return op.Staged.Data, nil
	}
	return nil, nil
}
