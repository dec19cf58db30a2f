package approval

import (
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
)

// Sayings without proof are reported, and contradictions are found.
func TestVerifyApprovalsFindings(t *testing.T) {
	cfg := &config.Config{Authority: &config.Authority{}}
	cfg.Authority.Approvers.Set("m", &config.Approvers{
		Principals: []string{"ada@example.org", "bob@example.org"},
		Threshold:  2,
	})
	cfg.Authority.Gates.Set("g", &config.GateAuthority{
		By:     "m",
		Signed: true,
	})
	act := func(op, name string, row *ojson.Object, claims ...external.Claim) *Act {
		a := &Act{
			Op: op,
			Record: &protocol.Record{
				Name: name,
				Op:   &protocol.ApprovePhase{},
				Env:  protocol.Env{Now: time.Unix(0, 0)},
			},
			Config: cfg,
			Claims: claims,
		}
		if row != nil {
			a.Rows = append(a.Rows, row)
		}
		if name != "approve_transition" {
			a.Record.Op = nil
		}
		return a
	}
	vote := ojson.NewObject("principal", "ada@example.org", "at", "2026-01-01T00:00:00.000Z", "content", "sha256:00",
		"statement", "sha256:11", "terminal", false)
	passed := ojson.NewObject("type", "human_approval", "gate_id", "g", "gate_type", "phase_transition",
		"votes", []*ojson.Object{vote}, "votes_needed", 2)
	policy := ojson.NewObject("type", "approval_policy", "gate_id", "g")
	report := Verify("run_1", []*Act{
		act("a", "approve_transition", passed),
		act("b", protocol.OpAccept, policy),
		act("c", protocol.OpExternal, nil, external.Claim{Kind: external.ClaimGate, Gate: "g"}),
	}, map[string]ChainOp{"a": {Index: 1}, "b": {Index: 2}, "c": {Index: 3}}, BaseFacts{})
	var codes, stands []string
	for _, f := range report.Findings {
		codes = append(codes, f.Code)
	}
	for _, s := range report.Sayings {
		stands = append(stands, s.Stands)
	}
	if want := []string{agreement.CodeStatementMismatch, FindThreshold, FindByPolicy,
		FindUnconfirmed}; !slices.Equal(codes, want) {
		t.Errorf("%q, want %q", codes, want)
	}
	if want := []string{StandsFails, StandsPolicy, StandsClaimed}; !slices.Equal(stands, want) {
		t.Errorf("%q, want %q", stands, want)
	}
	if report.Clean() {
		t.Error("it is clean")
	}
}

// A statement that answers a request from before a withdrawal was signed for the question that was taken back; the
// same holds for a denial, after which a restore may bring the question back.
func TestAnswersFromBeforeANo(t *testing.T) {
	for _, no := range []string{protocol.OpWithdraw, protocol.OpDeny} {
		answersFromBefore(t, no)
	}
}

func answersFromBefore(t *testing.T, no string) {
	t.Helper()
	chain := map[string]ChainOp{
		"asked":   {Index: 1, Name: protocol.OpAccept, Turn: "turn_1"},
		"yes":     {Index: 2, Name: "approve_transition"},
		"no":      {Index: 3, Name: no},
		"yes too": {Index: 4, Name: "approve_transition"},
	}
	v := &verifier{chain: chain, refusals: refusals(chain)}
	for _, c := range []struct {
		op, answers string
		fails       bool
	}{{"yes", "asked", false}, {"yes too", "asked", true}, {"yes too", "no", false}} {
		failed := false
		a := &Act{Op: c.op, Record: &protocol.Record{Op: &protocol.ApprovePhase{}}}
		v.answered(a, &agreement.Consent{Answers: c.answers}, func(string) { failed = true })
		if failed != c.fails {
			t.Errorf("%s: %q answers %q: fails %t, want %t", no, c.op, c.answers, failed, c.fails)
		}
	}
}

// A ledger of an artifact is only its author's word: nothing in it causes a panic.
func FuzzExportedApprovals(f *testing.F) {
	f.Add([]byte(`{"type":"human_approval","gate_id":"g","votes":[{"principal":"a","statement":"sha256:../../x"}],"votes_needed":1}`))
	f.Fuzz(func(t *testing.T, ledger []byte) {
		_, err := VerifyExported(fstest.MapFS{
			".agentxchain/state.json":            {Data: []byte(`{"run_id":"run_1"}`)},
			".agentxchain/decision-ledger.jsonl": {Data: ledger},
		})
		if err != nil && len(ledger) == 0 {
			t.Fatal(err)
		}
	})
}
