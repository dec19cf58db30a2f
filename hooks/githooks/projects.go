// Which projects of a repository the guards judge.

package githooks

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// projectSetting is the setting of a server that names the directories of the projects it judges, "." for the top.
const projectSetting = "agentxchain.project"

// maxProjects bounds how many projects are looked for.
const maxProjects = 200

// prefixes returns the locations of the governed projects in the repository: those for which hooks were installed,
// else those that are there.
func (g *guarded) prefixes() ([]string, error) {
	if g.projects == nil {
		rec, err := loadRecord(g.repo.CommonDir)
		if err != nil {
			return nil, err
		}
		if rec != nil {
			g.projects = rec.guarded()
		} else if g.projects, err = g.present(); err != nil {
			return nil, err
		}
	}
	return g.projects, nil
}

// present returns the projects of HEAD and of the index, else the top: a hook manager calls us where nothing was
// installed.
func (g *guarded) present() ([]string, error) {
	dirs := chain.ProjectsIn(g.ctx, g.repo, "HEAD")
	if g.repo.TopLevel != "" {
		names, err := g.repo.Git.In(g.repo.TopLevel).Run(g.ctx, nil, "ls-files", "-z", "--cached")
		if err != nil {
			return nil, err
		}
		dirs = union(dirs, chain.ConfigDirs(names))
	}
	switch {
	case len(dirs) == 0:
		return []string{""}, nil
	case len(dirs) > maxProjects:
		return nil, tooManyProjects("git agentxchain hooks install in each that is governed")
	}
	return dirs, nil
}

func tooManyProjects(hint string) error {
	e := refuse(wire.CodeInvalidArgument, "more than %d directories have an %s", maxProjects, wire.ConfigPath)
	e.Hint = hint
	return e
}

// pushedProjects sets the projects by which a server judges a push: it has no work tree from which hooks could have been
// installed for one. Without the setting they are those that the default branch has, and those that a commit of the
// push has, before or after it.
func (g *guarded) pushedProjects(moves []move) error {
	var err error
	if g.tips, err = g.touched(moves); err != nil {
		return err
	}
	named, err := g.repo.Settings(g.ctx, projectSetting)
	if err != nil {
		return err
	}
	for _, dir := range named {
		if dir = strings.Trim(path.Clean("/"+dir), "/"); dir != "" {
			dir += "/"
		}
		g.projects = append(g.projects, dir)
	}
	if g.projects != nil {
		return nil
	}
	dirs, err := g.configured()
	if err != nil {
		return err
	}
	// A branch without rules may have had some at the top, unless the default branch has its rules elsewhere: the
	// project was moved then.
	if len(dirs) == 0 || len(chain.ProjectsIn(g.ctx, g.repo, "HEAD")) == 0 {
		g.projects = []string{""}
	}
	for _, dir := range dirs {
		if slices.Contains(g.projects, dir) {
			continue
		}
		if len(g.projects) == maxProjects {
			return tooManyProjects("on the server: git config --add " + projectSetting +
				" DIR names those that are governed")
		}
		g.projects = append(g.projects, dir)
	}
	return nil
}

// touched returns the commits in which a push may change a project: that of HEAD, and those before and after each move.
// What was before a new ref are the commits at which it leaves the branches.
func (g *guarded) touched(moves []move) (tips []object.OID, err error) {
	take := func(tip object.OID) {
		if tip != "" && !slices.Contains(tips, tip) {
			tips = append(tips, tip)
		}
	}
	head, err := g.commitOf("HEAD")
	if err != nil {
		return nil, err
	}
	take(head)
	var fresh []string
	for _, m := range moves {
		if strings.HasPrefix(m.ref, branchPrefix) {
			take(m.old)
		} // else it may be no commit
		take(m.new)
		if m.new != "" && (m.old == "" || !strings.HasPrefix(m.ref, branchPrefix)) {
			fresh = append(fresh, string(m.new))
		}
	}
	for len(fresh) > 0 {
		var some []string
		some, fresh = git.FitArguments(fresh)
		out, err := g.repo.Git.Run(g.ctx, nil, slices.Concat([]string{"rev-list", "--boundary",
			fmt.Sprintf("--max-count=%d", chain.MaxNewCommits)}, some, []string{"--not", "--branches"})...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			if from, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok {
				take(object.OID(from))
			}
		}
	}
	return tips, nil
}

