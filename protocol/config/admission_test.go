// Tests of admission control: every code, and the configurations that must stay silent.

package config

import (
	"strings"
	"testing"
)

// cfgAdmission has a person, a command line agent and a remote reviewer.
const cfgAdmission = `{"schema_version":"1.0","project":{"id":"p","name":"P"},
"roles":{"dev":{"title":"D","mandate":"m","write_authority":"authoritative","runtime":"cli"},
 "rev":{"title":"R","mandate":"m","write_authority":"review_only","runtime":"api"},
 "pm":{"title":"M","mandate":"m","write_authority":"review_only","runtime":"%s"}},
"runtimes":{"cli":{"type":"local_cli"},"api":{"type":"api_proxy","provider":"ollama","model":"m"},"box":{"type":"mcp","command":"x"}%s},
"workflow_kit":{},%s}`

func cfgAdmit(t *testing.T, manual bool, rest string) []string {
	t.Helper()
	doc := strings.Replace(cfgAdmission, "%s", map[bool]string{true: "man", false: "box"}[manual], 1)
	doc = strings.Replace(doc, "%s", map[bool]string{true: `,"man":{"type":"manual"}`, false: ""}[manual], 1)
	c, p := cfgDecode(t, strings.Replace(doc, "%s", rest, 1))
	if len(p) > 0 {
		t.Fatal(p.Join())
	}
	var out []string
	for _, f := range Admission(c) {
		severity := SeverityError
		if f.Code == AdmissionNoApprover {
			severity = SeverityWarning
		}
		if f.Severity != severity || f.Phase == "" || f.Message == "" {
			t.Errorf("%+v", f)
		}
		out = append(out, strings.TrimSuffix(f.Code+" "+f.Phase+" "+f.Gate, " "))
	}
	return out
}

