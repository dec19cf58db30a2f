// Tests of session.json.

package change

import (
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestBuildSession(t *testing.T) {
	env := &Env{Now: time.UnixMilli(0), Seed: "00", Git: evidence.GitFacts{Head: "abc", Branch: "main", Dirty: true}}
	s := &run.State{
		RunID:               new("run_1"),
		Status:              wire.StatusActive,
		Phase:               "planning",
		LastCompletedTurnID: new("turn_a"),
	}
	s.ActiveTurns.Set("turn_b", &run.Turn{TurnID: "turn_b", AssignedRole: "dev"})
	one := BuildSession(nil, s, "turn_assigned", env)
	want := "session_id run_id started_at last_checkpoint_at checkpoint_reason run_status phase last_phase last_turn_id last_completed_turn_id active_turn_ids last_role pending_gate pending_run_completion blocked baseline_ref agent_context"
	if got := strings.Join(one.Keys(), " "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for k, want := range map[string]string{
		"last_turn_id":           `"turn_b"`,
		"last_role":              `"dev"`,
		"active_turn_ids":        `["turn_b"]`,
		"pending_gate":           "null",
		"blocked":                "false",
		"last_completed_turn_id": `"turn_a"`,
		"baseline_ref":           `{"git_head":"abc","git_branch":"main","workspace_dirty":true}`,
		"agent_context":          `{"adapter":null,"dispatch_dir":".agentxchain/dispatch/turns/turn_b"}`,
	} {
		v, _ := one.Get(k)
		if got := string(ojson.Compact(v)); got != want {
			t.Errorf("%s: %s", k, got)
		}
	}
	if !strings.HasPrefix(one.String("session_id"), "session_") {
		t.Error(one.String("session_id"))
	}

	// The same run keeps the session and other tools' members.
	one.Set("operator_commit_reconciliation", ojson.NewObject("x", 1))
	env.Now = time.UnixMilli(5000)
	s.ActiveTurns.Delete("turn_b")
	s.Status, s.PendingPhaseTransition = wire.StatusPaused, &run.PendingTransition{
		From: "planning",
		To:   "build",
		Gate: "g1",
	}
	two := BuildSession(one, s, "turn_accepted", env)
	for _, k := range []string{"session_id", "started_at", "last_role"} {
		if two.String(k) != one.String(k) {
			t.Errorf("%s changed to %q", k, two.String(k))
		}
	}
	if !two.Has("operator_commit_reconciliation") || two.String("last_turn_id") != "turn_a" ||
		two.String("pending_gate") != "g1" || two.String("last_checkpoint_at") != "1970-01-01T00:00:05.000Z" {
		t.Errorf("%s", ojson.Compact(two))
	}
	if one.String("checkpoint_reason") != "turn_assigned" {
		t.Error("the previous session was modified")
	}

	// Another run starts another session.
	s.RunID, s.PendingPhaseTransition, s.PendingRunCompletion = new("run_2"), nil, &run.PendingCompletion{Gate: "g2"}
	three := BuildSession(two, s, "blocked", env)
	if three.String("session_id") == two.String("session_id") ||
		three.String("started_at") != "1970-01-01T00:00:05.000Z" || three.Has("operator_commit_reconciliation") ||
		!three.Bool("pending_run_completion") {
		t.Errorf("%s", ojson.Compact(three))
	}
	// No commit yet, detached: null, not "".
	env.Git = evidence.GitFacts{}
	if got := string(ojson.Compact(BuildSession(nil, s, "blocked",
		env).Object("baseline_ref"))); got != `{"git_head":null,"git_branch":null,"workspace_dirty":false}` {
		t.Error(got)
	}
}