// configured returns the directories with a configuration in one of the tips.
func (g *guarded) configured() ([]string, error) {
	if len(g.tips) == 0 {
		return nil, nil
	}
	names, err := g.repo.Git.Run(g.ctx, nil, "ls-tree", "-r", "-z", "--full-tree", "--name-only", string(g.tips[0]))
	if err != nil {
		return nil, err
	}
	if len(g.tips) > 1 {
		// The others differ from the first one in a few files: a commit and what to compare it with, a line each.
		var pairs strings.Builder
		for _, tip := range g.tips[1:] {
			pairs.WriteString(string(tip) + " " + string(g.tips[0]) + "\n")
		}
		more, err := g.repo.Git.Run(g.ctx, []byte(pairs.String()), "diff-tree", "-r", "-z", "--name-only", "--no-renames",
			"--no-commit-id", "--stdin")
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return chain.ConfigDirs(names), nil
}

// movedTo returns the directory, "." for the top, in which the judged commit or index has the project with an id. It
// serves a hint: what cannot be read is not found.
func (j *judge) movedTo(id string) (dir string, ok bool) {
	list := []string{"ls-files", "-z", "--full-name"} // git starts hooks at the top
	if j.commit != "" {
		list = []string{"ls-tree", "-r", "-z", "--full-tree", "--name-only", j.commit}
	}
	names, err := j.repo.Git.Run(j.ctx, nil, list...)
	if err != nil {
		return "", false
	}
	dirs := chain.ConfigDirs(names)
	at := make([]string, len(dirs))
	for i, d := range dirs {
		at[i] = j.commit + ":" + d + wire.ConfigPath // ":PATH" is the index
	}
	_ = j.repo.ReadNamed(j.ctx, at, func(i int, o git.Named) {
		if id != "" && chain.ProjectOf(o.Data) == id && dirs[i] != j.prefix {
			dir, ok = cmp.Or(strings.TrimSuffix(dirs[i], "/"), "."), true
		}
	})
	return dir, ok
}

// identities are the ids of governed projects as the tips have them.
type identities struct {
	at     map[string][]string // by directory
	beside map[string]bool     // of any directory; nil until it is needed
}

// beside reports whether a run was made for another project of the repository than the one with the prefix. A run of an
// unknown project counts as the project's own: the project may have had another id.
func (g *guarded) beside(prefix string, r *chain.RunRecord) (bool, error) {
	id, err := chain.ProjectAt(g.ctx, g.repo, r.Op)
	if err != nil || id == "" {
		return false, nil // told where the run is read
	}
	own, err := g.idsAt(prefix)
	if err != nil || slices.Contains(own, id) {
		return false, err
	}
	if g.ids.beside == nil {
		dirs, err := g.configured() // takes long in a large repository, and only one with several projects gets here
		if err != nil {
			return false, err
		}
		beside := make(map[string]bool)
		for _, dir := range dirs {
			ids, err := g.idsAt(dir)
			if err != nil {
				return false, err
			}
			for _, id := range ids {
				beside[id] = true
			}
		}
		g.ids.beside = beside
	}
	return g.ids.beside[id], nil
}

// idsAt returns the ids that a project has in the tips.
func (g *guarded) idsAt(dir string) ([]string, error) {
	if ids, known := g.ids.at[dir]; known {
		return ids, nil
	}
	if g.tips == nil {
		head, err := g.commitOf("HEAD")
		if err != nil {
			return nil, err
		}
		g.tips = []object.OID{}
		if head != "" {
			g.tips = append(g.tips, head)
		}
	}
	ids := []string{}
	for _, tip := range g.tips {
		data, _, err := chain.FileAt(g.ctx, g.repo, tip, dir+wire.ConfigPath)
		if err != nil {
			return nil, err
		}
		if id := chain.ProjectOf(data); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if g.ids.at == nil {
		g.ids.at = make(map[string][]string)
	}
	g.ids.at[dir] = ids
	return ids, nil
}
