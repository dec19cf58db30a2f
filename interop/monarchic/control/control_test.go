// Tests of the service over real connections to a real project.

package control_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

// makeProject sets up a project whose planning phase two reviewing roles share, turn after turn.
func makeProject(t testing.TB, dir string) {
	t.Helper()
	testrepo.Isolate()
	ctx := context.Background()
	repo, err := gitstore.Create(ctx, dir, "Ada", "ada@example.org")
	must(t, err)
	_, err = testproject.Init(ctx, dir, runner.ProjectOptions{ID: "proj"})
	must(t, err)
	path := filepath.Join(dir, wire.ConfigPath)
	data, err := os.ReadFile(path)
	must(t, err)
	cfg, err := ojson.DecodeObject(data)
	must(t, err)
	roles := cfg.Object("roles")
	critic := roles.Object("pm").Clone()
	critic.Set("title", "Critic")
	roles.Set("critic", critic)
	planning := cfg.Object("routing").Object("planning")
	planning.Set("allowed_next_roles", []string{"pm", "critic"})
	planning.Set("max_concurrent_turns", 2)
	cfg.Set("run_loop", ojson.NewObject("non_progress_threshold", 1000000))
	must(t, os.WriteFile(path, ojson.Pretty(cfg), 0o666))
	_, err = gitcommit.Paths(ctx, repo, []string{"."}, "governed project")
	must(t, err)
	must(t, repo.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// served is a project with its service.
type served struct {
	t    testing.TB
	dir  string
	addr string
	r    *runner.Runner
	c    pbgrpc.RunnerControlServiceClient
	opt  control.Options

	mu    sync.Mutex
	now   time.Time // the server's clock; the real one when zero
	calls []control.Call
}

func (s *served) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.IsZero() {
		return time.Now()
	}
	return s.now
}

func (s *served) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// serve starts the service; edit may change its options.
func serve(t testing.TB, edit func(o *control.Options)) *served {
	t.Helper()
	s := &served{t: t, dir: t.TempDir(), now: time.Now().UTC().Truncate(time.Millisecond)}
	makeProject(t, s.dir)
	s.opt = control.Options{
		TTL:     time.Minute,
		Now:     s.clock,
		Version: "test",
		Poll:    10 * time.Millisecond,
		Log: func(c control.Call) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.calls = append(s.calls, c)
		},
	}
	if edit != nil {
		edit(&s.opt)
	}
	stop := s.start()
	t.Cleanup(func() { stop() })
	s.c = s.dial(insecure.NewCredentials())
	return s
}

// start runs a server until the returned function is called.
func (s *served) start() (stop func()) {
	s.t.Helper()
	r, err := runner.Open(context.Background(), s.dir, runner.Options{Now: s.clock})
	must(s.t, err)
	s.r = r
	s.opt.Runner = r
	srv, err := control.New(context.Background(), s.opt)
	must(s.t, err)
	addr := s.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := srv.Listen(context.Background(), addr)
	must(s.t, err)
	s.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, l, time.Second) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("the server ended with %v", err)
		}
		srv.Close()
		_ = r.Close()
	})
}

func (s *served) dial(creds credentials.TransportCredentials,
	opts ...grpc.DialOption) pbgrpc.RunnerControlServiceClient {
	s.t.Helper()
	conn, err := grpc.NewClient(s.addr, append(opts, grpc.WithTransportCredentials(creds))...)
	must(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	return pbgrpc.NewRunnerControlServiceClient(conn)
}

// agent is a registered runner.
type agent struct {
	s       *served
	id      string
	session string
}

func (s *served) register(id string, caps *pb.RunnerCapabilities) *agent {
	s.t.Helper()
	res, err := s.c.RegisterRunner(context.Background(), &pb.RegisterRunnerRequest{
		ContractVersion: "v1",
		RunnerId:        id,
		Capabilities:    caps,
	})
	must(s.t, err)
	if res.SessionId == "" || res.HeartbeatIntervalMs == 0 || res.LeasePollIntervalMs == 0 ||
		res.ContractVersion != "v1" || res.OrchestratorId != "git-agentxchain/test" {
		s.t.Fatalf("registered as %v", res)
	}
	return &agent{s, id, res.SessionId}
}

func (a *agent) acquire() *pb.AcquireLeaseResponse {
	a.s.t.Helper()
	res, err := a.s.c.AcquireLease(context.Background(), &pb.AcquireLeaseRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
		AvailableSlots:  1,
	})
	must(a.s.t, err)
	return res
}

