// Conflicts: operations that did not hold when two sides of a run were joined, each kept
// under a ref of its own with the losing operation as its parent.

package gitstore

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// conflictFile is the only file of a conflict's commit.
const conflictFile = "conflict.json"

// conflict records that an operation does not hold.
func (s *Store) conflict(ctx context.Context, j *Joined, onto git.OID, o sideOp, why *protocol.JoinRefusal) error {
	c, err := s.keepConflict(ctx, j, onto, o, why, protocol.ConflictOpen)
	if err == nil {
		j.Conflicts = append(j.Conflicts, c)
	}
	return err
}

// keepSame keeps the newest operation of this side when the other side has it already. The run that
// was begun after it here names it as the one before, wherever that run goes.
func (s *Store) keepSame(ctx context.Context, j *Joined, onto git.OID, o sideOp) error {
	_, err := s.keepConflict(ctx, j, onto, o, protocol.RecordedThere(), protocol.ConflictSettled)
	return err
}

// keepConflict writes a conflict. Its time and author are those of the losing operation, so that every
// machine that makes the same join makes the same record.
func (s *Store) keepConflict(ctx context.Context, j *Joined, onto git.OID, o sideOp, why *protocol.JoinRefusal,
	status string) (*protocol.Conflict, error) {
	c := &protocol.Conflict{
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
	if status == protocol.ConflictSettled {
		c.Settled, c.By = why.Reason, c.Actor+" <"+c.Email+">"
	}
	oid, err := s.writeConflict(ctx, c, o.info.Op, record.Signature(&o.rec.Env))
	if err != nil {
		return nil, err
	}
	j.tips = append(j.tips, oid)
	j.refs = append(j.refs, git.RefUpdate{Name: conflictRef(c), New: oid})
	return c, nil
}

func conflictRef(c *protocol.Conflict) string { return record.ConflictRefPrefix + c.Run + "/" + c.Op }

// writeConflict writes the commit of a conflict.
func (s *Store) writeConflict(ctx context.Context, c *protocol.Conflict, parent git.OID, by git.Signature) (git.OID, error) {
	edit, err := s.reader(ctx).Edit("")
	if err != nil {
		return "", err
	}
	if err := edit.Put(conflictFile, ojson.Pretty(ojson.Marshal(c))); err != nil {
		return "", err
	}
	commit := &git.Commit{
		Tree:      edit.Finish(),
		Parents:   []git.OID{parent},
		Author:    by,
		Committer: by,
		Message: record.Message("conflict: "+c.Name+" of run "+c.Run+" ("+c.Status+")",
			record.TrailerRun, c.Run, record.TrailerTurn, c.Turn, record.TrailerRole, c.Role, record.TrailerOrigin, c.Op),
	}
	data, err := git.EncodeCommit(s.repo.ObjectFormat, commit)
	if err != nil {
		return "", git.Errorf(git.CodeObjectInvalid, err, "the conflict cannot be written as a commit")
	}
	oid := edit.Queue(git.KindCommit, data)
	return oid, s.objects.Write(ctx, edit.Objects)
}

// Conflicts lists the conflicts of all runs, open ones first. A ref that holds none is
// left out: what came from elsewhere is not trusted to be one.
func (s *Store) Conflicts(ctx context.Context) ([]*protocol.Conflict, error) {
	refs, err := s.repo.ListRefs(ctx, record.ConflictRefPrefix)
	if err != nil {
		return nil, err
	}
	var out []*protocol.Conflict
	for _, ref := range refs {
		if c := s.conflictAt(ctx, ref.Name, ref.OID); c != nil {
			out = append(out, c)
		}
	}
	protocol.SortConflicts(out)
	return out, nil
}

// maxConflict bounds a conflict that is read, in bytes.
const maxConflict = 1 << 20

// conflictAt reads the conflict a ref leads to, nil when it is none.
func (s *Store) conflictAt(ctx context.Context, name string, oid git.OID) *protocol.Conflict {
	if oid == "" {
		return nil
	}
	data, _, err := FileAt(ctx, s.repo, oid, conflictFile)
	if err != nil || len(data) > maxConflict {
		return nil
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	c := &protocol.Conflict{}
	if errs := ojson.Unmarshal(o, c); len(errs) > 0 || conflictRef(c) != name || !git.OID(c.Op).Valid(s.repo.ObjectFormat) {
		return nil
	}
	return c
}

// FindConflict returns the conflict whose losing operation the id or its beginning names.
func (s *Store) FindConflict(ctx context.Context, name string) (*protocol.Conflict, error) {
	all, err := s.Conflicts(ctx)
	if err != nil {
		return nil, err
	}
	var found *protocol.Conflict
	for _, c := range all {
		if len(name) >= 4 && strings.HasPrefix(c.Op, name) {
			if found != nil {
				return nil, git.Errorf(wire.CodeInvalidArgument, nil, "%q is the beginning of several conflicts", name).
					WithHint("git agentxchain conflicts")
			}
			found = c
		}
	}
	if found == nil {
		return nil, git.Errorf(wire.CodeNotFound, nil, "%q names no conflict", name).WithHint("git agentxchain conflicts")
	}
	return found, nil
}

// SettleConflict records what became of a conflict, on top of it.
func (s *Store) SettleConflict(ctx context.Context, c *protocol.Conflict, how, because string) error {
	ref := conflictRef(c)
	at, err := s.repo.ReadRef(ctx, ref)
	if err != nil {
		return err
	}
	actor := s.actor(ctx)
	c.Status, c.Settled, c.Because, c.By = protocol.ConflictSettled, how, because, actor.Name+" <"+actor.Email+">"
	env := s.env(ctx)
	oid, err := s.writeConflict(ctx, c, at, record.Signature(&env))
	if err != nil {
		return err
	}
	move := git.RefUpdate{Name: ref, New: oid, Old: at}
	if err := s.repo.UpdateRefs(ctx, []git.RefUpdate{move}, "agentxchain: conflict settled"); err != nil && git.CodeOf(err) != git.CodeWorkBehind {
		s.repo.Abandon(move)
		return err
	}
	return s.repo.Reached([]git.RefUpdate{move})
}

// LosingResult returns the staged result of the acceptance that a conflict is about, nil
// when it is about none.
func (s *Store) LosingResult(ctx context.Context, c *protocol.Conflict) ([]byte, error) {
	r := s.reader(ctx)
	commit, err := r.Commit(git.OID(c.Op))
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
