// Tests of human escalations and HUMAN_TASKS.md.

package protocol

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"pgregory.net/rapid"
)

func blockedState(on, detail string) *run.State {
	s := inStatus(wire.StatusBlocked)
	s.BlockedOn = new(on)
	s.BlockedReason = run.DescribeBlock(s, on, "")
	s.BlockedReason.TurnID = new("turn_b")
	s.BlockedReason.Recovery.Detail = new(detail)
	return s
}

func TestEscalationRows(t *testing.T) {
	row := run.NewEscalation("hesc_1", "2026-01-02T03:04:05.678Z",
		blockedState("human:need oauth", "sign in to github"), "dev")
	if got := strings.Join(row.Keys(),
		" "); got != "kind escalation_id created_at run_id phase blocked_on category typed_reason type service action recovery_action resolution_command detail turn_id role_id" {
		t.Error(got)
	}
	for k, want := range map[string]string{
		"kind":               "raised",
		"type":               "needs_oauth",
		"service":            "GitHub",
		"resolution_command": "git agentxchain unblock hesc_1",
		"turn_id":            "turn_b",
		"role_id":            "dev",
		"run_id":             "run_1",
		"category":           "needs_human",
	} {
		if row.String(k) != want {
			t.Errorf("%s is %q", k, row.String(k))
		}
	}
	s := inStatus(wire.StatusBlocked)
	s.BlockedReason = nil
	if row := run.NewEscalation("hesc_1", "x", s, ""); row.String("typed_reason") == "" {
		t.Error("no typed reason")
	}

	done := run.NewEscalationResolution("hesc_1", "2026-01-02T04:00:00.000Z", "operator_unblock", "")
	if got := string(ojson.Compact(
		done)); got != `{"kind":"resolved","escalation_id":"hesc_1","resolved_at":"2026-01-02T04:00:00.000Z","resolved_via":"operator_unblock","resolution_notes":null}` {
		t.Error(got)
	}
	other := ojson.NewObject("kind", "raised", "escalation_id", "hesc_2")
	open, completed := run.FoldEscalations(
		[]*ojson.Object{row, row, other, ojson.NewObject("kind", "raised"), done, done})
	if len(open) != 1 || open[0].String("escalation_id") != "hesc_2" || len(completed) != 1 ||
		completed[0].String("resolved_via") != "operator_unblock" || completed[0].String("type") != "needs_oauth" {
		t.Errorf("%d open, %d completed", len(open), len(completed))
	}
	if row.Has("resolved_at") {
		t.Error("the raise row was modified")
	}
}

func TestListEscalations(t *testing.T) {
	raised := func(id, at string) *ojson.Object {
		return ojson.NewObject("kind", "raised", "escalation_id", id, "created_at", at)
	}
	list := run.ListEscalations([]*ojson.Object{raised("hesc_1", "2026-01-01T00:00:00.000Z"),
		raised("hesc_3", "2026-01-03T00:00:00.000Z"), run.NewEscalationResolution("hesc_1", "x", "v", "n"),
		raised("hesc_2", "2026-01-02T00:00:00.000Z"), run.NewEscalationResolution("hesc_9", "x", "v", "")})
	got := ""
	for _, o := range list {
		got += o.String("escalation_id") + "=" + o.String("status") + o.String("resolved_via") + " "
	}
	if got != "hesc_3=open hesc_2=open hesc_1=resolvedv " {
		t.Error(got)
	}
}

func TestCurrentEscalation(t *testing.T) {
	s := blockedState("human:x", "d")
	mine := run.NewEscalation("hesc_1", "t", s, "")
	other := mine.Clone()
	other.Set("run_id", "run_other")
	if got := run.CurrentEscalation(s, []*ojson.Object{other, mine}); got != mine {
		t.Errorf("%s", ojson.Compact(got))
	}
	s.BlockedReason.TurnID = nil
	if run.CurrentEscalation(s, []*ojson.Object{mine}) != nil {
		t.Error("a record of another turn is not the current one")
	}
	if run.CurrentEscalation(inStatus(wire.StatusActive), []*ojson.Object{mine}) != nil {
		t.Error("an active run has no current escalation")
	}
}

