// Tests of repo decisions (docs/spec/results.md#decisions, docs/spec/state.md#repository-decisions).

package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func decisionConfig() *config.Config {
	c := &config.Config{}
	c.Roles.Set("dev", &config.Role{ID: "dev", DecisionAuthority: new(20)})
	c.Roles.Set("pm", &config.Role{ID: "pm", DecisionAuthority: new(40)})
	c.Roles.Set("peer", &config.Role{ID: "peer", DecisionAuthority: new(20)})
	c.Roles.Set("qa", &config.Role{ID: "qa"})
	return c
}

func lineOf(t *testing.T, text string) run.Line {
	t.Helper()
	o, err := ojson.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return run.Line{Raw: []byte(text), Row: o}
}

func repoRows(t *testing.T) []run.Line {
	return []run.Line{
		lineOf(t,
			`{"id":"DEC-001","status":"active","role":"dev","category":"scope","statement":"s","run_id":"r","durability":"repo","overrides":null,"mine":1}`),
		lineOf(t,
			`{"id":"DEC-002","status":"active","role":"human","category":"process","overrides":"DEC-003","statement":"q"}`),
		lineOf(t,
			`{"id":"DEC-003","status":"overridden","overridden_by":"DEC-002","role":"pm","category":"scope","statement":"z"}`),
		lineOf(t, `{"id":"DEC-004","role":"qa","status":"active","category":"scope","statement":"k"}`),
		lineOf(t, `{"id":"DEC-005","role":"gone","status":"active","category":"scope","statement":"k"}`),
		lineOf(t, `{"id":"DEC-006","role":"dev","status":"withdrawn"}`),
		lineOf(t, `{"id":"DEC-007","role":"dev","status":"overridden"}`),
	}
}

func TestDecisionAuthority(t *testing.T) {
	c := decisionConfig()
	for _, tt := range []struct {
		role string
		want Authority
		ok   bool
	}{
		{"dev", Authority{20, AuthorityConfigured, "dev"}, true},
		{"qa", Authority{}, false},
		{"human", Authority{100, AuthorityHumanDefault, "human"}, true},
		{"gone", Authority{0, AuthorityUnknownRole, "gone"}, true},
	} {
		if got, ok := DecisionAuthority(c, tt.role); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v %v", tt.role, got, ok)
		}
	}
	c.Roles.Set("human", &config.Role{ID: "human", DecisionAuthority: new(7)})
	if got, _ := DecisionAuthority(c, "human"); got != (Authority{7, AuthorityConfigured, "human"}) {
		t.Errorf("configured human: %+v", got)
	}
}

func TestCheckOverride(t *testing.T) {
	for _, tt := range []struct {
		role, target string
		code         string
		warns        bool
	}{
		{"dev", "DEC-001", "", false},   // its own
		{"pm", "DEC-001", "", false},    // higher
		{"peer", "DEC-001", "", false},  // equal
		{"qa", "DEC-001", "", false},    // without authority
		{"dev", "DEC-004", "", false},   // target without authority
		{"human", "DEC-001", "", false}, // 100
		{"dev", "DEC-005", "", true},    // its maker is gone
		{"pm", "DEC-002", ProblemOverrideAuthority, false},
		{"gone", "DEC-001", ProblemOverrideAuthority, false},
		{"pm", "DEC-003", ProblemOverrideSpent, false},
		{"pm", "DEC-007", ProblemOverrideSpent, false},
		{"pm", "DEC-006", ProblemOverrideInactive, false},
		{"pm", "DEC-077", ProblemOverrideUnknown, false},
		{"pm", "", ProblemOverrideUnknown, false},
	} {
		warning, err := CheckOverride(decisionConfig(), repoRows(t), tt.role, result.Decision{
			ID:        "DEC-009",
			Overrides: tt.target,
		})
		code := ""
		if err != nil {
			code = err.Problems[0].Code
			if err.Code != wire.CodeOverrideFailed || err.Message == "" {
				t.Errorf("%s over %s: %+v", tt.role, tt.target, err)
			}
		}
		if code != tt.code || (warning != "") != tt.warns {
			t.Errorf("%s over %s: code %q, warning %q", tt.role, tt.target, code, warning)
		}
	}
}

func TestCheckOverrides(t *testing.T) {
	rows := repoRows(t)
	warnings, err := CheckOverrides(decisionConfig(), rows, "pm", []result.Decision{{ID: "DEC-010"}, {
		ID:        "DEC-011",
		Overrides: "DEC-005",
	}, {ID: "DEC-012", Overrides: "DEC-001"}})
	if err != nil || len(warnings) != 1 {
		t.Errorf("got %q %v", warnings, err)
	}
	_, err = CheckOverrides(decisionConfig(), rows, "pm",
		[]result.Decision{{ID: "DEC-011", Overrides: "DEC-001"}, {ID: "DEC-012", Overrides: "DEC-001"}})
	if err == nil || err.Problems[0].Code != ProblemOverrideDuplicated {
		t.Errorf("two overrides of one decision: %v", err)
	}
	_, err = CheckOverrides(decisionConfig(), rows, "pm", []result.Decision{{ID: "DEC-011", Overrides: "DEC-099"}})
	if err == nil || err.Problems[0].Code != ProblemOverrideUnknown {
		t.Errorf("got %v", err)
	}
}

