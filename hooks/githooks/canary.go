// A throwaway repository that is guarded like another one.

package githooks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// Canary is a repository of its own in which the guards of another one are tried. Git finds there what it would
// find in the other: the same scripts through the same settings, so that a guard that is silent there is silent
// here. The other repository is not touched.
type Canary struct {
	Project string // the directory for the planted project, inside a new work tree

	repo   *git.Repository // the repository whose guards are tried
	rec    *installation
	top    string // top directory of everything
	work   string
	server string // a bare repository to push to
	prefix string
	run    string    // ref of the planted run
	runTip string    // commit of the planted run
	turn   string    // its active turn
	base   string    // the planted commit
	list   []setting // what git's configuration says about hooks
	plain  *git.Git  // git in the work tree, without guards
	env    []string  // for git with the guards
}

// trialLimit bounds one git command with all the hooks it starts.
const trialLimit = 20 * time.Second

// staleCanary is the age at which the remains of an interrupted rehearsal are removed.
const staleCanary = time.Hour

// NewCanary creates the throwaway repository below the git directory of repo, still without a commit and without
// guards. Without installed guards the error is githooks_missing. Close removes everything.
func NewCanary(ctx context.Context, repo *git.Repository) (*Canary, error) {
	rec, err := loadRecord(repo.CommonDir)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		e := refuse(CodeHooksMissing, "no guards are installed in this repository")
		e.Hint = InstallCommand(repo)
		return nil, e
	}
	c := &Canary{repo: repo, rec: rec}
	if c.list, err = settings(ctx, repo); err != nil {
		return nil, err
	}
	c.prefix = rec.guarded()[0]
	if project, ok := projectAround(repo); ok && !c.isServer() {
		if c.prefix = project; !rec.guards(project) {
			e := refuse(CodeHooksMissing, "the guards of this repository do not judge this project")
			e.Hint = InstallCommand(repo)
			return nil, e
		}
	}
	parent := filepath.Dir(recordPath(repo.CommonDir))
	sweepCanaries(parent)
	if c.top, err = os.MkdirTemp(parent, "canary-"); err != nil {
		return nil, refuse(CodeHooksUnreadable, "no directory for the rehearsal can be made: %v", err)
	}
	if err := c.make(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// sweepCanaries removes the remains of interrupted rehearsals.
func sweepCanaries(parent string) {
	old, _ := filepath.Glob(filepath.Join(parent, "canary-*"))
	for _, dir := range old {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > staleCanary {
			_ = os.RemoveAll(dir)
		}
	}
}

// Close removes the throwaway repository.
func (c *Canary) Close() { _ = os.RemoveAll(c.top) }

// isServer reports whether the guards are those for pushes.
func (c *Canary) isServer() bool { return slices.Contains(c.rec.Names, PreReceive) }

func (c *Canary) make(ctx context.Context) error {
	c.work, c.server = filepath.Join(c.top, "work"), filepath.Join(c.top, "server.git")
	c.Project = filepath.Join(c.work, filepath.FromSlash(c.prefix))
	if err := os.MkdirAll(c.Project, 0o755); err != nil {
		return refuse(CodeHooksUnreadable, "no directory for the rehearsal can be made: %v", err)
	}
	c.plain = git.NewForeignGit(c.work)
	kind := []string{"init", "--quiet", "--template=", "--initial-branch=main",
		"--object-format=" + c.repo.ObjectFormat}
	if c.repo.RefFormat != "" && c.repo.RefFormat != "files" {
		kind = append(kind, "--ref-format="+c.repo.RefFormat)
	}
	for _, args := range [][]string{
		append(slices.Clone(kind), c.work),
		append(slices.Clone(kind), "--bare", c.server),
		{"config", "user.name", "Canary"},
		{"config", "user.email", "canary@localhost"},
		{"config", "commit.gpgSign", "false"},
		{"config", "core.autocrlf", "false"},
		// Until the guards are in place, and instead of the user's own hooks.
		{"config", "core.hooksPath", os.DevNull},
	} {
		if _, err := c.plain.Run(ctx, nil, args...); err != nil {
			return err
		}
	}
	c.env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "GIT_EXEC_PATH=") ||
			strings.HasPrefix(kv, "AGENTXCHAIN_") || strings.HasPrefix(kv, "LC_") || strings.HasPrefix(kv, "LANG")
	})
	c.env = append(c.env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", canaryMarker+"=1",
		"PRE_COMMIT_ALLOW_NO_CONFIG=1") // its hook runs ours and has no configuration here
	return nil
}