func TestClassifyEscalation(t *testing.T) {
	for text, want := range map[string]string{
		"please log in with OAuth":       "needs_oauth/",
		"sign in":                        "needs_oauth/",
		"the API key of OpenAI":          "needs_credential/OpenAI",
		"npm token expired":              "needs_credential/npm",
		"pay the invoice":                "needs_payment/",
		"credit-card for Slack":          "needs_payment/Slack",
		"review of license terms":        "needs_legal/",
		"plug in the USB device":         "needs_physical_access/",
		"2FA on the phone":               "needs_physical_access/",
		"decide the scope":               "needs_decision/",
		"through the night":              "needs_decision/", // no "gh"
		"gh pr create":                   "needs_decision/GitHub",
		"Claude is down":                 "needs_decision/Anthropic",
		"publish to VS Code Marketplace": "needs_decision/VS Code Marketplace",
		"":                               "needs_decision/",
		"set ANTHROPIC_API_KEY":          "needs_credential/Anthropic",
		"auth_env NPM_TOKEN is not set":  "needs_credential/npm",
		"a new PAT for gh":               "needs_credential/GitHub",
		"raise the token budget":         "needs_decision/",
		"max_tokens is too low":          "needs_decision/",
		"a path and a pattern":           "needs_decision/", // no "pat"
		"token budget, and a token":      "needs_credential/",
		"hardware token at the desk":     "needs_physical_access/",
		"the acceptance contract":        "needs_decision/",
		"sign the contract":              "needs_legal/",
		"accept the terms of service":    "needs_legal/",
		"in terms of speed":              "needs_decision/",
		"linear search is slow":          "needs_decision/",
		"see the Linear issue":           "needs_decision/Linear",
		"the session expired":            "needs_oauth/",
		"credit balance is too low":      "needs_payment/",
	} {
		typ, service := run.ClassifyEscalation("human:x", "needs_human", text, "needs_human")
		if typ+"/"+service != want {
			t.Errorf("%q: %s/%s", text, typ, service)
		}
	}
}

func TestTypedReasonComesBeforeWords(t *testing.T) {
	for reason, want := range map[string]string{
		"budget_exhausted":    "needs_decision",
		"policy_escalation":   "needs_decision",
		"hook_block":          "needs_decision",
		"needs_oauth":         "needs_oauth",
		"needs_legal":         "needs_legal",
		"dispatch_error":      "needs_credential",
		"operator_escalation": "needs_credential",
		"gate_action_failed":  "needs_credential",
		"":                    "needs_credential",
	} {
		if typ, _ := run.ClassifyEscalation("x", reason, "the password of the token", "some_category"); typ != want {
			t.Errorf("%s: %s", reason, typ)
		}
	}
}