func (a *agent) lease() *pb.LeaseAssignment {
	a.s.t.Helper()
	res := a.acquire()
	if res.Assignment == nil {
		a.s.t.Fatalf("nothing was assigned: %v", res)
	}
	return res.Assignment
}

func (a *agent) started(l *pb.LeaseRef) *pb.ReportStepStartedResponse {
	a.s.t.Helper()
	res, err := a.s.c.ReportStepStarted(context.Background(), &pb.ReportStepStartedRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
		Lease:           l,
		StartedAt:       time.Now().Format(time.RFC3339),
	})
	must(a.s.t, err)
	return res
}

func (a *agent) outcome(l *pb.LeaseRef, result *structpb.Value) *pb.ReportStepOutcomeResponse {
	a.s.t.Helper()
	req := &pb.ReportStepOutcomeRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
		Lease:           l,
		Status:          pb.PlanStatus_COMPLETE,
	}
	if result != nil {
		req.Extensions = &structpb.Struct{Fields: map[string]*structpb.Value{"agentxchain": structpb.NewStructValue(
			&structpb.Struct{Fields: map[string]*structpb.Value{"turn_result": result}},
		)}}
	}
	res, err := a.s.c.ReportStepOutcome(context.Background(), req)
	must(a.s.t, err)
	return res
}

// resultOf fills in the skeleton of an assignment.
func resultOf(a *pb.LeaseAssignment, summary string) *structpb.Value {
	tmpl := a.Task.Extensions.Fields["agentxchain"].GetStructValue().Fields["turn_result_template"].GetStructValue()
	next := "pm"
	if a.Task.RoleId == "pm" {
		next = "critic"
	}
	for k, v := range map[string]any{
		"summary":            summary,
		"decisions":          []any{},
		"files_changed":      []any{},
		"proposed_next_role": next,
		"verification":       map[string]any{"status": "skipped"},
		"artifact":           map[string]any{"type": "review", "ref": nil},
		"objections":         []any{map[string]any{"id": "OBJ-001", "severity": "low", "statement": "a real doubt"}},
	} {
		tmpl.Fields[k], _ = structpb.NewValue(v)
	}
	return structpb.NewStructValue(tmpl)
}

func wantFailure(t *testing.T, f *pb.FailureDetail, accepted bool, class, code string) {
	t.Helper()
	if accepted || f.GetClass() != class || f.GetCode() != code || f.GetMessage() == "" {
		t.Fatalf("accepted %v, failure %v; want %s/%s", accepted, f, class, code)
	}
}

