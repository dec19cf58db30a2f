// What commits claim: the turn whose work they contain.

package githooks

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// trailersOf separates the trailers of a message, without unfolding them.
func (g *guarded) trailersOf(message []byte) (string, error) {
	out, err := g.repo.Git.Run(g.ctx, message, "-c", "trailer.separators=:", "interpret-trailers", "--only-trailers",
		"--only-input", "--no-divider")
	return string(out), err
}

// claims checks the trailers of a commit against the runs: a named turn must be assigned or accepted in a verified
// run.
func (j *judge) claims(n history.NewCommit) error {
	t, bad := readTrailers(n.Trailers)
	for _, f := range bad {
		f.Commit = string(n.OID)
		j.report(f)
	}
	if len(bad) > 0 || t.empty() {
		return nil
	}
	all := j.witness.whole // a commit may have the work of several projects
	known, err := all.list()
	if err != nil || len(known) == 0 && !j.strict {
		return err // a clone without any fetched run cannot tell
	}
	var runs []*chain.RunRecord
	for r, err := range all.proven() {
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	found, err := checkTrailers(t, runs)
	for _, f := range found {
		f.Commit = string(n.OID)
		if j.strict {
			f.Hint = "push the runs with the branch: git agentxchain sync REMOTE --branch; or leave the trailer out"
		}
		j.report(f)
	}
	return err
}

// claimsWanted judges a branch on which every change of the product has to name its turn (git_hooks.require_turn):
// all commits that it gains, including those that another branch already holds, where they needed no turn.
func (c *course) claimsWanted() error {
	branch, ok := strings.CutPrefix(c.move.ref, branchPrefix)
	if !ok {
		return nil
	}
	at := c.move.old
	if at == "" {
		at = c.move.new
	}
	for i, v := range c.rules {
		g, err := v.of(at)
		if err != nil {
			return err
		}
		if !g.wantsTurn(branch) {
			continue
		}
		list := c.list
		if len(list) != 1 || len(list[0].Parents) != 1 || list[0].Parents[0] != c.move.old {
			var except []string
			if c.move.old != "" {
				except = []string{string(c.move.old)}
			}
			var more bool
			if list, more, err = history.CommitsBeyond(c.g.ctx, c.g.repo, c.move.new, chain.MaxNewCommits,
				except...); err != nil {
				return err
			}
			if more {
				c.g.find(tooMany(c.move.ref))
				return nil
			}
		}
		for from := 0; from < len(list); from += commitsAtOnce {
			if err := c.claimed(c.judges[i], v, branch, list[from:min(from+commitsAtOnce, len(list))]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *governor) wantsTurn(branch string) bool {
	return g != nil &&
		slices.ContainsFunc(g.config.RequireTurn, func(p string) bool { return wire.MatchPath(p, branch) })
}

// claimed judges whether commits that change the product name a turn.
func (c *course) claimed(j *judge, v *governance, branch string, list []history.NewCommit) error {
	var silent []history.NewCommit
	oids, parents := []object.OID(nil), make(map[object.OID][]object.OID)
	for _, n := range list {
		if t, _ := readTrailers(n.Trailers); len(t.turns) > 0 {
			// claims judges whether the turn exists, here or when the commit came
			if others, err := j.ofOthers(t); err != nil {
				return err
			} else if !others {
				continue
			}
		}
		for _, p := range n.Parents {
			g, err := v.of(p)
			if err != nil {
				return err
			}
			if g.wantsTurn(branch) {
				silent, oids, parents[n.OID] = append(silent, n), append(oids, n.OID), n.Parents
				break
			}
		}
	}
	changes, err := history.CommitChanges(c.g.ctx, c.g.repo, oids, parents)
	if err != nil {
		return err
	}
	for _, n := range silent {
		against := changes[:max(1, len(n.Parents))]
		changes = changes[len(against):]
		if err := j.claimMissing(branch, n, editsOf(against)); err != nil {
			return err
		}
	}
	return nil
}

// ofOthers reports whether all turns that a commit names are those of other projects of the repository.
func (j *judge) ofOthers(t trailers) (bool, error) {
	own, err := j.witness.list()
	if err != nil {
		return false, err
	}
	all, err := j.witness.whole.list()
	if err != nil {
		return false, err
	}
	others := slices.DeleteFunc(slices.Clone(all), func(r *chain.RunRecord) bool { return slices.Contains(own, r) })
	for _, turn := range t.turns {
		if o, err := findTurn(turn, t.runs, others); err != nil || o == nil {
			return false, err
		}
	}
	return true, nil
}

// claimMissing reports a commit that changes the product and names no turn. What a person's approval has signed
// needs none.
func (j *judge) claimMissing(branch string, n history.NewCommit, edits []edit) error {
	for _, e := range edits {
		path, ok := strings.CutPrefix(e.Path, j.prefix)
		if !ok || !wire.ProjectOwned(path) || path == wire.ConfigPath {
			continue
		}
		if len(e.others) > 0 && (e.OldOID == e.NewOID || slices.Contains(e.others, e.NewOID)) {
			continue // a merge that takes one side; that side's commits name their turns
		}
		if e.NewMode == object.ModeFile || e.NewMode == object.ModeExec {
			ok, err := j.witness.approved(path, e.NewOID)
			if err != nil {
				return err
			}
			if ok {
				continue
			}
		}
		j.report(Finding{
			Rule:   RuleTurnMissing,
			Path:   e.Path,
			Commit: string(n.OID),
			Message: "the commit changes it and names no turn of its project, which " + j.prefix + wire.ConfigPath +
				" wants on " + branch,
			Hint: "git agentxchain checkpoint commits a turn's files with its trailers, and git commit --trailer " +
				"Agentxchain-Turn=TURN a squash of them; work of your own goes to another branch",
		})
		return nil
	}
	return nil
}

// tooMany reports more commits than can be judged at once.
func tooMany(ref string) Finding {
	return Finding{
		Rule:    RuleTooManyCommits,
		Path:    ref,
		Message: "more new commits at once than can be judged",
		Hint:    "move it in parts: git push REMOTE OLDER-COMMIT:" + ref + ", then what follows",
	}
}
