// pre-push and pre-receive: what leaves a clone, and what arrives at a server.

package githooks

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// prePush judges what is about to be pushed: runs must be complete and continue what the other side has, and
// governed branches must not overwrite what is there.
func (g *guarded) prePush() error {
	remote := ""
	if len(g.inv.Args) > 0 {
		remote = g.inv.Args[0]
	}
	var moves []move
	lines := bufio.NewScanner(g.inv.Stdin)
	lines.Buffer(make([]byte, 0, 4096), maxUpdateLine)
	for lines.Scan() {
		// <local ref> <local oid> <remote ref> <remote oid>
		f := strings.Split(lines.Text(), " ")
		if len(f) != 4 || !object.OID(f[1]).Valid(g.repo.ObjectFormat) ||
			!object.OID(f[3]).Valid(g.repo.ObjectFormat) {
			return refuse(wire.CodeInvalidArgument, "git announced a push that cannot be read: %.80q", lines.Text())
		}
		m := move{ref: f[2], new: object.OID(f[1]), old: object.OID(f[3])}
		if m.new.IsZero() {
			m.new = ""
		}
		if m.old.IsZero() {
			m.old = ""
		}
		moves = append(moves, m)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	shown := g.defaultBranch("refs/remotes/" + remote + "/HEAD")
	w := &witness{g: g}
	for _, m := range moves {
		if run, ok := strings.CutPrefix(m.ref, git.RunRefPrefix); ok {
			if err := g.runMoved(run, m, w); err != nil {
				return err
			}
			continue
		}
		if err := g.overwrites(m, shown); err != nil {
			return err
		}
		if err := g.weakening(m, w); err != nil {
			return err
		}
	}
	if len(g.findings) > 0 {
		return nil
	}
	return g.pushAlong(remote, moves)
}

// weakening reports early what a guarded server would say to a branch whose rules are weaker than those of the
// other side, where those are known here.
func (g *guarded) weakening(m move, w *witness) error {
	if !strings.HasPrefix(m.ref, branchPrefix) || m.old == "" || m.new == "" || !g.repo.Objects().Has(g.ctx, m.old) {
		return nil
	}
	if runs, err := w.list(); err != nil || len(runs) == 0 {
		return err // no run here could adopt anything; the server judges
	}
	prefixes, err := g.prefixes()
	if err != nil {
		return err
	}
	for _, prefix := range prefixes {
		v := newGovernance(g.ctx, g.repo, prefix)
		before, err := v.of(m.old)
		if err != nil {
			return err
		}
		after, err := v.of(m.new)
		if err != nil {
			return err
		}
		if before == nil || after == nil {
			continue
		}
		j := &judge{ctx: g.ctx, repo: g.repo, prefix: prefix, report: g.find, witness: w.of(prefix)}
		j.commit = string(m.new)
		if err := j.weakened(v.path, m.old, before, after); err != nil {
			return err
		}
	}
	return nil
}

// preReceive judges a push on the server, out of reach of any clone. The objects are in quarantine; refs still have
// their old values.
func (g *guarded) preReceive() error {
	moves, err := g.updates()
	if err != nil {
		return err
	}
	runs, err := chain.RunRecords(g.ctx, g.repo)
	if err != nil {
		return err
	}
	past, err := chain.ArchivedRecords(g.ctx, g.repo)
	if err != nil {
		return err
	}
	runs = append(runs, past...)
	// Runs in the push confirm the records in the push.
	w := &witness{g: g}
	var pushed []*chain.RunRecord
	for _, m := range moves {
		run, ok := strings.CutPrefix(m.ref, git.RunRefPrefix)
		if !ok {
			if err := g.archiveMoved(m); err != nil {
				return err
			}
			continue
		}
		if err := g.runMoved(run, m, w); err != nil {
			return err
		}
		if m.new != "" {
			pushed = append(pushed, chain.RunRecordAt(g.ctx, g.repo, run, m.new))
			runs = slices.DeleteFunc(runs, func(r *chain.RunRecord) bool { return r.Run == run })
		}
	}
	if len(g.findings) > 0 {
		return nil // records cannot be checked against incomplete runs
	}
	w.see(append(pushed, runs...))
	if moves, err = g.judged(moves); err != nil {
		return err
	}
	if err := g.pushedProjects(moves); err != nil {
		return err
	}
	shown := g.defaultBranch("HEAD")
	for _, m := range moves {
		if err := g.overwrites(m, shown); err != nil {
			return err
		}
		if err := g.branch(m, true, w); err != nil {
			return err
		}
	}
	return nil
}

// judged returns the moves that are judged by their commits. A tag, or a ref of any other name, can become a branch
// later without any hook being asked, so it is judged like a branch.
func (g *guarded) judged(moves []move) (out []move, err error) {
	for _, m := range moves {
		if strings.HasPrefix(m.ref, governedRefs) || m.new == "" && !strings.HasPrefix(m.ref, branchPrefix) {
			continue
		}
		if !strings.HasPrefix(m.ref, branchPrefix) {
			if m.new, err = g.commitOf(m.new); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// governedRefs is the prefix of this program's refs, which lead to no commits of a branch.
const governedRefs = "refs/agentxchain/"

// commitOf returns the commit to which an object leads, or "".
func (g *guarded) commitOf(oid object.OID) (object.OID, error) {
	out, err := g.repo.Git.Run(g.ctx, nil, "rev-parse", "--verify", "--quiet", string(oid)+"^{commit}")
	if err != nil && git.ExitCode(err) != 1 && git.ExitCode(err) != 128 {
		return "", err
	}
	return object.OID(strings.TrimSpace(string(out))), nil
}

// defaultBranch returns the branch that a symbolic ref names, or "".
func (g *guarded) defaultBranch(head string) string {
	out, err := g.repo.Git.Run(g.ctx, nil, "symbolic-ref", "--quiet", head)
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(out))
	return name[strings.LastIndexByte(name, '/')+1:]
}

// overwrites judges a branch that is pushed over existing history: refused when the branch is protected, or when
// records would be lost.
func (g *guarded) overwrites(m move, shown string) error {
	name, ok := strings.CutPrefix(m.ref, branchPrefix)
	if !ok || m.old == "" {
		return nil
	}
	protected, err := g.protected(m.old, name, shown)
	if err != nil || !protected {
		return err
	}
	if m.new == "" {
		g.find(Finding{
			Rule:    RuleHistoryRewritten,
			Path:    m.ref,
			Message: "the branch is protected and would be deleted",
			Hint:    "change git_hooks.protected_branches in " + wire.ConfigPath + ", or delete it on the server",
		})
		return nil
	}
	ps, err := chain.Parents(g.ctx, g.repo, m.new)
	if err == nil && slices.Contains(ps, m.old) {
		return nil
	}
	_, err = g.repo.Git.Run(g.ctx, nil, "merge-base", "--is-ancestor", string(m.old), string(m.new))
	switch {
	case err == nil:
		return nil
	case git.ExitCode(err) != 1:
		return err
	}
	g.find(Finding{
		Rule:    RuleHistoryRewritten,
		Path:    m.ref,
		Message: fmt.Sprintf("it would no longer lead to %.12s, and the branch is protected", m.old),
		Hint: "git pull --rebase, then push without force; or change git_hooks.protected_branches in " +
			wire.ConfigPath,
	})
	return nil
}

// protected reports whether a governed project protects the history of a branch as a commit has its rules: the branches
// that the configuration names, else the one that the other side shows first. A missing commit governs nothing here.
func (g *guarded) protected(commit object.OID, name, shown string) (bool, error) {
	if !g.repo.Objects().Has(g.ctx, commit) {
		return false, nil
	}
	prefixes, err := g.prefixes()
	if err != nil {
		return false, err
	}
	for _, p := range prefixes {
		r, err := newGovernance(g.ctx, g.repo, p).of(commit)
		if err != nil {
			return false, err
		}
		if r != nil && protects(r.config, name, shown) {
			return true, nil
		}
	}
	return false, nil
}

func protects(c *config.Config, name, shown string) bool {
	if c.ProtectedBranches == nil {
		return name == shown || shown == "" && (name == "main" || name == "master")
	}
	return slices.ContainsFunc(c.ProtectedBranches, func(p string) bool { return wire.MatchPath(p, name) })
}

func configOf(r *governor) *config.Config {
	if r == nil {
		return nil
	}
	return r.config
}
