// Random runs: any sequence of operations on any valid configuration keeps the invariants (ops_invariants_test.go).

package protocol

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// dice makes the choices from one drawn seed rather than many drawn values: rapid prefers small ones, and a run of
// small choices makes no progress.
type dice struct{ *rand.Rand }

func newDice(t *rapid.T) dice {
	return dice{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
}

func (d dice) one(in int) bool { return d.IntN(in) == 0 }

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// drawConfig varies everything that the operations look at.
func drawConfig(d dice) func(*ojson.Object) {
	return func(cfg *ojson.Object) {
		for _, phase := range []string{"planning", "build", "ship"} {
			set(cfg, "routing."+phase+".max_concurrent_turns", 1+d.IntN(4))
			if d.one(4) {
				set(cfg, "routing."+phase+".timeout_minutes", 5)
				set(cfg, "routing."+phase+".timeout_action", pick(d, "escalate", "warn", "skip_phase"))
			}
		}
		for _, gate := range []string{"plan_ok", "build_ok", "ship_ok"} {
			set(cfg, "gates."+gate+".requires_human_approval", d.one(2))
			set(cfg, "gates."+gate+".requires_verification_pass", d.one(2))
			set(cfg, "gates."+gate+".credentialed", d.one(2))
		}
		if d.one(2) {
			set(cfg, "gates.plan_ok.requires_human_approval", true)
			set(cfg, "gates.plan_ok.gate_actions", arr(`[{"run":"make a"},{"run":"make b"}]`))
		}
		if d.one(2) {
			set(cfg, "approval_policy",
				obj(`{"phase_transitions":{"default":"auto_approve"},"run_completion":{"action":"auto_approve","when":{"gate_passed":true}}}`))
		}
		if d.one(2) {
			set(cfg, "timeouts", obj(`{"per_turn_minutes": 10, "per_run_minutes": 300, "action": "`+
				pick(d, "escalate", "warn")+`"}`))
		}
		if d.one(2) {
			set(cfg, "budget", obj(`{"per_run_max_usd": 4, "per_turn_max_usd": 0.5, "on_exceed": "`+
				pick(d, "pause_and_escalate", "warn")+`"}`))
		}
		if d.one(2) {
			set(cfg, "policies", arr(`[{"id":"cost","rule":"max_cost_per_turn","params":{"limit_usd":0.9},"action":"`+
				pick(d, "block", "warn", "escalate")+`"},
				{"id":"streak","rule":"max_consecutive_same_role","params":{"limit":2},"action":"`+
				pick(d, "warn", "escalate")+`"}]`))
		}
		if d.one(2) {
			cfg.Set("gate_semantic_coverage_mode", "lenient")
		}
		set(cfg, "rules.max_turn_retries", 1+d.IntN(3))
		set(cfg, "rules.enforce_routing", d.one(2))
		set(cfg, "run_loop.non_progress_threshold", 2+d.IntN(8))
	}
}

// opsMachine draws operations that mostly fit the state and sometimes do not.
type opsMachine struct {
	w *opsWorld
	d dice
}

func (m *opsMachine) role() string {
	return pick(m.d, "", "pm", "dev", "ops", "qa", "arch", "crit", "nobody")
}

func (m *opsMachine) turn() string {
	ids := m.w.state.ActiveTurns.Keys()
	if len(ids) == 0 || m.d.one(12) {
		return pick(m.d, "", "turn_none")
	}
	return pick(m.d, ids...)
}

func (m *opsMachine) members(turn *run.Turn) []any {
	w, d := m.w, m.d
	status := pick(d, "completed", "completed", "completed", "completed", "completed", "completed", "failed",
		"blocked", "needs_human")
	out := []any{"status", status, "proposed_next_role", pick(d, "human", "pm", "dev", "qa"),
		"verification", obj(`{"status":"` + pick(d, "pass", "pass", "pass", "skipped", "fail") + `"}`)}
	add := func(k string, v any) { out = append(out, k, v) }
	next := w.cfg.NextPhase(w.state.Phase)
	switch {
	case d.one(2):
	case next == "" || d.one(10):
		add("run_completion_request", true)
	case d.one(10):
		add("phase_transition_request", pick(d, w.cfg.Phases()...))
	default:
		add("phase_transition_request", next)
	}
	if d.one(2) {
		add("cost", ojson.NewObject("usd", float64(d.IntN(12))/10))
	}
	var decisions []string
	for range d.IntN(3) {
		decisions = append(decisions,
			fmt.Sprintf("DEC-%03d%s", 1+d.IntN(6), pick(d, "", "", "", " repo", m.override())))
	}
	add("decisions", decisionsOf(decisions...))
	if d.one(6) && turn.DelegationContext == nil && turn.DelegationReview == nil {
		var to []string
		for _, r := range []string{"dev", "qa", "pm", "ops"} {
			if r != turn.AssignedRole {
				to = append(to, r)
			}
		}
		add("delegations", arr(`[{"id":"del-001","to_role":"`+to[0]+
			`","charter":"c","acceptance_contract":["a"],"required_decision_ids":["DEC-003"]},
			{"id":"del-002","to_role":"`+pick(d, to...)+`","charter":"c","acceptance_contract":["a"]}]`))
	}
	// Usually the truth about the work tree, sometimes one claim too many or too few.
	seen := w.observe(turn)
	files := slices.Clone(seen.FilesChanged)
	files = append(files, turn.Carried...)
	for _, s := range seen.Siblings {
		files = slices.DeleteFunc(files, func(p string) bool { return slices.Contains(s.FilesChanged, p) })
	}
	if r := w.cfg.Role(turn.AssignedRole); r.WriteAuthority != wire.Authoritative {
		files = slices.DeleteFunc(files, func(p string) bool { return !wire.ReviewPath(p) })
	}
	switch d.IntN(14) {
	case 0:
		files = append(files, "src/b.go")
	case 1:
		files = files[:len(files)/2]
	}
	if turn.AssignedRole == "arch" && status == "completed" {
		add("artifact", obj(`{"type":"patch"}`))
		add("proposed_changes", arr(`[{"path":"`+pick(d, "src/a.go", "src/a.go", "README.md", "PROPOSAL.md")+
			`","action":"modify","content":"x"}]`))
	}
	add("files_changed", files)
	return out
}

// override names a repo decision, usually one that can be overridden.
func (m *opsMachine) override() string {
	for _, row := range m.w.rows(wire.LedgerRepoDecisions) {
		if row.String("status") == "active" && m.d.one(2) {
			return " " + row.String("id")
		}
	}
	return pick(m.d, "", "", "", " DEC-001")
}

// mayWrite returns the paths that an active turn may change.
func (m *opsMachine) mayWrite() []string {
	var paths []string
	for _, t := range m.w.state.ActiveTurns.All() {
		switch r := m.w.cfg.Role(t.AssignedRole); {
		case r.WriteAuthority == wire.Authoritative:
			paths = append(paths, "docs/plan.md", "docs/build.md", "src/a.go", "src/b.go", "src/"+t.AssignedRole+".go")
		case r.WriteAuthority == wire.ReviewOnly:
			paths = append(paths, ".planning/"+t.AssignedRole+".md")
		}
	}
	return paths
}

func (m *opsMachine) work() {
	paths := m.mayWrite()
	if len(paths) == 0 || m.d.one(25) {
		paths = []string{"docs/plan.md", "docs/build.md", "notes.txt"}
	}
	p := pick(m.d, paths...)
	if m.d.one(6) {
		delete(m.w.work, p)
	} else {
		m.w.write(p, fmt.Sprint(m.d.IntN(4)))
	}
}

func (m *opsMachine) accept() Operation {
	w, d := m.w, m.d
	id := m.turn()
	if turn := w.turn(id); turn != nil && (w.staged[id] == nil || !d.one(10)) {
		w.stage(id, m.members(turn)...)
	}
	if d.one(3) {
		// The siblings also stage results.
		for other, turn := range w.state.ActiveTurns.All() {
			if other != id && w.staged[other] == nil {
				w.stage(other, m.members(turn)...)
			}
		}
	}
	op := w.acceptance(id)
	if turn := w.turn(id); d.one(20) || turn != nil && turn.ConflictState != nil && d.one(3) {
		op.Resolution = ResolutionHumanMerge
	}
	return op
}

func (m *opsMachine) reject() Operation {
	op := m.w.rejection(m.turn(), pick(m.d, "", "no", "no", "no\nreally"))
	if t := m.w.turn(op.TurnID); t != nil && t.ConflictState != nil || m.d.one(9) {
		op.Reassign = m.d.one(2)
	}
	return op
}

func (m *opsMachine) approve() Operation {
	if m.d.one(4) {
		return &DenyGate{Reason: pick(m.d, "not yet", " why? ", "")}
	}
	op := m.w.approval()
	if a, ok := op.(*ApprovePhase); ok && len(a.Approval.Actions) > 0 && m.d.one(2) {
		a.Approval.Actions = a.Approval.Actions[:1]
		a.Approval.Actions[0].OK, a.Approval.Actions[0].ExitCode = false, new(1)
	}
	return op
}

func (m *opsMachine) abandon() Operation {
	return m.w.abandonment(pick(m.d, "no use", " why go on? ", ""))
}

func (m *opsMachine) withdraw() Operation { return m.w.withdrawal(pick(m.d, "", "too early")) }

func (m *opsMachine) block() Operation {
	on := pick(m.d, "dispatch:timeout", "hook:before_acceptance:h", "hook:before_gate:h", "turn:stalled:x")
	d := run.DescribeBlock(m.w.state, on, m.turn())
	return &Block{
		BlockedOn:   on,
		Category:    d.Category,
		TypedReason: d.Recovery.TypedReason,
		Owner:       d.Recovery.Owner,
		Action:      d.Recovery.RecoveryAction,
		TurnID:      wire.OrEmpty(d.TurnID),
	}
}

func (m *opsMachine) checkpoint() Operation {
	rows := m.w.rows(wire.LedgerHistory)
	if len(rows) == 0 {
		return m.w.start(InitRun{})
	}
	row := rows[len(rows)-1]
	if m.d.one(4) {
		row = pick(m.d, rows...)
	}
	head := len(m.w.revs)
	op := m.w.checkpointOf(row.String("turn_id"))
	if op.Row == nil || row.Has("checkpoint_sha") {
		m.w.revs = m.w.revs[:head]
	}
	return op
}

func (m *opsMachine) audit() Operation {
	op := &Audit{TurnID: m.turn()}
	for i := range m.d.IntN(4) {
		row := ojson.NewObject("run_id", pick(m.d, "", m.w.state.Run()), "turn_id", op.TurnID, "n", i)
		if m.d.one(20) {
			row.Set("run_id", "run_other")
		}
		op.Rows = append(op.Rows, AuditRow{pick(m.d, AuditLedgers()...), row})
	}
	return op
}

func (m *opsMachine) assign() Operation {
	op := m.w.assignment(m.role())
	op.Undispatched = m.d.one(6)
	op.LeaveGate = m.d.one(2)
	return op
}

func (m *opsMachine) reissue() Operation {
	return m.w.reissue(m.turn(), pick(m.d, "", "", "dev", "qa", "ops"))
}

func (m *opsMachine) operation() Operation {
	w, d := m.w, m.d
	s := w.state
	restart := func() Operation { return w.start(InitRun{Restart: true}) }
	unblock := func() Operation { return &Reactivate{} }
	escalate := func() Operation { return &Escalate{TurnID: m.turn(), Reason: pick(d, "stop", "Stop!", "")} }
	if d.one(12) {
		return m.audit()
	}
	if d.one(8) {
		return m.mail()
	}
	if !d.one(8) {
		switch s.Status {
		case wire.StatusPaused:
			return pick(d, m.approve, m.approve, m.approve, m.approve, m.approve, m.approve, m.block, m.block, escalate, m.assign)()
		case wire.StatusCompleted, wire.StatusFailed:
			return pick(d, restart, m.checkpoint, m.withdraw)()
		case wire.StatusBlocked:
			if op := w.asIs(pick(d, "fine", "fine", "")); op.On != "" && d.one(2) {
				return op
			}
			return pick(d, unblock, unblock, m.reissue, m.accept, m.accept, m.reject, m.approve, restart)()
		}
		if s.LastApproval != nil && d.one(5) {
			return m.withdraw()
		}
		if s.ActiveTurns.Len() == 0 {
			if len(w.projectDirty()) > 0 {
				return pick(d, m.checkpoint, m.checkpoint, m.assign)()
			}
			return m.assign()
		}
		return pick(d, m.accept, m.accept, m.accept, m.accept, m.accept, m.assign, m.assign, m.reject, m.reissue)()
	}
	return pick(d, m.assign, m.accept, m.reject, m.reissue, m.approve, m.block, escalate, unblock, m.checkpoint, restart, m.abandon, m.withdraw)()
}

func TestOperationsKeepTheirInvariants(t *testing.T) {
	reached, most := make(map[string]int), testrepo.Times(t.Name(), 15, 60)
	rapid.Check(t, func(t *rapid.T) {
		d := newDice(t)
		w := startedWorld(t, drawConfig(d))
		m := &opsMachine{w, d}
		if d.one(2) {
			w.write("docs/plan.md", "plan")
			w.write("docs/build.md", "build")
			w.commit()
		}
		w.step = time.Duration(d.IntN(5)-1) * time.Minute
		for range 5 + d.IntN(most) {
			for range d.IntN(3) {
				m.work()
			}
			if d.one(8) || w.state.ActiveTurns.Len() == 0 && d.one(3) {
				w.commit()
			}
			w.actor.InsideTurn = ""
			if d.one(10) {
				w.actor.InsideTurn = "turn_agent"
			}
			before := w.state.Encode()
			op := m.operation()
			tr, err := w.apply(op)
			switch {
			case err != nil:
				if !bytes.Equal(before, w.state.Encode()) {
					t.Fatalf("%s was refused and changed the state", op.Name())
				}
				if err.Code == "" || err.Message == "" || err.Code == wire.CodeInvalidState ||
					err.Code == wire.CodeImmutableField {
					t.Fatalf("%s: %q %s %v", op.Name(), err.Code, err.Message, err.Problems)
				}
				if p := w.prevented(op, err); p != "" {
					t.Fatalf("%s: %s", op.Name(), p)
				}
				reached[op.Name()+" "+err.Code]++
			case tr.Failure != nil:
				key := op.Name() + " " + tr.Failure.Code
				if len(tr.Failure.Problems) > 0 {
					key += " " + tr.Failure.Problems[0].Code
				}
				reached[key]++
			default:
				reached[op.Name()+" ok "+string(w.state.Status)]++
				if w.actor.InsideTurn != "" {
					w.agentDid(op, before)
				}
			}
		}
	})
	if testing.Verbose() {
		for _, k := range slices.Sorted(func(yield func(string) bool) {
			for k := range reached {
				if !yield(k) {
					return
				}
			}
		}) {
			t.Logf("%6d %s", reached[k], k)
		}
	}
}

// prevented names a refusal by the final check instead of the operation's own rules.
func (w *opsWorld) prevented(op Operation, err *wire.Error) string {
	if err.Code == wire.CodeInvalidStateTransition && err.Details.Has("operation") {
		return "only the table of transitions stopped it: " + err.Message
	}
	return ""
}

// agentDid fails when an agent's own process lifted a person's block or passed a gate that needs a person.
func (w *opsWorld) agentDid(op Operation, before []byte) {
	w.t.Helper()
	was, _ := run.DecodeState(before)
	if was.Status == wire.StatusPaused && w.state.Status != wire.StatusPaused && op.Name() != "block" &&
		op.Name() != "escalate" {
		w.t.Fatalf("%s from inside a turn ended a wait for approval", op.Name())
	}
	if was.Status == wire.StatusBlocked && w.state.Status != wire.StatusBlocked && op.Name() != "accept_turn" {
		w.t.Fatalf("%s from inside a turn lifted %s", op.Name(), wire.OrEmpty(was.BlockedOn))
	}
}
