// The record of an initiative in the coordinator's own repository: one ref per super run, one commit per change
// (docs/coordinator.md#files-and-refs).

package record

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Initiative is the result of a change to a super run.
type Initiative struct {
	Run     string            // the super run
	Op      string            // what was done, one word
	Subject string            // the same for people
	State   []byte            // state.json, for the digest in the commit
	Files   map[string][]byte // all files of the record, by workspace-relative path
	Env     protocol.Env      // who and when
}

// PrepareInitiative writes the objects of a record and returns the update of its ref that publishes it, for a
// caller that moves several refs together. The update changes nothing (New equals Old) when the record already
// holds these files. Errors: bad_ref_name, those of reading the ref and of writing objects.
func PrepareInitiative(ctx context.Context, r *git.Repository, in Initiative) (git.RefUpdate, error) {
	if _, err := git.RunRef(in.Run); err != nil {
		return git.RefUpdate{}, err
	}
	up := git.RefUpdate{Name: InitiativeRefPrefix + in.Run}
	tip, err := r.ReadRef(ctx, up.Name)
	if err != nil {
		return up, err
	}
	up.Old = tip
	up.New, err = WriteInitiative(ctx, r, in, tip)
	return up, err
}

// WriteInitiative writes the objects of a record that continues from tip, "" for a new one, and returns its newest
// change: tip if that already holds these files. No ref moves.
func WriteInitiative(ctx context.Context, r *git.Repository, in Initiative, tip object.OID) (object.OID, error) {
	read := NewReader(ctx, r)
	before := object.OID("")
	if tip != "" {
		c, err := read.Commit(tip)
		if err != nil {
			return tip, err
		}
		before = c.Tree
	}
	edit, err := read.Edit("")
	if err != nil {
		return tip, err
	}
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		if err := edit.Put(name, in.Files[name]); err != nil {
			return tip, fail.Errorf(fail.CodeObjectInvalid, err, "%s cannot be part of a record", name)
		}
	}
	tree := edit.Finish()
	if tip != "" && tree == before {
		return tip, nil
	}
	sig := Signature(&in.Env)
	c := &object.Commit{
		Tree:      tree,
		Author:    sig,
		Committer: sig,
		Message: Message(cmp.Or(in.Subject, in.Op), TrailerRun, in.Run, TrailerOp, in.Op, TrailerState,
			wire.Digest(in.State)),
	}
	if tip != "" {
		c.Parents = []object.OID{tip}
	}
	oid, err := edit.Commit("the record", c)
	if err != nil {
		return tip, err
	}
	return oid, r.Objects().Write(ctx, edit.Objects)
}

// RecordInitiative calls PrepareInitiative and makes the update, which it returns.
func RecordInitiative(ctx context.Context, r *git.Repository, in Initiative) (git.RefUpdate, error) {
	up, err := PrepareInitiative(ctx, r, in)
	if err != nil || up.New == up.Old {
		return up, err
	}
	err = r.UpdateRefs(ctx, []git.RefUpdate{up}, "agentxchain: "+in.Op)
	if err != nil && fail.CodeOf(err) != fail.CodeWorkBehind {
		r.Abandon(up)
	}
	return up, err
}

// KeepBeginning keeps the commit at which an initiative began, even if its branch goes away. It ignores a commit
// that is not here.
func KeepBeginning(ctx context.Context, r *git.Repository, run string, commit object.OID) error {
	if _, err := git.RunRef(run); err != nil {
		return err
	}
	up := git.RefUpdate{Name: BeginningRefPrefix + run, New: commit}
	var err error
	if up.Old, err = r.ReadRef(ctx, up.Name); err != nil || up.Old == commit || !r.HasCommit(ctx, commit) {
		return err
	}
	return r.UpdateRefs(ctx, []git.RefUpdate{up}, "agentxchain: the beginning of "+run)
}
