// What a fixture omits is completed, what it says is kept, and what cannot be completed is refused.

package conformance

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

func TestInflateConfig(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`null`,
			`{"schema_version":"1.0","project":{"id":"conformance-target","name":"Conformance Target"},"roles":{},"runtimes":{},"routing":{},"gates":{},"rules":{"challenge_required":true}}`},
		{`{"schema_version":"9","rules":{"challenge_required":false,"x":1},"hooks":{"h":[]}}`,
			`{"schema_version":"9","rules":{"challenge_required":false,"x":1},"hooks":{"h":[]},"project":{"id":"conformance-target","name":"Conformance Target"},"roles":{},"runtimes":{},"routing":{},"gates":{}}`},
		{`{"project":{"id":"p"},"roles":{"smith":{}}}`,
			`{"project":{"id":"p"},"schema_version":"1.0","routing":{},"gates":{},"rules":{"challenge_required":true},"runtimes":{"manual":{"type":"manual"}},
			  "roles":{"smith":{"title":"SMITH","mandate":"Execute smith responsibilities.","write_authority":"authoritative","runtime":"manual"}}}`},
		{`{"project":{},"roles":{"smith":{"title":"S","mandate":"M","write_authority":"proposed","runtime":"forge"}},"runtimes":{"forge":{}}}`,
			`{"project":{},"schema_version":"1.0","routing":{},"gates":{},"rules":{"challenge_required":true},"runtimes":{"forge":{"type":"manual"}},
			  "roles":{"smith":{"title":"S","mandate":"M","write_authority":"proposed","runtime":"forge"}}}`},
		// Only manual is declared implicitly.
		{`{"project":{},"roles":{"smith":{"title":"S","mandate":"M","write_authority":"proposed","runtime":"forge"}}}`,
			`{"project":{},"schema_version":"1.0","routing":{},"gates":{},"rules":{"challenge_required":true},"runtimes":{},
			  "roles":{"smith":{"title":"S","mandate":"M","write_authority":"proposed","runtime":"forge"}}}`},
		{`{"project":{},"roles":{"smith":{"title":"S","mandate":"M","write_authority":"proposed"}},"runtimes":{"manual":{"type":"local_cli"}}}`,
			`{"project":{},"schema_version":"1.0","routing":{},"gates":{},"rules":{"challenge_required":true},"runtimes":{"manual":{"type":"local_cli"}},
			  "roles":{"smith":{"title":"S","mandate":"M","write_authority":"proposed","runtime":"manual"}}}`},
	} {
		in := parse(t, c.in)
		kept := ojson.CloneValue(in)
		got, err := inflateConfig(in)
		if err != nil || !ojson.Equal(got, parse(t, c.want)) {
			t.Errorf("%s:\n got %s (%v)\nwant %s", c.in, ojson.Compact(got), err, c.want)
		}
		if !ojson.Equal(in, kept) {
			t.Errorf("%s was changed in place", c.in)
		}
	}
}