// Save commits the work tree, and the named project files even when git is told to ignore them.
func (c *Canary) Save(ctx context.Context, message string, tracked ...string) error {
	force := []string{"add", "--force", "--"}
	for _, t := range tracked {
		if _, err := os.Lstat(filepath.Join(c.Project, filepath.FromSlash(t))); err == nil {
			force = append(force, c.prefix+t)
		}
	}
	steps := [][]string{{"add", "--all"}, force, {"commit", "--quiet", "--message", message}}
	if len(force) == 3 {
		steps = slices.Delete(steps, 1, 2)
	}
	for _, args := range steps {
		if _, err := c.plain.Run(ctx, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// arm installs the guards of the other repository as git finds them there.
func (c *Canary) arm(ctx context.Context) error {
	guarded := filepath.Join(c.work, ".git")
	if c.isServer() {
		guarded = c.server
	}
	g := git.NewForeignGit(guarded)
	put := func(args ...string) error {
		_, err := g.Run(ctx, nil, append([]string{"config", "--file", filepath.Join(guarded, "config")}, args...)...)
		return err
	}
	rec := &installation{
		Way:      c.rec.Way,
		Binary:   c.rec.Binary,
		Dir:      c.rec.Dir,
		Names:    c.rec.Names,
		Projects: c.rec.Projects,
	}
	if err := rec.save(guarded); err != nil {
		return refuse(CodeHooksUnreadable, "the rehearsal cannot be prepared: %v", err)
	}
	if c.rec.Way == WayConfig {
		for _, s := range c.list {
			if c.concerns(s.key) {
				if err := put("--add", s.key, s.value); err != nil {
					return err
				}
			}
		}
		return nil
	}
	from, err := c.repo.HooksDir(ctx)
	if err != nil {
		return err
	}
	dir := filepath.Join(c.top, "hooks")
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return refuse(CodeHooksUnreadable, "the rehearsal cannot be prepared: %v", err)
	}
	for _, name := range c.rec.Names {
		// Git skips a hook that is missing or not executable. Hooks that are not guards are not involved.
		if path := filepath.Join(from, name); executable(path) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexec "+quote(path)+" \"$@\"\n"),
				0o755); err != nil {
				return refuse(CodeHooksUnreadable, "the rehearsal cannot be prepared: %v", err)
			}
		}
	}
	return put("--replace-all", "core.hooksPath", dir)
}

// concerns reports whether a setting enables or disables one of our guards.
func (c *Canary) concerns(key string) bool {
	return slices.ContainsFunc(c.rec.Names, func(name string) bool {
		return strings.HasPrefix(key, "hook.agentxchain-"+name+".") || key == "hook."+name+".enabled"
	})
}

// said is the answer of a git with guards.
type said struct {
	ok   bool
	text string // standard error
}

// git runs git in the guarded work tree.
func (c *Canary) git(ctx context.Context, extra []string, args ...string) (said, error) {
	res := process.Run(ctx, process.Spec{
		Argv:    append([]string{"git"}, args...),
		Dir:     c.work,
		Env:     append(slices.Clone(c.env), extra...),
		Timeout: trialLimit,
		Limit:   64 << 10,
	})
	switch {
	case res.Canceled:
		return said{}, context.Cause(ctx)
	case res.StartErr != nil:
		return said{}, refuse(CodeHooksUnreadable, "git cannot be started: %v", res.StartErr)
	case res.TimedOut:
		return said{text: "git did not come to an end"}, nil
	}
	return said{ok: res.OK(), text: string(res.Stderr)}, nil
}