func TestAStepFromRegistrationToOutcome(t *testing.T) {
	s := serve(t, nil)
	a := s.register("worker-1", nil)
	as := a.lease()
	own := as.Task.Extensions.Fields["agentxchain"].GetStructValue().Fields
	if as.LeaseTtlMs != 60000 || as.Task.TaskId != as.Lease.StepId || as.Task.RoleId != "pm" ||
		as.Task.Role != pb.AgentRole_PRODUCT_OWNER || as.Task.Goal == "" ||
		!strings.Contains(own["prompt"].GetStringValue(), as.Lease.StepId) ||
		as.Lease.PlanId != "plan-"+as.Lease.RunId {
		t.Fatalf("assigned %v", as)
	}
	// The answer was lost: a repeated request gets the same lease.
	if again := a.lease(); again.Lease.FencingToken != as.Lease.FencingToken {
		t.Fatalf("asked again, another lease came: %v", again.Lease)
	}
	if res := a.started(as.Lease); !res.Accepted {
		t.Fatalf("start refused: %v", res.Failure)
	}
	pr, err := s.c.ReportStepProgress(context.Background(), &pb.ReportStepProgressRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
		Lease:           as.Lease,
		Events: []*pb.Event{{
			Version:   "v1",
			EventType: "compiled",
			Timestamp: "2026-01-01T00:00:00Z",
			TaskId:    as.Lease.TaskId,
			Status:    "running",
		}},
	})
	must(t, err)
	if !pr.Accepted || len(pr.Cancellations) > 0 {
		t.Fatalf("progress refused: %v", pr)
	}
	if rn, err := s.c.RenewLease(context.Background(), &pb.RenewLeaseRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
		Lease:           as.Lease,
	}); err != nil ||
		!rn.Accepted || rn.LeaseTtlMs == 0 || rn.Failure != nil {
		t.Fatalf("renewal refused: %v %v", rn, err)
	}
	wantOutcome := func(status pb.PlanStatus) *pb.ReportStepOutcomeResponse {
		res, err := s.c.ReportStepOutcome(context.Background(), &pb.ReportStepOutcomeRequest{
			ContractVersion: "v1",
			RunnerId:        a.id,
			SessionId:       a.session,
			Lease:           as.Lease,
			Status:          status,
		})
		must(t, err)
		return res
	}
	res := wantOutcome(pb.PlanStatus_EXECUTING)
	wantFailure(t, res.Failure, res.Accepted, "validation", control.CodeStatusInadmissble)
	res = wantOutcome(pb.PlanStatus_COMPLETE)
	wantFailure(t, res.Failure, res.Accepted, "validation", control.CodeTurnResultMissing)
	if res := a.outcome(as.Lease, resultOf(as, "planned")); !res.Accepted {
		t.Fatalf("outcome refused: %v", res.Failure)
	}
	// The answer was lost: a repeated report gets the same one, and nothing happens twice.
	if again := a.outcome(as.Lease, resultOf(as, "planned")); !again.Accepted {
		t.Fatalf("reported again: %v", again.Failure)
	}
	// Another result would not be recorded any more, so it is not accepted either.
	res = a.outcome(as.Lease, resultOf(as, "planned anew"))
	wantFailure(t, res.Failure, res.Accepted, "policy", run.RejectTerminal)
	b := s.register("worker-1", nil)
	res = b.outcome(as.Lease, resultOf(as, "planned"))
	wantFailure(t, res.Failure, res.Accepted, "policy", run.RejectTerminal)
	v, err := s.r.View(context.Background())
	must(t, err)
	if v.State.ActiveTurns.Len() != 0 || *v.State.LastCompletedTurnID != as.Lease.StepId {
		t.Fatalf("the run after it: %s", v.State.Encode())
	}
	rows, err := s.r.Record().TailRows(context.Background(), wire.LedgerEvents, 0, func(o *ojson.Object) bool {
		return o.String("event_type") == "dispatch_progress"
	})
	must(t, err)
	if len(rows) != 1 || rows[0].Row.Object("payload").Objects("events")[0].String("event_type") != "compiled" {
		t.Fatalf("progress on record: %v", rows)
	}
}

func TestAnInvalidResultIsSentBack(t *testing.T) {
	s := serve(t, nil)
	a := s.register("worker-1", nil)
	as := a.lease()
	res := a.outcome(as.Lease, structpb.NewStringValue(`{"schema_version":"1.0","turn_id":"`+as.Lease.StepId+`"}`))
	if res.Accepted || res.Failure.GetClass() != "validation" {
		t.Fatalf("answered %v", res)
	}
	more := res.Failure.GetDetails().GetFields()["explain"].GetStringValue()
	of, ok := strings.CutPrefix(more, "git agentxchain explain ")
	if e, err := lookback.Explain(t.Context(), s.r, "", of); !ok || err != nil ||
		e.Chains[len(e.Chains)-1].Outcome == "" {
		t.Errorf("%q leads to %v %v", more, e, err)
	}
	// The same turn, another attempt, another token.
	next := a.lease()
	if next.Lease.StepId != as.Lease.StepId || next.Lease.FencingToken == as.Lease.FencingToken ||
		next.Task.Extensions.Fields["agentxchain"].GetStructValue().Fields["attempt"].GetNumberValue() != 2 {
		t.Fatalf("after the refusal %v", next)
	}
	if res := a.outcome(as.Lease, resultOf(next, "late")); res.Accepted ||
		res.Failure.GetCode() != run.RejectStaleToken {
		t.Fatalf("the old token: %v", res)
	}
	if res := a.outcome(next.Lease, resultOf(next, "better")); !res.Accepted {
		t.Fatalf("the second attempt: %v", res.Failure)
	}
}

