// Tests of the normalised verification and replay summaries (docs/spec/results.md#what-a-verification-counts-as).

package result

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestNormalizeVerification(t *testing.T) {
	evidence := func(items ...any) *ojson.Object {
		return ojson.NewObject("status", "pass", "machine_evidence", items)
	}
	exit := func(code int) *ojson.Object { return ojson.NewObject("command", "make", "exit_code", code) }
	tests := []struct {
		name, runtime string
		declared      *ojson.Object
		status        string
		reproducible  bool
	}{
		{"failed", "local_cli", ojson.NewObject("status", "fail", "machine_evidence", []any{exit(0)}), VerifyFail,
			false},
		{"skipped", "local_cli", ojson.NewObject("status", "skipped"), VerifySkipped, false},
		{"absent", "local_cli", nil, VerifySkipped, false},
		{"no status", "manual", ojson.NewObject(), VerifySkipped, false},
		{"manual", "manual", evidence(exit(0)), VerifyAttested, false},
		{"no runtime", "", evidence(exit(0)), VerifyAttested, false},
		{"api_proxy", "api_proxy", evidence(exit(0)), VerifyAttested, false},
		{"local", "local_cli", evidence(exit(0), exit(0)), VerifyPass, true},
		{"mcp", "mcp", evidence(exit(0)), VerifyPass, true},
		{"remote", "remote_agent", evidence(exit(0)), VerifyPass, true},
		{"attested by an executable runtime", "mcp", ojson.NewObject("status", "attested_pass"), VerifyNotReproducible,
			false},
		{"expected failure", "local_cli", evidence(exit(0), ojson.NewObject("command", "make", "exit_code", 1,
			"expected_exit_code", 1)), VerifyNotReproducible, false},
		{"no evidence", "local_cli", evidence(), VerifyNotReproducible, false},
		{"no exit code", "local_cli", evidence(ojson.NewObject("command", "make")), VerifyNotReproducible, false},
		{"exit code as text", "local_cli", evidence(ojson.NewObject("exit_code", "0")), VerifyNotReproducible, false},
		{"evidence of the wrong type", "local_cli", evidence("make"), VerifyNotReproducible, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := &ojson.Object{}
			if tt.declared != nil {
				raw.Set("verification", tt.declared)
			}
			got := NormalizeVerification(&Result{Raw: raw}, tt.runtime)
			if got.Status != tt.status || got.Reproducible != tt.reproducible || got.Reason == "" {
				t.Errorf("got %+v", got)
			}
			if o := got.Object(); o.String("status") != tt.status || o.Bool("reproducible") != tt.reproducible ||
				o.String("reason") != got.Reason {
				t.Errorf("record %v", o)
			}
		})
	}
	if got := NormalizeVerification(nil, "manual"); got.Status != VerifySkipped {
		t.Errorf("without a result: %+v", got)
	}
}

func TestReplaySummary(t *testing.T) {
	var none *ReplayOutcome
	if none.Summary() != nil {
		t.Error("a replay that did not run has a summary")
	}
	r := &ReplayOutcome{
		VerifiedAt:       "2026-01-01T00:00:00.000Z",
		Overall:          ReplayMismatch,
		ReplayedCommands: 2,
		MatchedCommands:  1,
		TimeoutMS:        30000,
		Drift:            "a",
	}
	if got, want := string(ojson.Compact(r.Summary())),
		`{"verified_at":"2026-01-01T00:00:00.000Z","overall":"mismatch","replayed_commands":2,"matched_commands":1,"timeout_ms":30000}`; got != want {
		t.Errorf("got %s", got)
	}
	r.Reason = "why"
	if r.Summary().String("reason") != "why" {
		t.Error("no reason")
	}
	back := &ReplayOutcome{}
	if errs := ojson.Unmarshal(ojson.Marshal(r), back); len(errs) > 0 || back.Drift != "a" || back.Reason != "why" ||
		back.TimeoutMS != 30000 {
		t.Errorf("round trip: %+v %v", back, errs)
	}
}
