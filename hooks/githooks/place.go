// Where the hooks of a repository go.

package githooks

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// setting is a value of git's configuration and the scope it comes from.
type setting struct{ scope, key, value string }

// settings returns git's configuration about hooks, in the order it is read; one process.
func settings(ctx context.Context, repo *git.Repository) ([]setting, error) {
	out, err := repo.Git.Run(ctx, nil, "config", "-z", "--show-scope", "--get-regexp",
		`^(core\.hookspath|includeif\.gitdir:.*\.path|hook\..*|merge\.agentxchain\..*|diff\.agentxchain\..*)$`)
	if git.ExitCode(err) == 1 {
		return nil, nil // no such setting
	}
	if err != nil {
		return nil, err
	}
	var list []setting
	fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(string(fields[i+1]), "\n")
		list = append(list, setting{scope: string(fields[i]), key: key, value: value})
	}
	return list, nil
}

// last returns the effective value of a key, and whether it is set.
func last(list []setting, key string) (string, bool) {
	for _, l := range slices.Backward(list) {
		if l.key == key {
			return l.value, true
		}
	}
	return "", false
}

// place is the location for hooks in one repository.
type place struct {
	way   string
	dir   string  // directory of the scripts
	path  *string // the repository's own core.hooksPath, nil when it has none
	where string  // what core.hooksPath leads to now, as git writes it
}

// choose finds the place for hooks: git's configuration where git can take hooks from there, as that leaves other
// hooks alone; the hooks directory when it is git's own; else a directory of ours that passes everything on,
// because the directory in core.hooksPath belongs to another owner (a hook manager that rewrites it, a tracked
// directory, all repositories of a user). rec is the earlier installation, or nil.
func choose(ctx context.Context, repo *git.Repository, list []setting, rec *installation) (place, error) {
	p := place{way: WayRedirect, dir: ownDir(repo.CommonDir)}
	for _, s := range list {
		if s.key == "core.hookspath" && s.scope == "local" && !leadsTo(repo, s.value, p.dir) {
			p.path = &s.value
		}
	}
	v, err := repo.Git.Version(ctx)
	if err != nil {
		return p, err
	}
	if v.AtLeast(2, 54) {
		p.way = WayConfig
		return p, nil
	}
	for i := len(list) - 1; i >= 0 && p.where == ""; i-- {
		// Below a redirection of ours is the value from before it.
		if s := list[i]; s.key == "core.hookspath" && !leadsTo(repo, s.value, p.dir) {
			p.where = s.value
		}
	}
	if dir, _ := last(list, "core.hookspath"); p.where == "" && rec != nil && rec.Way == WayRedirect &&
		leadsTo(repo, dir, rec.Dir) {
		p.path, p.where = rec.FormerPath, rec.FormerDir // our own value has replaced it
	}
	if p.where == "" {
		p.way, p.dir = WayDirectory, filepath.Join(repo.CommonDir, "hooks")
		return p, nil
	}
	// git expands ~ in the value; so must we, because a script will use it.
	if strings.HasPrefix(p.where, "~") {
		out, err := repo.Git.Run(ctx, nil, "config", "-z", "--type=path", "--get-all", "core.hooksPath")
		if err != nil {
			return p, err
		}
		for value := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if !leadsTo(repo, value, p.dir) {
				p.where = value
			}
		}
	}
	return p, nil
}

func samePath(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }

// leadsTo reports whether a core.hooksPath means dir, as an absolute path or relative to the top of the checkout.
func leadsTo(repo *git.Repository, value, dir string) bool {
	if value == "" {
		return false
	}
	top := mainTop(repo)
	return samePath(value, dir) || top != "" && !filepath.IsAbs(value) && samePath(filepath.Join(top, value), dir)
}