func TestPromoteDecisions(t *testing.T) {
	rows := append(repoRows(t), lineOf(t, `{"id":"DEC-001","status":"active","role":"other"}`))
	turn := &run.Turn{TurnID: "t1", AssignedRole: "pm"}
	added, amends := PromoteDecisions(rows, []result.Decision{
		{ID: "DEC-010", Category: "scope", Statement: "run only", Durability: "run"},
		{ID: "DEC-011", Category: "scope", Statement: "kept", Rationale: "r", Durability: "repo"},
		{ID: "DEC-012", Category: "process", Statement: "instead", Rationale: "r", Overrides: "DEC-001"},
		{ID: "DEC-013", Statement: "again", Durability: "run", Overrides: "DEC-001"},
	}, turn, "run_1", "plan", "2026-01-01T00:00:00.000Z")
	var got []string
	for _, o := range added {
		got = append(got, string(ojson.Compact(o)))
	}
	tail := `"status":"active","overridden_by":null,"created_at":"2026-01-01T00:00:00.000Z"}`
	want := []string{
		`{"id":"DEC-011","run_id":"run_1","turn_id":"t1","role":"pm","phase":"plan","category":"scope","statement":"kept","rationale":"r","durability":"repo","overrides":null,` + tail,
		`{"id":"DEC-012","run_id":"run_1","turn_id":"t1","role":"pm","phase":"plan","category":"process","statement":"instead","rationale":"r","durability":"repo","overrides":"DEC-001",` + tail,
		`{"id":"DEC-013","run_id":"run_1","turn_id":"t1","role":"pm","phase":"plan","category":"","statement":"again","rationale":"","durability":"run","overrides":"DEC-001",` + tail,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Both rows with the id are marked, each once, and unknown members survive.
	if len(amends) != 2 {
		t.Fatalf("got %d amends", len(amends))
	}
	for i, want := range []string{
		`{"id":"DEC-001","status":"overridden","role":"dev","category":"scope","statement":"s","run_id":"r","durability":"repo","overrides":null,"mine":1,"overridden_by":"DEC-012"}`,
		`{"id":"DEC-001","status":"overridden","role":"other","overridden_by":"DEC-012"}`,
	} {
		if string(amends[i].New) != want || amends[i].Ledger != wire.LedgerRepoDecisions {
			t.Errorf("amend %d: %s", i, amends[i].New)
		}
	}
	if rows[0].Row.String("status") != "active" || string(amends[0].Old) != string(rows[0].Raw) {
		t.Error("the row that was read has changed")
	}
}

func TestRepoDecisionsSummary(t *testing.T) {
	if RepoDecisionsSummary(decisionConfig(), nil) != nil {
		t.Error("a summary of nothing")
	}
	got := string(ojson.Compact(RepoDecisionsSummary(decisionConfig(), repoRows(t)[:4])))
	want := `{"total":4,"active_count":3,"overridden_count":1,"active":[` +
		`{"id":"DEC-001","category":"scope","statement":"s","role":"dev","run_id":"r","overrides":null,"durability":"repo","authority_level":20,"authority_source":"configured"},` +
		`{"id":"DEC-002","category":"process","statement":"q","role":"human","overrides":"DEC-003","durability":"repo","authority_level":100,"authority_source":"human_default"},` +
		`{"id":"DEC-004","category":"scope","statement":"k","role":"qa","overrides":null,"durability":"repo","authority_level":null,"authority_source":null}],` +
		`"overridden":[{"id":"DEC-003","overridden_by":"DEC-002","statement":"z","overrides":null,"durability":"repo","role":"pm","authority_level":40,"authority_source":"configured"}],` +
		`"operator_summary":{"active_categories":["process","scope"],"highest_active_authority_level":100,"highest_active_authority_role":"human","highest_active_authority_source":"human_default",` +
		`"superseding_active_count":1,"overridden_with_successor_count":1}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	none := RepoDecisionsSummary(decisionConfig(),
		[]run.Line{lineOf(t, `{"id":"DEC-004","role":"qa","status":"active"}`)}).Object("operator_summary")
	if v, _ := none.Get("highest_active_authority_level"); v != nil || len(none.Array("active_categories")) != 0 {
		t.Errorf("got %v", none)
	}
}
