// Tests of operations on states and ledgers left by another tool, and of records.

package protocol

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestPhaseCleanupDropsLeftoverTurns(t *testing.T) {
	w := paused(t, nil)
	AcceptTurn{}.withTurn(w)
	w.edit(func(s *run.State) { s.BudgetReservations.Set("turn_odd", obj(`{"reserved_usd":1}`)) })
	tr := w.must(w.approval())
	p := added(tr, wire.LedgerEvents)[2].Object("payload")
	if p.Strings("removed_turn_ids")[0] != "turn_odd" || p.Strings("cleared_budget_turn_ids")[0] != "turn_odd" ||
		tr.DropTurns[0] != "turn_odd" || w.state.ActiveTurns.Len() != 0 {
		t.Errorf("payload %s", ojson.Compact(p))
	}
}

func TestSettlingOneTurnFindsTheNext(t *testing.T) {
	for status, on := range map[string]string{
		wire.TurnFailedStart: "turn:failed_start:",
		wire.TurnStalled:     "turn:stalled:",
		wire.TurnConflicted:  "human:conflict_loop:",
		wire.TurnFailed:      "escalation:retries-exhausted:dev",
	} {
		w := startedWorld(t, nil)
		pm, dev := w.assign("pm"), w.assign("dev")
		w.blockOnHook(pm.TurnID)
		w.edit(func(s *run.State) {
			turn, _ := s.ActiveTurns.Get(dev.TurnID)
			turn.Status, turn.Attempt = status, 2
			turn.ConflictState = obj(`{"detection_count":3,"conflict_error":{"conflicting_files":["a"]}}`)
		})
		w.accept(pm.TurnID)
		if !strings.HasSuffix(on, "dev") {
			on += dev.TurnID
		}
		w.wantStatus(wire.StatusBlocked, on)
		if w.state.BlockedReason.Recovery.Owner != run.OwnerHuman ||
			wire.OrEmpty(w.state.BlockedReason.TurnID) != dev.TurnID {
			t.Errorf("%s: %s", status, ojson.Compact(ojson.Marshal(w.state.BlockedReason)))
		}
	}
	// A turn that may still try again blocks no other.
	w := startedWorld(t, nil)
	pm, dev := w.assign("pm"), w.assign("dev")
	w.blockOnHook(pm.TurnID)
	w.edit(func(s *run.State) {
		turn, _ := s.ActiveTurns.Get(dev.TurnID)
		turn.Status, turn.ConflictState = wire.TurnConflicted, obj(`{"detection_count":1}`)
	})
	w.accept(pm.TurnID)
	w.wantStatus(wire.StatusActive, "")
}

func TestForwardRevision(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.assign("qa")
	// pm's own document, revised by a pm turn that is accepted meanwhile.
	w.write(".planning/spec.md", "one")
	w.stage(turn.TurnID, "files_changed", []string{".planning/spec.md"})
	w.edit(func(s *run.State) {
		other := *turnOfRole(s, "pm")
		other.TurnID = "turn_pm2"
		s.ActiveTurns.Set("turn_pm2", &other)
	})
	w.checks = false
	w.accept(turn.TurnID, "files_changed", []string{".planning/spec.md"})
	w.write(".planning/spec.md", "two")
	tr := w.accept("turn_pm2", "files_changed", []string{".planning/spec.md"})
	w.wantEntries(tr, "forward_revision_accepted")
	if w.lastRow(wire.LedgerHistory).Object("forward_revision").Strings("files")[0] != ".planning/spec.md" {
		t.Errorf("row %s", ojson.Compact(w.lastRow(wire.LedgerHistory)))
	}
}

func turnOfRole(s *run.State, role string) *run.Turn {
	for _, t := range s.ActiveTurns.All() {
		if t.AssignedRole == role {
			return t
		}
	}
	return nil
}

// A run that another tool led to its gate over open delegations is not approved; the delegate's turn takes the gate
// back, and the review leads to it again.
func TestApprovalWaitsForDelegations(t *testing.T) {
	w := startedWorld(t, patient)
	w.write("docs/plan.md", "plan")
	w.commit()
	w.accept(w.assign("pm").TurnID, "phase_transition_request", "build")
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
	w.edit(func(s *run.State) {
		s.DelegationQueue = []*run.Delegation{{
			DelegationID:       "del-001",
			ParentTurnID:       "turn_pm",
			ParentRole:         "pm",
			ToRole:             "dev",
			Charter:            "c",
			AcceptanceContract: []string{"a"},
			Status:             "pending",
			CreatedAt:          *s.CreatedAt,
		}}
	})
	if e := w.failsPlain(wire.CodeDelegationOpen, &ApprovePhase{}); e.Hint != "git agentxchain assign dev" {
		t.Errorf("hint %s", e.Hint)
	}
}

