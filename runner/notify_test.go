package runner_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/notify"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// listener is a webhook that keeps what it receives.
type listener struct {
	*httptest.Server
	mu     sync.Mutex
	got    []*ojson.Object
	answer func(w http.ResponseWriter, r *http.Request, body *ojson.Object) // 200 when nil
}

func listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		doc, err := ojson.DecodeObject(data)
		if err != nil {
			t.Error(err)
			return
		}
		l.mu.Lock()
		l.got = append(l.got, doc)
		l.mu.Unlock()
		if l.answer != nil {
			l.answer(w, r, doc)
		}
	}))
	t.Cleanup(l.Close)
	return l
}

// take returns the events received since the last time.
func (l *listener) take() (events []string, docs []*ojson.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	docs, l.got = l.got, nil
	for _, d := range docs {
		events = append(events, d.String("event_type"))
	}
	return events, docs
}

func (l *listener) wants(t *testing.T, events ...string) []*ojson.Object {
	t.Helper()
	got, docs := l.take()
	if d := cmp.Diff(events, got); d != "" {
		t.Fatalf("told: %s", d)
	}
	return docs
}

func webhooks(urls ...string) func(cfg *ojson.Object) {
	return func(cfg *ojson.Object) {
		list := []any{}
		for i, u := range urls {
			list = append(list, ojson.NewObject("name", string(rune('a'+i)), "url", u,
				"events", config.NotificationEvents(), "timeout_ms", 5000))
		}
		cfg.Set("notifications", ojson.NewObject("webhooks", list))
	}
}

func (p *project) trust() {
	p.t.Helper()
	s, err := p.r.TrustState(p.ctx)
	p.must(err)
	p.must(p.r.Trust(p.ctx, s.Scope.Digest))
}

func (p *project) audit() []*ojson.Object {
	p.t.Helper()
	lines, err := p.r.Record().TailRows(p.ctx, wire.LedgerNotifications, 0, nil)
	p.must(err)
	var out []*ojson.Object
	for _, l := range lines {
		out = append(out, l.Row)
	}
	return out
}

func payload(doc *ojson.Object) string { return string(ojson.Compact(doc.Object("payload"))) }

