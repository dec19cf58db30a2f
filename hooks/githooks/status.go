// Checks that the installed guards still run.

package githooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// GuardState is the state of one hook.
type GuardState struct {
	Name    string
	Live    bool
	Why     string // why it is silent
	Path    string // path of the script
	Chained string // the hook that runs before it, "" for none
}

// Standing is the state of all guards of a repository.
type Standing struct {
	Installed bool
	Others    []string // not for this project: prefixes of those that the guards judge, "" or ending in "/"
	Gone      []string // prefixes of those that the guards judge and that are not in what is checked out
	Way       string
	Binary    string
	Guards    []GuardState
}

// InstallCommand returns the command that installs the guards in such a repository.
func InstallCommand(repo *git.Repository) string {
	if repo.TopLevel == "" {
		return "git agentxchain hooks install --server"
	}
	return "git agentxchain hooks install"
}

// Silent returns the guards that are installed but do not run.
func (s *Standing) Silent() []GuardState {
	var out []GuardState
	for _, g := range s.Guards {
		if !g.Live {
			out = append(out, g)
		}
	}
	return out
}

// Check checks each guard. Without an installation for the project around it does not run git.
func Check(ctx context.Context, repo *git.Repository) (*Standing, error) {
	rec, err := loadRecord(repo.CommonDir)
	if err != nil || rec == nil {
		return &Standing{}, err
	}
	if project, ok := projectAround(repo); ok && !rec.guards(project) {
		return &Standing{Others: rec.guarded(), Gone: gone(ctx, repo, rec)}, nil
	}
	list, err := settings(ctx, repo)
	if err != nil {
		return nil, err
	}
	st := &Standing{Installed: true, Way: rec.Way, Binary: rec.Binary, Gone: gone(ctx, repo, rec)}
	behind := leftBehind(rec, repo.CommonDir)
	for _, name := range rec.Names {
		g := guard(rec, list, repo.TopLevel, name)
		if g.Live && behind {
			g.Live, g.Why = false, "the checkout was moved, and in its linked work trees core.hooksPath leads nowhere"
		}
		st.Guards = append(st.Guards, g)
	}
	return st, nil
}

// gone returns the prefixes of guarded projects that are neither in the work tree nor in the index, as after a move.
// In a branch that never had one it is nothing to correct.
func gone(ctx context.Context, repo *git.Repository, rec *installation) (prefixes []string) {
	if repo.TopLevel == "" {
		return nil
	}
	for _, prefix := range rec.guarded() {
		name := prefix + wire.ConfigPath
		if _, err := os.Lstat(filepath.Join(repo.TopLevel, filepath.FromSlash(name))); err == nil {
			continue
		}
		out, err := repo.Git.In(repo.TopLevel).Run(ctx, nil, "ls-files", "-z", "--cached", "--", name)
		if err == nil && len(out) == 0 {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// GoneText says what it means that a guarded project is gone, and what to do about it.
func GoneText(prefix string) string {
	dir := strings.TrimSuffix(prefix, "/")
	return fmt.Sprintf("the guards judge a project in %s, and there is none in what is checked out; if it was moved or "+
		"given up, in the top directory: git agentxchain hooks uninstall %s",
		cmp.Or(text.OneLine(prefix), "the top directory"), wire.ShellWord(cmp.Or(dir, ".")))
}

// leftBehind reports whether the checkout was moved since the installation and has linked work trees:
// core.hooksPath is then relative to the top of the checkout, and absolute only for a repository that was not
// moved.
func leftBehind(rec *installation, commonDir string) bool {
	if rec.Way != WayRedirect || len(rec.Anchors) == 0 || slices.Equal(rec.Anchors, anchors(commonDir)) {
		return false
	}
	linked, err := os.ReadDir(filepath.Join(commonDir, "worktrees"))
	return err == nil && len(linked) > 0
}

func guard(rec *installation, list []setting, top, name string) GuardState {
	g := GuardState{Name: name, Path: filepath.Join(rec.Dir, name)}
	silent := func(why string) GuardState { g.Why = why; return g }

	text, err := os.ReadFile(g.Path)
	if under := text; err == nil && movedByPreCommit(g.Path, &under) {
		g.Chained, text = g.Path, under
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return silent("the script is gone")
	case err != nil:
		return silent("the script cannot be read")
	case !ours(text):
		return silent("another hook was put over it")
	case !executable(g.Path):
		return silent("the script is not executable")
	}
	s := script{Name: name}.parse(text)
	if next := s.chained(rec.Dir); next != "" {
		if _, err := os.Stat(next); err == nil {
			g.Chained = next
		} else if _, err := os.Lstat(next); err != nil && s.Must {
			return silent("the hook it has to run first is gone: " + next)
		}
	}
	dir, set := last(list, "core.hookspath")
	if set && !filepath.IsAbs(dir) && top != "" {
		dir = filepath.Join(top, dir)
	}
	switch rec.Way {
	case WayConfig:
		if v, ok := last(list, hookKey(name, "command")); !ok || !startsHook(v, g.Path) {
			return silent("git's configuration no longer names it")
		}
		if v, ok := last(list, hookKey(name, "event")); !ok || v != name {
			return silent("git's configuration no longer starts it for " + name)
		}
		for _, key := range []string{hookKey(name, "enabled"), "hook." + name + ".enabled"} {
			if v, ok := last(list, key); ok && isFalse(v) {
				return silent(key + " is " + v)
			}
		}
	case WayRedirect:
		if !set || !samePath(dir, rec.Dir) {
			return silent("core.hooksPath no longer leads to it")
		}
	case WayDirectory:
		if set && !samePath(dir, rec.Dir) {
			return silent("core.hooksPath leads git to " + dir)
		}
	}
	if !executable(s.Binary) {
		return silent("the program it starts is gone: " + s.Binary)
	}
	g.Live = true
	return g
}

// movedByPreCommit reports whether the pre-commit framework has put its hook at path and runs ours, whose text it
// returns, under the name to which it moved it. A hook that would run the framework again is not run.
func movedByPreCommit(path string, text *[]byte) bool {
	if !strings.Contains(string(*text), "generated by pre-commit") {
		return false
	}
	legacy, err := os.ReadFile(path + ".legacy")
	if err != nil || !ours(legacy) || !executable(path+".legacy") || (script{}).parse(legacy).chained(".") != "" {
		return false
	}
	*text = legacy
	return true
}

// isFalse reads a boolean as git does.
func isFalse(v string) bool {
	switch v {
	case "false", "no", "off", "0", "False", "No", "Off", "FALSE", "NO", "OFF":
		return true
	}
	return false
}
