// Taking a turn as it is: once, for its present contents, against that one refusal.

package protocol

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// asIs returns a person's consent to what stops the run; On is "" where nothing can be taken as it is.
func (w *opsWorld) asIs(reason string) *Reactivate {
	op := &Reactivate{AcceptAsIs: true, Reason: reason}
	o, refusal := Overruled(w.state)
	if refusal != nil {
		return op
	}
	op.On = o.On
	turn := w.turn(o.TurnID)
	if turn == nil {
		op.Content = GateDigest(w.state, w.head())
		return op
	}
	if w.staged[turn.TurnID] == nil {
		w.stage(turn.TurnID)
	}
	a := w.acceptance(turn.TurnID)
	op.StagedPath, op.Staged, op.Content = a.StagedPath, a.Staged, WorkDigest(a.Staged, &a.Seen)
	return op
}

const streakOf2 = `[{"id":"streak","rule":"max_consecutive_same_role","params":{"limit":2},"action":"escalate"},
	{"id":"cheap","rule":"max_cost_per_turn","params":{"limit_usd":1},"action":"escalate"}]`

func streak(t *testing.T) (*opsWorld, *run.Turn) {
	w := startedWorld(t, sets("policies", arr(streakOf2), "run_loop.non_progress_threshold", 9))
	w.accept(w.assign("pm").TurnID)
	w.accept(w.assign("pm").TurnID)
	turn := w.assign("pm")
	w.refuse(wire.CodePolicyEscalation, turn.TurnID)
	w.wantStatus(wire.StatusBlocked, "policy:streak")
	return w, turn
}

func TestAcceptAsItIs(t *testing.T) {
	w, turn := streak(t)
	if n := NextStep(w.state, w.cfg, ""); !strings.HasSuffix(n.Command, run.CmdAsIs) ||
		!strings.Contains(n.Command, "git agentxchain reject "+turn.TurnID) {
		t.Errorf("next is %q", n.Command)
	}
	w.fails(wire.CodeReasonRequired, w.asIs("  "))
	w.fails(wire.CodeInvalidArgument, w.asIs(strings.Repeat("x", change.MaxReason+1)))
	w.actor.InsideTurn = turn.TurnID
	w.fails(wire.CodeInsideTurn, w.asIs("I say so"))
	w.actor.InsideTurn = ""
	other := w.asIs("fine")
	other.On = "policy:cheap"
	w.fails(wire.CodeInvalidArgument, other)
	empty := w.asIs("fine")
	empty.Staged = nil
	w.fails(wire.CodeStagedMissing, empty)

	tr := w.must(w.asIs("pm writes all of it"))
	w.wantEntries(tr, "human_overrule")
	row := w.lastRow(wire.LedgerDecisions)
	if row.String("reason") != "pm writes all of it" || row.String("kind") != "policy" ||
		row.String("turn_id") != turn.TurnID ||
		!strings.Contains(row.Strings("said")[0], "in a row") || row.Object("overruled_by").String("email") == "" {
		t.Errorf("row %s", ojson.Compact(row))
	}
	if talk := string(w.ledgers[wire.LedgerTalk]); !strings.Contains(talk, "pm writes all of it") {
		t.Errorf("TALK.md says %s", talk)
	}
	w.wantStatus(wire.StatusActive, "")
	tr = w.must(w.acceptance(turn.TurnID))
	if said := tr.Result.(*AcceptResult).Warnings; !slices.ContainsFunc(said, func(s string) bool {
		return strings.Contains(s, "as it is")
	}) {
		t.Errorf("warnings %q", said)
	}
	if o := w.lastRow(wire.LedgerHistory).Objects("overruled"); len(o) != 1 || o[0].String("on") != "policy:streak" {
		t.Errorf("history %s", ojson.Compact(w.lastRow(wire.LedgerHistory)))
	}
	if w.state.Overruled != nil {
		t.Error("a yes counts once")
	}
	// The next turn of the role is stopped again.
	w.refuse(wire.CodePolicyEscalation, w.assign("pm").TurnID)
}

func TestAsItIsCountsForThatOnly(t *testing.T) {
	// Other bytes.
	w, turn := streak(t)
	w.must(w.asIs("fine"))
	w.refuse(wire.CodePolicyEscalation, turn.TurnID, "summary", "something else")
	// Another policy also refuses.
	w, turn = streak(t)
	w.must(w.asIs("fine"))
	tr := w.refuse(wire.CodePolicyEscalation, turn.TurnID, cost(2)...)
	if !strings.Contains(tr.Failure.Message, "$2.00") {
		t.Error(tr.Failure.Message)
	}
	// An error in the result.
	w, turn = streak(t)
	w.must(w.asIs("fine"))
	w.stage(turn.TurnID, "status", "nonsense")
	w.fails(wire.CodeValidationFailed, w.acceptance(turn.TurnID))
	// Another attempt.
	w, turn = streak(t)
	w.must(w.asIs("fine"))
	w.must(w.rejection(turn.TurnID, "no, after all"))
	if w.state.Overruled != nil {
		t.Error("a yes outlives the attempt")
	}
	// A plain unblock is not consent.
	w, turn = streak(t)
	w.must(&Reactivate{Reason: "look again"})
	if row := w.lastRow(wire.LedgerDecisions); row.String("type") != "human_unblock" ||
		row.String("reason") != "look again" {
		t.Errorf("row %s", ojson.Compact(row))
	}
	w.fails(wire.CodePolicyEscalation, w.acceptance(turn.TurnID))
}

