// Outcomes of runners that know only the protocol, not turn results.

package control_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const twoTasks = `{"version":"v1","pipeline_id":"p","objective":"o","project_key":"k","tasks":[` +
	`{"id":"t0","role":"dev","goal":"do t0","depends_on":[],"gates_required":["qa"]},{"id":"t1","role":"dev","goal":"do t1","depends_on":["t0"]}]}`

// report sends an outcome; edit fills in its members.
func (a *agent) report(l *pb.LeaseRef, status pb.PlanStatus,
	edit func(*pb.ReportStepOutcomeRequest)) *pb.ReportStepOutcomeResponse {
	a.s.t.Helper()
	req := &pb.ReportStepOutcomeRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
		Lease:           l,
		Status:          status,
	}
	if edit != nil {
		edit(req)
	}
	res, err := a.s.c.ReportStepOutcome(context.Background(), req)
	must(a.s.t, err)
	return res
}

func (s *served) write(path string) {
	s.t.Helper()
	full := filepath.Join(s.dir, filepath.FromSlash(path))
	must(s.t, os.MkdirAll(filepath.Dir(full), 0o777))
	must(s.t, os.WriteFile(full, []byte("done\n"), 0o666))
}

func (s *served) rows() []*ojson.Object {
	s.t.Helper()
	rows, err := s.r.Record().TailRows(context.Background(), wire.LedgerHistory, 0, func(*ojson.Object) bool {
		return true
	})
	must(s.t, err)
	out := make([]*ojson.Object, len(rows))
	for i := range rows {
		out[i] = rows[i].Row
	}
	return out
}

func completing(code int) func(*pb.ReportStepOutcomeRequest) {
	return func(req *pb.ReportStepOutcomeRequest) {
		req.Artifacts = []*pb.Artifact{{
			Version:    "v1",
			ArtifactId: "a",
			Type:       "patch",
			Path:       "work/t.md",
			TaskId:     req.Lease.TaskId,
		}}
		req.RunOutcome = &pb.RunOutcome{
			Version:          "v1",
			TaskId:           req.Lease.TaskId,
			FinalDecision:    pb.OutcomeDecision_ACCEPT,
			Summary:          new("wrote it"),
			EstimatedCostUsd: new(0.25),
			Evidence:         checks(code),
		}
	}
}

