// Claims: which clone works on a turn (docs/teams.md#claims).

package runner

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/claims"
)

// ClaimOptions says what to do with the claim of a turn.
type ClaimOptions struct {
	// a turn, or a role: its active turn, else a turn that is assigned now; "" is the only active turn
	Target  string
	Action  string        // one of the protocol's: claim, renew, release, steal
	For     time.Duration // 0: as long as before, else 30 minutes
	Because string        // required for steal
}

// Claimed is the outcome of ClaimTurn.
type Claimed struct {
	Done
	Assigned bool // the turn was assigned for the claim
	Result   *protocol.ClaimResult
}

// ClaimTurn takes, keeps or gives up a turn for this clone. It counts once the remote has recorded
// it: of several clones that ask at the same time one gets the turn.
//
// Errors: inside_dispatched_turn, no_remote, remote_failed, turn_claimed, not_found,
// turn_not_active, target_required, reason_required, invalid_argument, and those of
// AssignTurn for a role.
func (r *Runner) ClaimTurn(ctx context.Context, opt ClaimOptions) (*Claimed, error) {
	out := &Claimed{}
	if err := r.personOnly("claim a turn", "git agentxchain claim"); err != nil {
		return out, out.settle(err)
	}
	if _, err := transport.PickRemote(ctx, r.store.Repository(), ""); err != nil {
		return out, out.settle(err)
	}
	if err := travel.MakeCloneID(r.store.Repository()); err != nil {
		return out, out.settle(err)
	}
	if v, err := r.View(ctx); err == nil && v.State.Status.Ended() { // no remote changes that
		if _, e := run.ResolveTurn(v.State, "", "claim"); e != nil {
			return out, out.settle(e)
		}
	}
	_, branch := r.strict(ctx)
	ctx = onRemote(ctx, branch)
	turn, err := r.claimTarget(ctx, opt, branch, out)
	if err != nil {
		return out, out.settle(err)
	}
	done, err := r.do(ctx, "claim", func(_ context.Context, c *change) (*plan, error) {
		return &plan{op: c.claim(turn, opt)}, nil
	})
	notices := out.Notices
	out.Done = *done
	out.Notices = append(notices, out.Notices...)
	out.Result = resultOf[*protocol.ClaimResult](done, err)
	return out, err
}

// claimTarget finds the turn that is meant and assigns one to a role without a turn.
func (r *Runner) claimTarget(ctx context.Context, opt ClaimOptions, branch bool, out *Claimed) (string, error) {
	if err := r.upToDate(ctx, branch); err != nil {
		return "", err
	}
	v, err := r.View(ctx)
	if err != nil {
		return "", err
	}
	if opt.Target == "" || v.State.ActiveTurns.Has(opt.Target) {
		return opt.Target, nil
	}
	for id, turn := range v.State.ActiveTurns.All() {
		if turn.AssignedRole == opt.Target {
			return id, nil
		}
	}
	switch {
	case v.Config.Role(opt.Target) == nil:
		return "", &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   "turn_id",
			Message: fmt.Sprintf("%s is neither an active turn nor a role.", text.Brief(opt.Target, 80)),
			Hint:    "git agentxchain status",
		}
	case opt.Action != protocol.ClaimTake:
		return "", &wire.Error{
			Code:    wire.CodeTurnNotActive,
			Field:   "turn_id",
			Message: "Role " + text.Brief(opt.Target, 80) + " has no active turn.",
			Hint:    "git agentxchain status",
		}
	}
	given, err := r.AssignTurn(ctx, AssignOptions{Role: opt.Target})
	out.Done = given.Done
	if err != nil {
		return "", err
	}
	out.Assigned = true
	return given.Turn.TurnID, nil
}

// claim returns the requested operation, with the time that this clone has seen the present claim.
func (c *change) claim(turn string, opt ClaimOptions) *protocol.ClaimTurn {
	op := &protocol.ClaimTurn{
		TurnID:  turn,
		Action:  opt.Action,
		Seconds: int(opt.For / time.Second),
		Because: opt.Because,
	}
	if op.TurnID == "" {
		if only := c.view.State.OnlyTurn(); only != nil {
			op.TurnID = only.TurnID
		}
	}
	op.Machine, _ = os.Hostname() // a name for people; may be ""
	if since, ok := claims.Seen(c.r.store, c.view, c.env.Now, true)[op.TurnID]; ok {
		op.Waited = int(c.env.Now.Sub(since) / time.Second)
	}
	return op
}

// noteClaims remembers when this clone first saw each claim.
func (r *Runner) noteClaims(ctx context.Context) {
	if v, err := r.store.View(ctx); err == nil && v.State != nil {
		claims.Seen(r.store, v, r.Now(), true)
	}
}

// Holds returns the claims of the active turns of v, by turn.
func (r *Runner) Holds(v *View) map[string]*claims.Hold { return claims.Of(r.store, v, r.Now()) }
