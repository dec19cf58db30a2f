package bridge_test

import (
	"os"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/check"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Rows of another writer are exported as far as they can be understood, and nothing that results
// from them is invalid.
func TestExportOfForeignRows(t *testing.T) {
	p := newProject(t)
	turn := p.assign("pm")
	run := turn.RunID
	add := func(l wire.Ledger, rows ...string) {
		t.Helper()
		f, err := os.OpenFile(p.repo.Path(l.Path()), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		p.must(err)
		for _, row := range rows {
			_, err = f.WriteString(strings.ReplaceAll(row, "RUN", run) + "\n")
			p.must(err)
		}
		p.must(f.Close())
	}
	add(wire.LedgerEvents,
		`{"run_id":"RUN"}`,
		`{"run_id":"RUN","event_id":7,"event_type":["x"],"timestamp":"soon","turn":"turn_1","payload":[1]}`,
		`{"run_id":"RUN","event_id":"e1","event_type":"gate_failed","timestamp":"2026-01-01","payload":{"reasons":"no","gate_id":null}}`,
		`{"run_id":"RUN","event_id":"e2","event_type":"turn_rejected","timestamp":"2026-01-01T00:00:00Z","turn":{"turn_id":"`+
			turn.TurnID+`"},"payload":{"attempt":"one"}}`,
		`{"run_id":"RUN","event_id":"e3","event_type":"task_message_sent","timestamp":"2026-01-01T00:00:00Z","payload":{"message":{"message_id":"m","run_id":"other"}}}`,
		`{"run_id":"RUN","event_id":"e4","event_type":"task_message_acknowledged","timestamp":"2026-01-01T00:00:00Z","payload":{"ack":{"message_id":"m","status":4}}}`,
		`{"run_id":"RUN","event_id":"e5","event_type":"runner_lease","timestamp":"2026-01-01T00:00:00Z","payload":{"lease":{"lease_id":"x"},"recovery":{"kind":"nothing"}}}`,
		`{"run_id":"RUN","event_id":"e6","event_type":"task_message_sent","timestamp":"2026-01-01T00:00:00Z","payload":{"message":{"message_id":"artifacts-turn_a","run_id":"RUN","version":"v1","from_task_id":"human","to_task_id":"human","kind":"gossip","created_at":"never"}}}`,
		`{"run_id":"RUN","event_id":"e7","event_type":"turn_reissued","timestamp":"2026-01-01T00:00:00Z","payload":{"old_turn_id":"gone"}}`)
	add(wire.LedgerHistory,
		`{"run_id":"RUN","turn_id":"../../etc/passwd","role":"pm","status":"completed"}`,
		`{"run_id":"RUN","turn_id":"turn_a","role":"gardener","status":"completed","accepted_at":"2026-01-01T00:00:00Z","files_changed":["a","a",7],"verification":{"status":"fail"},"objections":[{"id":"O","severity":"dire"}],"delegations_issued":[null,{"id":"d"}]}`,
		`{"run_id":"RUN","turn_id":"turn_a","role":"dev","status":"completed"}`,
		`{"run_id":"RUN","turn_id":"turn_b","status":"failed","concurrent_with":"turn_a","observed_artifact":{"file_markers":[]},"verification":{"status":"pass","machine_evidence":[{"exit_code":"0"}]},"delegation_context":{"parent_turn_id":"turn_a","delegation_id":"d"}}`)
	add(wire.LedgerDecisions, `{"run_id":"RUN"}`, `{"type":"human_approval","timestamp":7}`,
		`{"turn_id":"turn_a","statement":["x"],"status":3}`)
	add(wire.LedgerEscalations, `{"kind":"raised","run_id":"RUN","escalation_id":"h1"}`,
		`{"kind":"resolved","escalation_id":"h1"}`, `{"kind":"resolved","escalation_id":"h2"}`)
	// The next operation records what it found.
	if _, err := p.r.SendMessage(p.ctx, mail.SendMessage{To: "qa", Kind: "handoff", Body: "x"}); err != nil {
		t.Fatal(err)
	}
	x := p.export(bridge.Options{})
	for _, strictly := range []bool{false, true} {
		groups, err := x.All(strictly)
		p.must(err)
		for _, g := range groups {
			for _, o := range g.Objects {
				if findings, err := check.Value(o.Type, o.Value); err != nil ||
					!check.Valid(findings) {
					t.Errorf("%s: %v %v\n%s", g.Kind, findings, err, ojson.Pretty(o.Value))
				}
			}
		}
	}
	if text := strings.Join(x.Warnings, "\n"); !strings.Contains(text, "not a safe id") ||
		!strings.Contains(text, "twice") || !strings.Contains(text, "not a time") {
		t.Errorf("warnings: %s", text)
	}
}
