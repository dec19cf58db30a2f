// Every state has a way forward and a way out: a property of the states that random runs reach.

package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// can reports whether a person could do that now, either directly or after raising the budget. It does nothing.
func (w *opsWorld) can(op Operation) bool {
	snap, env := w.snapshot(), w.env()
	env.Actor.InsideTurn = ""
	rich := *snap.Config
	rich.Budget = nil
	for _, cfg := range []*config.Config{snap.Config, &rich} {
		snap.Config = cfg
		if tr, err := Apply(snap, op, env); err == nil && tr.Failure == nil {
			return true
		}
	}
	return false
}

// clean returns an assignment after the person has committed or removed dirty files.
func (w *opsWorld) clean(role string, leave bool) *AssignTurn {
	op := w.assignment(role)
	op.Dirty, op.LeaveGate = nil, leave
	return op
}

func (w *opsWorld) reassignment(turn string) *RejectTurn {
	op := w.rejection(turn, "no")
	op.Reassign = true
	return op
}

// waysOn returns the operations of a person that could lead on, by name.
func (w *opsWorld) waysOn() map[string]Operation {
	ways := map[string]Operation{
		"start":   w.start(InitRun{}),
		"restart": w.start(InitRun{Restart: true}),
		"assign":  w.clean("", false),
		"unblock": &Reactivate{},
	}
	if op := w.asIs("as it is"); op.On != "" {
		ways["as-is"] = op
	}
	if run.HasPending(w.state) {
		ways["approve"], ways["deny"] = w.approval(), &DenyGate{Reason: "no"}
		for _, role := range w.cfg.PhaseRoles(w.state.Phase) {
			ways["leave to "+role] = w.clean(role, true)
		}
	}
	for _, id := range w.state.ActiveTurns.Keys() {
		ways["reject "+id], ways["reassign "+id], ways["reissue "+id] = w.rejection(id, "no"), w.reassignment(id),
			w.reissue(id, "")
	}
	return ways
}

// checkWays fails when the state has no way forward, no way out, or a refused next command.
func (w *opsWorld) checkWays() (forward []string) {
	w.t.Helper()
	s := w.state
	for name, op := range w.waysOn() {
		if w.can(op) {
			name, _, _ = strings.Cut(name, " ")
			forward = append(forward, name)
		}
	}
	over := s.Status == wire.StatusCompleted || s.Status == wire.StatusFailed
	switch out := w.can(w.abandonment("no use")); {
	case len(forward) == 0:
		w.t.Fatalf("nothing leads on from %s", s.Encode())
	case over && !slices.Contains(forward, "restart"):
		w.t.Fatalf("no run follows %s", s.Encode())
	case over == out && s.Status != wire.StatusIdle:
		w.t.Fatalf("abandoning a run that is %s: %v", s.Status, out)
	}
	if !over {
		w.checkNext()
	}
	return forward
}

// checkNext checks the one next command of status against the rules.
func (w *opsWorld) checkNext() {
	w.t.Helper()
	id := run.CurrentEscalation(w.state, w.index.OpenEscalations).String("escalation_id")
	n := NextStep(w.state, w.cfg, id)
	if n == nil || n.Command == "" || n.Reason == "" {
		w.t.Fatalf("no next command in %s", w.state.Encode())
	}
	at := strings.LastIndex(n.Command, "git agentxchain ")
	if at < 0 {
		w.t.Fatalf("%q names no command", n.Command)
	}
	words := append(strings.Fields(n.Command[at+len("git agentxchain "):]), "")
	arg := strings.TrimRight(words[1], ".")
	if strings.HasPrefix(arg, "-") {
		arg = ""
	}
	ok := false
	switch strings.TrimRight(words[0], ".") {
	case "assign":
		ok = w.can(w.clean(arg, false)) || w.can(w.start(InitRun{}))
	case "approve":
		ok = w.can(w.approval()) || w.can(&DenyGate{Reason: "no"})
	case "config":
		ok = w.can(w.clean("", false)) || w.can(&Reactivate{})
	case "unblock":
		ok = w.can(&Reactivate{EscalationID: arg})
		if words[1] == "--accept-as-is" {
			ok = w.can(w.asIs("as it is"))
		}
	case "reissue":
		ok = w.can(w.reissue(arg, ""))
	case "reject":
		ok = w.can(w.reassignment(arg))
	case "accept":
		ok = w.turn(arg) != nil || arg == "" && w.state.ActiveTurns.Len() > 0
	}
	if !ok {
		w.t.Fatalf("%q (%s) is refused in %s", n.Command, n.Reason, w.state.Encode())
	}
}

// standing returns as text the parts of a state that decide which ways exist.
func (w *opsWorld) standing() string {
	s := w.state
	out := fmt.Sprint(s.Status, s.Phase, run.PendingGate(s), s.LastApproval != nil, len(s.DelegationQueue) > 0,
		s.PendingDelegation != nil)
	if r := s.BlockedReason; r != nil {
		on, _, _ := strings.Cut(wire.OrEmpty(s.BlockedOn), "turn_")
		out += fmt.Sprint(on, r.Category, r.TurnID != nil)
	}
	if left := s.BudgetStatus.RemainingUSD; left != nil {
		out += fmt.Sprint(*left > 0)
	}
	for _, t := range s.ActiveTurns.All() {
		out += " " + t.AssignedRole + " " + t.Status
	}
	return out
}

func TestEveryStateHasAWayOnAndAWayOut(t *testing.T) {
	reached, seen := make(map[string]int), make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		d := newDice(t)
		w := startedWorld(t, drawConfig(d))
		w.checks = false
		m := &opsMachine{w, d}
		if d.one(2) {
			w.write("docs/plan.md", "plan")
			w.write("docs/build.md", "build")
			w.commit()
		}
		w.step = time.Duration(d.IntN(5)-1) * time.Minute
		for range 5 + d.IntN(40) {
			for range d.IntN(3) {
				m.work()
			}
			if d.one(8) || w.state.ActiveTurns.Len() == 0 && d.one(3) {
				w.commit()
			}
			if _, err := w.apply(m.operation()); err != nil {
				continue
			}
			// The same standing again proves little more.
			if kind := w.standing(); seen[kind] < 10 {
				seen[kind]++
				for _, name := range w.checkWays() {
					reached[string(w.state.Status)+" "+name]++
				}
			}
		}
	})
	for _, want := range []string{"active assign", "blocked unblock"} {
		if reached[want] == 0 {
			t.Errorf("%s was never reached: %v", want, slices.Sorted(maps.Keys(reached)))
		}
	}
	// What a walk may miss.
	has := func(w *opsWorld, want string) {
		t.Helper()
		if ways := w.checkWays(); !slices.Contains(ways, want) {
			t.Errorf("a run that is %s: %v", w.state.Status, ways)
		}
	}
	has(newOpsWorld(t, nil), "start")
	w := startedWorld(t, nil).inPhase("ship")
	turn := w.assign("qa")
	w.accept(turn.TurnID, "run_completion_request", true)
	has(w, "leave")
	has(w, "deny")
	w.must(w.approval())
	has(w, "restart")
	w = startedWorld(t, nil)
	w.must(w.abandonment("no use"))
	has(w, "restart")
}
