// Uncommitted changes of the checkout: which conflict with a restore, and which stay as they are
// (docs/restore.md#changes-of-the-checkout).

package restore

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeTurnDisplaced means that a turn is active here which the artifact does not know.
const CodeTurnDisplaced = "turn_displaced"

// Kept is a change of the checkout that a restore keeps.
type Kept struct {
	Path string
	Kind string // such as untracked
	Turn string // the active turn of the run whose work includes the change, "" for none
}

// clean decides on each uncommitted change. What the artifact writes or removes must be as committed, or already
// have the restored content. Of other files an untracked one stays, and counts as work of an active turn; a changed
// one stays unless a turn is active, to which it would be attributed.
func (t *restoring) clean(ctx context.Context) error {
	repo := t.store.Repository()
	status, err := gitstatus.Of(ctx, repo, repo.Prefix)
	if err != nil {
		return err
	}
	turns := t.activeTurns()
	turn := ""
	if len(turns) > 0 {
		turn = turns[0]
	}
	t.out.Keep = nil
	e := &wire.Error{Code: wire.CodeDirtyTree, Field: "worktree"}
	var names []string
	for _, p := range status.Paths() {
		d := status.Dirty[p]
		governed := restorable(strings.TrimSuffix(p, "/")) || t.isWork(p)
		switch {
		case operationalNow(p) || governed && !d.Unmerged && t.in.Holds(t.store.Work().Root, p):
		case governed || d.Unmerged || turn != "" && !d.Untracked:
			line := printable(p) + " (" + dirtyKind(d) + ")"
			names = append(names, line)
			e.Problems = append(e.Problems, wire.Problem{Code: wire.CodeDirtyTree, Field: p, Message: line})
		default:
			t.out.Keep = append(t.out.Keep, Kept{Path: p, Kind: dirtyKind(d), Turn: turn})
		}
	}
	if len(names) == 0 {
		return nil
	}
	e.Message = "The checkout has changes that are not committed: " + someOf(names, 10) + "."
	e.Hint = "commit or stash them (git stash -u), then restore again"
	return t.obstacle(e)
}

// activeTurns returns the active turns in the artifact.
func (t *restoring) activeTurns() []string {
	if t.a == nil {
		return nil // only a bundle: it does not cover the files of the product
	}
	return objectOf(get(objectOf(t.a.a.state), "active_turns")).Keys()
}

// obstacle handles what prevents a restore. A plan lists it and continues.
func (t *restoring) obstacle(e *wire.Error) error {
	if !t.opt.Plan {
		return e
	}
	t.out.Obstacles = append(t.out.Obstacles, e)
	return nil
}

// ownTurns asks about active turns here that the artifact does not know: restoring removes them from the run.
func (t *restoring) ownTurns(ctx context.Context) error {
	v, err := t.store.View(ctx)
	if err != nil || v.State == nil {
		return nil // what is here cannot be read: the restore repairs it
	}
	var names []string
	for id, turn := range v.State.ActiveTurns.All() {
		if known, err := t.knows(id); err != nil {
			return err
		} else if !known {
			names = append(names, fmt.Sprintf("%s (%s)", id, turnRole(turn)))
		}
	}
	if len(names) == 0 || t.out.Bundle != nil && t.a == nil {
		return nil
	}
	e := &wire.Error{
		Code:  CodeTurnDisplaced,
		Field: "active_turns",
		Message: fmt.Sprintf("%s at work here, and the artifact does not know %s: %s.",
			text.Count(len(names), "turn is", "turns are"), map[bool]string{
				true:  "it",
				false: "them",
			}[len(names) == 1], someOf(names, 10)),
		Hint: "finish the work first, or give it up: the same command with --give-up-turns; the files are kept",
	}
	if t.opt.GiveUp != nil {
		if yes, err := t.opt.GiveUp(e.Message); err != nil || yes {
			return err
		}
	}
	return t.obstacle(e)
}

func turnRole(turn *run.Turn) string {
	if turn == nil {
		return "unknown"
	}
	return turn.AssignedRole
}

// knows reports whether the artifact's events or its active turns name a turn.
func (t *restoring) knows(id string) (bool, error) {
	if t.a == nil {
		return true, nil
	}
	if slices.Contains(t.activeTurns(), id) {
		return true, nil
	}
	events := wire.LedgerEvents.Path()
	if !t.in.Brings(events) {
		return false, nil
	}
	r, err := t.in.Open(events)
	if err != nil {
		return false, err
	}
	quoted := ojson.Compact(id)
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		if bytes.Contains(line, quoted) {
			return true, nil
		}
		if err != nil {
			return false, nil
		}
	}
}
