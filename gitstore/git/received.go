// Limits on what a git writes when a remote sends: an endless server would fill the disk.

package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// FetchLimitSetting is the setting for the size of a fetched pack, in git's notation (500m, 20g); 0 for no limit.
const FetchLimitSetting = "agentxchain.fetchLimit"

// DefaultFetchLimit applies when nothing is set. Clones only exchange what was added since the last time.
const DefaultFetchLimit = 4 << 30

// fetchLimit returns the largest size of a pack, 0 for no limit.
func (r *Repository) fetchLimit(ctx context.Context) int64 {
	if r.Setting(ctx, FetchLimitSetting) == "" {
		return DefaultFetchLimit // without a process to find out
	}
	out, err := r.Git.Run(ctx, nil, "config", "--type=int", "--get", FetchLimitSetting)
	if err != nil {
		return DefaultFetchLimit
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil || n < 0 {
		return DefaultFetchLimit
	}
	return n
}

// writing returns a git that writes no file larger than limit bytes, and neither do its children. 0 means no limit.
func (g *Git) writing(limit int64) *Git {
	c := g.In(g.Dir)
	c.maxFile = limit
	return c
}

// unfinishedPacks returns the packs being written.
func (r *Repository) unfinishedPacks() []string {
	names, _ := filepath.Glob(filepath.Join(r.ObjectsDir, "pack", "tmp_pack_*"))
	return names
}

// endFetch cleans up after a fetch that failed with err, and explains the error where it reached the limit. before
// lists the packs that were unfinished when it began: they stay, and so do all packs if another git may be at work.
func (r *Repository) endFetch(err error, remote string, limit int64, before []string) error {
	met := limit > 0 && fileLimitMet(ComplaintOf(err))
	left := slices.DeleteFunc(r.unfinishedPacks(), func(name string) bool { return slices.Contains(before, name) })
	for _, name := range left {
		fi, serr := os.Stat(name)
		met = met || limit > 0 && serr == nil && fi.Size() == limit
	}
	if len(left) > 0 {
		if busy, known := gitAtWork(r.mayHold); known && busy == 0 {
			for _, name := range left {
				_ = os.Remove(name) // git would, when it is two weeks old
			}
		}
	}
	if !met {
		return err
	}
	from, fetch := "the remote", "git fetch"
	if remote != "" {
		from, fetch = remote, "git fetch "+remote
	}
	return fail.Errorf(fail.CodeFetchTooLarge, nil, "%s sent more than %d MiB at once, and the fetch was stopped", from,
		max(1, limit>>20)).
		WithHint("if that is what it should send, %s fetches it; git config %s 20g lets this program take as much; nothing here has changed",
			fetch, FetchLimitSetting)
}
