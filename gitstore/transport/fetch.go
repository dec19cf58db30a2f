// Fetching from a remote into tracking refs.

package transport

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// FetchRuns fetches records, then the remote's other refspecs: the commits that records name were pushed before
// them, and the many records are not requested again. Everything goes into tracking refs, and git checks every
// object. Tracking refs of records that are gone on the remote are removed here as well.
func FetchRuns(ctx context.Context, r *git.Repository, remote string, others []string) error {
	ctx, stop := transferring(ctx)
	defer stop()
	defer r.ForgetRefs()
	if fetchListed(ctx, r, remote, others) {
		return nil
	}
	fetches := [][]string{append(append(fetchWhole(ctx, r, remote), "--prune", "--", remote), runRefspecs(remote)...)}
	if len(others) > 0 {
		fetches = append(fetches, append(append(FetchArgs(), "--", remote), others...))
	}
	var err error
	for range 4 {
		if err = r.Fetch(ctx, r.Git.Transport(), remote, nil, fetches...); err == nil {
			return nil
		}
		// The person's own git is fetching at the same time.
		if !strings.Contains(git.ComplaintOf(err), "cannot lock ref") || Backoff(ctx, 3) != nil {
			break
		}
	}
	return unreachable(ctx, r, remote, err)
}

// FetchArgs returns the arguments of a fetch that moves only the refs it names and checks every object.
func FetchArgs() []string {
	return []string{"-c", "fetch.fsckObjects=true", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules"}
}

// fetchWhole is FetchArgs for records. A partial clone would later fetch their objects one by one.
func fetchWhole(ctx context.Context, r *git.Repository, remote string) []string {
	args := FetchArgs()
	if partial(ctx, r, remote) {
		args = append(args, "--no-filter")
	}
	return args
}

// partial reports whether a partial clone fetches its objects from a remote.
func partial(ctx context.Context, r *git.Repository, remote string) bool {
	return r.Setting(ctx, "remote."+remote+".promisor") == "true"
}

// FetchKept is Fetch for kept parts of records.
func FetchKept(ctx context.Context, r *git.Repository, remote, prune, what string) error {
	return fetch(ctx, r, remote, append(fetchWhole(ctx, r, remote), prune), what)
}

// Fetch fetches a refspec or an object id, and nothing else. With --prune it removes names that the remote no
// longer has.
func Fetch(ctx context.Context, r *git.Repository, remote, prune, what string) error {
	return fetch(ctx, r, remote, append(FetchArgs(), prune), what)
}

func fetch(ctx context.Context, r *git.Repository, remote string, args []string, what string) error {
	ctx, stop := transferring(ctx)
	defer stop()
	defer r.ForgetRefs()
	return r.Fetch(ctx, r.Git.Transport(), remote, nil, append(args, "--", remote, what))
}

// fetchInto runs a fetch; a failure whose message contains one of fine is not an error.
func fetchInto(ctx context.Context, r *git.Repository, remote string, args []string, fine ...string) error {
	ctx, stop := transferring(ctx)
	defer stop()
	defer r.ForgetRefs()
	err := r.Fetch(ctx, r.Git.Transport(), remote, nil, args)
	if err == nil {
		return nil
	}
	for _, said := range fine {
		if strings.Contains(git.ComplaintOf(err), said) {
			return nil
		}
	}
	return unreachable(ctx, r, remote, err)
}

// unreachable returns the error for a failed fetch, distinguishing local failures from the remote's.
func unreachable(ctx context.Context, r *git.Repository, remote string, err error) error {
	if Interrupted(ctx, err) || fail.CodeOf(err) == fail.CodeUnreadable || fail.CodeOf(err) == fail.CodeFetchTooLarge {
		return err
	}
	if refs, listed := r.ListRefs(ctx, git.RunRefPrefix); listed == nil { // a broken ref stops git's fetch
		for _, ref := range refs {
			if ref.Broken {
				return git.Broken(ref.Name)
			}
		}
	}
	said := Complaint(err)
	if ref := refusedRef(ctx, r, remote, said); ref != "" {
		return fail.Errorf(CodeRemoteFailed, nil, "%s could not be fetched: git refuses what %s is there: %s", remote,
			text.OneLine(ref), said).
			WithHint("the person who pushed it, or the administrator of the server, has to remove it: git push %s --delete %s. Until then nothing of %s can be fetched; nothing here has changed",
				remote, wire.ShellWord(ref), remote)
	}
	return fail.Errorf(CodeRemoteFailed, nil, "%s could not be fetched: %s", remote, said).
		WithHint("%s; nothing here has changed", orPatience(ctx, err, remote, "git fetch "+remote+" shows more"))
}

// refusedRef returns the ref of the remote whose object git refused, "" for none.
func refusedRef(ctx context.Context, r *git.Repository, remote, said string) string {
	_, rest, _ := strings.Cut(said, "object ")
	id, _, _ := strings.Cut(rest, ": ")
	if !object.OID(id).Valid(r.ObjectFormat) || !strings.Contains(said, "fsck error") {
		return ""
	}
	refs, err := List(ctx, r.Git.Transport(), r.ObjectFormat, remote)
	if err != nil {
		return ""
	}
	for _, ref := range refs {
		if string(ref.OID) == id {
			return ref.Name
		}
	}
	return ""
}