func TestObjectionsAreClosed(t *testing.T) {
	w := startedWorld(t, nil)
	w.accept(w.assign("pm").TurnID, "objections", arr(`[{"id":"OBJ-001","severity":"blocking","statement":"no"}]`))
	if !w.index.SeriousObjection() {
		t.Fatal("not open")
	}
	w.accept(w.assign("qa").TurnID, "objections",
		arr(`[{"id":"OBJ-001","severity":"blocking","statement":"no","status":"resolved_by_human"}]`))
	if w.index.SeriousObjection() {
		t.Error("still open")
	}
}

// Rows of older versions, of other runs and of tools that number differently.
func TestBuildIndexOfForeignLedgers(t *testing.T) {
	ledgers := map[wire.Ledger]string{
		wire.LedgerHistory: `{"turn_id":"turn_0","run_id":"run_old","role":"dev","phase":"ship","status":"completed","files_changed":["old.go"]}
{"turn_id":"turn_1","role":"dev","phase":"planning","status":"completed","files_changed":["a.go","a.go",".agentxchain/state.json"],"cost":{"total_usd":2}}
{"turn_id":"turn_2","run_id":"run_1","role":"dev","phase":"planning","status":"reissued"}
{"turn_id":"turn_3","run_id":"run_1","role":"pm","phase":"build","status":"completed","checkpoint_sha":"c","files_changed":["b.go"],"cost":{"usd":-4}}
`,
		wire.LedgerDecisions: `{"id":"DEC-9","run_id":"run_1"}
{"id":"DEC-5","run_id":"run_old"}
`,
		wire.LedgerEvents: `{"timestamp":"2026-01-01T00:00:00.0005Z","run_id":"run_1"}
{"timestamp":"2027-01-01T00:00:00.000Z","run_id":"run_old"}
{"timestamp":"never","run_id":"run_1"}
`,
		wire.LedgerEscalations: `{"kind":"raised","escalation_id":"hesc_1","run_id":"run_1"}
{"kind":"raised","escalation_id":"hesc_1","run_id":"run_1"}
{"kind":"raised","escalation_id":"hesc_2","run_id":"run_1"}
{"kind":"resolved","escalation_id":"hesc_2"}
{"kind":"raised","escalation_id":"hesc_0","run_id":"run_old"}
`}
	read := func(l wire.Ledger) iter.Seq[run.Line] { return linesOf([]byte(ledgers[l])) }
	s := inStatus(wire.StatusActive)
	s.Phase = "build"
	s.QueuedPhaseTransition = &run.QueuedTransition{From: "build", To: "ship", RequestedByTurn: "turn_1"}
	x := run.BuildIndex(&config.Config{}, s, read)
	if x.Accepted != 2 || x.CostUSD != 2 || x.Streak != 1 || x.PhasesDone[0] != "planning" ||
		x.QueuedRow.String("turn_id") != "turn_1" || x.QueuedDone != nil || len(x.OpenEscalations) != 1 {
		t.Errorf("index %s", x.Encode())
	}
	if keys := x.Uncheckpointed.Keys(); len(keys) != 1 || keys[0] != "a.go" {
		t.Errorf("uncheckpointed %v", keys)
	}
	if n, _ := x.QueuedRow.Int("accepted_sequence"); n != 2 {
		t.Errorf("a row without a sequence takes its line: %d", n)
	}
	if x.LastEventAt != "2026-01-01T00:00:00.0005Z" || !run.DecodeDecisionIDs(x.DecisionIDs).Has("DEC-9") ||
		run.DecodeDecisionIDs(x.DecisionIDs).Has("DEC-5") {
		t.Errorf("index %s", x.Encode())
	}
	if y := run.BuildIndex(&config.Config{}, inStatus(wire.StatusIdle), read); y.Accepted != 0 || y.Run != "" {
		t.Errorf("without a run there is nothing: %s", y.Encode())
	}
}