func TestNotificationsOfABlock(t *testing.T) {
	l := listen(t)
	p := newProject(t, webhooks(l.URL))
	p.trust()
	a := p.assign("pm")
	l.wants(t)
	// The lock is free while a webhook is called.
	var inside error
	l.answer = func(w http.ResponseWriter, _ *http.Request, _ *ojson.Object) {
		other, err := runner.Open(p.ctx, p.dir, runner.Options{LockWait: -1})
		if err != nil {
			t.Error(err)
			return
		}
		defer other.Close()
		_, inside = other.Escalate(p.ctx, protocol.Escalate{Reason: "me too"})
	}
	out, err := p.r.Escalate(p.ctx, protocol.Escalate{
		Reason: "which licence?",
		Detail: "legal must say",
		Action: "ask legal",
	})
	p.must(err)
	l.answer = nil
	wantCode(t, inside, wire.CodeInvalidStateTransition)
	docs := l.wants(t, notify.RunBlocked, notify.HumanRaised, notify.OperatorEscalated)
	id := out.Result.EscalationID
	const on = `"blocked_on":"escalation:operator:which-licence"`
	esc := `{"escalation_id":"` + id +
		`","type":"needs_legal","service":null,"action":"Obtain the legal clearance that is asked for.","resolution_command":"git agentxchain unblock ` + id + `"}`
	for i, want := range []string{
		`{"category":"operator_escalation",` + on +
			`,"typed_reason":"operator_escalation","owner":"human","recovery_action":"ask legal","detail":"legal must say","human_escalation":` + esc + `}`,
		esc,
		`{"source":"operator",` + on +
			`,"reason":"which licence?","detail":"legal must say","recovery_action":"ask legal"}`,
	} {
		if got := payload(docs[i]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	d := docs[0]
	if d.Object("project").String("id") != "proj" || d.Object("project").String("root") != p.r.Record().Dir() ||
		d.Object("run").String("status") != "blocked" || d.Object("turn").String("turn_id") != a.Turn.TurnID {
		t.Errorf("%s", ojson.Compact(d))
	}
	rows := p.audit()
	if len(rows) != 3 || !rows[0].Bool("delivered") || rows[0].String("event_id") != d.String("event_id") {
		t.Errorf("%d rows", len(rows))
	}
	if !strings.HasPrefix(out.Notices[len(out.Notices)-1], "[agentxchain] ⚠ HUMAN ESCALATION RAISED: "+id) {
		t.Errorf("%q", out.Notices)
	}

	back, err := p.r.ReactivateRun(p.ctx, runner.ReactivateOptions{EscalationID: id})
	p.must(err)
	docs = l.wants(t, notify.HumanResolved, notify.EscalationLifted)
	if got, want := payload(docs[0]), `{"escalation_id":"`+id+
		`","type":"needs_legal","service":null,"resolved_via":"operator_unblock"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := docs[1].Object("payload"); got.String("resolved_via") != "operator_unblock" ||
		got.Object("previous_escalation").String("reason") != "which licence?" || got.String("blocked_on") == "" {
		t.Errorf("%s", ojson.Compact(got))
	}
	if len(p.audit()) != 5 || back.Notices[len(back.Notices)-1] != "[agentxchain] ✓ HUMAN ESCALATION RESOLVED: "+id {
		t.Errorf("%q", back.Notices)
	}
	if n := p.r.Next(p.ctx); n == nil || !strings.Contains(n.Command, "accept") {
		t.Errorf("%+v", n)
	}
}

// waitingProject makes a project whose completion waits for a person.
func waitingProject(t *testing.T, edit func(cfg *ojson.Object)) *project {
	t.Helper()
	p := newProject(t, func(cfg *ojson.Object) {
		onePhase(cfg)
		edit(cfg)
	})
	p.trust()
	a := p.assign("dev")
	p.stage(a.Turn, "summary", "done", "objections", []any{}, "files_changed", []any{},
		"artifact", ojson.NewObject("type", "review"), "proposed_next_role", "human", "run_completion_request", true,
		"decisions", []*ojson.Object{
			ojson.NewObject("id", "DEC-001", "category", "process", "statement", "Ship.", "rationale", "It is done."),
		})
	_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	p.must(err)
	if s := p.state(); s.PendingRunCompletion == nil {
		t.Fatalf("nothing is pending: %s", s.Encode())
	}
	return p
}

func TestNotificationsOfACompletion(t *testing.T) {
	l := listen(t)
	p := waitingProject(t, func(cfg *ojson.Object) {
		humanGate(cfg)
		webhooks(l.URL)(cfg)
	})
	turn := *p.state().LastCompletedTurnID
	docs := l.wants(t, notify.CompletionPending)
	s := p.state()
	if got, want := payload(docs[0]), `{"gate":"`+s.PendingRunCompletion.Gate+`","requested_by_turn":"`+turn+
		`","requested_at":"`+s.PendingRunCompletion.RequestedAt+`"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if docs[0].Object("turn").String("turn_id") != turn {
		t.Errorf("%s", ojson.Compact(docs[0]))
	}
	gate := s.PendingRunCompletion.Gate
	_, err := p.r.Approve(p.ctx, runner.ApproveOptions{})
	p.must(err)
	docs = l.wants(t, notify.RunCompleted)
	if got, want := payload(docs[0]), `{"completed_at":"`+*p.state().CompletedAt+
		`","completed_via":"approve_run_completion","gate":"`+gate+`","requested_by_turn":"`+turn+`"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(p.audit()) != 2 {
		t.Errorf("%d rows in the audit of a completed run", len(p.audit()))
	}
}

func TestUntrustedWebhooksAreNotTold(t *testing.T) {
	l := listen(t)
	p := newProject(t, webhooks(l.URL))
	p.assign("pm")
	out, err := p.r.Escalate(p.ctx, protocol.Escalate{Reason: "x"})
	p.must(err)
	l.wants(t)
	if !strings.Contains(out.Notices[len(out.Notices)-1], "git agentxchain hooks trust") || len(p.audit()) != 0 {
		t.Errorf("%q", out.Notices)
	}
	_, err = p.r.EmitNotifications(p.ctx, notify.RunBlocked, nil, nil)
	wantCode(t, err, trust.CodeHooksUntrusted)
}

func TestWebhookThatRefusesIsRecordedOnly(t *testing.T) {
	bad, good := listen(t), listen(t)
	bad.answer = func(w http.ResponseWriter, _ *http.Request, _ *ojson.Object) { w.WriteHeader(http.StatusForbidden) }
	p := newProject(t, webhooks(bad.URL, good.URL))
	p.trust()
	p.assign("pm")
	out, err := p.r.Escalate(p.ctx, protocol.Escalate{Reason: "x"})
	p.must(err)
	good.wants(t, notify.RunBlocked, notify.HumanRaised, notify.OperatorEscalated)
	rows := p.audit()
	if len(rows) != 6 || rows[0].Bool("delivered") || rows[0].String("message") != "Webhook returned HTTP 403" ||
		!rows[1].Bool("delivered") || rows[0].String("event_id") != rows[1].String("event_id") {
		t.Errorf("%d rows", len(rows))
	}
	if got := out.Notices[len(
		out.Notices)-1]; got != "webhook a: Webhook returned HTTP 403 (run_blocked, human_escalation_raised, operator_escalation_raised)" {
		t.Errorf("%q", got)
	}
}

func TestInterruptionKeepsTheResultAndTheRecord(t *testing.T) {
	l := listen(t)
	p := newProject(t, webhooks(l.URL, l.URL))
	p.trust()
	p.assign("pm")
	ctx, cancel := context.WithCancel(p.ctx)
	l.answer = func(_ http.ResponseWriter, r *http.Request, _ *ojson.Object) {
		cancel()
		<-r.Context().Done()
	}
	_, err := p.r.Escalate(ctx, protocol.Escalate{Reason: "x"})
	p.must(err)
	l.wants(t, notify.RunBlocked)
	rows := p.audit()
	if len(rows) != 6 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if row.Bool("delivered") || i > 0 && row.String("message") != "Not sent: the command was interrupted" {
			t.Errorf("%d: %s", i, ojson.Compact(row))
		}
	}
	if s := p.state(); s.Status != wire.StatusBlocked {
		t.Errorf("the run is %s", s.Status)
	}
}

func TestWithoutWebhooksNothingIsRecorded(t *testing.T) {
	p := newProject(t, func(cfg *ojson.Object) {
		cfg.Set("notifications",
			ojson.NewObject("approval_sla", ojson.NewObject("reminder_after_seconds", []any{300})))
	})
	p.assign("pm")
	out, err := p.r.Escalate(p.ctx, protocol.Escalate{Reason: "x"})
	p.must(err)
	v, err := p.r.View(p.ctx)
	p.must(err)
	if v.Op != out.Op {
		t.Error("there is an operation after the escalation")
	}
	if e, err := p.r.EmitNotifications(p.ctx, "whatever", nil, nil); err != nil || e.EventID != "" {
		t.Errorf("%+v %v", e, err)
	}
}

func TestEmitNotifications(t *testing.T) {
	l := listen(t)
	p := newProject(t, webhooks(l.URL))
	p.trust()
	a := p.assign("pm")
	e, err := p.r.EmitNotifications(p.ctx, notify.RunBlocked, ojson.NewObject("k", 1), a.Turn)
	p.must(err)
	docs := l.wants(t, notify.RunBlocked)
	if len(e.Results) != 1 || !e.Results[0].Delivered || payload(docs[0]) != `{"k":1}` || len(p.audit()) != 1 {
		t.Errorf("%+v", e)
	}
	if _, err := p.r.EmitNotifications(p.ctx, "whatever", nil, nil); err == nil ||
		err.Error() != `Unknown notification event "whatever"` {
		t.Errorf("%v", err)
	}
}

func TestApprovalReminders(t *testing.T) {
	l := listen(t)
	p := waitingProject(t, func(cfg *ojson.Object) {
		humanGate(cfg)
		webhooks(l.URL)(cfg)
		cfg.Object("notifications").Set("approval_sla", ojson.NewObject("reminder_after_seconds", []any{300, 86400}))
	})
	l.take()
	later := time.Now().Add(10 * time.Minute)
	r, err := runner.Open(p.ctx, p.dir, runner.Options{Now: func() time.Time { return later }})
	p.must(err)
	defer r.Close()
	remind := func() []string {
		t.Helper()
		var v *gitstore.View
		v, err = r.View(p.ctx)
		p.must(err)
		return r.Remind(p.ctx, v)
	}
	file := filepath.Join(p.dir, notify.RemindersPath)
	l.answer = func(w http.ResponseWriter, _ *http.Request, _ *ojson.Object) { w.WriteHeader(http.StatusBadGateway) }
	if got := remind(); len(got) != 1 || !strings.Contains(got[0], "HTTP 502") {
		t.Errorf("%q", got)
	}
	l.answer = nil
	lock := filepath.Join(p.dir, ".agentxchain", "locks", "sla-reminders.lock")
	other, err := lockfile.Acquire(p.ctx, lock, "reminders", 0)
	p.must(err)
	if got := remind(); len(got) != 0 { // another process sends them
		t.Errorf("%q", got)
	}
	l.wants(t, notify.ApprovalReminder)
	p.must(other.Release())
	for range 3 {
		if got := remind(); len(got) != 0 {
			t.Errorf("%q", got)
		}
	}
	docs := l.wants(t, notify.ApprovalReminder) // failed before, now sent
	if got := docs[0].Object("payload"); got.String("approval_type") != "pending_run_completion" ||
		got.String("requested_at") != p.state().PendingRunCompletion.RequestedAt {
		t.Errorf("%s", ojson.Compact(got))
	}
	if len(p.audit()) != 3 { // the pending approval, two reminders
		t.Errorf("%d rows", len(p.audit()))
	}
	if data, err := os.ReadFile(file); err != nil || strings.Count(string(data), "pending_run_completion:300:") != 1 ||
		strings.Contains(string(data), "#") {
		t.Errorf("%s %v", data, err)
	}
	_, err = p.r.Approve(p.ctx, runner.ApproveOptions{})
	p.must(err)
	if data, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(data)) != "[]" {
		t.Errorf("%s %v", data, err)
	}
}

// humanGate makes the only phase's gate need a person.
func humanGate(cfg *ojson.Object) {
	route := cfg.Object("routing")
	phase := route.Keys()[0]
	route.Object(phase).Set("exit_gate", "ship")
	cfg.Set("gates", ojson.NewObject("ship", ojson.NewObject("requires_human_approval", true)))
}
