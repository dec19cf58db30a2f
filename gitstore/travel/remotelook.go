// What a remote has, fetched into a quarantine: none of the person's refs move.

package travel

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
)

// remoteLook asks a remote for its runs, and fetches what a comparison needs.
type remoteLook struct {
	repo       *git.Repository
	remote     string
	quarantine *git.Quarantine
	partial    bool // this clone is partial and leaves objects on the remote

	tips  map[string]object.OID // run -> newest operation
	lists map[string]object.OID // year -> list of archived runs
	kept  map[string]object.OID // year -> commit that keeps the operations
}

// lookAt prepares a look at a remote, "" for the one that PickRemote picks. The caller closes its quarantine.
func lookAt(ctx context.Context, repo *git.Repository, remote string) (*remoteLook, error) {
	remote, err := transport.PickRemote(ctx, repo, remote)
	if err != nil {
		return nil, err
	}
	if err := transport.ValidName(remote); err != nil {
		return nil, err
	}
	quarantine, err := repo.Quarantine(ctx)
	if err != nil {
		return nil, err
	}
	return &remoteLook{repo: repo, remote: remote, quarantine: quarantine}, nil
}

// ask lists the refs of the remote and fetches those whose objects are not here.
func (f *remoteLook) ask(ctx context.Context) error {
	refs, err := f.listed(ctx, git.RunRefPrefix, archive.ListPrefix, archive.KeepPrefix)
	if err != nil {
		return err
	}
	f.tips, f.lists, f.kept = make(map[string]object.OID), make(map[string]object.OID), make(map[string]object.OID)
	lacks, err := f.lacking(ctx)
	if err != nil {
		return err
	}
	var want []string
	for _, ref := range refs {
		into := f.tips
		rest, found := strings.CutPrefix(ref.Name, git.RunRefPrefix)
		if !found {
			into = f.lists
			if rest, found = strings.CutPrefix(ref.Name, archive.ListPrefix); !found {
				rest, into = strings.TrimPrefix(ref.Name, archive.KeepPrefix), f.kept
			}
		}
		into[rest] = ref.OID
		// The commit that keeps an archive reaches all of it.
		if !strings.HasPrefix(ref.Name, archive.KeepPrefix) && lacks(ref.OID) {
			want = append(want, ref.Name)
		}
	}
	return f.fetch(ctx, want)
}

// listed returns the refs of the remote below the prefixes.
func (f *remoteLook) listed(ctx context.Context, prefixes ...string) ([]git.Ref, error) {
	refs, err := transport.List(ctx, f.quarantine.Transport(f.repo), f.repo.ObjectFormat, f.remote, prefixes...)
	if err != nil {
		return nil, f.failed(ctx, err)
	}
	return refs, nil
}

// lacking returns a function that reports whether a commit is missing here. It also finds out whether the clone is
// partial.
func (f *remoteLook) lacking(ctx context.Context) (func(object.OID) bool, error) {
	f.partial = f.repo.Setting(ctx, "remote."+f.remote+".promisor") == "true"
	if !f.partial {
		return func(tip object.OID) bool { return !f.repo.HasCommit(ctx, tip) }, nil
	}
	// Asking git for a commit would fetch it, without anything it reaches.
	refs, err := f.repo.Tips(ctx, "refs/")
	if err != nil {
		return nil, err
	}
	have := make(map[object.OID]bool, len(refs))
	for _, tip := range refs {
		have[tip] = true
	}
	return func(tip object.OID) bool { return !have[tip] }, nil
}

// fetch fetches refs or object ids into the quarantine.
func (f *remoteLook) fetch(ctx context.Context, want []string) error {
	if len(want) == 0 {
		return nil
	}
	ctx, stop := transport.Within(ctx, transport.TransferLimit)
	defer stop()
	// Without --refmap git would also move the tracking refs.
	args := append(transport.FetchArgs(), "--refmap=", "--no-prune", "--stdin")
	if f.partial {
		// Missing objects cannot be fetched later: fetch everything to be compared, by not telling the remote what
		// is here. (--refetch does the same, from git 2.36 on.)
		args = append([]string{"-c", "fetch.negotiationAlgorithm=noop"}, append(args, "--no-filter")...)
	}
	if _, err := f.quarantine.Transport(f.repo).Run(ctx, []byte(strings.Join(want, "\n")+"\n"),
		append(args, "--", f.remote)...); err != nil {
		return f.failed(ctx, err)
	}
	return nil
}

func (f *remoteLook) failed(ctx context.Context, err error) error {
	if transport.Interrupted(ctx, err) {
		return err
	}
	return fail.Errorf(transport.CodeRemoteFailed, nil, "%s could not be asked: %s", f.remote,
		transport.Complaint(err)).
		WithHint("git ls-remote %s shows more", f.remote)
}

// archived adds the runs in the remote's archive, and compares its lists with those seen there before.
func (f *remoteLook) archived(ctx context.Context, c *against) error {
	seen, err := archive.Years(ctx, f.repo, record.SeenRefPrefix+f.remote+"/archive-list/")
	if err != nil {
		return err
	}
	for _, year := range slices.Sorted(maps.Keys(seen)) {
		on := seen[year] == f.lists[year]
		if !on && f.lists[year] != "" {
			if on, err = history.Ancestor(ctx, c.q, seen[year], f.lists[year]); err != nil {
				return err
			}
		}
		if !on {
			c.out.Lost = append(c.out.Lost,
				"the list of archived runs of "+year+" went back or was rewritten; it was at "+seen[year].Short())
		}
	}
	for _, year := range slices.Sorted(maps.Keys(f.lists)) {
		list, err := archive.Read(ctx, c.q, f.lists[year])
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			c.out.Lost = append(c.out.Lost, "the list of archived runs of "+year+" cannot be read")
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(list)) {
			e := list.Archived(name)
			if e == nil || f.tips[name] != "" {
				continue
			}
			op := object.OID(e.Op)
			f.tips[name] = op
			if f.kept[year] == "" {
				c.out.Lost = append(c.out.Lost, "run "+name+" is in the list of "+year+", and "+archive.KeepPrefix+
					year+", which keeps its operations, is gone")
			} else if op != c.here[name] && !c.q.HasCommit(ctx, op) {
				if err := f.fetch(ctx, []string{e.Op}); err != nil &&
					f.fetch(ctx, []string{archive.KeepPrefix + year}) != nil {
					return err
				}
			}
		}
	}
	return nil
}
