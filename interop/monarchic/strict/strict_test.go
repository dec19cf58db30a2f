// Life cycles, fencing, and hostile documents of the closed family.

package strict_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// edges are all transitions spec/08 §5.1 allows; every other pair is none.
func edges[S ~string](pairs ...string) map[[2]S]bool {
	out := make(map[[2]S]bool)
	for i := 0; i+1 < len(pairs); i += 2 {
		out[[2]S{S(pairs[i]), S(pairs[i+1])}] = true
	}
	return out
}

func compare[S ~string](t *testing.T, tokens []string, can func(a, b S) bool, final func(S) bool, allowed map[[2]S]bool) {
	t.Helper()
	for _, a := range tokens {
		leaves := false
		for _, b := range tokens {
			want := allowed[[2]S{S(a), S(b)}]
			leaves = leaves || want
			if got := can(S(a), S(b)); got != want {
				t.Errorf("%s -> %s: %v", a, b, got)
			}
		}
		if final(S(a)) == leaves {
			t.Errorf("%s is final: %v", a, final(S(a)))
		}
	}
	if can("", S(tokens[0])) || can(S(tokens[0]), "") || can("nonsense", "nonsense") {
		t.Error("a state nobody knows has transitions")
	}
}

func TestTransitions(t *testing.T) {
	t.Parallel()
	compare(t, strict.RunLifecycleState("").Set().Tokens[1:], strict.RunLifecycleState.CanBecome, strict.RunLifecycleState.Final,
		edges[strict.RunLifecycleState]("pending", "executing", "executing", "paused", "executing", "cancelling", "executing", "failed",
			"executing", "complete", "executing", "blocked", "paused", "executing", "paused", "cancelling", "cancelling", "cancelled"))
	compare(t, strict.StepLifecycleState("").Set().Tokens[1:], strict.StepLifecycleState.CanBecome, strict.StepLifecycleState.Final,
		edges[strict.StepLifecycleState]("pending", "ready", "ready", "leased", "leased", "running", "leased", "cancelled", "leased", "blocked",
			"running", "complete", "running", "failed", "running", "cancelled", "running", "blocked"))
	compare(t, strict.LeaseLifecycleState("").Set().Tokens[1:], strict.LeaseLifecycleState.CanBecome, strict.LeaseLifecycleState.Final,
		edges[strict.LeaseLifecycleState]("issued", "active", "issued", "cancelled", "issued", "rejected", "issued", "expired",
			"active", "released", "active", "cancelled", "active", "rejected", "active", "expired"))
}

func TestFencing(t *testing.T) {
	t.Parallel()
	old := &strict.FencingToken{Token: "a", IssuedAtMs: 5, Scope: "run:r/step:s"}
	for _, c := range []struct {
		token              strict.FencingToken
		advances, succeeds bool
	}{
		{strict.FencingToken{Token: "b", IssuedAtMs: 6, Scope: "run:r/step:s"}, true, true},
		{strict.FencingToken{Token: "a", IssuedAtMs: 6, Scope: "run:r/step:s"}, true, false},
		{strict.FencingToken{Token: "b", IssuedAtMs: 5, Scope: "run:r/step:s"}, false, false},
		{strict.FencingToken{Token: "b", IssuedAtMs: 4, Scope: "run:r/step:s"}, false, false},
		{strict.FencingToken{Token: "b", IssuedAtMs: 6, Scope: "run:r/step:x"}, false, false},
	} {
		if c.token.Advances(old) != c.advances || c.token.Supersedes(old) != c.succeeds {
			t.Errorf("%+v: advances %v, supersedes %v", c.token, c.token.Advances(old), c.token.Supersedes(old))
		}
	}
}

func lease() *strict.Lease {
	return &strict.Lease{LeaseID: "l", RunID: "r", PlanID: "p", StepID: "s", TaskID: "t", RunnerID: "rn", SessionID: "ss",
		FencingToken: strict.FencingToken{Token: "f"}, IssuedAtMs: 1, ExpiresAtMs: 2, Status: strict.LeaseActive}
}

func pointers(p wire.Problems) []string {
	out := make([]string, len(p))
	for i := range p {
		out[i] = p[i].Pointer
	}
	return out
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestLeaseRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*strict.Lease)
		want   []string
	}{
		{func(*strict.Lease) {}, nil},
		{func(l *strict.Lease) { l.ExpiresAtMs = 1 }, nil},
		{func(l *strict.Lease) { l.LeaseID, l.TaskID = "..", "a/b" }, []string{"/lease_id", "/task_id"}},
		{func(l *strict.Lease) { l.RunID, l.PlanID, l.StepID = "", `a\b`, "." }, []string{"/run_id", "/plan_id", "/step_id"}},
		{func(l *strict.Lease) { l.RunnerID, l.SessionID = " ", "" }, []string{"/runner_id", "/session_id"}},
		{func(l *strict.Lease) { l.FencingToken.Token = "" }, []string{"/fencing_token/token"}},
		{func(l *strict.Lease) { l.ExpiresAtMs = 0 }, []string{"/expires_at_ms"}},
	} {
		l := lease()
		c.change(l)
		if got := pointers(strict.CheckLease(l)); !equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", l, got, c.want)
		}
	}
	plan := &strict.Plan{PlanID: "p", Steps: []strict.PlanStep{{StepID: "s", TaskID: "t"}}}
	if got := strict.CheckLeasePlan(lease(), plan); len(got) != 0 {
		t.Error(got)
	}
	other := lease()
	other.PlanID, other.StepID, other.TaskID = "q", "x", "y"
	if got := pointers(strict.CheckLeasePlan(other, plan)); !equal(got, []string{"/plan_id", "/step_id", "/task_id"}) {
		t.Error(got)
	}
	a, b, c := *lease(), *lease(), *lease()
	b.Status = strict.LeaseReleased
	c.StepID = "s2"
	if got := strict.CheckExclusive([]strict.Lease{a, b, c}); len(got) != 0 {
		t.Error(got)
	}
	if got := pointers(strict.CheckExclusive([]strict.Lease{a, b, c, a})); !equal(got, []string{"/3"}) {
		t.Error(got)
	}
}

