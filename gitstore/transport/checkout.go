// What a checkout of a build server lacks, fetched by name: the record, a commit, more history. Nothing is pushed.

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

// recordRefspecs bring what travels of ours under the names it has on the remote. They are not forced: a run that went on
// here beside the remote stays as it is here. What a clone notes for itself, such as its leases and what it believes of
// others, no remote may write.
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

// WholeDepth is a depth that no history has. Unlike --unshallow it leaves alone what is not fetched.
const WholeDepth = 1_000_000_000

// FetchRecord brings the record that a remote has, whole where a fetch with a depth has cut it. A ref here that the
// remote's does not follow from stays. Errors: remote_failed.
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

// maxCuts bounds how many ends of a shallow clone's history are looked at.
const maxCuts = 10_000

// CutRecord returns a ref of a record whose history ends where that of a shallow clone does, "" for none.
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

// FetchCommit brings what a remote has under a name, which is the id of a commit, REMOTE/BRANCH, a branch or a tag,
// and returns its commit; "" when the remote has nothing of that name. In a shallow clone only the commit itself
// comes. Errors: remote_failed.
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

// FetchRefs brings what refspecs name. A name that the remote does not have is left out, and a ref here that would go
// back stays, unless its refspec says otherwise. Errors: remote_failed.
func FetchRefs(ctx context.Context, r *git.Repository, remote string, refspecs ...string) error {
	for _, spec := range refspecs {
		args := append(FetchArgs(), "--refmap=", "--", remote, spec)
		if err := fetchInto(ctx, r, remote, args, "couldn't find remote ref", "non-fast-forward"); err != nil {
			return err
		}
	}
	return nil
}

// Deepen brings so many more commits before the ends of a shallow clone's history, on the way to some commits.
// Errors: remote_failed.
func Deepen(ctx context.Context, r *git.Repository, remote string, by int, commits ...object.OID) error {
	args := append(FetchArgs(), "--refmap=", "--deepen="+strconv.Itoa(by), "--", remote)
	for _, c := range commits {
		args = append(args, string(c))
	}
	return fetchInto(ctx, r, remote, args)
}
