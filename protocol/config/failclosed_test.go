// Words that the decoder does not know, and empty names, are refused wherever they are.

package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// cfgWords is cfgFull with the members that exclude others in it.
var cfgWords = strings.NewReplacer(
	`"strict_verification": true`, `"strict_verification": true, "result_repair": "strict"`,
	`"qa": {"entry_role": "critic"`, `"qa": {"timeout_action": "skip_phase", "entry_role": "critic"`,
	`"capabilities": {"can_write_files": "direct"}`,
	`"isolation": "none", "capabilities": {"can_write_files": "direct", "proposal_support": "none", "workflow_artifact_ownership": "yes"}`,
	`"gate_semantic_coverage_mode"`,
	`"authority": {"signoff_documents": "person", "approvers": {"all": {"principals": ["a@x"]}}, "gates": {"ship_ok": {"by": "all"}}, "acts": {"by": "all"}},
 "git_hooks": {"protected": ["x"], "protected_branches": ["main"], "require_turn": ["main"]}, "gate_semantic_coverage_mode"`,
	`"on_idle": "exit"`, `"on_idle": "exit", "idle_expansion": {"role": "lead"}`,
).Replace(cfgFull)

// mayBeEmpty matches the strings that may be empty: an argument, a header, a variable, a policy's text, and
// template, where empty means absent.
var mayBeEmpty = regexp.MustCompile(
	`^(template|runtimes\.\w+\.(args\[\d+\]|headers\.\w+)|hooks\..*\.(env|headers)\.\w+|` +
		`policies\[\d+\]\.message|retention\..*|files\..*)$`)

// free matches texts, names, addresses and paths that a person chooses; every other string of a configuration is
// one of a set of words or refers to something declared.
var free = regexp.MustCompile(
	`^(template|project\..*|roles\.\w+\.(title|mandate)|retention\..*|files\..*|prompts\..*|` +
		`runtimes\.\w+\.(command.*|args.*|cwd|model|auth_env|headers\..*|tool_name)|gates\.\w+\.requires_files.*|` +
		`gates\.\w+\.gate_actions\[\d+\]\.(run|label)|hooks\.\w+\[\d+\]\.(name|command.*|env\..*|headers\..*)|` +
		`notifications\.webhooks\[\d+\]\.name|schedules\.\w+\.trigger_reason|.*\.continuous\.vision_path|.*\.idle_expansion\.sources.*|` +
		`policies\[\d+\]\.(id|message)|.*\.roles_participated.*|workflow_kit\..*\.(path|required_sections.*)|` +
		`authority\.approvers\..*|git_hooks\..*)$`)

// leaves calls text with the path of every string below v.
func leaves(at string, v ojson.Value, text func(path string)) {
	switch v := v.(type) {
	case string:
		text(at)
	case []any:
		for i := range v {
			leaves(fmt.Sprintf("%s[%d]", at, i), v[i], text)
		}
	case *ojson.Object:
		for k, m := range v.All() {
			leaves(strings.TrimPrefix(at+"."+k, "."), m, text)
		}
	}
}

func TestUnknownWordsAndEmptyNamesAreRefused(t *testing.T) {
	root := object(t, cfgWords)
	if _, p := DecodeObject(root); len(p) > 0 {
		t.Fatal(p.Join())
	}
	words, names := 0, 0
	refused := func(path, value string) {
		t.Helper()
		_, problems := DecodeObject(cfgChanged(t, cfgWords, path, value))
		// Findings may name what depends on the member instead.
		if len(problems) == 0 {
			t.Errorf("%s %s passes", path, value)
		}
	}
	leaves("", root, func(path string) {
		for _, value := range []string{`""`, `" "`} {
			if !mayBeEmpty.MatchString(path) {
				names++
				refused(path, value)
			}
		}
		if !free.MatchString(path) {
			words++
			refused(path, `"no-such-word"`)
			refused(path, `7`)
		}
	})
	if words < 70 || names < 200 {
		t.Errorf("only %d words and %d names were tried", words, names)
	}
}

func TestEmptyNamesOfEntries(t *testing.T) {
	for _, c := range []struct{ at, entry string }{
		{"roles", `{"title": "t", "mandate": "m", "write_authority": "review_only", "runtime": "people"}`},
		{"runtimes", `{"type": "manual"}`},
		{"routing", `{"entry_role": "lead"}`},
		{"gates", `{"requires_human_approval": true}`},
		{"schedules", `{"every_minutes": 5}`},
		{"prompts", `"p.md"`},
		{"budget.cost_rates", `{"input_per_1m": 0, "output_per_1m": 0}`},
		{"authority.approvers", `{"principals": ["a@x"]}`},
		{"authority.gates", `{"by": "all"}`},
		{"workflow_kit.phases", `{"artifacts": []}`},
		{"hooks", `[]`},
	} {
		root := object(t, cfgWords)
		o := root
		for key := range strings.SplitSeq(c.at, ".") {
			o = o.Object(key)
		}
		v, err := ojson.Decode([]byte(c.entry))
		if err != nil {
			t.Fatal(err)
		}
		o.Set("", v)
		_, problems := DecodeObject(root)
		if len(problems) != 1 || problems[0].Field != c.at+"." {
			t.Errorf("%s with an empty name: %v", c.at, problems)
		}
	}
}

func TestReferencesToNothing(t *testing.T) {
	for path, code := range map[string]string{
		"routing.planning.entry_role":                         ProblemUndeclaredRole,
		"routing.planning.allowed_next_roles[0]":              ProblemUndeclaredRole,
		"routing.planning.exit_gate":                          ProblemUndeclaredGate,
		"roles.lead.runtime":                                  ProblemUndeclaredRuntime,
		"policies[0].scope.roles[0]":                          ProblemUndeclaredRole,
		"policies[0].scope.phases[0]":                         ProblemUndeclaredPhase,
		"approval_policy.phase_transitions.rules[0].to_phase": ProblemUndeclaredPhase,
		"schedules.nightly.initial_role":                      ProblemUndeclaredRole,
		"schedules.nightly.continuous.idle_expansion.role":    ProblemUndeclaredRole,
		"run_loop.continuous.idle_expansion.role":             ProblemUndeclaredRole,
		"workflow_kit.phases.planning.artifacts[0].owned_by":  ProblemUndeclaredRole,
		"authority.gates.ship_ok.by":                          ProblemAuthority,
	} {
		_, problems := DecodeObject(cfgChanged(t, cfgWords, path, `"ghost"`))
		if !slices.ContainsFunc(problems, func(p wire.Problem) bool { return p.Code == code && p.Field == path }) {
			t.Errorf("%s: %v", path, problems)
		}
	}
}

func object(t testing.TB, doc string) *ojson.Object {
	t.Helper()
	o, err := ojson.DecodeObject([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