func TestARunnerThatKnowsOnlyTheProtocol(t *testing.T) {
	s := servePlan(t, []byte(twoTasks), time.Minute)
	a := s.register("stock", nil)

	// Cancelled: nothing is judged, the turn is free for the next runner.
	as := a.lease()
	if res := a.report(as.Lease, pb.PlanStatus_CANCELLED, nil); !res.Accepted {
		t.Fatalf("cancelled: %v", res.Failure)
	}
	if again := a.report(as.Lease, pb.PlanStatus_CANCELLED, nil); !again.Accepted {
		t.Fatalf("cancelled again: %v", again.Failure)
	}
	next := a.lease()
	if next.Lease.StepId != as.Lease.StepId || next.Lease.FencingToken == as.Lease.FencingToken {
		t.Fatalf("after the cancellation: %v", next.Lease)
	}

	// Failed: accepted as failed, the task stays open.
	res := a.report(next.Lease, pb.PlanStatus_FAILED, func(req *pb.ReportStepOutcomeRequest) {
		req.Failure = &pb.FailureDetail{Class: "infra", Code: "no_disk", Message: "the disk is full"}
	})
	if !res.Accepted {
		t.Fatalf("failed: %v", res.Failure)
	}
	row := s.rows()[0]
	if row.String("status") != wire.ResultFailed || row.String("summary") != "the disk is full" {
		t.Fatalf("on record: %s", ojson.Compact(row))
	}

	// Complete, with an artifact outside the project: judged by the same rules, sent back.
	as = a.lease()
	outside := func(req *pb.ReportStepOutcomeRequest) {
		completing(0)(req)
		req.Artifacts[0].Path = "../t.md"
	}
	res = a.report(as.Lease, pb.PlanStatus_COMPLETE, outside)
	if res.Accepted || !res.Failure.Details.Fields["retryable"].GetBoolValue() {
		t.Fatalf("outside the project: %v", res)
	}
	if again := a.report(as.Lease, pb.PlanStatus_COMPLETE, completing(0)); again.Accepted ||
		again.Failure.GetCode() != res.Failure.GetCode() {
		t.Fatalf("the same token again: %v, at first %v", again, res)
	}

	// The task requires a passed check: one that failed leaves it open.
	as = a.lease()
	s.write("work/t.md")
	if res = a.report(as.Lease, pb.PlanStatus_COMPLETE, completing(1)); !res.Accepted {
		t.Fatalf("a failed check: %v", res.Failure)
	}
	as = a.lease()
	s.write("work/u.md")
	if res = a.report(as.Lease, pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
		completing(0)(req)
		req.Artifacts[0].Path = "work/u.md"
	}); !res.Accepted {
		t.Fatalf("complete: %v", res.Failure)
	}
	var ends []string
	for _, row := range s.rows() {
		ends = append(ends, row.String("charter_id")+" "+row.String("status")+" "+
			row.Object("verification").String("status"))
	}
	if got := strings.Join(ends, ", "); got != "t0 failed skipped, t0 completed fail, t0 completed pass" {
		t.Fatalf("on record: %s", got)
	}
	if list, _, err := s.r.Leases(context.Background(), ""); err != nil || list[len(list)-1].Live {
		t.Fatalf("a lease is held: %v %v", list, err)
	}
	v, err := s.r.View(context.Background())
	must(t, err)
	if v.Index.Uncheckpointed.Len() != 0 {
		t.Errorf("not committed: %v", v.Index.Uncheckpointed.Keys())
	}
}

func TestTheSameAnswerAfterARestart(t *testing.T) {
	s := &served{t: t, dir: t.TempDir()}
	makeProject(t, s.dir)
	s.opt = control.Options{TTL: time.Minute, Version: "test"}
	stop := s.start()
	s.c = s.dial(insecure.NewCredentials())
	a := s.register("worker-1", nil)
	bad := a.lease()
	first := a.report(bad.Lease, pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
		req.Extensions = extension("turn_result", structpb.NewStringValue(`{"schema_version":"1.0"}`))
	})
	good := a.lease()
	if res := a.outcome(good.Lease, resultOf(good, "done")); first.Accepted || !res.Accepted {
		t.Fatalf("%v %v", first, res)
	}
	stop()
	stop = s.start()
	t.Cleanup(func() { stop() })
	s.c = s.dial(insecure.NewCredentials())
	if res := a.outcome(good.Lease, resultOf(good, "done")); !res.Accepted {
		t.Fatalf("accepted before the restart, now %v", res.Failure)
	}
	if res := a.outcome(bad.Lease, resultOf(good, "done")); res.Accepted || res.Failure.GetClass() != "validation" &&
		res.Failure.GetCode() != run.RejectTerminal {
		t.Fatalf("refused before the restart, now %v", res)
	}
	other := good.Lease
	other.FencingToken = bad.Lease.FencingToken
	if res := a.outcome(other, resultOf(good, "done")); res.Accepted {
		t.Fatal("an old token got the answer of the new one")
	}
}