func TestAdoptedRulesAreJudgedAnew(t *testing.T) {
	w, turn := streak(t)
	adopt := func(edit func(*ojson.Object)) {
		t.Helper()
		was := w.cfg
		w.cfg = opsConfig(t, edit)
		w.must(w.adopting(was))
	}
	adopt(sets("policies", arr(streakOf2), "run_loop.non_progress_threshold", 9, "rules.max_turn_retries", 5))
	w.wantStatus(wire.StatusBlocked, "policy:streak")
	adopt(sets("policies", arr(strings.Replace(streakOf2, `"limit":2`, `"limit":3`, 1)),
		"run_loop.non_progress_threshold", 9, "rules.max_turn_retries", 5))
	w.wantStatus(wire.StatusActive, "")
	w.must(w.acceptance(turn.TurnID))
}

func TestHookAsItIs(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.stage(turn.TurnID)
	block := func(on, detail string) {
		t.Helper()
		d := run.DescribeBlock(w.state, on, turn.TurnID)
		w.must(&Block{
			BlockedOn:   on,
			Category:    d.Category,
			TypedReason: d.Recovery.TypedReason,
			Owner:       d.Recovery.Owner,
			Action:      d.Recovery.RecoveryAction,
			Detail:      detail,
			TurnID:      turn.TurnID,
		})
	}
	const on = "hook:before_acceptance:licences"
	block(on, "no licence in a.go, seen at 09:15:02")
	w.must(w.asIs("vendored"))
	a := w.acceptance(turn.TurnID)
	content := WorkDigest(a.Staged, &a.Seen)
	for _, c := range []struct {
		name, said, content string
		want                bool
	}{
		{"licences", "no licence in a.go, seen at 10:44:31", content, true},
		{"licences", "no licence in b.go, seen at 10:44:31", content, false},
		{"secrets", "no licence in a.go, seen at 10:44:31", content, false},
		{"licences", "no licence in a.go, seen at 10:44:31", "sha256:other", false},
	} {
		if got := HookOverruled(w.state, turn.TurnID, "before_acceptance", c.name, c.said,
			c.content) != nil; got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	// A second refusal needs its own consent; the first one stands.
	block("hook:before_acceptance:secrets", "a key")
	w.must(w.asIs("a test key"))
	if len(w.state.Overruled) != 2 {
		t.Errorf("%d yeses", len(w.state.Overruled))
	}
	a = w.acceptance(turn.TurnID)
	a.Overruled = []Overruling{{on, OverruleKey("no licence in a.go, seen at 11:22:33")},
		{"hook:before_acceptance:secrets", "a key"}}
	w.must(a)
	if o := w.lastRow(wire.LedgerHistory).Objects("overruled"); len(o) != 2 {
		t.Errorf("history %s", ojson.Compact(w.lastRow(wire.LedgerHistory)))
	}
}

func TestWhatNoPersonOverrules(t *testing.T) {
	for _, on := range []string{"dispatch:timeout", "hook:after_dispatch:h", "turn:stalled:x", "escalation:operator:x",
		"budget:exhausted"} {
		w := startedWorld(t, nil)
		turn := w.assign("pm")
		d := run.DescribeBlock(w.state, on, turn.TurnID)
		w.must(&Block{
			BlockedOn:   on,
			Category:    d.Category,
			TypedReason: d.Recovery.TypedReason,
			Owner:       d.Recovery.Owner,
			Action:      d.Recovery.RecoveryAction,
			TurnID:      turn.TurnID,
		})
		w.fails(CodeNotOverrulable, &Reactivate{AcceptAsIs: true, Reason: "x", On: on})
	}
	w := startedWorld(t, nil)
	w.must(&Escalate{Reason: "tampered"})
	w.edit(func(s *run.State) {
		s.BlockedReason.Category, s.BlockedOn = "hook_tamper", new("hook:before_acceptance:h")
	})
	w.fails(CodeNotOverrulable, &Reactivate{AcceptAsIs: true, Reason: "x", On: "hook:before_acceptance:h"})
	w = startedWorld(t, nil)
	w.fails(wire.CodeInvalidStateTransition, w.asIs("x"))
}
