// Guarding git's own settings while an agent is at work, see docs/threat-model.md.

package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/tamper"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// BlockedOnGit is what a run is blocked on when an agent has changed git's settings: configuration,
// hooks, info files, refs or flags of the index.
const BlockedOnGit = "dispatch:" + tamper.CodeGitTampered

// AnnounceDispatch notes that a turn is about to be handed out for the first time: if the driver is killed
// before BeginDispatch, no agent has started yet.
func (r *Runner) AnnounceDispatch(turnID string) error { return r.store.Watch().Announce(turnID) }

// ConcludeDispatch forgets what EndDispatch has settled, once the turn's lock is released.
func (r *Runner) ConcludeDispatch(turnID string) { r.store.Watch().ForgetSettled(turnID) }

// BeginDispatch notes git's settings when a turn is handed to its agent. left says that the
// previous process of the turn was killed: its note is checked first, and a missing note counts as
// tampering as well (git_tampered).
func (r *Runner) BeginDispatch(ctx context.Context, turnID string, left bool) (*tamper.Note, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	before, err := r.store.Watch().Left(turnID)
	if err != nil {
		return nil, err
	}
	if before == nil && left && !r.store.Watch().Settled(turnID) {
		return nil, tampered(turnID, "what was noted about it at dispatch is gone", "")
	}
	if before != nil {
		t, err := r.store.Watch().PutBack(ctx, before)
		if err != nil {
			return nil, err
		}
		if err := r.store.Watch().Forget(before); err != nil {
			return nil, err
		}
		if len(t.Changes) > 0 {
			return nil, tampered(turnID, t.String(), t.Kept)
		}
	}
	d, err := r.store.Watch().Take(ctx, turnID)
	if err == nil {
		r.store.Watch().ForgetSettled(turnID) // from here on a missing note means tampering
	}
	return d, err
}

// EndDispatch compares git's settings with the note of BeginDispatch, and puts back what an agent must not
// change (git_tampered). The returned Tampering lists what else has changed; it is never nil.
func (r *Runner) EndDispatch(ctx context.Context, d *tamper.Note) (*tamper.Tampering, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	t, err := r.store.Watch().PutBack(ctx, d)
	if err != nil {
		return &tamper.Tampering{}, err
	}
	// Settled, not forgotten: a driver that is killed before it releases the turn's lock leaves
	// nothing to be checked.
	if err := r.store.Watch().Settle(d); err != nil {
		return t, err
	}
	if len(t.Changes) > 0 {
		return t, tampered(d.Turn, t.String(), t.Kept)
	}
	return t, nil
}

func tampered(turnID, what, kept string) *wire.Error {
	e := &wire.Error{
		Code:    tamper.CodeGitTampered,
		Field:   "turn_id",
		Message: fmt.Sprintf("Git's configuration or hooks changed while the agent of turn %s was at work: %s.", turnID, what),
		Hint:    "look at what the agent did, then: git agentxchain unblock",
	}
	if kept != "" {
		e.Message += " They were restored; what was there is in " + kept + "."
	}
	return e
}

// settling marks the operation that settleLeft itself carries out.
type settling struct{}

// settleLeft checks the turns whose processes were killed, before anything else is changed. When
// their agents have changed git's settings, it puts them back, blocks the run and refuses the
// command that found it.
func (r *Runner) settleLeft(ctx context.Context) error {
	left, err := r.store.Watch().AllLeft()
	if err != nil || len(left) == 0 || ctx.Value(settling{}) != nil || r.InsideTurn() != "" {
		return err
	}
	ctx = context.WithValue(ctx, settling{}, true)
	for _, d := range left {
		r.serial.Lock()
		t, err := r.store.Watch().PutBack(ctx, d)
		r.serial.Unlock()
		if err != nil {
			return err
		}
		var refusal *wire.Error
		if len(t.Changes) > 0 {
			refusal = tampered(d.Turn, t.String(), t.Kept)
			_, err = r.MarkRunBlocked(ctx, protocol.Block{
				BlockedOn:   BlockedOnGit,
				Category:    "dispatch_error",
				TypedReason: "dispatch_error",
				Owner:       run.OwnerHuman,
				Action:      "Look at what the agent did, then run: git agentxchain unblock",
				Detail:      refusal.Message,
				TurnID:      d.Turn,
			})
			if code := ErrorCode(err); err != nil &&
				(code == fail.CodeGitFailed || code == fail.CodeUnreadable ||
					code == fail.CodeLocked || code == fail.CodeIO) {
				return err // found again next time; a run that is over or already blocked cannot be blocked
			}
		}
		if err := r.store.Watch().Settle(d); err != nil {
			return err
		}
		if refusal != nil {
			return refusal
		}
	}
	return nil
}

// TamperNotices says what the next changing command will put back.
func (r *Runner) TamperNotices() []string {
	found, err := r.store.Watch().Peek()
	if err != nil {
		return []string{"git's configuration and hooks cannot be compared with those at dispatch: " + err.Error()}
	}
	var out []string
	for _, turn := range slices.Sorted(maps.Keys(found)) {
		if t := found[turn]; len(t.Changes) > 0 {
			out = append(out,
				fmt.Sprintf("the agent of turn %s changed git's configuration or hooks: %s; the next command that changes the run restores them and blocks it", turn, strings.TrimSuffix(t.String(), ".")))
		}
	}
	return out
}
