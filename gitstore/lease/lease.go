// Leases of turns: a ref each, below refs/agentxchain/leases/<run>/<turn>, moved by
// compare-and-swap only (docs/leases.md).

package lease

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
)

const (
	leaseFile     = "lease.json" // the only entry of the tree
	maxLeaseBytes = 64 << 10
	trailerStatus = "Agentxchain-Lease"
)

// Ref returns the ref of a turn's lease. Both ids become file names, so only harmless ones are accepted (see
// git.RunRef); the error has the code bad_ref_name.
func Ref(run, turn string) (string, error) {
	for _, id := range []string{run, turn} {
		if why := git.BadRunID(id); why != "" {
			if len(id) > 60 {
				id = id[:60] + "..."
			}
			return "", fail.Errorf(fail.CodeBadRefName, nil, "a lease cannot be stored under the id %q: it %s", id,
				why)
		}
	}
	return record.LeaseRefPrefix + run + "/" + turn, nil
}

// Record is a lease as its ref holds it.
type Record struct {
	Run, Turn string
	Ref       string
	Op        object.OID // the ref's commit
	Parent    object.OID // the previous commit of the lease, "" for the first
	Data      []byte     // the document, undecoded
	Subject   string     // the commit's subject
	At        time.Time
}

// Read reads the lease of a turn; nil when there is none. Errors: bad_ref_name, ref_is_symbolic, ref_broken,
// object_missing, object_corrupt.
func Read(ctx context.Context, repo *git.Repository, run, turn string) (*Record, error) {
	ref, err := Ref(run, turn)
	if err != nil {
		return nil, err
	}
	oid, err := repo.ReadRef(ctx, ref)
	if err != nil || oid == "" {
		return nil, err
	}
	return readAt(ctx, repo, run, turn, oid)
}

func readAt(ctx context.Context, repo *git.Repository, run, turn string, oid object.OID) (*Record, error) {
	ref := record.LeaseRefPrefix + run + "/" + turn
	r := record.NewReader(ctx, repo)
	c, err := r.Commit(oid)
	if err != nil {
		return nil, err
	}
	data, ok, err := r.File(c.Tree, leaseFile)
	if err != nil {
		return nil, err
	}
	if !ok || len(data) > maxLeaseBytes {
		return nil, fail.Errorf(fail.CodeObjectCorrupt, nil, "%s does not point at a lease", ref).
			WithHint("git log -p %s shows what it is; git update-ref -d %s releases the turn", ref, ref)
	}
	out := &Record{Run: run, Turn: turn, Ref: ref, Op: oid, Data: data, At: c.Committer.When}
	out.Subject, _, _ = strings.Cut(c.Message, "\n")
	if len(c.Parents) > 0 {
		out.Parent = c.Parents[0]
	}
	return out, nil
}

// List lists the leases of a run, or of all runs for "", sorted by ref name. An unreadable lease has no Data, and
// its error is in problems.
func List(ctx context.Context, repo *git.Repository, run string) (list []Record, problems []error, err error) {
	prefix := record.LeaseRefPrefix
	if run != "" {
		if why := git.BadRunID(run); why != "" {
			return nil, nil, nil
		}
		prefix += run + "/"
	}
	refs, err := repo.ListRefs(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	for _, ref := range refs {
		owner, turn, ok := strings.Cut(strings.TrimPrefix(ref.Name, record.LeaseRefPrefix), "/")
		if _, bad := Ref(owner, turn); !ok || bad != nil {
			problems = append(problems, fail.Errorf(fail.CodeBadRefName, nil, "%s is not the ref of a lease", ref.Name))
			continue
		}
		switch {
		case ref.Target != "":
			problems = append(problems, git.Symbolic(ref.Name, ref.Target))
		case ref.Broken:
			problems = append(problems, git.Broken(ref.Name))
		default:
			rec, err := readAt(ctx, repo, owner, turn, ref.OID)
			if err != nil {
				if ctx.Err() != nil {
					return nil, nil, context.Cause(ctx)
				}
				problems = append(problems, fmt.Errorf("%s: %w", ref.Name, err))
				continue
			}
			list = append(list, *rec)
		}
	}
	return list, problems, nil
}

// History lists the versions of a turn's lease, newest first, at most limit.
func History(ctx context.Context, repo *git.Repository, rec *Record, limit int) ([]Record, error) {
	out := []Record{*rec}
	for len(out) < limit && out[len(out)-1].Parent != "" {
		next, err := readAt(ctx, repo, rec.Run, rec.Turn, out[len(out)-1].Parent)
		if err != nil {
			return out, err
		}
		out = append(out, *next)
	}
	return out, nil
}

// Write stores a document as the next commit after parent ("" for the first) and returns its id. It moves no ref:
// use Move, or a Change that includes the update.
func Write(ctx context.Context, repo *git.Repository, rec Record, by evidence.Actor, status string) (object.OID,
	error) {
	if len(rec.Data) == 0 || len(rec.Data) > maxLeaseBytes {
		return "", fail.Errorf(fail.CodeObjectTooLarge, nil, "a lease document has at most %d bytes", maxLeaseBytes)
	}
	format := repo.ObjectFormat
	blob := object.Object{OID: object.Hash(format, object.KindBlob, rec.Data), Kind: object.KindBlob, Data: rec.Data}
	entries := object.EncodeTree([]object.TreeEntry{{Mode: object.ModeFile, Name: leaseFile, OID: blob.OID}})
	tree := object.Object{OID: object.Hash(format, object.KindTree, entries), Kind: object.KindTree, Data: entries}
	sig := object.Signature{Name: by.Name, Email: by.Email, When: rec.At.UTC()}
	c := &object.Commit{
		Tree:      tree.OID,
		Author:    sig,
		Committer: sig,
		Message: record.Message(rec.Subject, record.TrailerRun, rec.Run, record.TrailerTurn, rec.Turn, trailerStatus,
			status),
	}
	if rec.Parent != "" {
		c.Parents = []object.OID{rec.Parent}
	}
	data, err := object.EncodeCommit(format, c)
	if err != nil {
		return "", fail.Errorf(fail.CodeObjectInvalid, err, "the lease cannot be written as a commit")
	}
	commit := object.Object{OID: object.Hash(format, object.KindCommit, data), Kind: object.KindCommit, Data: data}
	if err := repo.Objects().Write(ctx, []object.Object{blob, tree, commit}); err != nil {
		return "", err
	}
	faults.Point("lease.after-objects")
	return commit.OID, nil
}

// Move moves only the refs of leases, all or none of them. Errors: ref_moved when one is not where it was seen,
// ref_locked.
func Move(ctx context.Context, repo *git.Repository, updates []git.RefUpdate, reflog string) error {
	if err := repo.UpdateRefs(ctx, updates, reflog); err != nil {
		if fail.CodeOf(err) != fail.CodeWorkBehind {
			repo.Abandon(updates...)
		}
		return err
	}
	faults.Point("lease.after-ref")
	_ = repo.Compact(context.WithoutCancel(ctx)) // renewals create many small packs
	return nil
}