func TestInflateState(t *testing.T) {
	raw, err := inflateConfig(parse(t,
		`{"project":{"id":"p"},"roles":{"smith":{"runtime":"forge"}},"runtimes":{"forge":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := config.DecodeObject(raw)
	for _, c := range []struct{ in, want string }{
		{`null`,
			`{"schema_version":"1.1","run_id":null,"project_id":"p","status":"idle","phase":"planning","accepted_integration_ref":null,"active_turns":{},
			"pending_phase_transition":null,"pending_run_completion":null,"blocked_on":null,"blocked_reason":null,"escalation":null,"last_gate_failure":null,
			"accepted_sequence":0,"turn_sequence":0,"budget_reservations":{},"phase_gate_status":{}}`},
		{`{"schema_version":"7","accepted_sequence":4,"status":null}`,
			`{"schema_version":"1.1","accepted_sequence":4,"status":"idle"}`},
		{`{"active_turns":{"turn_x":{"role":"smith","note":1}}}`,
			`{"active_turns":{"turn_x":{"turn_id":"turn_x","assigned_role":"smith","role":"smith","runtime_id":"forge","status":"running","attempt":1,"assigned_sequence":1,"note":1}}}`},
		{`{"active_turns":{"turn_x":{}}}`,
			`{"active_turns":{"turn_x":{"assigned_role":"dev","runtime_id":"manual"}}}`},
		{`{"active_turns":{"turn_x":{"assigned_role":"smith","role":"cook","runtime_id":"stove","attempt":2,"assigned_sequence":9}}}`,
			`{"active_turns":{"turn_x":{"assigned_role":"smith","runtime_id":"stove","attempt":2,"assigned_sequence":9}}}`},
		// The engine's own repair.
		{`{"status":"blocked","blocked_on":"human:x"}`,
			`{"status":"blocked","blocked_reason":{"category":"needs_human"}}`},
		{`{"status":"blocked","blocked_on":"escalation:retries-exhausted:smith"}`,
			`{"blocked_reason":{"category":"retries_exhausted"}}`},
		{`{"status":"blocked","blocked_on":"dispatch:x"}`, `{"blocked_reason":{"category":"dispatch_error"}}`},
		{`{"status":"blocked","blocked_on":"policy:x"}`, `{"blocked_reason":{"category":"policy_escalation"}}`},
		{`{"status":"paused","run_id":"r","blocked_on":"escalation:operator:x"}`,
			`{"status":"blocked","blocked_reason":{"category":"operator_escalation"}}`},
		{`{"status":"active","run_id":"r","blocked_reason":{"category":"x","recovery":{},"blocked_at":"","turn_id":null}}`,
			`{"status":"active","blocked_reason":null}`},
	} {
		s, err := inflateState(parse(t, c.in), cfg)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if m := Compare(parse(t, c.want), stateView(s)); m != nil {
			t.Errorf("%s: %v", c.in, m)
		}
		if v, has := stateView(s).Get("unheard_of"); has {
			t.Errorf("%s: unknown member kept: %v", c.in, v)
		}
	}
	s, err := inflateState(parse(t, `{"unheard_of":1,"repo_decisions":[{"id":"DEC-1"}]}`), cfg)
	if err != nil || stateView(s).Has("unheard_of") || len(s.RepoDecisions) != 1 {
		t.Errorf("repo decisions are kept and notes dropped: %v %s", err, s.Encode())
	}
}

func TestSetupMembersAreCheckedByOperation(t *testing.T) {
	known := setupKeys()
	for _, op := range []string{"initialize_run", "assign_turn", "approve_transition", "approve_completion",
		"resolve_blocked", "transition_state", "validate_turn_result", "accept_turn", "evaluate_phase_exit",
		"evaluate_run_completion", "append_decision", "validate_config", "validate_event", "validate_event_ordering",
		"verify_dispatch_manifest", "inspect_dispatch_manifest", "run_hooks"} {
		o, err := lookup(op)
		if err != nil {
			t.Fatal(err)
		}
		f := &Fixture{Operation: op}
		for _, key := range append(known, "moon_phase") {
			f.Setup = ojson.NewObject(key, ojson.NewObject())
			err := f.checkSetup(o.setup)
			allowed := false
			for _, k := range o.setup {
				allowed = allowed || k == key
			}
			if (err == nil) != allowed || err != nil && !strings.Contains(err.Error(), key) {
				t.Errorf("%s with setup.%s: %v", op, key, err)
			}
		}
	}
}

// TestOutcomesAreReproducible: the same fixture under the same clock gives the same bytes, including ids; only the
// duration of hooks may differ.
func TestOutcomesAreReproducible(t *testing.T) {
	testrepo.Thorough(t)
	t.Parallel() // hooks of fixtures wait
	for name, data := range ownFixtures() {
		a, b := testAdapter().Execute(data), testAdapter().Execute(data)
		for _, r := range []Result{a, b} {
			if o, ok := r.Actual.(*ojson.Object); ok {
				for _, entry := range append(o.Objects("audit_entries"), o.Object("audit_entry")) {
					if entry.Has("duration_ms") {
						entry.Set("duration_ms", 0)
					}
				}
			}
		}
		if string(a.Line()) != string(b.Line()) {
			t.Errorf("%s: %s\n%s", name, a.Line(), b.Line())
		}
	}
}

// TestFixturesAreNotChanged: a verifier may run a decoded fixture again.
func TestFixturesAreNotChanged(t *testing.T) {
	testrepo.Thorough(t)
	t.Parallel() // hooks of fixtures wait
	for name, data := range ownFixtures() {
		f, err := ReadFixture(data)
		if err != nil {
			t.Fatal(err)
		}
		before := string(ojson.Compact(f.Raw))
		testAdapter().run(f)
		if after := string(ojson.Compact(f.Raw)); after != before {
			t.Errorf("%s was changed to %s", name, after)
		}
	}
}

func TestOversizedFixture(t *testing.T) {
	r := testAdapter().Read(strings.NewReader(`"` + strings.Repeat("x", MaxFixtureBytes) + `"`))
	if r.Status != StatusError || len(r.Message) > 2100 {
		t.Errorf("%s", r.Line())
	}
	deep := strings.Repeat("[", 100000)
	if r := testAdapter().Execute([]byte(deep)); r.Status != StatusError {
		t.Errorf("%s", r.Line())
	}
}