// An agent that prints no result is not asked for ever: each time is an attempt, and the run is
// blocked when they are used up.
func TestTextThatIsNoResultSpendsAttempts(t *testing.T) {
	testrepo.Serving(t)
	for name, text := range map[string]string{"prose": "I am done.", "nothing": "", "a list": "[1]"} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			a := s.register("worker", nil)
			for tries := 1; ; tries++ {
				got := a.acquire()
				if got.Assignment == nil {
					if tries < 2 {
						t.Fatal("no lease at all")
					}
					break
				}
				if tries > 10 {
					t.Fatal("leased again and again")
				}
				res := a.report(got.Assignment.Lease, pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
					req.Extensions = extension("turn_result", structpb.NewStringValue(text))
				})
				if res.Accepted || res.Failure.GetMessage() == "" {
					t.Fatalf("answered %v", res)
				}
			}
			v, err := s.r.View(context.Background())
			must(t, err)
			if v.State.Status != wire.StatusBlocked {
				t.Fatalf("the run is %s", v.State.Status)
			}
		})
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	s := serve(t, nil)
	a := s.register("worker", nil)
	as := a.lease()
	result := func(status string) func(*pb.ReportStepOutcomeRequest) {
		v := resultOf(as, "planned")
		v.GetStructValue().Fields["status"] = structpb.NewStringValue(status)
		return func(req *pb.ReportStepOutcomeRequest) { req.Extensions = extension("turn_result", v) }
	}
	for name, c := range map[string]struct {
		status pb.PlanStatus
		edit   func(*pb.ReportStepOutcomeRequest)
	}{
		"failed beside completed":    {pb.PlanStatus_FAILED, result("completed")},
		"failed beside done":         {pb.PlanStatus_FAILED, result("done")},
		"cancelled beside completed": {pb.PlanStatus_CANCELLED, result("completed")},
		"failed and accepted": {pb.PlanStatus_FAILED, func(req *pb.ReportStepOutcomeRequest) {
			req.RunOutcome = &pb.RunOutcome{FinalDecision: pb.OutcomeDecision_ACCEPT}
		}},
		"cancelled and accepted": {pb.PlanStatus_CANCELLED, func(req *pb.ReportStepOutcomeRequest) {
			req.RunOutcome = &pb.RunOutcome{FinalDecision: pb.OutcomeDecision_ACCEPT}
		}},
		"the outcome of another task": {pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			req.RunOutcome = &pb.RunOutcome{TaskId: "turn_other", FinalDecision: pb.OutcomeDecision_ACCEPT}
		}},
		"complete with a failure": {pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			req.RunOutcome = &pb.RunOutcome{FinalDecision: pb.OutcomeDecision_ACCEPT}
			req.Failure = &pb.FailureDetail{Code: "x"}
		}},
		"completed and rejected": {pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			result("completed")(req)
			req.RunOutcome = &pb.RunOutcome{FinalDecision: pb.OutcomeDecision_REJECT}
		}},
		"completed and to be done again": {pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			result("completed")(req)
			req.RunOutcome = &pb.RunOutcome{FinalDecision: pb.OutcomeDecision_ITERATE}
		}},
		"completed and the objective missed": {pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			result("completed")(req)
			req.RunOutcome = &pb.RunOutcome{ObjectiveDecision: pb.OutcomeDecision_REJECT}
		}},
		"accepted over a risk that escalates": {pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			req.RunOutcome = &pb.RunOutcome{
				FinalDecision: pb.OutcomeDecision_ACCEPT,
				RiskDecision:  pb.OutcomeDecision_ESCALATE,
			}
		}},
		"completed with a failure": {pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			result("completed")(req)
			req.Failure = &pb.FailureDetail{Code: "x"}
		}},
	} {
		res := a.report(as.Lease, c.status, c.edit)
		if res.Accepted || res.Failure.GetCode() != control.CodeContradiction ||
			!res.Failure.Details.Fields["retryable"].GetBoolValue() {
			t.Errorf("%s: %v", name, res)
		}
	}
	if len(s.rows()) != 0 {
		t.Fatal("a contradiction is on record")
	}
	// The stricter of the two counts: complete together with failed is failed.
	if res := a.report(as.Lease, pb.PlanStatus_COMPLETE, result("failed")); !res.Accepted {
		t.Fatalf("complete beside failed: %v", res.Failure)
	}
	if got := s.rows()[0].String("status"); got != wire.ResultFailed {
		t.Fatalf("recorded as %s", got)
	}
}

