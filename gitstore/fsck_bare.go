// Fsck of a repository without a work tree: what lies on a server.

package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpenBare opens the runs that lie in the repository around dir, which may have no work tree, and those
// its archive keeps. The store is for checks: no file is looked at. Close it.
func OpenBare(ctx context.Context, dir string) (*Store, error) {
	repo, err := git.DiscoverBare(ctx, dir)
	if err != nil {
		return nil, err
	}
	if repo.Prefix == "" {
		repo.Prefix = projectPrefix(ctx, repo)
	}
	return &Store{repo: repo, objects: repo.Objects(), prefix: repo.Prefix}, nil
}

// OpenChecked is Open, or OpenBare where there is no work tree.
func OpenChecked(ctx context.Context, dir string) (*Store, error) {
	s, err := Open(ctx, dir, Options{})
	if git.CodeOf(err) == git.CodeBareRepository {
		return OpenBare(ctx, dir)
	}
	return s, err
}

// projectID is the id that the configuration names, "" when it cannot be told. Without a work tree it is
// that of the commit that is checked out in clones.
func (s *Store) projectID(ctx context.Context) string {
	var data []byte
	if s.work != nil {
		data, _ = s.ReadConfig()
	} else {
		data, _ = s.repo.Git.Run(ctx, nil, "cat-file", "blob", "HEAD:"+s.prefix+wire.ConfigPath) // no commit yet
	}
	if cfg, _, err := config.Decode(data); err == nil && cfg != nil {
		return cfg.Project.ID
	}
	return ""
}

// bare reports a check without a work tree.
func (f *fsck) bare() bool { return f.s.work == nil }

// inClone says of a command that needs a work tree where it is run.
func (f *fsck) inClone(command string) string {
	if f.bare() {
		return "in a clone: " + command
	}
	return command
}

// projectPrefix is the directory of the only governed project that HEAD holds; "" where it is the root,
// or cannot be told. Who may sign is in files there.
func projectPrefix(ctx context.Context, repo *git.Repository) string {
	out, err := repo.Git.Run(ctx, nil, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--")
	if err != nil {
		return "" // no commit yet
	}
	var dirs []string
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if dir, base := path.Split(string(name)); base == wire.ConfigPath {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) != 1 {
		return ""
	}
	return dirs[0]
}

// withKept adds the archived runs that a server keeps to those that are here under names of their own.
func (f *fsck) withKept(past map[string]git.OID) error {
	list, err := archive.ReadAll(f.ctx, f.s.repo, archive.KeepPrefix)
	if err != nil {
		return f.fault("", "", err)
	}
	live, err := f.s.repo.Tips(f.ctx, git.RunRefPrefix)
	if err != nil {
		return err
	}
	for run, e := range list {
		if live[run] == "" && past[run] == "" {
			past[run] = git.OID(e.Op)
		}
	}
	return nil
}

// unkept finds archived runs that the server lists and does not keep.
func (f *fsck) unkept(list archive.List, have []git.Ref) {
	here := make(map[string]bool, len(have))
	for _, ref := range have {
		here[strings.TrimPrefix(ref.Name, git.RunRefPrefix)] = true
	}
	for _, run := range slices.Sorted(maps.Keys(list)) {
		if e := list.Archived(run); e != nil && !here[run] {
			f.absent(run, fmt.Sprintf("run %s is archived at operation %s, and this repository does not keep it", run, git.OID(e.Op).Short()))
		}
	}
}

// goBack is the command that takes a run of a server back to the last operation that holds, and keeps
// what it drops.
func goBack(run string, good, tip git.OID) string {
	ref := git.RunRefPrefix + run
	return "git update-ref " + record.LostRefPrefix + run + "/" + string(tip) + " " + ref + " && git update-ref " + ref + " " + string(good)
}
