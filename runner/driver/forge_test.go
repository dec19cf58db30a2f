//go:build unix

// Agents that write the record themselves.

package driver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/tamper"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// forgeries are shell commands with which an agent changes the record; another tool may leave all
// of these changes but the last two.
var forgeries = map[string]string{
	"completes the run": `cd .agentxchain; sed -e 's/"status": "active"/"status": "completed"/' state.json > x && mv x state.json; echo '{"event_id":"evt_1","event_type":"run_completed","payload":{}}' >> events.jsonl; cd ..;`,
	"a row of history":  `echo '{"turn_id":"turn_forged"}' >> .agentxchain/history.jsonl;`,
	"a decision":        `echo '{"id":"DEC-900","turn_id":"turn_forged"}' >> .agentxchain/decision-ledger.jsonl;`,
	"no run at all":     `sed -i.x -e 's/"run_id": "run_[0-9a-f]*"/"run_id": null/;s/"status": "active"/"status": "idle"/' .agentxchain/state.json;`,
	"a prepared acceptance": `mkdir -p .agentxchain/transactions/accept; { printf '{"kind":"accept_turn","status":"prepared","turn_id":"%s","run_id":"run_x","accepted_sequence":1,"next_state":{' $AGENTXCHAIN_TURN_ID;
		echo '"run_id":"run_x"}}'; } > .agentxchain/transactions/accept/forged.json;`,
	"state removed": `rm .agentxchain/state.json;`,
	"state a pipe":  `rm .agentxchain/state.json; mkfifo .agentxchain/state.json;`,
}

// TestForgedRecordIsPutBack makes agents edit the record's working files: no edit counts, none is
// lost, and a person has to look at it.
func TestForgedRecordIsPutBack(t *testing.T) {
	for name, script := range forgeries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, shell(script+stage), runner.Options{Trust: true})
			turn := p.assign()
			before := p.read(string(wire.DocState))
			out := newDriver(p.r).Dispatch(context.Background(), driver.Job{TurnID: turn.TurnID})
			if out.Kind != runtimes.Blocked || out.Class != record.CodeStateTampered || !strings.Contains(out.Reason,
				".agentxchain/") || !strings.Contains(out.Recovery, "git agentxchain unblock") {
				t.Fatalf("%+v", out)
			}
			if got := p.read(string(wire.DocState)); got != before {
				t.Errorf("the state is %s", got)
			}
			v, err := p.r.View(context.Background())
			p.must(err)
			if v.State.Status != wire.StatusActive || !v.State.ActiveTurns.Has(turn.TurnID) || len(v.Notices) > 0 {
				t.Errorf("%s, %v, %v", v.State.Status, v.State.ActiveTurns.Keys(), v.Notices)
			}
			if kept, _ := filepath.Glob(filepath.Join(p.dir, ".agentxchain/transactions/repair-*", "*")); len(
				kept) == 0 && name != "state removed" {
				t.Error("what the agent wrote is not kept")
			}
		})
	}
}

// TestForgeryAfterAKill leaves a forged record behind that no driver puts back: it is refused until
// a person has taken a side.
func TestForgeryAfterAKill(t *testing.T) {
	p := newProject(t, shell(stage), runner.Options{Trust: true})
	turn := p.assign()
	p.write(turnmark.Path(turn.TurnID), "") // as a killed driver leaves it
	f, err := os.OpenFile(filepath.Join(p.dir, ".agentxchain/history.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY,
		0o666)
	p.must(err)
	_, err = f.WriteString(`{"turn_id":"turn_forged"}` + "\n")
	p.must(err)
	p.must(f.Close())
	ctx := context.Background()
	if _, err := p.r.View(ctx); runner.ErrorCode(err) != record.CodeStateTampered {
		t.Errorf("looked at: %v", err)
	}
	if _, err := p.r.StageResult(ctx, turn.TurnID, []byte(`{}`)); runner.ErrorCode(err) != record.CodeStateTampered {
		t.Errorf("staged: %v", err)
	}
	_, err = p.r.Repair(ctx, gitstore.FromRef, gitstore.RepairOptions{})
	p.must(err)
	// The killed driver's note about git is missing too: see TestNoteRemoved.
	if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID}); out.Class != tamper.CodeGitTampered {
		t.Errorf("%+v", out)
	}
	if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
		t.Errorf("%+v", out)
	}
	if p.exists(turnmark.Path(turn.TurnID)) {
		t.Error("the mark is left")
	}
}

// TestLogsOfRefusedAttempts keeps what the agent said in every attempt, also when its result was
// refused and the bundle was rebuilt.
func TestLogsOfRefusedAttempts(t *testing.T) {
	p := newProject(t,
		shell(`n=$(ls .agentxchain/dispatch/audit/$AGENTXCHAIN_TURN_ID 2>/dev/null | wc -l); echo "said $((n))"; `+
			stage), runner.Options{Trust: true})
	turn := p.assign()
	ctx := context.Background()
	for n := range 2 {
		if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
			t.Fatalf("%+v", out)
		}
		_, err := p.r.RejectTurn(ctx, runner.RejectOptions{TurnID: turn.TurnID, Reason: "not this"})
		p.must(err)
		if log := p.read(dispatch.AttemptLog(turn.TurnID, n+1)); !strings.Contains(log,
			fmt.Sprintf("\nsaid %d\n", n)) {
			t.Errorf("attempt %d: %s", n+1, log)
		}
	}
}
