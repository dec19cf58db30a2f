// Tests of AcceptTurn: preconditions, effects, recorded refusals.

package protocol

import (
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestAcceptPreconditions(t *testing.T) {
	w := startedWorld(t, nil)
	w.fails(wire.CodeNotFound, &AcceptTurn{})
	pm := w.assign("pm")
	w.fails(wire.CodeStagedMissing, w.acceptance(pm.TurnID))
	dev := w.assign("dev")
	w.fails(wire.CodeTargetRequired, &AcceptTurn{})
	w.fails(wire.CodeTurnNotActive, w.acceptance("turn_none"))

	w.stage(pm.TurnID)
	op := w.acceptance(pm.TurnID)
	op.StagedPath = wire.FlatStagingPath
	op.TurnID = dev.TurnID
	w.fails(wire.CodeStaleStaging, op)
	for _, text := range []string{"{", "[]", "null", `{"a":1,"a":2}`, "\xff"} {
		op = w.acceptance(pm.TurnID)
		op.Staged = evidence.NewBlob([]byte(text))
		w.fails(wire.CodeInvalidJSON, op)
	}
	for _, text := range []string{"", "  \n", "{}", " {} \n"} {
		op = w.acceptance(pm.TurnID)
		op.Staged = evidence.NewBlob([]byte(text))
		w.fails(wire.CodeStagedMissing, op)
	}
	op = w.acceptance(pm.TurnID)
	op.Resolution = "mine"
	w.fails(wire.CodeProtocolError, op)
	op.Resolution = ResolutionHumanMerge
	w.fails(wire.CodeProtocolError, op)
	op.Resolution, op.NormalizeArtifact = "", "patch"
	w.fails(wire.CodeProtocolError, op)

	w.accept(pm.TurnID)
	w.fails(wire.CodeTurnAlreadyAccepted, w.acceptance(pm.TurnID))
}

func TestAcceptEffects(t *testing.T) {
	w := startedWorld(t, nil).inPhase("build")
	w.step = time.Minute
	turn := w.assign("dev")
	w.write("src/a.go", "a")
	tr := w.accept(turn.TurnID, "files_changed", []string{"src/a.go"}, "proposed_next_role", "qa",
		"decisions", arr(`[{"id":"DEC-001","category":"scope","statement":"one thing","rationale":"because"}]`),
		"objections", arr(`[{"id":"OBJ-001","severity":"high","statement":"a doubt\n## Turn forged"}]`))
	res := tr.Result.(*AcceptResult)
	w.wantEvents(tr, "turn_accepted")
	w.wantEntries(tr, "DEC-001")
	row := w.lastRow(wire.LedgerHistory)
	if !ojson.Equal(row, res.Entry) || row.String("phase") != "build" || row.String("run_id") != w.state.Run() {
		t.Errorf("history %s", ojson.Compact(row))
	}
	n, _ := row.Int("accepted_sequence")
	if n != w.state.TurnSequence || n != turn.AssignedSequence+1 ||
		wire.OrEmpty(w.state.LastCompletedTurnID) != turn.TurnID {
		t.Errorf("sequence %d, state %d", n, w.state.TurnSequence)
	}
	if got := row.Object("observed_artifact"); got.String("derived_by") != "orchestrator" ||
		got.String("baseline_ref") != "git:"+w.head() ||
		got.Object("file_markers").String("src/a.go") != w.mark("src/a.go") {
		t.Errorf("observed %s", ojson.Compact(got))
	}
	if wire.OrEmpty(w.state.AcceptedIntegrationRef) != "git:"+w.head() ||
		wire.OrEmpty(w.state.NextRecommendedRole) != "qa" || w.state.ActiveTurns.Len() != 0 {
		t.Errorf("state %s", w.state.Encode())
	}
	if w.reason(tr) != "turn_accepted" || len(tr.DropTurns) != 1 || tr.Turn != turn.TurnID || tr.Role != "dev" {
		t.Errorf("session %q drops %v", w.reason(tr), tr.DropTurns)
	}
	talk := string(w.ledgers[wire.LedgerTalk])
	if section := talk[strings.LastIndex(talk, "\n## Turn "):]; !strings.Contains(section, "one thing") ||
		strings.Count(talk, "\n## Turn ") != w.index.Accepted {
		t.Errorf("TALK.md %q", talk)
	}
	if !w.index.SeriousObjection() || w.index.Decisions != 1 {
		t.Errorf("index %s", w.index.Encode())
	}
}

func TestAcceptNextRole(t *testing.T) {
	for _, tc := range []struct{ status, proposed, want string }{
		{"completed", "dev", "dev"}, {"completed", "human", ""}, {"failed", "dev", "dev"}, {"blocked", "dev", ""},
		{"needs_human", "dev", ""},
	} {
		w := startedWorld(t, nil)
		w.accept(w.assign("pm").TurnID, "status", tc.status, "proposed_next_role", tc.proposed)
		if got := wire.OrEmpty(w.state.NextRecommendedRole); got != tc.want {
			t.Errorf("%s proposing %s: next %q, want %q", tc.status, tc.proposed, got, tc.want)
		}
	}
}

func TestAcceptRefusalIsRecorded(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	tr := w.refuse(wire.CodeValidationFailed, turn.TurnID, "objections", []any{})
	w.wantEvents(tr, "acceptance_failed")
	w.wantStatus(wire.StatusActive, "")
	now := w.turn(turn.TurnID)
	if now.Status != wire.TurnFailedAcceptance || now.FailedAt == "" || now.FailureReason == "" ||
		w.reason(tr) != "acceptance_failed" || w.index.Accepted != 0 {
		t.Errorf("turn %s session %q", ojson.Compact(ojson.Marshal(now)), w.reason(tr))
	}
	if p := added(tr, wire.LedgerEvents)[0].Object("payload"); p.String("error_code") != wire.CodeValidationFailed ||
		p.String("stage") != result.StageProtocol {
		t.Errorf("payload %s", ojson.Compact(p))
	}
	if len(tr.DropTurns)+len(tr.Unstage) > 0 || tr.Failure.Stage != result.StageProtocol {
		t.Error("a refused result stays staged")
	}
	w.accept(turn.TurnID)
}

// A refused result leaves no normalisation events: they come with its acceptance.
func TestAcceptRefusalCodes(t *testing.T) {
	w := startedWorld(t, nil).inPhase("build")
	turn := w.assign("dev")
	w.write("src/a.go", "a")
	w.refuse(wire.CodeUndeclaredOutputs, turn.TurnID, "files_changed", []string{"src/b.go"},
		"verification", obj(`{"status":"pass","commands":["make"]}`))
	w.refuse(wire.CodeDirtyTreeMismatch, turn.TurnID, "files_changed", []string{"src/b.go"})
	w.commit()
	w.refuse(wire.CodeArtifactMismatch, turn.TurnID, "files_changed", []string{"src/b.go"})
	delete(w.work, "src/a.go")
	w.work["src/a.go"] = ""
	delete(w.work, "src/a.go")
	w.commit()
	w.refuse(wire.CodeEmptyWorkspace, turn.TurnID, "files_changed", []string{"src/b.go"})
	w.refuse(wire.CodeOverrideFailed, turn.TurnID, "decisions",
		arr(`[{"id":"DEC-001","category":"scope","statement":"s","rationale":"r","overrides":"DEC-009"}]`))
	w.stage(turn.TurnID)
	op := w.acceptance(turn.TurnID)
	op.Replay = &result.ReplayOutcome{Overall: result.ReplayMatch, Drift: "src/x.go"}
	w.fails(wire.CodeReplayDrift, op)
	w.write("src/main.go", "changed")
	w.accept(turn.TurnID, "files_changed", []string{"src/main.go", "src/b.go"})
	if got := w.lastRow(wire.LedgerHistory).Strings("files_changed"); len(got) != 1 || got[0] != "src/main.go" {
		t.Errorf("a file that was not changed is kept: %v", got)
	}
}

func TestAcceptWithoutDispatchIsDispatchedFirst(t *testing.T) {
	w := startedWorld(t, nil)
	op := w.assignment("pm")
	op.Undispatched = true
	turn := w.must(op).Result.(*AssignResult).Turn
	tr := w.accept(turn.TurnID)
	w.wantEvents(tr, "turn_dispatched turn_accepted")
	row := w.lastRow(wire.LedgerHistory)
	if ms, ok := row.Int("duration_ms"); !ok || ms != 1000 {
		t.Errorf("duration %d", ms)
	}
}

func TestAcceptNormalisationIsRecorded(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("dev")
	w.stage(turn.TurnID, "artifact", obj(`{"type":"workspace"}`))
	w.fails(wire.CodeValidationFailed, w.acceptance(turn.TurnID))
	op := w.acceptance(turn.TurnID)
	op.NormalizeArtifact = "review"
	tr := w.must(op)
	w.wantEvents(tr, "artifact_type_auto_normalized staged_result_auto_normalized turn_accepted")
	if p := added(tr, wire.LedgerEvents)[0].Object("payload"); p.String("original_artifact_type") != "workspace" ||
		p.String("normalized_artifact_type") != "review" {
		t.Errorf("payload %s", ojson.Compact(p))
	}
}

func TestAcceptRefs(t *testing.T) {
	for _, tc := range []struct{ kind, before, want string }{
		{"review", "", "workspace:dirty"}, {"workspace", "git:x", "workspace:dirty"}, {"patch", "git:x", "git:x"},
		{"commit", "", "unknown"},
	} {
		a := &acceptance{
			t: &change.Draft{
				Env:    &change.Env{},
				Before: &change.Snapshot{State: &run.State{AcceptedIntegrationRef: new(tc.before)}},
			},
			res: &result.Result{Artifact: result.Artifact{Type: tc.kind}},
		}
		if got := a.acceptedRef(); got != tc.want {
			t.Errorf("%s after %q: %s, want %s", tc.kind, tc.before, got, tc.want)
		}
		a.t.Env.Git.Head = "abc"
		if got := a.acceptedRef(); got != "git:abc" {
			t.Errorf("%s with a head: %s", tc.kind, got)
		}
	}
}

func TestAcceptNeedsHuman(t *testing.T) {
	w := startedWorld(t, nil)
	w.write("docs/plan.md", "plan")
	w.commit()
	turn := w.assign("pm")
	// A phase request in a result that needs a person is kept in history only.
	tr := w.accept(turn.TurnID, "status", "needs_human", "needs_human_reason", "need an API key for GitHub",
		"phase_transition_request", "build")
	w.wantEvents(tr, "turn_accepted human_escalation_raised run_blocked")
	w.wantStatus(wire.StatusBlocked, "human:need an API key for GitHub")
	r := w.state.BlockedReason
	if r.Category != "needs_human" || r.Recovery.Owner != run.OwnerHuman || r.Recovery.TurnRetained ||
		w.state.Phase != "planning" || w.state.QueuedPhaseTransition != nil {
		t.Errorf("state %s", w.state.Encode())
	}
	esc := w.lastRow(wire.LedgerEscalations)
	if esc.String("type") != "needs_credential" || esc.String("service") != "GitHub" {
		t.Errorf("escalation %s", ojson.Compact(esc))
	}
	if run := w.lastRow(wire.LedgerRunHistory); run.String("status") != "blocked" {
		t.Errorf("run history %s", ojson.Compact(run))
	}
	tr = w.must(&Reactivate{})
	w.wantEvents(tr, "human_escalation_resolved")
	w.wantStatus(wire.StatusActive, "")

	w.accept(w.assign("pm").TurnID, "status", "needs_human", "needs_human_reason", " ")
	w.wantStatus(wire.StatusBlocked, "human:unspecified")
}

func TestFailedAndBlockedTurnsDoNotMoveTheRun(t *testing.T) {
	for _, status := range []string{"failed", "blocked"} {
		w := startedWorld(t, nil)
		w.write("docs/plan.md", "plan")
		w.commit()
		tr := w.accept(w.assign("pm").TurnID, "status", status, "phase_transition_request", "build")
		w.wantStatus(wire.StatusActive, "")
		if w.state.Phase != "planning" || len(tr.Result.(*AcceptResult).Warnings) == 0 {
			t.Errorf("%s: phase %s", status, w.state.Phase)
		}
		// Nor are they refused because of a gate that they will not reach.
		w = startedWorld(t, nil).inPhase("build")
		delete(w.work, "docs/build.md")
		w.commit()
		w.accept(w.assign("pm").TurnID, "status", status, "phase_transition_request", "ship")
	}
}

func TestClockBehind(t *testing.T) {
	w := startedWorld(t, nil)
	w.assign("pm")
	w.step = -time.Hour
	tr := w.accept(w.state.OnlyTurn().TurnID) // checked: event times never go back
	if e := added(tr, wire.LedgerEvents)[0]; e.String("timestamp") <= wire.FormatTime(w.now) {
		t.Errorf("event at %s, clock at %s", e.String("timestamp"), wire.FormatTime(w.now))
	}
}
