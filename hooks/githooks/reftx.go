// reference-transaction: the check that --no-verify does not skip.

package githooks

import (
	"bufio"
	"io"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Bounds of git's standard input.
const (
	maxUpdates    = 100000
	maxUpdateLine = 8 << 10
)

// updates reads the lines "<old> <new> <ref>" of reference-transaction and pre-receive. It skips symbolic refs,
// which name no object.
func (g *guarded) updates() ([]move, error) { return parseUpdates(g.inv.Stdin, g.repo.ObjectFormat) }

func parseUpdates(in io.Reader, format string) ([]move, error) {
	var out []move
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), maxUpdateLine)
	for lines.Scan() {
		f := strings.SplitN(lines.Text(), " ", 3)
		if len(f) != 3 || len(out) == maxUpdates {
			return nil, refuse(wire.CodeInvalidArgument, "git announced an update that cannot be read: %.80q",
				lines.Text())
		}
		if strings.HasPrefix(f[0], "ref:") || strings.HasPrefix(f[1], "ref:") {
			continue
		}
		m := move{ref: f[2]}
		for i, to := range []*object.OID{&m.old, &m.new} {
			oid := object.OID(f[i])
			if !oid.Valid(format) {
				return nil, refuse(wire.CodeInvalidArgument, "git announced an update that cannot be read: %.80q",
					lines.Text())
			}
			if !oid.IsZero() {
				*to = oid
			}
		}
		out = append(out, m)
	}
	return out, lines.Err()
}

const branchPrefix = "refs/heads/"

// referenceTransaction judges the branches and runs that a prepared transaction moves. Other refs, and a detached
// HEAD, are not judged until a branch takes up their commits.
func (g *guarded) referenceTransaction() error {
	if len(g.inv.Args) > 0 && g.inv.Args[0] != "prepared" {
		return nil
	}
	moves, err := g.updates()
	if err != nil {
		return err
	}
	w := &witness{g: g}
	for _, m := range moves {
		run, isRun := strings.CutPrefix(m.ref, git.RunRefPrefix)
		if !isRun && !strings.HasPrefix(m.ref, branchPrefix) {
			continue
		}
		if m.new == "" && g.repo.Packed(m.ref, m.old) {
			continue // git gc: the ref stays
		}
		if m.old == "" {
			// git also reports this for an update that ignores the old value.
			if m.old, err = g.repo.ReadRef(g.ctx, m.ref); err != nil {
				return err
			}
		}
		if m.old == m.new {
			continue
		}
		switch {
		case isRun:
			err = g.runMoved(run, m, w)
		case m.new == "":
			err = g.deleted(m)
		default:
			err = g.branch(m, false, w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deleted judges the deletion of a branch. "git branch -M" tells hooks only that branches go, not what replaces
// them, so a protected one stays.
func (g *guarded) deleted(m move) error {
	if m.old == "" {
		return nil
	}
	protected, err := g.protected(m.old, strings.TrimPrefix(m.ref, branchPrefix), "")
	if err != nil || !protected {
		return err
	}
	g.find(Finding{
		Rule:    RuleHistoryRewritten,
		Path:    m.ref,
		Message: "the branch is protected and would be deleted, or another would take its name",
		Hint:    "change git_hooks.protected_branches in " + wire.ConfigPath + " first",
	})
	return nil
}

// maxOps bounds how many operations of a run are checked at once.
const maxOps = 20000

// runMoved judges a run's ref: it may only move on from where it was, and every operation must follow from the one
// before by the rules.
func (g *guarded) runMoved(run string, m move, w *witness) error {
	if m.new == "" {
		if kept, err := archive.Keeps(g.ctx, g.repo, run, m.old); err != nil || kept {
			return err
		}
		g.find(Finding{Rule: RuleRunChain, Path: m.ref, Message: "the record of the run would be gone",
			Hint: "keep it: git agentxchain runs archive, then git agentxchain sync; to remove it anyway: " +
				"git agentxchain hooks uninstall, then git update-ref -d " + m.ref})
		return nil
	}
	if cut, err := gitstore.CutBack(g.ctx, g.repo, run, m.old, m.new); err != nil || cut {
		return err
	}
	r := chain.RunRecordAt(g.ctx, g.repo, run, m.new)
	if err := r.CheckChain(m.old, maxOps); err != nil {
		if g.ctx.Err() != nil {
			return err
		}
		g.find(Finding{
			Rule:    RuleRunChain,
			Path:    m.ref,
			Message: err.Error(),
			Hint:    "git agentxchain fsck --run " + run,
		})
		return nil
	}
	why, err := w.prove(r)
	if err == nil && why != "" {
		g.find(Finding{
			Rule:    RuleRunUnproven,
			Path:    m.ref,
			Message: why,
			Hint:    "git agentxchain fsck --replay --run " + run + ", in the clone it comes from",
		})
	}
	return err
}

// archiveMoved judges a ref of the archive: it must lose nothing that it named or kept.
func (g *guarded) archiveMoved(m move) error {
	lost := func(what string) {
		g.find(Finding{Rule: RuleRunChain, Path: m.ref, Message: what, Hint: "git agentxchain sync joins both sides"})
	}
	year, list := strings.CutPrefix(m.ref, archive.ListPrefix)
	if !list {
		var keeps bool
		if year, keeps = strings.CutPrefix(m.ref, archive.KeepPrefix); !keeps {
			return nil
		}
	}
	switch {
	case m.new == "":
		lost("archived runs would be gone")
		return nil
	case !archive.ValidYear(year):
		lost(wire.Quoted(year) + " is not a year")
		return nil
	case m.old == "":
		return nil
	}
	if !list {
		in, err := history.Ancestor(g.ctx, g.repo, m.old, m.new)
		if err == nil && !in {
			lost("it would no longer keep what it kept")
		}
		return err
	}
	before, err := archive.Read(g.ctx, g.repo, m.old)
	if err != nil {
		return err
	}
	after, err := archive.Read(g.ctx, g.repo, m.new)
	if err != nil {
		return err
	}
	if !before.Merge(after).Equal(after) {
		lost("archived runs would be missing from the list")
	}
	had, err := archive.SaidAt(g.ctx, g.repo, m.old)
	if err != nil {
		return err
	}
	has, err := archive.SaidAt(g.ctx, g.repo, m.new)
	if err != nil {
		return err
	}
	all, err := archive.HoldsSaid(g.ctx, g.repo, has, had)
	if err == nil && !all {
		lost("what witnesses signed of archived runs would be gone")
	}
	return err
}