func TestAdmission(t *testing.T) {
	const (
		files = `"gates":{"g":{"requires_files":["a.md"]}}`
		human = `"gates":{"g":{"requires_human_approval":true}}`
	)
	for _, tc := range []struct {
		name   string
		manual bool
		rest   string
		want   string // comma-joined
	}{
		{"producer routed", true, `"routing":{"one":{"entry_role":"dev","exit_gate":"g"}},` + files, ""},
		{"nobody can write", true,
			`"routing":{"one":{"entry_role":"rev","allowed_next_roles":["human"],"exit_gate":"g"}},` + files,
			"ADM-001 one g"},
		{"a person among them", true,
			`"routing":{"one":{"entry_role":"rev","allowed_next_roles":["pm"],"exit_gate":"g"}},` + files, ""},
		{"a tool among them", false,
			`"routing":{"one":{"entry_role":"rev","allowed_next_roles":["pm"],"exit_gate":"g"}},` + files, ""},
		{"nothing required", true, `"routing":{"one":{"entry_role":"rev","exit_gate":"g"}},"gates":{"g":{}}`, ""},
		{"no gate", true, `"routing":{"one":{"entry_role":"rev"}},` + files, ""},
		{"nobody routed", true, `"routing":{"one":{"exit_gate":"g"}},` + files, ""},
		{"no routing", true, `"routing":{}`, ""},

		{"human gate, person there", true, `"routing":{"one":{"entry_role":"dev","exit_gate":"g"},"two":{}},` + human,
			""},
		{"human gate, nobody there", false, `"routing":{"one":{"entry_role":"dev","exit_gate":"g"},"two":{}},` + human,
			"ADM-003 one g"},
		{"human gate, approvers named", false,
			`"routing":{"one":{"entry_role":"dev","exit_gate":"g"},"two":{}},"authority":{"approvers":{"m":{"principals":["a@b.c"]}}},` + human, ""},
		{"human completion", false, `"routing":{"one":{},"two":{"exit_gate":"g"}},` + human, "ADM-003 two g"},
		{"policy approves", false,
			`"routing":{"one":{"exit_gate":"g"},"two":{}},"approval_policy":{"phase_transitions":{"default":"auto_approve"}},` + human, ""},
		{"policy approves another way out", false,
			`"routing":{"one":{"exit_gate":"g"},"two":{},"three":{}},"approval_policy":{"phase_transitions":{"rules":[{"from_phase":"two","action":"auto_approve"}]}},` + human, "ADM-003 one g"},
		{"completion is not a transition", false,
			`"routing":{"one":{},"two":{"exit_gate":"g"}},"approval_policy":{"phase_transitions":{"default":"auto_approve"}},` + human, "ADM-003 two g"},
		{"completion approved", false,
			`"routing":{"one":{"exit_gate":"g"}},"approval_policy":{"run_completion":{"action":"auto_approve"}},` +
				human, ""},
		{"credentialed gates need a person", false,
			`"routing":{"one":{"exit_gate":"g"},"two":{}},"approval_policy":{"phase_transitions":{"default":"auto_approve"}},"gates":{"g":{"requires_human_approval":true,"credentialed":true}}`, "ADM-003 one g"},
		{"policy asks for a person", false,
			`"routing":{"one":{},"two":{}},"approval_policy":{"phase_transitions":{"default":"require_human"},"run_completion":{"action":"require_human"}}`, "ADM-003 one,ADM-003 two"},
		{"one rule asks for a person", false,
			`"routing":{"one":{},"two":{},"three":{}},"approval_policy":{"phase_transitions":{"default":"auto_approve","rules":[{"from_phase":"two","to_phase":"three","action":"require_human"}]}}`, "ADM-003 two"},
	} {
		if got := strings.Join(cfgAdmit(t, tc.manual, tc.rest), ","); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestAdmissionOwners(t *testing.T) {
	owned := func(routing, gate, artifacts string) string {
		doc := `"routing":{"one":{` + routing + `}},"gates":{"g":{` + gate + `}}`
		full := strings.Replace(cfgAdmission, `"workflow_kit":{}`, `"workflow_kit":{"phases":{"one":{"artifacts":[`+
			artifacts+`]},"elsewhere":{"artifacts":[{"path":"x","owned_by":"rev"}]}}}`, 1)
		full = strings.Replace(strings.Replace(strings.Replace(full, "%s", "man", 1), "%s", `,"man":{"type":"manual"}`,
			1), "%s", doc, 1)
		c, p := cfgDecode(t, full)
		if len(p) > 0 {
			t.Fatal(p.Join())
		}
		var out []string
		for _, f := range Admission(c) {
			out = append(out, f.Code+" "+f.Artifact+" "+f.Role)
		}
		return strings.Join(out, ",")
	}
	for _, tc := range []struct{ routing, gate, artifacts, want string }{
		{`"entry_role":"dev","exit_gate":"g"`, ``, `{"path":"a","owned_by":"dev"}`, ""},
		{`"entry_role":"dev","exit_gate":"g"`, ``, `{"path":"a","owned_by":"rev"}`, "ADM-002 a rev"},
		{`"entry_role":"dev","exit_gate":"g","allowed_next_roles":["rev"]`, ``, `{"path":"a","owned_by":"rev"}`,
			"ADM-004 a rev"},
		{`"entry_role":"dev","exit_gate":"g","allowed_next_roles":["pm"]`, ``,
			`{"path":"a","owned_by":"pm"},{"path":"b","owned_by":"rev"}`, "ADM-002 b rev"},
		{`"entry_role":"dev","exit_gate":"g"`, ``, `{"path":"a","owned_by":"rev","required":false}`, ""},
		// The gate requires what the kit leaves optional.
		{`"entry_role":"dev","exit_gate":"g"`, `"requires_files":["a"]`,
			`{"path":"a","owned_by":"rev","required":false}`, "ADM-002 a rev"},
		{`"entry_role":"dev"`, ``, `{"path":"a","owned_by":"rev"}`, ""},
	} {
		if got := owned(tc.routing, tc.gate, tc.artifacts); got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.routing, tc.artifacts, got, tc.want)
		}
	}
}
