// The newest operation of a run: from its ref, or for an archived run fetched and verified.

package proof

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
)

// Codes for runs that are not here.
const (
	CodeRunRemoved   = "run_removed"       // a person has given up its operations
	CodeNotElsewhere = "run_not_elsewhere" // no remote is known to keep it
)

// Newest is chain.Tip for a run that must have a record; without one the error is no_run. It fetches an archived
// run whose operations are not here.
func Newest(ctx context.Context, repo *git.Repository, run string) (object.OID, error) {
	op, err := chain.Tip(ctx, repo, run)
	if err == nil && op == "" {
		op, err = ArchivedTip(ctx, repo, run)
	}
	if err == nil && op == "" {
		err = chain.NoRun(run)
	}
	if err != nil {
		return "", err
	}
	return op, chain.OperationOf(ctx, repo, run, op)
}

// OpenNewest opens a run at its newest operation after verifying it.
func OpenNewest(ctx context.Context, repo *git.Repository, run string) (*chain.RecordedRun, error) {
	op, err := Newest(ctx, repo, run)
	if err != nil {
		return nil, err
	}
	if err := Believe(ctx, repo, run, op); err != nil {
		return nil, err
	}
	return chain.At(record.NewReader(ctx, repo), run, op)
}

// ArchivedTip returns the newest operation of an archived run, "" when the archive does not have it. It fetches
// missing operations.
func ArchivedTip(ctx context.Context, repo *git.Repository, run string) (object.OID, error) {
	tip, err := chain.PastTip(ctx, repo, run)
	if err != nil || tip != "" {
		return tip, err
	}
	list, err := archive.ReadAll(ctx, repo, archive.ListPrefix)
	if err != nil {
		return "", err
	}
	if e := list[run]; e != nil && e.State == archive.Removed {
		return "", fail.Errorf(CodeRunRemoved, nil, "run %s was removed by %s: %s", run, e.By, e.Because).
			WithHint("its newest operation was %s; a clone that has pruned nothing may still hold it", e.Op)
	}
	e := list.Archived(run)
	if e == nil {
		return "", nil
	}
	return bringPast(ctx, repo, e)
}

// bringPast fetches an archived run from the first remote that has it, and verifies it before keeping it.
func bringPast(ctx context.Context, repo *git.Repository, e *archive.Entry) (object.OID, error) {
	op := object.OID(e.Op)
	if !repo.HasCommit(ctx, op) {
		all, err := RemotesByChoice(ctx, repo)
		if err != nil {
			return "", err
		}
		var last error
		for _, remote := range all {
			if last = FetchArchived(ctx, repo, remote, e); last == nil {
				break
			}
		}
		if !repo.HasCommit(ctx, op) {
			err := fail.Errorf(chain.CodeNoRun, last,
				"run %s is archived at operation %s, and its operations are not here", e.Run, op.Short())
			if len(all) == 0 {
				return "", err.WithHint("add the remote that keeps it: git remote add origin URL")
			}
			return "", err.WithHint("git agentxchain sync %s, when that remote can be reached", all[0])
		}
	}
	if err := Believe(ctx, repo, e.Run, op); err != nil {
		return "", err
	}
	return op, repo.UpdateRefs(ctx, []git.RefUpdate{{Name: archive.PastPrefix + e.Run, New: op}},
		"agentxchain: an archived run came")
}

// RemotesByChoice lists the remotes, the preferred one for runs first.
func RemotesByChoice(ctx context.Context, repo *git.Repository) ([]string, error) {
	all, err := transport.Remotes(ctx, repo)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if first, err := transport.PickRemote(ctx, repo, ""); err == nil {
		all = append([]string{first}, slices.DeleteFunc(all, func(r string) bool { return r == first })...)
	}
	return all, nil
}

// FetchArchived fetches the operations of one archived run: only that commit if the server allows it, else the
// whole year.
func FetchArchived(ctx context.Context, repo *git.Repository, remote string, e *archive.Entry) error {
	if err := transport.ValidName(remote); err != nil {
		return err
	}
	// Without a ref nothing is believed yet: bringPast creates one.
	if err := transport.FetchKept(ctx, repo, remote, "--no-prune", e.Op); err == nil &&
		repo.HasCommit(ctx, object.OID(e.Op)) {
		return nil
	}
	return FetchKept(ctx, repo, remote, e.Year())
}

// KeptRef returns the ref under which a remote's commit for a year of archived operations is tracked.
func KeptRef(remote, year string) string { return record.SeenRefPrefix + remote + "/archive/" + year }

// FetchKept fetches what a remote keeps of a year.
func FetchKept(ctx context.Context, repo *git.Repository, remote, year string) error {
	// A pattern, so that a remote without the ref does not fail.
	return transport.FetchKept(ctx, repo, remote, "--prune",
		"+"+archive.KeepPrefix+year+"*:"+record.SeenRefPrefix+remote+"/archive/"+year+"*")
}
