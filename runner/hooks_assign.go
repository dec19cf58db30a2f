// before_assignment: asked once the engine would give the turn (docs/hooks.md#phases).

package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// beforeAssignment runs the hooks for a turn that op would begin. They are not
// asked about what the rules refuse anyway. A reissue begins a turn as well, and
// may give it to another role.
func (c *change) beforeAssignment(ctx context.Context, op protocol.Operation) error {
	const phase = "before_assignment"
	if !c.hooks.has(phase) {
		return nil
	}
	t, refusal := c.decide(c.view.Snapshot(), op)
	if refusal != nil {
		return refusal
	}
	turn, ok := t.State.ActiveTurns.Get(turnOf(t))
	if !ok {
		return nil
	}
	s, cfg := c.view.State, c.view.Config
	var role any
	if r := cfg.Role(turn.AssignedRole); r != nil {
		role = r.Raw
	}
	active := []*ojson.Object{}
	for _, a := range s.ActiveTurns.All() {
		active = append(active, ojson.NewObject("turn_id", a.TurnID, "role_id", a.AssignedRole, "status", string(a.Status), "attempt", a.Attempt))
	}
	n, err := c.r.historyLength()
	if err != nil {
		return err
	}
	err = c.hook(ctx, hooks.Call{Phase: phase, Payload: ojson.NewObject("role_id", turn.AssignedRole, "role_config", role, "phase", s.Phase,
		"active_turns", active, "history_length", n)})
	if err != nil {
		if op, ok := op.(*protocol.ReissueTurn); ok && c.stop != nil && c.stop.block == nil {
			c.stop.err.Hint = strings.TrimSpace(hookAsks + "git agentxchain reissue " + op.TurnID)
		}
		return err
	}
	return c.fresh(ctx, op)
}

// fresh looks at the work tree once more: the hooks may have changed it, and took
// their time.
func (c *change) fresh(ctx context.Context, op protocol.Operation) error {
	c.tree, c.env.Now = nil, c.r.Now()
	base, err := c.baseline(ctx)
	if err != nil {
		return err
	}
	switch op := op.(type) {
	case *protocol.AssignTurn:
		op.Baseline, op.Dirty = base, observe.ProjectDirty(c.tree)
	case *protocol.ReissueTurn:
		op.Baseline = base
	}
	return nil
}

// historyLength counts the rows of history.jsonl.
func (r *Runner) historyLength() (int, error) {
	f, err := os.Open(filepath.Join(r.store.Dir(), filepath.FromSlash(wire.LedgerHistory.Path())))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, projectfile.Unreadable(wire.LedgerHistory.Path(), err)
	}
	defer func() { _ = f.Close() }()
	n, buf := 0, make([]byte, 64<<10)
	for {
		k, err := f.Read(buf)
		n += bytes.Count(buf[:k], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, projectfile.Unreadable(wire.LedgerHistory.Path(), err)
		}
	}
}