func TestDecodeRecord(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.stage(turn.TurnID)
	doc, evidence := NewRecord(w.acceptance(turn.TurnID), w.env()).Encode()
	from := func(m map[string][]byte) func(string) ([]byte, error) {
		return func(d string) ([]byte, error) {
			if data, ok := m[d]; ok {
				return data, nil
			}
			return nil, errors.New("gone")
		}
	}
	if rec, err := DecodeRecord(doc, nil); err != nil || rec.Name != "accept_turn" || rec.Op == nil {
		t.Errorf("without evidence: %v", err)
	}
	forged := map[string][]byte{}
	for d := range evidence {
		forged[d] = []byte("something else")
	}
	text, rules := string(doc), fmt.Sprintf(`"rules": %d`, RuleSet)
	for name, tc := range map[string]struct {
		doc      string
		evidence func(string) ([]byte, error)
	}{
		"not json":        {"{", nil},
		"no time":         {strings.Replace(text, `"at": "2026`, `"at": "x2026`, 1), nil},
		"wrong type":      {strings.Replace(text, rules, `"rules": "1"`, 1), nil},
		"unknown":         {strings.Replace(text, `"accept_turn"`, `"accept"`, 1), nil},
		"args":            {strings.Replace(text, `"turn_id": "turn_`, `"staged_path": 3, "turn_id": "turn_`, 1), nil},
		"evidence gone":   {text, from(nil)},
		"evidence forged": {text, from(forged)},
		"size":            {strings.Replace(text, `"size": `, `"size": 9`, 1), from(evidence)},
	} {
		if _, err := DecodeRecord([]byte(tc.doc), tc.evidence); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	// Records of earlier versions list the declared paths that exist; nothing ever depended on them.
	older := strings.Replace(text, `"siblings": `, `"existing": ["a.md"], "siblings": `, 1)
	if rec, err := DecodeRecord([]byte(older), from(evidence)); err != nil || rec.Op == nil || older == text {
		t.Errorf("older: %v", err)
	}
	// A record of another rule set is read, but not applied.
	if rec, err := DecodeRecord([]byte(strings.Replace(text, rules, `"rules": 99`, 1)), nil); err != nil ||
		rec.Op != nil {
		t.Errorf("other rules: %v", err)
	}
	ext := Record{Rules: RuleSet, Name: OpExternal, Env: w.env(), Detail: obj(`{"documents":["x"]}`)}
	doc, _ = ext.Encode()
	if rec, err := DecodeRecord(doc, nil); err != nil || rec.Op != nil || len(rec.Detail.Strings("documents")) != 1 {
		t.Errorf("external: %v", err)
	}
	if _, err := run.DecodeIndex([]byte(`{"run":3}`)); err == nil {
		t.Error("an index of the wrong shape")
	}
	if _, err := run.DecodeIndex([]byte(`x`)); err == nil {
		t.Error("no index")
	}
}

func FuzzDecodeRecord(f *testing.F) {
	doc, evidence := NewRecord(&AcceptTurn{
		TurnID: "turn_1",
		Staged: evidence.NewBlob([]byte("{}")),
	}, change.Env{Seed: "00"}).Encode()
	f.Add(doc)
	for _, op := range operations() {
		doc, _ := NewRecord(op, change.Env{}).Encode()
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := DecodeRecord(data, func(d string) ([]byte, error) { return evidence[d], nil })
		if err != nil || rec.Op == nil {
			return
		}
		// Whatever it asks for, the engine answers.
		cfg := opsConfig(t, nil)
		s := run.FreshState(cfg, "")
		if tr, err := Apply(&change.Snapshot{
			Config: cfg,
			State:  s,
			Index:  &run.Index{},
		}, rec.Op, rec.Env); (tr == nil) == (err == nil) {
			t.Fatal("neither an outcome nor a refusal")
		}
		s = inStatus(wire.StatusActive)
		s.ActiveTurns.Set("turn_1", &run.Turn{
			TurnID:           "turn_1",
			AssignedRole:     "dev",
			Status:           wire.TurnDispatched,
			Attempt:          1,
			RuntimeID:        "man",
			AssignedSequence: 1,
		})
		if tr, err := Apply(&change.Snapshot{Config: cfg, State: s}, rec.Op, rec.Env); (tr == nil) == (err == nil) {
			t.Fatal("neither an outcome nor a refusal")
		}
	})
}

// A finer clock than the wire's, and ids drawn before, decide nothing.
func TestApplyIsAFunctionOfItsRecord(t *testing.T) {
	w := startedWorld(t, nil)
	env := w.env()
	a, _ := Apply(w.snapshot(), w.assignment("pm"), env)
	env.Now = env.Now.Add(999999)
	env.ID("warm-up")
	b, _ := Apply(w.snapshot(), w.assignment("pm"), env)
	if outcomeText(a, nil) != outcomeText(b, nil) {
		t.Error("the outcomes differ")
	}
}
