//go:build unix

// run_hooks: what the hooks find in the workspace, and that nothing is left behind.

package conformance

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// hookFixture is a fixture that runs scripts as blocking hooks of before_gate.
func hookFixture(expected string, commands ...string) []byte {
	var hooks []string
	for i, c := range commands {
		hooks = append(hooks, `{"name":"h`+string(rune('0'+i))+`","type":"process","command":`+c+
			`,"timeout_ms":20000,"mode":"blocking"}`)
	}
	return []byte(`{"fixture_id":"T","tier":2,"surface":"hook_audit","description":"d","type":"validate","setup":{
		"config":{"roles":{"dev":{"runtime":"manual"}},"hooks":{"before_gate":[` + strings.Join(hooks, ",") + `]}},
		"state":{"status":"active","phase":"implementation","run_id":"run_7"},
		"history":[{"turn_id":"turn_1"}],"turn_result":{"summary":"s"},
		"filesystem":{"docs/a.md":"text"},"dispatch_bundle":{"turn_a":{"PROMPT.md":"prompt"}}},
		"input":{"operation":"run_hooks","args":{"phase":"before_gate","payload":{"turn_id":"turn_a","run_id":"run_8"}}},"expected":` + expected + `}`)
}

func script(text string) string {
	return string(ojson.Compact([]any{"/bin/sh", "-c", text}))
}

func TestRunHooks(t *testing.T) {
	look := surroundings(t)
	allow := `echo '{"verdict":"allow"}'`
	for name, tc := range map[string]struct {
		expected string
		commands []string
		status   Status
	}{
		"no hooks": {`{"result":"success","hook_ok":true,"blocked":false,"audit_entry":null,"audit_entries":[]}`, nil,
			StatusPass},
		"what is there": {`{"hook_ok":true,"audit_entry":{"run_id":"run_7","turn_id":"turn_a","orchestrator_action":"continued"}}`,
			[]string{script(`set -e; test "$(cat docs/a.md)" = text; test "$(cat .agentxchain/dispatch/turns/turn_a/PROMPT.md)" = prompt
				test "$(cat .agentxchain/history.jsonl)" = '{"turn_id":"turn_1"}'; test -e .agentxchain/decision-ledger.jsonl; test ! -s .agentxchain/decision-ledger.jsonl
				grep -q '"run_id": "run_7"' .agentxchain/state.json; grep -q summary .agentxchain/staging/turn-result.json; test -f agentxchain.json
				test -z "$(ls -A "$HOME")"; test "$HOME" != "$TMPDIR"; ` + allow)}, StatusPass},
		"short circuit": {`{"hook_ok":false,"blocked":true,"audit_entry":{"verdict":"block"},"audit_entries":[{"orchestrator_action":"blocked"},{"orchestrator_action":"skipped","duration_ms":0}]}`,
			[]string{script(`echo '{"verdict":"block"}'`), script(allow)}, StatusPass},
		"tamper": {`{"hook_ok":false,"blocked":false,"audit_entry":{"verdict":null,"orchestrator_action":"aborted_tamper"}}`,
			[]string{script("rm -r .agentxchain; " + allow), script(allow)}, StatusPass},
		"litter": {`{"hook_ok":true}`,
			[]string{script(`mkdir -p d/e "$HOME/x" "$TMPDIR/y"; touch d/e/f; chmod 000 d/e d; chmod 500 "$HOME"; ` +
				allow)}, StatusPass},
		"a program that is not installed": {`{"hook_ok":true}`, []string{`["no-such-program-anywhere"]`},
			StatusNotImplemented},
		"a file that is not there": {`{"hook_ok":false,"audit_entry":{"orchestrator_action":"blocked_failure","exit_code":null}}`,
			[]string{`["./none"]`}, StatusPass},
		"no command": {`{"hook_ok":false}`, []string{`[]`}, StatusPass},
	} {
		t.Run(name, func(t *testing.T) {
			if r := testAdapter().Execute(hookFixture(tc.expected, tc.commands...)); r.Status != tc.status {
				t.Errorf("%s", r.Line())
			}
			look(t)
		})
	}
	bad := strings.Replace(string(hookFixture(`{}`)), `"docs/a.md":"text"`,
		`"docs":"x","docs/a.md":"text","docs/b.md":"y"`, 1)
	if r := testAdapter().Execute([]byte(bad)); r.Status != StatusError || !strings.Contains(r.Message, "docs") {
		t.Errorf("%s", r.Line())
	}
	look(t)
}