// TestAnotherProjectInItsPlace: a project that is cloned anew below a service is not mixed up with the one that it has
// open.
func TestAnotherProjectInItsPlace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a directory that is open is not moved there")
	}
	s := serve(t, nil)
	a := s.register("worker-1", nil)
	refused := func(why string) {
		t.Helper()
		_, err := s.c.AcquireLease(t.Context(), &pb.AcquireLeaseRequest{ContractVersion: "v1", RunnerId: a.id,
			SessionId: a.session, AvailableSlots: 1})
		if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), why) {
			t.Errorf("answered %v", err)
		}
	}
	aside := s.dir + ".aside"
	must(t, os.Rename(s.dir, aside))
	refused("is gone")
	must(t, os.CopyFS(s.dir, os.DirFS(aside)))
	refused("is another one than when this service began")
	must(t, os.RemoveAll(s.dir))
	must(t, os.Rename(aside, s.dir))
	_ = a.lease()
}

func TestResumeAfterRestart(t *testing.T) {
	s := serve(t, nil)
	a := s.register("worker-1", nil)
	as := a.lease()
	_ = a.started(as.Lease)
	// The runner comes back with another session.
	b := s.register("worker-1", nil)
	res := b.outcome(as.Lease, resultOf(as, "from the wrong session"))
	wantFailure(t, res.Failure, res.Accepted, "policy", run.RejectSession)
	got, err := s.c.ResumeLease(context.Background(), &pb.ResumeLeaseRequest{
		ContractVersion: "v1",
		RunnerId:        b.id,
		SessionId:       b.session,
		Lease:           as.Lease,
	})
	must(t, err)
	if !got.Accepted || got.Lease.FencingToken.Token == as.Lease.FencingToken ||
		got.CurrentFencingToken != got.Lease.FencingToken.Token || got.ExpiresAtMs != got.Lease.ExpiresAtMs ||
		got.Reason != pb.LeaseRejectionReason_LEASE_REJECTION_REASON_UNSPECIFIED || got.Lease.SessionId != b.session {
		t.Fatalf("resumed as %v", got)
	}
	// The earlier session does not know that.
	late, err := s.c.ResumeLease(context.Background(), &pb.ResumeLeaseRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
		Lease:           as.Lease,
	})
	must(t, err)
	if late.Accepted || late.Reason != pb.LeaseRejectionReason_LEASE_REJECTION_STALE_FENCING_TOKEN ||
		late.CurrentFencingToken != got.CurrentFencingToken {
		t.Fatalf("the old token resumed: %v", late)
	}
	s.mu.Lock()
	if c := s.calls[len(s.calls)-1]; c.Outcome != "refused" || c.Code != run.RejectStaleToken {
		t.Errorf("the refused resumption is logged as %+v", c)
	}
	s.mu.Unlock()
	hb, err := s.c.Heartbeat(context.Background(), &pb.HeartbeatRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
		ActiveLeases:    []*pb.LeaseStatus{{Lease: as.Lease, State: "running"}},
	})
	must(t, err)
	if len(hb.Cancellations) != 1 || !hb.Cancellations[0].Force || hb.Cancellations[0].Reason != run.RejectStaleToken {
		t.Fatalf("the old session is told %v", hb.Cancellations)
	}
	fresh := &pb.LeaseRef{
		LeaseId:      got.Lease.LeaseId,
		FencingToken: got.CurrentFencingToken,
		RunId:        got.Lease.RunId,
		PlanId:       got.Lease.PlanId,
		StepId:       got.Lease.StepId,
		TaskId:       got.Lease.TaskId,
	}
	if res := b.outcome(fresh, resultOf(as, "done")); !res.Accepted {
		t.Fatalf("the resumed lease: %v", res.Failure)
	}
}

