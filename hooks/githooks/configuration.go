// Judges a commit's configuration: it must not be lost, nor weakened without a person's approval.

package githooks

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// newCommit is one commit to judge: what it changed against each parent, and its entry at the configuration's path.
type newCommit struct {
	oid     object.OID // "" for the index
	parents []object.OID
	config  entry
	ignores func() ([]byte, error)
}

// govern finds what governs a new commit and judges its configuration. With pushed, a weaker configuration needs a
// run that adopted it. It returns what governs from then on, nil when the project is not governed there.
func (j *judge) govern(v *governance, c newCommit, pushed bool) (*governor, error) {
	j.commitContext = commitContext{commit: string(c.oid), ignores: c.ignores}
	var last *governor
	for _, p := range c.parents {
		g, err := v.of(p)
		if err != nil {
			return nil, err
		}
		j.parents = append(j.parents, g)
		if last == nil {
			last = g
		}
	}
	own, err := v.valid(c.config)
	if err != nil {
		return nil, err
	}
	switch {
	case last == nil && own == nil:
		return nil, j.bind(own)
	case own == nil:
		if err := j.lost(v, c.config, c.parents[0], last); err != nil {
			return nil, err
		}
		return last, j.bind(last)
	}
	for i, g := range j.parents {
		if g != nil && pushed {
			if err := j.weakened(v.path, c.parents[i], g, own); err != nil {
				return nil, err
			}
		}
	}
	return own, j.bind(own)
}

// bind collects the patterns that apply to the commit and the parents that vouch for what came with them.
func (j *judge) bind(own *governor) error {
	var committed object.OID
	for _, g := range j.parents {
		if g != nil {
			j.patterns = union(j.patterns, g.config.Protected)
			if j.config == nil {
				j.config, committed = g.config, g.content
			}
		}
	}
	if j.config == nil {
		// The first commit of a project: its configuration applies from then on. In a repository that is already
		// governed, atHome judges it.
		j.config = configOf(own)
		return nil
	}
	recorded, err := j.witness.protects(committed)
	if err != nil {
		return err
	}
	j.patterns = union(j.patterns, recorded)
	if len(j.parents) < 2 || len(j.patterns) == 0 {
		return nil
	}
	for _, g := range j.parents {
		ok := g != nil && len(union(g.config.Protected, j.patterns)) == len(g.config.Protected)
		if !ok && g != nil {
			if ok, err = j.adopted(g.config); err != nil {
				return err
			}
		}
		j.vouched = append(j.vouched, ok)
	}
	return nil
}

// adopted asks the runs about a configuration. Without known runs none could adopt it; only a server treats that as
// a refusal.
func (j *judge) adopted(c *config.Config) (bool, error) {
	runs, err := j.witness.list()
	if err != nil || len(runs) == 0 && !j.strict {
		return err == nil, err
	}
	return j.witness.adopted(c)
}

// lost reports a commit without a valid configuration where one before it is governed.
func (j *judge) lost(v *governance, e entry, parent object.OID, before *governor) error {
	was, err := v.entry(parent)
	if err != nil {
		return err
	}
	f := Finding{Rule: RuleConfigLost, Path: v.path, Commit: j.commit}
	if own, err := v.valid(was); err != nil {
		return err
	} else if own != nil {
		f.Hint = "git restore --staged --source=HEAD -- " + quote(v.path)
	} else { // it was lost where the guards were not
		f.Hint = "to bring back the last valid one, in the top directory: git update-index --add --cacheinfo 100644," +
			string(before.content) + "," + quote(v.path)
	}
	f.Hint += "; " + j.leaveHint(before)
	switch {
	case e.oid == "":
		f.Message = "the configuration would be gone from a branch it governs"
	case !plainFile(e.mode):
		f.Message = "the configuration would no longer be a plain file"
	default:
		f.Message = "the configuration would be broken: " + j.broken(e.oid)
	}
	j.report(f)
	return nil
}

// leaveHint says how a project is moved or given up. A clone may not have its directory any more: git writes the files
// of a pull before the guards refuse it.
func (j *judge) leaveHint(before *governor) string {
	to, moved := j.movedTo(before.config.Project.ID)
	if j.strict {
		return "to move the project, on the server: git config --add " + projectSetting + " " +
			quote(cmp.Or(to, "DIR")) + ", and the same for each other project"
	}
	uninstall := "in the top directory: git agentxchain hooks uninstall " +
		quote(cmp.Or(strings.TrimSuffix(j.prefix, "/"), "."))
	if !moved {
		return "to end its governance, " + uninstall
	}
	return "to move the project, " + uninstall + ", the same again, then: git -C " + quote(to) +
		" agentxchain hooks install"
}

func (j *judge) broken(content object.OID) string {
	data, err := j.blob(content)
	if err != nil {
		return err.Error()
	}
	_, problems, err := config.Decode(data)
	var refusal *wire.Error
	switch {
	case errors.As(err, &refusal):
		return refusal.Message
	case err != nil:
		return err.Error()
	case len(problems) > 0:
		return problems[0].Message
	}
	return "it cannot be read"
}

// weakened judges the step from one configuration, which governs the commit at, to another: weaker rules need a
// person, whose approval is an operation of a run. Where the rules say who may approve, the run's own rules do not
// count: its author could have written them.
func (j *judge) weakened(path string, at object.OID, from, to *governor) error {
	if from.content == to.content {
		return nil
	}
	changes := config.Weakening(config.RuleChanges(from.config, to.config))
	if len(changes) == 0 {
		return nil
	}
	who := "no run has adopted: "
	var ok bool
	var err error
	if from.config.ActRule() == nil {
		ok, err = j.witness.adopted(to.config)
	} else {
		who = "no person whom the branch's authority.acts names has adopted: "
		ok, err = j.witness.adoptedBy(to.config, strings.TrimSuffix(path, wire.ConfigPath), at)
	}
	if err != nil || ok {
		return err
	}
	j.report(Finding{
		Rule:    RuleConfigWeakened,
		Path:    path,
		Commit:  j.commit,
		Message: "weaker rules that " + who + shownChanges(changes),
		Hint:    "git agentxchain config adopt, then push the run with the branch: git push REMOTE 'refs/agentxchain/runs/*:refs/agentxchain/runs/*'",
	})
	return nil
}

// shownChanges names the first few changes.
func shownChanges(changes []config.RuleChange) string {
	var names []string
	for _, c := range changes[:min(3, len(changes))] {
		at := c.Pointer
		if at == "" {
			at = "/"
		}
		names = append(names, clip(at))
	}
	if n := len(changes) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}