// A value that JSON cannot hold, or that this version of the protocol does not know, is refused, not left out: it may
// be evidence against the result.
func TestWhatCannotBeReadIsRefused(t *testing.T) {
	s := serve(t, nil)
	a := s.register("worker", nil)
	as := a.lease()
	nan := structpb.NewNumberValue(math.NaN())
	deep := structpb.NewNullValue()
	for range 500 {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep}})
	}
	odd := pb.OutcomeDecision(99)
	for name, c := range map[string]struct {
		code string
		edit func(*pb.RunOutcome)
	}{
		"no number beside a failed check": {wire.CodeInvalidJSON, func(o *pb.RunOutcome) {
			o.Evidence = checks(1)
			o.Evidence.Fields["x"] = nan
		}},
		"levels without an end": {wire.CodeInvalidJSON, func(o *pb.RunOutcome) {
			o.Evidence = checks(1)
			o.Evidence.Fields["x"] = deep
		}},
		"infinite cost":      {wire.CodeInvalidArgument, func(o *pb.RunOutcome) { o.EstimatedCostUsd = new(math.Inf(1)) }},
		"a cost of nothing":  {wire.CodeInvalidArgument, func(o *pb.RunOutcome) { o.EstimatedCostUsd = new(math.NaN()) }},
		"a cost that gives":  {wire.CodeInvalidArgument, func(o *pb.RunOutcome) { o.EstimatedCostUsd = new(-1.0) }},
		"another decision":   {control.CodeStatusInadmissble, func(o *pb.RunOutcome) { o.FinalDecision = odd }},
		"another objective":  {control.CodeStatusInadmissble, func(o *pb.RunOutcome) { o.ObjectiveDecision = odd }},
		"another for costs":  {control.CodeStatusInadmissble, func(o *pb.RunOutcome) { o.CostDecision = odd }},
		"another for a risk": {control.CodeStatusInadmissble, func(o *pb.RunOutcome) { o.RiskDecision = odd }},
	} {
		res := a.report(as.Lease, pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			req.RunOutcome = &pb.RunOutcome{FinalDecision: pb.OutcomeDecision_ACCEPT, RiskSummary: new("a doubt")}
			c.edit(req.RunOutcome)
		})
		if res.Accepted || res.Failure.GetCode() != c.code {
			t.Errorf("%s: %v, want %s", name, res, c.code)
		}
	}
	v := resultOf(as, "planned")
	v.GetStructValue().Fields["cost"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"usd": nan}})
	res := a.report(as.Lease, pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
		req.Extensions = extension("turn_result", v)
	})
	if res.Accepted || !strings.Contains(res.Failure.GetMessage(), "turn_result") {
		t.Errorf("a result that is no JSON: %v", res)
	}
	if len(s.rows()) != 0 {
		t.Fatal("one of them is on record")
	}
}

