// Fetching what a build server's checkout lacks, by name: the record, a commit, more history. Nothing is pushed.

package transport

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// recordRefspecs returns refspecs that fetch our shared refs under the remote's names. They are not forced: a run
// that continued separately here stays as it is. No remote may write what a clone notes for itself, such as its
// leases and its view of others.
func recordRefspecs() []string {
	var specs []string
	for _, prefix := range []string{
		git.RunRefPrefix, record.ConflictRefPrefix, archive.ListPrefix, archive.KeepPrefix, record.WitnessRefPrefix,
		record.InitiativeRefPrefix, record.BeginningRefPrefix,
	} {
		specs = append(specs, prefix+"*:"+prefix+"*")
	}
	return specs
}

// WholeDepth is greater than any history's depth. Unlike --unshallow it does not affect what is not fetched.
const WholeDepth = 1_000_000_000

// FetchRecord fetches the record that a remote has, and completes one that a fetch with a depth has cut. A ref here
// from which the remote's does not follow stays. Errors: remote_failed.
func FetchRecord(ctx context.Context, r *git.Repository, remote string) error {
	args := append(fetchWhole(ctx, r, remote), "--refmap=")
	cut, err := CutRecord(ctx, r)
	if err != nil {
		return err
	}
	if cut != "" {
		args = append(args, "--depth="+strconv.Itoa(WholeDepth))
	}
	args = append(args, "--", remote)
	return fetchInto(ctx, r, remote, append(args, recordRefspecs()...), "non-fast-forward")
}

// maxCuts bounds how many ends of a shallow clone's history are examined.
const maxCuts = 10_000

// CutRecord returns a ref of a record whose history is cut where a shallow clone's is, "" for none.
func CutRecord(ctx context.Context, r *git.Repository) (string, error) {
	args := []string{"for-each-ref", "--count=1", "--format=%(refname)"}
	for id := range history.ShallowCommits(r) {
		if len(args) < maxCuts && id.Valid(r.ObjectFormat) && r.HasCommit(ctx, id) {
			args = append(args, "--contains="+string(id))
		}
	}
	if len(args) == 3 {
		return "", nil
	}
	out, err := r.Git.Run(ctx, nil, append(args, git.RunRefPrefix)...)
	return strings.TrimSpace(string(out)), err
}

// FetchCommit fetches what a remote has under a name, which is a commit id, REMOTE/BRANCH, a branch or a tag, and
// returns its commit; "" when the remote has nothing of that name. In a shallow clone only the commit itself is
// fetched. Errors: remote_failed.
func FetchCommit(ctx context.Context, r *git.Repository, remote, name string) (object.OID, error) {
	args := append(FetchArgs(), "--refmap=")
	if len(history.ShallowCommits(r)) > 0 {
		args = append(args, "--depth=1")
	}
	if id := object.OID(name); id.Valid(r.ObjectFormat) {
		if err := fetchInto(ctx, r, remote, append(args, "--", remote, name), "not our ref"); err != nil {
			return "", err
		}
		if !r.HasCommit(ctx, id) {
			return "", nil
		}
		return id, nil
	}
	branch := strings.TrimPrefix(strings.TrimPrefix(name, TrackingRefs), remote+"/")
	branch = strings.TrimPrefix(branch, "refs/heads/")
	heads, tag := "refs/heads/"+branch, "refs/tags/"+strings.TrimPrefix(name, "refs/tags/")
	if !git.SafeRefName(heads) || !git.SafeRefName(tag) {
		return "", nil
	}
	there, err := Heads(ctx, r, remote, heads, tag)
	if err != nil {
		return "", unreachable(ctx, r, remote, err)
	}
	for from, to := range map[string]string{heads: TrackingRefs + remote + "/" + branch, tag: tag} {
		if there[from] == "" {
			continue
		}
		if err := fetchInto(ctx, r, remote, append(args, "--", remote, "+"+from+":"+to)); err != nil {
			return "", err
		}
		return there[from], nil
	}
	return "", nil
}

// FetchRefs fetches refspecs. It skips names that the remote does not have, and keeps a ref here that would go
// back, unless its refspec is forced. Errors: remote_failed.
func FetchRefs(ctx context.Context, r *git.Repository, remote string, refspecs ...string) error {
	for _, spec := range refspecs {
		args := append(FetchArgs(), "--refmap=", "--", remote, spec)
		if err := fetchInto(ctx, r, remote, args, "couldn't find remote ref", "non-fast-forward"); err != nil {
			return err
		}
	}
	return nil
}

// Deepen fetches by more commits before the ends of a shallow clone's history, on the way to commits. Errors:
// remote_failed.
func Deepen(ctx context.Context, r *git.Repository, remote string, by int, commits ...object.OID) error {
	args := append(FetchArgs(), "--refmap=", "--deepen="+strconv.Itoa(by), "--", remote)
	for _, c := range commits {
		args = append(args, string(c))
	}
	return fetchInto(ctx, r, remote, args)
}
