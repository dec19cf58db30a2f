// A sibling: another clone that is read from its files alone, because nothing in it may run and nothing it says may
// lead elsewhere.

package sibling

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
)

// CodeGitDirElsewhere means that a clone's .git leads to a repository that does not itself say that it belongs to
// that clone.
const CodeGitDirElsewhere = "git_dir_elsewhere"

// Clone is another clone, opened for reading. No git process is started for it, and none of its hooks, filters,
// monitors, helpers, includes, replacements or alternates has any effect. It is not safe for concurrent use.
type Clone struct {
	Dir  string          // the project directory without links
	Repo *git.Repository // without a GitDir outside any repository; its objects are read from files
	Work *workdir.Dir    // the working files

	git *workdir.Dir // the common git directory; nil when the project is in no repository
}

// Open opens the project at dir. It may be below the root of its work tree, or in no repository at all: then it has
// only working files. Close it after use.
//
// Errors: unreadable_file, dubious_ownership, git_dir_elsewhere, unsupported_repository_format.
func Open(ctx context.Context, dir string, trust *Trust) (*Clone, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the directory %s cannot be entered", dir)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the directory %s cannot be entered", abs)
	}
	// An accidental use of git fails instead of running.
	repo := &git.Repository{
		ProjectDir:   abs,
		Git:          &git.Git{BinErr: errors.New("another clone is only read")},
		ObjectFormat: object.FormatSHA1,
		RefFormat:    "files",
	}
	x := &Clone{Dir: abs, Repo: repo, Work: &workdir.Dir{Path: abs, Root: root}}
	if err := x.locate(ctx, trust); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// Close releases the files.
func (x *Clone) Close() error {
	err := x.Work.Root.Close()
	if x.git != nil {
		err = errors.Join(err, x.git.Root.Close(), x.Repo.Close())
	}
	return err
}

// Bare reports whether the directory is a repository itself, and no project.
func (x *Clone) Bare() bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := x.Work.Root.Lstat(name); err != nil {
			return false
		}
	}
	_, err := x.Work.Root.Lstat(".git")
	return err != nil
}

// locate finds the repository as git would, and refuses one that is not the
// clone's own.
func (x *Clone) locate(ctx context.Context, trust *Trust) error {
	top := x.Dir
	for {
		fi, err := os.Lstat(filepath.Join(top, ".git"))
		if err == nil {
			return x.enter(ctx, trust, top, fi)
		}
		up := filepath.Dir(top)
		if up == top {
			return trust.allow(ctx, x.Dir, x.Dir)
		}
		top = up
	}
}

// enter opens the repository whose .git is at top.
func (x *Clone) enter(ctx context.Context, trust *Trust, top string, fi fs.FileInfo) error {
	dotGit := filepath.Join(top, ".git")
	elsewhere := func(format string, args ...any) error {
		return fail.Errorf(CodeGitDirElsewhere, nil, "%s "+format, append([]any{dotGit}, args...)...).
			WithHint("look at what it is; a clone or a linked work tree made by git is accepted")
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return elsewhere("is a symbolic link")
	}
	gitDir := dotGit
	if !fi.IsDir() {
		target, err := pointer(top, ".git", "gitdir: ")
		if err != nil {
			return elsewhere("does not name a repository")
		}
		gitDir = target
	}
	// Ownership first: another user's repository is not believed.
	if err := trust.allow(ctx, top, x.Dir, top, dotGit, gitDir); err != nil {
		return err
	}
	common := gitDir
	if target, err := pointer(gitDir, "commondir", ""); err == nil {
		back, err := pointer(gitDir, "gitdir", "")
		if fi.IsDir() || err != nil || back != dotGit || filepath.Dir(filepath.Dir(gitDir)) != target {
			return elsewhere("leads to the repository %s, which is not its own", target)
		}
		common = target
	}
	root, err := os.OpenRoot(common)
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the repository of %s cannot be entered", x.Dir)
	}
	x.git = &workdir.Dir{Path: common, Root: root}
	cfg, err := x.config("config")
	if err != nil {
		return err
	}
	if cfg["extensions.worktreeconfig"] == "true" && gitDir == common {
		more, err := x.config("config.worktree")
		if err != nil {
			return err
		}
		if v, ok := more["core.worktree"]; ok {
			cfg["core.worktree"] = v
		}
	}
	if v, ok := cfg["core.worktree"]; ok && gitDir == common {
		if !filepath.IsAbs(v) {
			v = filepath.Join(gitDir, v)
		}
		if git.RealOr(v) != top {
			return elsewhere("is the repository of the work tree %s", v)
		}
	} else if !fi.IsDir() && gitDir == common {
		return elsewhere("leads to the repository %s, which does not lead back", gitDir)
	}
	objects, ref, err := cfg.format()
	if err != nil {
		return fail.Errorf(fail.CodeUnsupportedFormat, err, "the repository of %s has an unknown format",
			x.Dir)
	}
	r := x.Repo
	r.TopLevel, r.GitDir, r.CommonDir, r.ObjectsDir = top, gitDir, common, filepath.Join(common, "objects")
	r.ObjectFormat, r.RefFormat = objects, ref
	if rel, err := filepath.Rel(top, x.Dir); err == nil && rel != "." {
		r.Prefix = filepath.ToSlash(rel) + "/"
	}
	r.ObjectsOnce.Do(func() { r.ObjectStore = newObjects(objects, r.ObjectsDir, x.open) })
	return nil
}

// config reads a configuration file of the repository; an absent one is empty.
func (x *Clone) config(name string) (gitConfig, error) {
	data, _, _, err := x.git.Read(name, git.MaxGitConfig)
	if err == nil {
		var cfg gitConfig
		if cfg, err = parseGitConfig(data); err == nil {
			return cfg, nil
		}
	}
	return nil, fail.Errorf(fail.CodeUnsupportedFormat, err, "the repository's %s of %s cannot be read", name, x.Dir)
}

// open opens a file or directory of the repository by its absolute path, never one outside it.
func (x *Clone) open(name string) (*os.File, error) {
	rel, err := filepath.Rel(x.git.Path, name)
	if err != nil {
		return nil, err
	}
	f, err := x.git.Root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() && !fi.IsDir() {
		_ = f.Close()
		return nil, errors.Join(err, &git.NotRegularError{Path: rel})
	}
	return f, nil
}

// pointer reads a file of dir that names a path after prefix, relative to dir or
// absolute, and returns the path without links.
func pointer(dir, name, prefix string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	data, _, ok, err := (&workdir.Dir{Path: dir, Root: root}).Read(name, git.MaxPointer)
	if err != nil || !ok {
		return "", errors.Join(err, fs.ErrNotExist)
	}
	target, ok := strings.CutPrefix(string(bytes.TrimRight(data, "\r\n")), prefix)
	if !ok || target == "" || strings.ContainsRune(target, 0) {
		return "", fs.ErrInvalid
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	// The last part may be the file .git itself, which is not a link.
	return filepath.EvalSymlinks(target)
}

// Config returns the bytes of the project's configuration. Like the store it follows a link, but only inside the
// project.
func (x *Clone) Config() ([]byte, error) {
	return x.Work.Config()
}
