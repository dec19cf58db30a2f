// Accepting "the turn" when another process was faster.

package runner_test

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func TestBareAcceptThatCameSecond(t *testing.T) {
	p := newProject(t, onePhase)
	if got := p.r.OnlyTurnNow(); got != "" {
		t.Fatalf("before the run the turn is %q", got)
	}
	first := p.assignStaged()
	if got := p.r.OnlyTurnNow(); got != first.TurnID {
		t.Fatalf("the turn is %q, not %q", got, first.TurnID)
	}
	_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: first.TurnID})
	p.must(err)
	// The first turn was meant; nothing else is active.
	_, err = p.r.AcceptMeaning(p.ctx, runner.AcceptOptions{}, first.TurnID)
	wantCode(t, err, wire.CodeTurnAlreadyAccepted)
	// The winner has gone on: the next turn is not the one that was meant.
	second := p.assignStaged()
	_, err = p.r.AcceptMeaning(p.ctx, runner.AcceptOptions{}, first.TurnID)
	wantCode(t, err, wire.CodeTurnAlreadyAccepted)
	if p.state().OnlyTurn().TurnID != second.TurnID {
		t.Fatal("the wrong turn was accepted")
	}
	// After a turn that ended in another way, the turn that is active now is accepted.
	_, err = p.r.AcceptMeaning(p.ctx, runner.AcceptOptions{}, "turn_of_nobody")
	p.must(err)
	if p.state().OnlyTurn() != nil {
		t.Fatal("the second turn is still active")
	}
	// Without a race, a bare accept with no active turn finds nothing.
	_, err = p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	wantCode(t, err, "not_found")
}
