package whatif

import (
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// recordedAcceptance returns the acceptance of a dev turn that asks to complete the run, as a record would give it
// back, with the configuration it was decided under.
func recordedAcceptance(t *testing.T) (*Past, *config.Config) {
	t.Helper()
	cfg := threeRoles(t, "policies",
		`[{"id":"cost","rule":"max_cost_per_turn","action":"block","params":{"limit_usd":5}}]`,
		"budget", `{"per_run_max_usd":10}`, "timeouts", `{"per_run_minutes":100000,"action":"escalate"}`)
	w, err := NewWorld(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Event{{EventAsk, "pm"}, {Kind: EventApprove}} {
		w, _ = w.Next(e)
	}
	w.Assign("dev")
	turn := w.State.OnlyTurn()
	files := w.documents["build"]
	w.Write(files)
	w.Write(map[string][]byte{"src/a.go": []byte("x")})
	paths := []string{".planning/notes.md", "src/a.go"}
	doc := w.Result(turn, ojson.NewObject("files_changed", []any{paths[0], paths[1]}, "run_completion_request", true,
		"cost",
		ojson.NewObject("usd", 2)))
	before := w.Play
	d := w.Accept(turn, doc, paths)
	if f := d.Failure(); f != nil || d.Chain.Status != "completed" {
		t.Fatalf("%v, %s", f, d.Chain.Status)
	}
	// The operation as the play decided on it.
	op := &protocol.AcceptTurn{}
	*op = *w.last.(*protocol.AcceptTurn)
	return &Past{
		Op:     "op",
		Record: protocol.NewRecord(op, w.env),
		Before: &protocol.Snapshot{Config: cfg, State: before.State, Index: before.Index},
	}, cfg
}

// Each rule that the configuration can change shows exactly where it should.
func TestRuleChangesShow(t *testing.T) {
	past, cfg := recordedAcceptance(t)
	for _, c := range []struct {
		name, path string
		value      any
		rules      []string // that differ, in order
		refuses    bool
		unknown    bool
	}{
		{"nothing", "project.name", "Q", nil, false, false},
		{"a cheaper limit", "policies.cost.params.limit_usd", 1, []string{"policy.max_cost_per_turn"}, true, false},
		{"only a warning", "policies.cost",
			`{"id":"cost","rule":"max_cost_per_turn","action":"warn","params":{"limit_usd":1}}`,
			[]string{"policy.max_cost_per_turn"}, false, false},
		{"no policy", "policies", `[]`, nil, false, false},
		{"a status", "policies.1",
			`{"id":"s","rule":"require_status","action":"escalate","params":{"allowed":["blocked"]}}`,
			[]string{"policy.require_status"}, true, false},
		{"the verification again", "policies.1",
			`{"id":"r","rule":"require_reproducible_verification","action":"block"}`,
			[]string{"policy.require_reproducible_verification"}, false, true},
		{"a role that may only review", "roles.dev.write_authority", "review_only", []string{"result.artifact"}, true,
			false},
		{"a person at the gate", "gates.built.requires_human_approval", true, []string{"gate.person", "gate"}, false,
			false},
		{"no verification", "gates.built.requires_verification_pass", false, nil, false, false},
		{"a document of the time", "gates.built.requires_files", `["src/a.go"]`, []string{"gate.file"}, false, true},
		{"reproducible passes only", "rules.strict_verification", true, []string{"gate.verification", "gate"}, true,
			false},
		{"a protected path", "git_hooks", `{"protected":["src/**"]}`, []string{"files.protected"}, true, false},
		{"a smaller budget", "budget.per_run_max_usd", 1, []string{"budget.run"}, false, false},
		{"a shorter run", "timeouts.per_run_minutes", 1000, nil, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := withMembers(t, cfg.Raw, c.path, c.value)
			got := past.Under(other, true)
			var rules []string
			refuses, unknown := false, false
			for _, d := range got.Differences {
				if !d.Outcome || d.Rule != "run.status" && d.Rule != "run.phase" {
					if !slices.Contains(rules, d.Rule) {
						rules = append(rules, d.Rule)
					}
				}
				refuses = refuses || d.Refuses
				unknown = unknown || d.After == "unknown"
			}
			missing := slices.ContainsFunc(c.rules, func(r string) bool { return !slices.Contains(rules, r) })
			if missing || len(c.rules) == 0 && len(rules) > 0 || refuses != c.refuses || unknown != c.unknown {
				t.Errorf("differs in %v, refuses %v, unknown %v: %+v", rules, refuses, unknown, got.Differences)
			}
		})
	}
}
