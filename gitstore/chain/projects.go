// Where the governed projects of a repository are in a commit.

package chain

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ProjectsIn returns the directories of the governed projects in a commit, each "" or with a slash at its end. Files
// there say who may sign.
func ProjectsIn(ctx context.Context, repo *git.Repository, rev string) (dirs []string) {
	out, err := repo.Git.Run(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", "--name-only", rev)
	if err != nil {
		return nil // no commit yet
	}
	return ConfigDirs(out)
}

// ConfigDirs returns the directories of the configurations among names that end in NUL, each once. Those nearer the top
// come first: what a turn writes is below its project, and must not take that project's place by having its id.
func ConfigDirs(names []byte) (dirs []string) {
	for _, name := range git.NulNames(names) {
		if dir, base := path.Split(name); base == wire.ConfigPath && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.SortStableFunc(dirs, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return dirs
}

// ProjectIn returns the id of the project that a commit has in a directory, "" for none.
func ProjectIn(ctx context.Context, repo *git.Repository, rev, dir string) string {
	data, _ := repo.Git.Run(ctx, nil, "cat-file", "blob", rev+":"+dir+wire.ConfigPath) // there may be no commit yet
	return ProjectOf(data)
}

// ProjectOf returns the id in a configuration, "" where it cannot be read.
func ProjectOf(data []byte) string {
	if cfg, _, err := config.Decode(data); err == nil && cfg != nil {
		return cfg.Project.ID
	}
	return ""
}

// ProjectDirs finds the directories of a commit's governed projects by their ids.
type ProjectDirs struct {
	repo *git.Repository
	rev  string
	dirs map[string]string
	all  bool // not only that of the repository's own directory
}

// NewProjectDirs returns the directories of the projects that a commit has.
func NewProjectDirs(repo *git.Repository, rev string) *ProjectDirs {
	return &ProjectDirs{repo: repo, rev: rev, dirs: make(map[string]string)}
}

// Of returns the directory of a project, "" or with a slash at its end. Of several with one id, it is that of the
// repository's own directory.
func (p *ProjectDirs) Of(ctx context.Context, id string) (dir string, known bool) {
	if len(p.dirs) == 0 {
		p.add(ctx, p.repo.Prefix)
	}
	if dir, known = p.dirs[id]; known || p.all {
		return dir, known
	}
	p.all = true
	for _, dir := range ProjectsIn(ctx, p.repo, p.rev) {
		p.add(ctx, dir)
	}
	dir, known = p.dirs[id]
	return dir, known
}

func (p *ProjectDirs) add(ctx context.Context, dir string) {
	id := ProjectIn(ctx, p.repo, p.rev, dir)
	if _, known := p.dirs[id]; !known && id != "" {
		p.dirs[id] = dir
	}
}

// ProjectDirAt returns where a commit has the project that is in dir now, as a project may have been moved: dir if the
// project there has the id, else a directory whose project has it, else dir.
func ProjectDirAt(ctx context.Context, repo *git.Repository, commit object.OID, id, dir string) string {
	if id == "" {
		return dir
	}
	if data, _, err := FileAt(ctx, repo, commit, dir+wire.ConfigPath); err != nil || ProjectOf(data) == id {
		return dir // a commit that is not here is told of by what reads it
	}
	for _, other := range ProjectsIn(ctx, repo, string(commit)) {
		if data, _, err := FileAt(ctx, repo, commit, other+wire.ConfigPath); err == nil && ProjectOf(data) == id {
			return other
		}
	}
	return dir
}
