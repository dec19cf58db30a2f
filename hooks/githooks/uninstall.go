// Uninstalling hooks and restoring the earlier ones.

package githooks

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Uninstall removes the hooks: earlier hooks are restored byte for byte, and so is the configuration unless it has
// changed since. A script that has changed since stays where it is (githooks_foreign). Without an installation it
// does nothing. In one of several guarded projects it leaves the hooks to the others, which are Kept. A dir names the
// directory of the project, from where the command was started; it need not exist any more.
func Uninstall(ctx context.Context, repo *git.Repository, dir string) (*Result, error) {
	rec, err := loadRecord(repo.CommonDir)
	if err != nil || rec == nil {
		return &Result{}, err
	}
	project, inOne := projectAround(repo)
	if dir != "" {
		if project, err = rec.guardedAt(repo, dir); err != nil {
			return nil, err
		}
		inOne = true
	}
	if !inOne || rec.guards(project) && len(rec.Projects) < 2 {
		return uninstall(ctx, repo, rec)
	}
	out := &Result{Dir: rec.Dir, Names: rec.Names, Kept: rec.guarded()}
	if !rec.guards(project) {
		return out, nil
	}
	rec.Projects = slices.DeleteFunc(rec.Projects, func(p string) bool { return p == project })
	if err := rec.save(repo.CommonDir); err != nil {
		return nil, refuse(CodeHooksUnreadable, "the record of the installation cannot be written: %v", err)
	}
	out.Way, out.Kept, out.Changes = rec.Way, rec.guarded(), []Change{{"left out", project}}
	return out, nil
}

func uninstall(ctx context.Context, repo *git.Repository, rec *installation) (*Result, error) {
	u := &uninstaller{repo: repo, rec: rec, out: &Result{Way: rec.Way, Dir: rec.Dir, Names: rec.Names}}
	// Check everything before changing anything.
	if err := u.check(); err != nil {
		return nil, err
	}
	if err := u.configuration(ctx); err != nil {
		return nil, err
	}
	if err := u.files(); err != nil {
		return nil, err
	}
	if err := os.Remove(recordPath(repo.CommonDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(CodeHooksUnreadable, "the record of the installation cannot be removed: %v", err)
	}
	// Only if it is empty: runs keep other things there.
	repo.DropLockNotes()
	_ = os.Remove(filepath.Dir(recordPath(repo.CommonDir)))
	return u.out, nil
}

type uninstaller struct {
	repo *git.Repository
	rec  *installation
	out  *Result
}

func (u *uninstaller) did(what, path string) {
	u.out.Changes = append(u.out.Changes, Change{what, path})
}

// check refuses when a script of ours was edited, or a kept hook cannot be restored.
func (u *uninstaller) check() error {
	for _, name := range u.scripts() {
		path := filepath.Join(u.rec.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		saved, kept := u.rec.Saved[name]
		switch {
		case ours(text):
		case looksLikeOurs(text):
			e := refuse(CodeHooksForeign, "%s was changed since it was installed; it is left as it is", path)
			e.Hint = "remove it yourself, then: git agentxchain hooks uninstall"
			return e
		case kept && !sameContent(path, saved.Path):
			e := refuse(CodeHooksForeign, "another hook was put over %s since; the one that was there before is at %s",
				path, saved.Path)
			e.Hint = "keep the one you want at its place, remove the other, then: git agentxchain hooks uninstall"
			return e
		}
	}
	return nil
}

func sameContent(a, b string) bool {
	one, errOne := os.ReadFile(a)
	two, errTwo := os.ReadFile(b)
	return errOne == nil && errTwo == nil && bytes.Equal(one, two)
}

func (u *uninstaller) scripts() []string {
	names := slices.Clone(u.rec.Names)
	if u.rec.Way == WayRedirect {
		names = append(names, gitNames()...)
	}
	return names
}

// configuration restores the configuration. When other settings have changed since, it removes only ours.
func (u *uninstaller) configuration(ctx context.Context) error {
	path := configFile(u.repo)
	now, err := os.ReadFile(path)
	if err != nil {
		return refuse(CodeHooksUnreadable, "git's configuration of this repository cannot be read: %v", err)
	}
	if wire.SHA256(now) == u.rec.ConfigAfter {
		if string(now) != string(u.rec.ConfigBefore) {
			if err := u.repo.ReplaceConfig(ctx, u.rec.ConfigBefore); err != nil {
				return refuse(CodeHooksUnreadable, "git's configuration of this repository cannot be written: %v", err)
			}
			u.did("restored", path)
		}
		return nil
	}
	list, err := settings(ctx, u.repo)
	if err != nil {
		return err
	}
	for _, key := range u.keys() {
		if !slices.ContainsFunc(list, func(s setting) bool { return s.scope == "local" && s.key == key }) {
			continue
		}
		args := []string{"--unset-all", key}
		if key == "core.hookspath" {
			if v, _ := last(list, key); !leadsTo(u.repo, v, u.rec.Dir) {
				continue // it was pointed elsewhere since
			}
			if u.rec.FormerPath != nil {
				args = []string{"--replace-all", "core.hooksPath", *u.rec.FormerPath}
			}
		}
		if err := u.repo.Configure(ctx, args...); err != nil && git.ExitCode(err) != 5 {
			return err
		}
		u.did("unset", key)
	}
	return nil
}

func (u *uninstaller) keys() []string {
	keys := []string{"merge.agentxchain.name", "merge.agentxchain.driver", "diff.agentxchain.textconv"}
	switch u.rec.Way {
	case WayConfig:
		for _, n := range u.rec.Names {
			keys = append(keys, hookKey(n, "command"), hookKey(n, "event"))
		}
	case WayRedirect:
		for _, a := range u.rec.Anchors {
			keys = append(keys, "includeif."+strings.TrimPrefix(includeKey(a), "includeIf."))
		}
		keys = append(keys, "core.hookspath")
	}
	return keys
}

// files removes our scripts and moves the kept hooks back.
func (u *uninstaller) files() error {
	for _, name := range u.scripts() {
		path := filepath.Join(u.rec.Dir, name)
		if text, err := os.ReadFile(path); err == nil && ours(text) {
			if err := os.Remove(path); err != nil {
				return refuse(CodeHooksUnreadable, "the hook %s cannot be removed: %v", name, err)
			}
			u.did("removed", path)
		}
		if stray := removeStrays(path); stray != "" {
			u.did("removed", stray)
		}
		saved, ok := u.rec.Saved[name]
		if !ok {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			if sameContent(path, saved.Path) && os.Remove(saved.Path) == nil { // a hook manager installed it again
				u.did("removed", saved.Path)
			}
			continue // another program has it now, and check allowed that
		}
		if err := os.Rename(saved.Path, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return refuse(CodeHooksUnreadable, "the hook %s cannot be restored: %v", name, err)
		}
		u.did("restored", path)
	}
	if len(u.rec.Anchors) > 0 {
		_ = os.Remove(filepath.Join(filepath.Dir(recordPath(u.repo.CommonDir)), anchorFile))
	}
	if u.rec.MadeDir {
		_ = os.Remove(u.rec.Dir) // only if it is empty
	}
	return nil
}
