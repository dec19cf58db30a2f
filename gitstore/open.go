// Finding the governed project around a directory.

package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Open opens the run store of the project around dir: the nearest directory at or above it, inside the same work
// tree, that holds agentxchain.json. It takes no lock, reads nothing of the run, and starts one git process.
//
// Errors: not_a_project, and those of Discover.
func Open(ctx context.Context, dir string, opts Options) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the directory %s cannot be entered", dir)
	}
	root := findProject(abs)
	if root == "" {
		root = abs
	}
	repo, err := git.Discover(ctx, root)
	if err != nil {
		return nil, err
	}
	// Above the work tree's root is another work tree, and a link may have led out of this one.
	if !hasConfig(repo.ProjectDir) || !git.Within(repo.TopLevel, repo.ProjectDir) {
		defer func() { _ = repo.Close() }()
		if gone, hint := missingConfig(ctx, repo); gone != "" {
			return nil, fail.Errorf(CodeNotProject, nil, "%s is not in the work tree, and git has it", gone).
				WithHint("%s", hint)
		}
		if _, err := os.Lstat(filepath.Join(abs, initiative.ConfigFile)); err == nil {
			return nil, fail.Errorf(CodeNotProject, nil, "%s is the workspace of an initiative, not a governed project",
				abs).WithHint("git agentxchain multi status; its gates: git agentxchain multi approve-gate --show; its hooks: " +
				"git agentxchain multi hooks; for a run, change to its repository")
		}
		if branch := configBranch(ctx, repo); branch != "" {
			return nil, fail.Errorf(CodeNotProject, nil, "there is no %s in %s or above it on this branch, and branch %s has it",
				wire.ConfigPath, abs, branch).WithHint("git switch %s", wire.ShellWord(branch))
		}
		if dirs := chain.ProjectsIn(ctx, repo, "HEAD"); len(dirs) > 0 && !slices.Contains(dirs, "") {
			return nil, besideProjects(repo, abs, dirs)
		}
		return nil, fail.Errorf(CodeNotProject, nil, "there is no %s in %s or above it in this repository",
			wire.ConfigPath, abs).
			WithHint("git agentxchain init")
	}
	return newStore(repo, opts)
}

// configNames returns the possible paths of a configuration at and above the directory of repo, nearest first.
func configNames(repo *git.Repository) (names []string) {
	for up := ""; strings.Count(up, "/") <= strings.Count(repo.Prefix, "/"); up += "../" {
		names = append(names, up+wire.ConfigPath)
	}
	return names
}

// maxBranches is how many branches are searched for a configuration, those with the newest commits.
const maxBranches = 200

// configBranch returns a branch, here or of a remote, that has a configuration at or above the directory of repo, ""
// for none. On an older branch, init would begin another project.
func configBranch(ctx context.Context, repo *git.Repository) string {
	out, err := repo.Git.Run(ctx, nil, "for-each-ref", "--sort=-committerdate", "--format=%(refname)",
		"refs/heads/", transport.TrackingRefs)
	if err != nil {
		return ""
	}
	branches := slices.DeleteFunc(strings.Fields(string(out)), func(ref string) bool {
		// Another's name; a record that was fetched, which has a configuration and is no branch.
		return strings.HasPrefix(ref, transport.TrackingRefs) && strings.HasSuffix(ref, "/HEAD") || transport.IsTracking(ref)
	})
	branches = branches[:min(len(branches), maxBranches)]
	for _, name := range configNames(repo) {
		at := path.Join(repo.Prefix, name)
		if strings.Contains(at, "\n") {
			continue
		}
		var ask strings.Builder
		for _, b := range branches {
			ask.WriteString(b + ":" + at + "\n")
		}
		have, err := repo.Git.Run(ctx, []byte(ask.String()), "cat-file", "--batch-check=%(objecttype)")
		if err != nil {
			return ""
		}
		for i, line := range strings.Split(string(have), "\n") {
			if line == "blob" && i < len(branches) {
				return switchName(branches[i])
			}
		}
	}
	return ""
}

// switchName returns the name by which git switch changes to a branch, one of a remote too.
func switchName(ref string) string {
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return name
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(ref, "refs/remotes/"), "/")
	return name
}

// missingConfig returns the configuration at or above the directory of repo that the index has and the work tree
// lacks, deleted or not checked out, named relative to that directory; and how to restore it. A project that lost
// it must not be told to start over.
func missingConfig(ctx context.Context, repo *git.Repository) (name, hint string) {
	names := configNames(repo)
	out, err := repo.Git.Run(ctx, nil, slices.Concat([]string{"ls-files", "-t", "-z", "--cached", "--"}, names)...)
	if err != nil {
		return "", ""
	}
	found := git.NulNames(out)
	for up, name := range names { // the nearest first
		switch {
		case slices.Contains(found, "S "+name): // outside the sparse checkout
			where := path.Join(strings.Split(repo.Prefix, "/")[:strings.Count(repo.Prefix, "/")-up]...)
			if where == "" {
				where = "/" + wire.ConfigPath
			}
			return name, "git sparse-checkout add " + wire.ShellWord(where)
		case slices.Contains(found, "H "+name):
			return name, "git restore " + wire.ShellWord(name)
		}
	}
	return "", ""
}

// OpenAt opens a store on dir itself, even if it is not a project yet: init needs one before agentxchain.json
// exists.
func OpenAt(ctx context.Context, dir string, opts Options) (*Store, error) {
	repo, err := git.Discover(ctx, dir)
	if err != nil {
		return nil, err
	}
	return newStore(repo, opts)
}

// findProject walks up from dir and returns the nearest directory with a configuration, or "". It does not leave
// the work tree it started in: a directory with its own .git is a separate repository.
func findProject(dir string) string {
	for {
		if hasConfig(dir) {
			return dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

func hasConfig(dir string) bool {
	fi, err := os.Stat(filepath.Join(dir, wire.ConfigPath))
	return err == nil && fi.Mode().IsRegular()
}

// exists reports whether a project-relative path exists, whatever it is.
func (s *Store) exists(name string) bool {
	_, err := s.work.Root.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// OpenForeign is OpenAt for a project in a repository other than the one this process was started in: programs that
// its configuration would start are disabled (see sibling.Discover).
func OpenForeign(ctx context.Context, dir string, opts Options) (*Store, error) {
	repo, err := sibling.Discover(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !hasConfig(repo.ProjectDir) {
		_ = repo.Close()
		return nil, fail.Errorf(CodeNotProject, nil, "there is no %s in %s", wire.ConfigPath,
			dir).WithHint("git agentxchain init")
	}
	return newStore(repo, opts)
}
