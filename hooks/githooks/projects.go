// Which projects of a repository the guards judge.

package githooks

import (
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

// maxProjects bounds how many projects a server looks for in one push.
const maxProjects = 200

// prefixes returns the locations of the governed projects in the repository: those for which hooks were installed,
// else the root.
func (g *guarded) prefixes() ([]string, error) {
	if g.projects == nil {
		rec, err := loadRecord(g.repo.CommonDir)
		if err != nil {
			return nil, err
		}
		g.projects = []string{""}
		if rec != nil && len(rec.Projects) > 0 {
			g.projects = rec.Projects
		}
	}
	return g.projects, nil
}

// pushedProjects sets the projects by which a server judges a push: it has no work tree from which hooks could have been
// installed for one. Without the setting they are those that the default branch has, and those that a commit of the
// push has, before or after it.
func (g *guarded) pushedProjects(moves []move) error {
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
	g.projects = []string{""} // a branch without rules may have had some at the top
	tips, err := g.touched(moves)
	if err != nil || len(tips) == 0 {
		return err
	}
	names, err := g.repo.Git.Run(g.ctx, nil, "ls-tree", "-r", "-z", "--full-tree", "--name-only", string(tips[0]))
	if err != nil {
		return err
	}
	if err := g.takeProjects(names); err != nil || len(tips) == 1 {
		return err
	}
	// The others differ from the first one in a few files: a commit and what to compare it with, a line each.
	var pairs strings.Builder
	for _, tip := range tips[1:] {
		pairs.WriteString(string(tip) + " " + string(tips[0]) + "\n")
	}
	names, err = g.repo.Git.Run(g.ctx, []byte(pairs.String()), "diff-tree", "-r", "-z", "--name-only", "--no-renames",
		"--no-commit-id", "--stdin")
	if err != nil {
		return err
	}
	return g.takeProjects(names)
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

// takeProjects adds the directories of the configurations among the names.
func (g *guarded) takeProjects(names []byte) error {
	for _, name := range git.NulNames(names) {
		dir, base := path.Split(name)
		if base != wire.ConfigPath || slices.Contains(g.projects, dir) {
			continue
		}
		if len(g.projects) == maxProjects {
			e := refuse(wire.CodeInvalidArgument, "more than %d directories have an %s", maxProjects, wire.ConfigPath)
			e.Hint = "on the server: git config --add " + projectSetting + " DIR names those that are governed"
			return e
		}
		g.projects = append(g.projects, dir)
	}
	return nil
}