func TestServerRestartForgetsNothing(t *testing.T) {
	s := &served{t: t, dir: t.TempDir(), now: time.Now().UTC().Truncate(time.Millisecond)}
	makeProject(t, s.dir)
	s.opt = control.Options{TTL: time.Minute, Now: s.clock, Version: "test"}
	stop := s.start()
	s.c = s.dial(insecure.NewCredentials())
	a := s.register("worker-1", nil)
	as := a.lease()
	stop()
	stop = s.start()
	t.Cleanup(func() { stop() })
	s.c = s.dial(insecure.NewCredentials())
	if res := a.outcome(as.Lease, resultOf(as, "across a restart")); !res.Accepted {
		t.Fatalf("after a restart: %v", res.Failure)
	}
	info, err := os.Stat(filepath.Join(s.r.PrivateDir(), "runner-control.json"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("sessions are kept in a file of mode %o", info.Mode().Perm())
	}
	rows, err := s.r.Record().TailRows(context.Background(), wire.LedgerEvents, 0, func(o *ojson.Object) bool {
		return o.Object("payload").String("action") == leases.ActReloaded
	})
	must(t, err)
	if len(rows) != 1 || rows[0].Row.Object("payload").Object("recovery").String("kind") != "state_reloaded" {
		t.Errorf("the restart is not on record: %v", rows)
	}
}

// Runners with large descriptions do not make a restarted server forget everyone.
func TestManyLargeRegistrations(t *testing.T) {
	testrepo.Serving(t)
	s := &served{t: t, dir: t.TempDir(), now: time.Now().UTC().Truncate(time.Millisecond)}
	makeProject(t, s.dir)
	s.opt = control.Options{TTL: time.Minute, Now: s.clock, Version: "test"}
	stop := s.start()
	s.c = s.dial(insecure.NewCredentials())
	caps := &pb.RunnerCapabilities{}
	for i := range 900 {
		caps.SupportedRoleIds = append(caps.SupportedRoleIds, strings.Repeat("<", 196)+fmt.Sprintf("%04d", i)) // JSON takes six bytes for each
	}
	for i := range 5 {
		s.later(time.Second)
		_ = s.register(fmt.Sprintf("large-%d", i), caps)
	}
	a := s.register("worker-1", nil)
	as := a.lease()
	stop()
	stop = s.start()
	t.Cleanup(func() { stop() })
	s.c = s.dial(insecure.NewCredentials())
	if res := a.outcome(as.Lease, resultOf(as, "across a restart")); !res.Accepted {
		t.Fatalf("after a restart: %v", res.Failure)
	}
	caps.SupportedRoleIds = []string{strings.Repeat("x", 201)}
	if _, err := s.c.RegisterRunner(context.Background(), &pb.RegisterRunnerRequest{
		ContractVersion: "v1", RunnerId: "r", Capabilities: caps,
	}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a role id of 201 bytes: %v", err)
	}
}

func TestCancellationByEscalation(t *testing.T) {
	s := serve(t, nil)
	a := s.register("worker-1", nil)
	as := a.lease()
	_ = a.started(as.Lease)
	ack := func() *pb.AckCancellationResponse {
		res, err := s.c.AckCancellation(context.Background(), &pb.AckCancellationRequest{
			ContractVersion: "v1",
			RunnerId:        a.id,
			SessionId:       a.session,
			Lease:           as.Lease,
			Status:          "stopped",
		})
		must(t, err)
		return res
	}
	if res := ack(); res.Accepted {
		t.Fatal("an acknowledgement without a cancellation was accepted")
	}
	_, err := s.r.Escalate(context.Background(), runner.Escalation{Reason: "a person has to look"})
	must(t, err)
	beat := func() []*pb.CancellationIntent {
		hb, err := s.c.Heartbeat(context.Background(), &pb.HeartbeatRequest{
			ContractVersion: "v1",
			RunnerId:        a.id,
			SessionId:       a.session,
			ActiveLeases:    []*pb.LeaseStatus{{Lease: as.Lease, State: "running"}},
		})
		must(t, err)
		return hb.Cancellations
	}
	if c := beat(); len(c) != 1 || c[0].Lease.LeaseId != as.Lease.LeaseId || c[0].Force ||
		!strings.Contains(c[0].Reason, "a person has to look") || c[0].RequestedAtMs == 0 {
		t.Fatalf("told %v", c)
	}
	first := beat()[0].RequestedAtMs
	s.later(time.Second)
	if beat()[0].RequestedAtMs != first {
		t.Error("the request is made anew with every heartbeat")
	}
	res := a.outcome(as.Lease, resultOf(as, "too late"))
	wantFailure(t, res.Failure, res.Accepted, "policy", run.RejectNotExecutable)
	if got := a.acquire(); got.Assignment != nil || got.RetryAfterMs == 0 {
		t.Fatalf("a blocked run assigned %v", got)
	}
	if res := ack(); !res.Accepted {
		t.Fatalf("acknowledgement refused: %v", res.Failure)
	}
	rows, err := s.r.Record().TailRows(context.Background(), wire.LedgerEvents, 0, func(o *ojson.Object) bool {
		return o.Object("payload").Has("recovery")
	})
	must(t, err)
	var kinds []string
	for _, row := range rows {
		kinds = append(kinds, row.Row.Object("payload").Object("recovery").String("kind"))
	}
	if got := strings.Join(kinds, " "); got != "cancellation_requested lease_rejected cancellation_acknowledged" {
		t.Errorf("recovery events: %s", got)
	}
}

func TestRunnersGetWhatTheyServe(t *testing.T) {
	s := serve(t, nil)
	qa := s.register("only-qa", &pb.RunnerCapabilities{SupportedRoles: []pb.AgentRole{pb.AgentRole_QA}})
	if res := qa.acquire(); res.Assignment != nil {
		t.Fatalf("a tester was given %v", res.Assignment.Task.RoleId)
	}
	one := s.register("one", &pb.RunnerCapabilities{SupportedRoleIds: []string{"pm"}})
	two := s.register("two", nil)
	first, second := one.lease(), two.lease()
	if first.Task.RoleId != "pm" || second.Task.RoleId != "critic" {
		t.Fatalf("given %s and %s", first.Task.RoleId, second.Task.RoleId)
	}
	_ = two.started(second.Lease)
	if res := two.acquire(); res.Assignment != nil {
		t.Fatalf("a third turn where two fit: %v", res.Assignment)
	}
	_, err := s.c.RegisterRunner(context.Background(), &pb.RegisterRunnerRequest{
		ContractVersion: "v1",
		RunnerId:        "x",
		Capabilities:    &pb.RunnerCapabilities{Labels: []string{"runtime:none-such"}},
	})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("an unknown runtime: %v", err)
	}
	limited, err := s.c.RegisterRunner(context.Background(), &pb.RegisterRunnerRequest{
		ContractVersion:   "v1",
		RunnerId:          "limited",
		MaxParallelLeases: 1,
	})
	must(t, err)
	s.later(2 * time.Minute) // both leases end
	l := &agent{s, "limited", limited.SessionId}
	got := l.lease()
	_ = l.started(got.Lease)
	if res := l.acquire(); res.Assignment != nil {
		t.Fatal("a runner got more leases than it takes")
	}
}