func TestRecoveryRules(t *testing.T) {
	t.Parallel()
	step := "s"
	for _, c := range []struct {
		event strict.RecoveryEvent
		want  []string
	}{
		{strict.RecoveryEvent{Kind: strict.RecoveryOrchestratorStarted}, nil},
		{strict.RecoveryEvent{Kind: strict.RecoveryLeaseRejected}, []string{"/lease_rejection_reason"}},
		{strict.RecoveryEvent{Kind: strict.RecoveryLeaseRejected, LeaseRejectionReason: strict.RejectLeaseExpired}, nil},
		{strict.RecoveryEvent{Kind: strict.RecoveryStepRequeued}, []string{"/step_id"}},
		{strict.RecoveryEvent{Kind: strict.RecoveryStepBlocked, StepState: strict.StepStateBlocked}, []string{"/step_id"}},
		{strict.RecoveryEvent{Kind: strict.RecoveryLeaseRestored, StepID: &step}, nil},
		{strict.RecoveryEvent{Kind: strict.RecoveryStateReloaded, StepState: strict.StepStateReady}, []string{"/step_id"}},
		{strict.RecoveryEvent{Kind: strict.RecoveryRunRecovered}, []string{"/run_state"}},
		{strict.RecoveryEvent{Kind: strict.RecoveryRunRecovered, RunState: strict.RunExecuting}, nil},
	} {
		e := c.event
		e.EventID, e.RunID, e.PlanID, e.Actor, e.ContractVersion = "e", "r", "p", "a", "v1"
		if got := pointers(strict.CheckRecovery(&e)); !equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.event, got, c.want)
		}
	}
	bad := "a/b"
	if got := pointers(strict.CheckRecovery(&strict.RecoveryEvent{Kind: strict.RecoveryStateReloaded, StepID: &bad})); !equal(got, []string{"/event_id", "/run_id", "/plan_id", "/step_id", "/actor", "/contract_version"}) {
		t.Error(got)
	}
}

func TestValidateHoldsMadeValuesToTheRules(t *testing.T) {
	t.Parallel()
	if err := strict.Validate(lease()); err != nil {
		t.Error(err)
	}
	l := lease()
	l.Status = "lost"
	var problems wire.Problems
	if err := strict.Validate(l); !errors.As(err, &problems) || problems[0].Pointer != "/status" {
		t.Errorf("status lost: %v", err)
	}
	if err := strict.Validate(&strict.VerificationReceipt{ContractVersion: "v1", Status: strict.VerificationBlocked}); err == nil {
		t.Error("a blocked receipt without outcome is valid")
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"plan_id":"plan-7","intent_id":"int-7","plan_version":"v1","planner_version":"x-1","created_at":1,"steps":[],"replan_policy":{"strategy":"retry","max_attempts":1},"input_digest":"d"}`,
		`{"token":"t","issued_at_ms":1,"issuer":"o","scope":"s","extensions":{"b":1,"a":{"z":[],"y":1e5}}}`,
		`{"version":"v1","task_id":"t","role":"r","goal":"g","required_mcps":[{"id":"a"}],"extensions":{"required_mcps":[{"id":"a"}]}}`,
		`{"version":"v1","message_id":"m","run_id":"r","from_task_id":"a","to_task_id":"b","kind":"clarification_response","reply_to":"x","created_at":"t"}`,
		`"executing"`, `null`, `{"a":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable[strict.Plan](t, data)
		stable[strict.FencingToken](t, data)
		stable[strict.Task](t, data)
		stable[strict.TaskMessage](t, data)
		stable[strict.VerificationReceipt](t, data)
		stable[strict.RecoveryEvent](t, data)
		stable[strict.RunLifecycleState](t, data)
	})
}

// stable: canonical bytes are read back and written the same.
func stable[T strict.Document](t *testing.T, data []byte) {
	v, err := strict.Decode[T](data)
	if err != nil {
		return
	}
	once := strict.Canonical(v)
	again, err := strict.Decode[T](once)
	if err != nil {
		t.Fatalf("%v\nread    %s\nwritten %s", err, data, once)
	}
	if twice := strict.Canonical(again); !bytes.Equal(twice, once) {
		t.Fatalf("not stable\nonce  %s\ntwice %s", once, twice)
	}
}