// A runner that reports something else under an ended lease is not told that it was accepted.
func TestAnotherOutcomeGetsNoYes(t *testing.T) {
	s := &served{t: t, dir: t.TempDir()}
	makeProject(t, s.dir)
	s.opt = control.Options{TTL: time.Minute, Version: "test"}
	stop := s.start()
	defer func() { stop() }()
	s.c = s.dial(insecure.NewCredentials())
	a := s.register("worker-1", nil)
	back := a.lease()
	if res := a.report(back.Lease, pb.PlanStatus_CANCELLED, nil); !res.Accepted {
		t.Fatalf("cancelled: %v", res)
	}
	look := func(when string, l *pb.LeaseRef, was pb.PlanStatus) {
		t.Helper()
		for _, status := range []pb.PlanStatus{pb.PlanStatus_COMPLETE, pb.PlanStatus_FAILED, pb.PlanStatus_CANCELLED} {
			res := a.report(l, status, nil)
			if res.Accepted != (status == was) {
				t.Errorf("%s: was %s, reported again as %s: accepted %v, %v", when, was, status, res.Accepted, res.Failure)
			}
		}
	}
	look("at once", back.Lease, pb.PlanStatus_CANCELLED)
	restart := func() {
		stop()
		stop = s.start()
		s.c = s.dial(insecure.NewCredentials())
	}
	restart()
	look("after a restart", back.Lease, pb.PlanStatus_CANCELLED)
	done := a.lease()
	if res := a.outcome(done.Lease, resultOf(done, "done")); !res.Accepted {
		t.Fatalf("complete: %v", res)
	}
	rejected := func(when string) {
		t.Helper()
		if res := a.report(done.Lease, pb.PlanStatus_COMPLETE, func(req *pb.ReportStepOutcomeRequest) {
			req.RunOutcome = &pb.RunOutcome{FinalDecision: pb.OutcomeDecision_REJECT}
		}); res.Accepted {
			t.Errorf("%s: a completed step is rejected when it is reported again", when)
		}
	}
	look("at once", done.Lease, pb.PlanStatus_COMPLETE)
	rejected("at once")
	restart()
	look("after a restart", done.Lease, pb.PlanStatus_COMPLETE)
	rejected("after a restart")
	bad := a.lease()
	if res := a.report(bad.Lease, pb.PlanStatus_FAILED, func(req *pb.ReportStepOutcomeRequest) {
		req.Failure = &pb.FailureDetail{Class: "infra", Code: "no_disk", Message: "the disk is full"}
	}); !res.Accepted {
		t.Fatalf("failed: %v", res)
	}
	look("at once", bad.Lease, pb.PlanStatus_FAILED)
}

func TestWhyThereIsNoWork(t *testing.T) {
	s := serve(t, nil)
	ctx := context.Background()
	code := func(res *pb.AcquireLeaseResponse) string {
		t.Helper()
		own := res.Extensions.GetFields()["agentxchain"].GetStructValue().GetFields()
		if res.Assignment != nil || res.RetryAfterMs == 0 || own["message"].GetStringValue() == "" {
			t.Fatalf("answered %v", res)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if c := s.calls[len(s.calls)-1]; c.Outcome != "none" || c.Code != own["code"].GetStringValue() ||
			c.Detail == "" {
			t.Errorf("logged as %+v", c)
		}
		return own["code"].GetStringValue()
	}
	want := func(res *pb.AcquireLeaseResponse, is string) {
		t.Helper()
		if got := code(res); got != is {
			t.Errorf("no work because of %s, want %s", got, is)
		}
	}
	a := s.register("a", nil)
	res, err := s.c.AcquireLease(ctx, &pb.AcquireLeaseRequest{
		ContractVersion: "v1",
		RunnerId:        a.id,
		SessionId:       a.session,
	})
	must(t, err)
	want(res, control.CodeNoSlots)
	want(s.register("qa", &pb.RunnerCapabilities{SupportedRoleIds: []string{"qa"}}).acquire(),
		control.CodeRoleNotServed)
	one, err := s.c.RegisterRunner(ctx, &pb.RegisterRunnerRequest{
		ContractVersion:   "v1",
		RunnerId:          "one",
		MaxParallelLeases: 1,
	})
	must(t, err)
	b := &agent{s, "one", one.SessionId}
	_ = b.started(b.lease().Lease)
	want(b.acquire(), control.CodeLeasesHeld)
	as := a.lease()
	_ = a.started(as.Lease)
	want(a.acquire(), wire.CodeAtCapacity)
	v := resultOf(as, "a person has to look")
	v.GetStructValue().Fields["status"] = structpb.NewStringValue(wire.ResultNeedsHuman)
	v.GetStructValue().Fields["needs_human_reason"] = structpb.NewStringValue("which currency?")
	if res := a.outcome(as.Lease, v); !res.Accepted {
		t.Fatalf("not accepted: %v", res.Failure)
	}
	res = a.acquire()
	want(res, run.RejectNotExecutable)
	if said := res.Extensions.Fields["agentxchain"].GetStructValue().Fields["message"].GetStringValue(); !strings.Contains(said, "blocked") {
		t.Errorf("of a blocked run it says %q", said)
	}
}