func TestOperatorSlug(t *testing.T) {
	for in, want := range map[string]string{
		"Ship it?!": "ship-it",
		"":          "operator",
		"  --  ":    "operator",
		"ÄB c":      "b-c",
		"a__b":      "a-b",
	} {
		if got := run.OperatorSlug(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestRenderHumanTasks(t *testing.T) {
	row := func(id, detail string) *ojson.Object {
		return run.NewEscalation(id, "2026-01-02T03:04:05.678Z", blockedState("human:"+id, detail), "dev")
	}
	done := func(id string) *ojson.Object {
		return run.CompletedEscalation(row(id, "d"),
			run.NewEscalationResolution(id, "2026-01-02T04:00:00.000Z", "operator_unblock", "fine"))
	}
	count := func(doc []byte, s string) int { return bytes.Count(doc, []byte(s)) }

	fresh := ledger.RenderHumanTasks(nil, []*ojson.Object{row("hesc_1", "one\ntwo")}, nil)
	for _, want := range []string{"# Human tasks\n", "### hesc_1 — needs_decision\n", "- Detail: one two\n",
		"`git agentxchain unblock hesc_1`", "_None yet._", ledger.TasksOpenStart, ledger.TasksOpenEnd,
		ledger.TasksCompletedStart, ledger.TasksCompletedEnd} {
		if !strings.Contains(string(fresh), want) {
			t.Errorf("no %q in\n%s", want, fresh)
		}
	}
	if again := ledger.RenderHumanTasks(fresh, []*ojson.Object{row("hesc_1", "one\ntwo")}, nil); !bytes.Equal(again,
		fresh) {
		t.Errorf("rendering again changed\n%s", again)
	}
	resolved := ledger.RenderHumanTasks(fresh, nil, []*ojson.Object{done("hesc_1")})
	if count(resolved, "### hesc_1 — resolved") != 1 || count(resolved, "needs_decision\n\n") != 0 ||
		!strings.Contains(string(resolved), "_No escalation is open._") {
		t.Errorf("%s", resolved)
	}
	doc := resolved
	for i := 2; i < 15; i++ {
		doc = ledger.RenderHumanTasks(doc, nil, []*ojson.Object{done(fmt.Sprintf("hesc_%d", i))})
	}
	if n := count(doc, "— resolved"); n != ledger.TasksKept || count(doc, "### hesc_14 —") != 1 ||
		count(doc, "### hesc_4 —") != 0 {
		t.Errorf("%d kept\n%s", n, doc)
	}
	if again := ledger.RenderHumanTasks(doc, nil, []*ojson.Object{done("hesc_14")}); count(again,
		"### hesc_14 —") != 1 || count(again, "— resolved") != ledger.TasksKept {
		t.Errorf("%s", again)
	}
}

func TestRenderHumanTasksKeepsTheRest(t *testing.T) {
	row := run.NewEscalation("hesc_1", "t", blockedState("human:x", "d"), "dev")
	for name, doc := range map[string]string{
		"plain": "# mine\nhello",
		"crlf":  "# mine\r\nhello\r\n",
		"empty": "",
		"between": "top\n" + ledger.TasksOpenStart + "\nold\n" + ledger.TasksOpenEnd + "\nmiddle \xff\n" +
			ledger.TasksCompletedStart + "\n" + ledger.TasksCompletedEnd + "\nbottom",
		"swapped":    "a\n" + ledger.TasksOpenEnd + "\nb\n" + ledger.TasksOpenStart + "\nc",
		"lone start": "a\n" + ledger.TasksOpenStart + "\nprecious",
		"two starts": "a\n" + ledger.TasksOpenStart + "\nprecious\n" + ledger.TasksOpenStart + "\nold\n" +
			ledger.TasksOpenEnd + "\nz",
		"nested": ledger.TasksCompletedStart + "\na\n" + ledger.TasksOpenStart + "\n" + ledger.TasksOpenEnd + "\n" +
			ledger.TasksCompletedEnd,
		"foreign": "# Human Tasks\n" + ledger.TasksOpenStart + "\n## Open\n\n_No open human escalations._\n" +
			ledger.TasksOpenEnd + "\n" + ledger.TasksCompletedStart +
			"\n## Completed\n\n### hesc_0 — resolved\n- Detail: kept\n" + ledger.TasksCompletedEnd + "\n",
	} {
		out := ledger.RenderHumanTasks([]byte(doc), []*ojson.Object{row}, nil)
		for _, keep := range []string{"# mine", "hello", "top\n", "middle \xff", "bottom", "precious", "a\n",
			"hesc_0 — resolved", "- Detail: kept"} {
			if strings.Contains(doc, keep) && !bytes.Contains(out, []byte(keep)) {
				t.Errorf("%s: lost %q in\n%s", name, keep, out)
			}
		}
		if !bytes.HasPrefix(out, []byte(outsidePrefix(doc))) {
			t.Errorf("%s: the head changed\n%s", name, out)
		}
		if bytes.Count(out, []byte("### hesc_1 — ")) != 1 {
			t.Errorf("%s: the record is not there once\n%s", name, out)
		}
		if again := ledger.RenderHumanTasks(out, []*ojson.Object{row}, nil); !bytes.Equal(again, out) {
			t.Errorf("%s: not stable\n%s\n---\n%s", name, out, again)
		}
	}
}

func outsidePrefix(doc string) string {
	if before, _, ok := strings.Cut(doc, "<!-- AGENTXCHAIN"); ok {
		return before
	}
	return doc
}

// Text from a turn cannot break out of its section.
func TestRenderHumanTasksIsNotFooled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{ledger.TasksOpenStart, ledger.TasksOpenEnd, ledger.TasksCompletedStart,
			ledger.TasksCompletedEnd, "\n", "### hesc_9 — resolved", "`", "x", "-->", "\r\n"})
		evil := strings.Join(rapid.SliceOfN(part, 0, 5).Draw(t, "evil"), "")
		head := strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "head"), "")
		row := run.NewEscalation("hesc_1", "t", blockedState("human:x", evil), "dev")
		out := ledger.RenderHumanTasks([]byte(head), []*ojson.Object{row},
			[]*ojson.Object{run.CompletedEscalation(row, run.NewEscalationResolution("hesc_2", "t", "v", evil))})
		if again := ledger.RenderHumanTasks(out, []*ojson.Object{row}, nil); !bytes.Equal(out, again) {
			t.Fatalf("not stable:\n%s\n---\n%s", out, again)
		}
		gone := ledger.RenderHumanTasks(out, nil, nil)
		if bytes.Contains(gone, []byte("### hesc_1 — needs_decision")) {
			t.Fatalf("the open record stayed:\n%s", gone)
		}
	})
}

func TestRecordsThatAnotherToolLeftOpenAreClosed(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.must(&Escalate{Reason: "stop"})
	id := w.index.OpenEscalations[0].String("escalation_id")
	// Evidence is recorded without touching anything.
	w.must(&Audit{Rows: []AuditRow{{Ledger: wire.LedgerNotifications, Row: obj(`{"event_id":"x"}`)}}})
	if len(w.index.OpenEscalations) != 1 {
		t.Fatal("an audit row closed a record")
	}
	w.edit(func(s *run.State) {
		s.Status, s.BlockedOn, s.BlockedReason, s.Escalation = wire.StatusActive, nil, nil, nil
	})
	tr := w.must(w.rejection(turn.TurnID, "again"))
	got := added(tr, wire.LedgerEscalations)
	if len(got) != 1 || got[0].String("escalation_id") != id || got[0].String("resolved_via") != "block_lifted" ||
		len(w.index.OpenEscalations) != 0 {
		t.Errorf("%s", ojson.Compact(got))
	}
}