func TestRequestsNobodyAnswers(t *testing.T) {
	s := serve(t, nil)
	a := s.register("worker", nil)
	ctx := context.Background()
	for name, c := range map[string]struct {
		code codes.Code
		err  error
	}{
		"version": {codes.InvalidArgument,
			second(s.c.RegisterRunner(ctx, &pb.RegisterRunnerRequest{ContractVersion: "v2", RunnerId: "x"}))},
		"no version": {codes.InvalidArgument,
			second(s.c.Heartbeat(ctx, &pb.HeartbeatRequest{RunnerId: a.id, SessionId: a.session}))},
		"no runner": {codes.InvalidArgument,
			second(s.c.RegisterRunner(ctx, &pb.RegisterRunnerRequest{ContractVersion: "v1"}))},
		"path": {codes.InvalidArgument,
			second(s.c.RegisterRunner(ctx, &pb.RegisterRunnerRequest{ContractVersion: "v1", RunnerId: "../x"}))},
		"control byte": {codes.InvalidArgument,
			second(s.c.RegisterRunner(ctx, &pb.RegisterRunnerRequest{ContractVersion: "v1", RunnerId: "a\x1b[31m"}))},
		"session": {codes.FailedPrecondition, second(s.c.Heartbeat(ctx, &pb.HeartbeatRequest{
			ContractVersion: "v1",
			RunnerId:        a.id,
			SessionId:       "made up",
		}))},
		"other runner": {codes.FailedPrecondition, second(s.c.AcquireLease(ctx, &pb.AcquireLeaseRequest{
			ContractVersion: "v1",
			RunnerId:        "else",
			SessionId:       a.session,
		}))},
		"too much": {codes.ResourceExhausted, second(s.c.RegisterRunner(ctx,
			&pb.RegisterRunnerRequest{ContractVersion: "v1", RunnerId: strings.Repeat("x", 17<<20)}))},
	} {
		if status.Code(c.err) != c.code {
			t.Errorf("%s: %v, want %s", name, c.err, c.code)
		}
	}
	res, err := s.c.ReportStepStarted(ctx, &pb.ReportStepStartedRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
	})
	must(t, err)
	wantFailure(t, res.Failure, res.Accepted, "policy", run.RejectUnknown)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if strings.Contains(fmt.Sprintf("%+v", c), strings.TrimPrefix(a.session, "session-")) {
			t.Errorf("a log line holds a whole session id: %+v", c)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestTokenAndTLS(t *testing.T) {
	pair, pool := certificate(t)
	s := serve(t, func(o *control.Options) {
		o.Token = "a-long-secret"
		o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	})
	c := s.dial(credentials.NewClientTLSFromCert(pool, "localhost"))
	req := &pb.RegisterRunnerRequest{ContractVersion: "v1", RunnerId: "x"}
	with := func(v string) context.Context {
		return metadata.AppendToOutgoingContext(context.Background(), "authorization", v)
	}
	for name, ctx := range map[string]context.Context{
		"none":           context.Background(),
		"wrong":          with("Bearer a-long-secres"),
		"empty":          with("Bearer "),
		"another scheme": with("Basic a-long-secret"),
	} {
		if _, err := c.RegisterRunner(ctx, req); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.RegisterRunner(with("Bearer a-long-secret"), req); err != nil {
		t.Fatal(err)
	}
	if _, err := s.c.RegisterRunner(with("Bearer a-long-secret"), req); status.Code(err) != codes.Unavailable {
		t.Errorf("without TLS: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(fmt.Sprintf("%+v", s.calls), "a-long-secret") {
		t.Error("the token is in the log")
	}
}

func TestListenOnlyWhereItMay(t *testing.T) {
	s := serve(t, nil)
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	defer func() { _ = conn.Close() }()
	h, err := healthpb.NewHealthClient(conn).Check(context.Background(),
		&healthpb.HealthCheckRequest{Service: "monarchic.agent_protocol.v1.RunnerControlService"})
	if err != nil || h.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v %v", h, err)
	}
	dir := t.TempDir()
	makeProject(t, dir)
	r, err := runner.Open(context.Background(), dir, runner.Options{})
	must(t, err)
	defer func() { _ = r.Close() }()
	_, err = r.InitRun(context.Background(), runner.InitRunOptions{})
	must(t, err)
	srv, err := control.New(context.Background(), control.Options{Runner: r})
	must(t, err)
	defer srv.Close()
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"} {
		if l, err := srv.Listen(context.Background(), addr); err == nil {
			_ = l.Close()
			t.Errorf("it listens on %s without token and TLS", addr)
		} else if runner.ErrorCode(err) != "usage" {
			t.Errorf("%s: %v", addr, err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = taken.Close() }()
	if _, err := srv.Listen(context.Background(), taken.Addr().String()); err == nil {
		t.Error("it listens on an address that is taken")
	}
	if events, err := os.ReadFile(filepath.Join(dir, ".agentxchain", "events.jsonl")); err == nil &&
		strings.Contains(string(events), "orchestrator_started") {
		t.Error("a service that never listened is on record")
	}
	if _, err := control.New(context.Background(), control.Options{Runner: r}); runner.ErrorCode(err) != "locked" {
		t.Errorf("a second server: %v", err)
	}
}

// certificate returns a certificate for localhost, and the pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	tmpl := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "localhost"},
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: cert}, pool
}

// extension returns extensions.agentxchain with one member.
func extension(name string, v *structpb.Value) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"agentxchain": structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{name: v}}),
	}}
}
