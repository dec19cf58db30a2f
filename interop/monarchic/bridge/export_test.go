package bridge_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/demo"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func TestExportOfAnEventfulRun(t *testing.T) {
	p := eventful(t)
	x := p.export(bridge.Options{})
	found := sound(t, x)
	if len(x.Warnings) > 0 {
		t.Errorf("warnings: %v", x.Warnings)
	}
	plan, receipt := found["plan"][0], found["receipt"][0]
	if got := len(plan.Objects("steps")); got != 4 || plan.String("status") != "complete" ||
		len(receipt.Strings("task_hashes")) != 4 {
		t.Errorf("%d steps, %s, %v", got, plan.String("status"), receipt.Strings("task_hashes"))
	}
	bare := plan.Clone()
	for _, m := range []string{"status", "updated_at_ms", "extensions"} {
		bare.Delete(m)
	}
	if want := hashOf(t, bare); receipt.String("plan_hash") != want {
		t.Errorf("plan_hash %s, not %s", receipt.String("plan_hash"), want)
	}
	for i, task := range found["tasks"] {
		if want := hashOf(t, task); receipt.Strings("task_hashes")[i] != want {
			t.Errorf("task_hashes[%d] is not that of the task", i)
		}
	}
	outcome := receipt.Object("extensions").Object("agentxchain").Object("outcome")
	if want := hashOf(t, outcome); receipt.String("outcome_hash") != want ||
		outcome.Objects("accepted")[0].String("output_digest") != found["receipt strict"][0].String("output_digest") {
		t.Errorf("outcome_hash %s, not %s", receipt.String("outcome_hash"), want)
	}
	var digests []string
	for _, a := range found["artifacts"] {
		if d := a.Object("extensions").Object("agentxchain").String("digest"); d != "" &&
			!strings.HasPrefix(a.String("path"), ".agentxchain/") {
			digests = append(digests, d)
		}
	}
	slices.Sort(digests)
	if !slices.Equal(receipt.Strings("artifact_hashes"), slices.Compact(digests)) {
		t.Errorf("artifact_hashes %v, not %v", receipt.Strings("artifact_hashes"), digests)
	}
	// The delegating turn comes before the one that does the work, and the review after both.
	steps := plan.Objects("steps")
	parent := steps[0].String("step_id")
	for _, child := range steps[1:3] {
		if !slices.Equal(child.Strings("depends_on"), []string{parent}) {
			t.Errorf("a delegated turn depends on %v", child.Strings("depends_on"))
		}
	}
	if steps[2].Object("failure").String("code") != "failed" {
		t.Errorf("a turn that failed: %v", steps[2].Object("failure"))
	}
	kinds := make(map[string]int)
	for _, d := range found["reviews"] {
		kinds[d.String("scope")+" "+d.String("decision")]++
	}
	if kinds["step request_changes"] != 2 || kinds["step defer"] != 3 {
		t.Errorf("reviews: %v", kinds)
	}
	if r := found["reruns"]; len(r) != 2 || r[0].String("trigger") != "review_decision" ||
		r[0].String("source_decision_id") == "" || r[1].String("trigger") != "manual" {
		t.Errorf("reruns: %v", found["reruns"])
	}
	if o := found["outcome"][0]; o.String("risk_decision") != "escalate" || o.String("final_decision") != "escalate" ||
		o.String("risk_level") != "critical" {
		t.Errorf("outcome: %s", ojson.Compact(o))
	}
	verified := make(map[string]int)
	for _, v := range found["verification"] {
		verified[v.String("status")]++
	}
	if verified["passed"] != 1 || verified["failed"] != 1 || verified["pending"] != 2 {
		t.Errorf("verification: %v", verified)
	}
	recovered := make(map[string]int)
	for _, e := range found["recovery"] {
		recovered[e.String("kind")]++
	}
	if recovered["step_requeued"] != 2 || recovered["run_recovered"] == 0 {
		t.Errorf("recovery: %v", recovered)
	}
	if len(found["blocked"]) != 0 {
		t.Errorf("a completed run is not blocked: %v", found["blocked"])
	}
}

func TestMailboxOfAnEventfulRun(t *testing.T) {
	x := eventful(t).export(bridge.Options{})
	byKind := make(map[string][]*bridge.Mail)
	mails := make(map[string]*bridge.Mail)
	for _, m := range x.Mailbox() {
		kind := string(m.Message.Kind)
		if m.Derived {
			kind += " derived"
		}
		byKind[kind] = append(byKind[kind], m)
		mails[m.Message.MessageID] = m
	}
	ask, late := mails["ask-1"], mails["late-1"]
	if ask.State != bridge.MailDelivered || ask.Answered() != run.AckAccepted || ask.Owed() ||
		ask.Acks[0].Status != run.AckReceived {
		t.Errorf("the question: %s, %s", ask.State, ask.Answered())
	}
	if late.State != bridge.MailUndelivered || !late.Owed() || late.Message.ToTaskID != "eng_director" {
		t.Errorf("an undelivered message: %s to %s", late.State, late.Message.ToTaskID)
	}
	if h := byKind["handoff"]; len(h) != 1 || h[0].State != bridge.MailDelivered || h[0].Addressed != "qa" ||
		!strings.HasPrefix(h[0].Message.ToTaskID, "turn_") || !h[0].Owed() || h[0].Answered() != run.AckReceived {
		t.Errorf("the message to a role: %+v", h)
	}
	handoffs := byKind["handoff derived"]
	if len(handoffs) != 2 || handoffs[0].Answered() != run.AckResolved || handoffs[1].Answered() != run.AckRejected ||
		handoffs[1].Acks[1].Note == "" || handoffs[0].Message.Body != "it parses\nit is tested" {
		t.Fatalf("delegations: %d", len(handoffs))
	}
	answers := byKind["clarification_response derived"]
	if len(answers) != 2 || answers[0].Message.ReplyTo != handoffs[0].Message.MessageID ||
		answers[0].Answered() != run.AckResolved || len(answers[0].Message.ArtifactRefs) != 2 {
		t.Errorf("results of delegations: %+v", answers)
	}
	if b := byKind["blocker derived"]; len(b) != 1 || b[0].Message.ToTaskID != run.Human ||
		b[0].Answered() != run.AckResolved || b[0].Message.Body != "legal must say" {
		t.Errorf("the block: %+v", b)
	}
	if r := byKind["artifact_ready derived"]; len(r) != 1 || r[0].Message.RequiresAck || len(r[0].Acks) != 0 {
		t.Errorf("files for the next turn: %+v", r)
	}
}

func TestExportOfARunThatGoesOn(t *testing.T) {
	p := newProject(t, "gates", ojson.NewObject("sign", ojson.NewObject("requires_human_approval", true),
		"ship", ojson.NewObject("requires_human_approval", true)))
	cfg := p.read(wire.ConfigPath)
	cfg.Set("routing", p.json(twoPhases))
	p.repo.Write(wire.ConfigPath, string(ojson.Pretty(cfg)))
	p.repo.CommitAll("two phases")
	pm := p.assign("pm")
	found := sound(t, p.export(bridge.Options{}))
	if found["receipt"] != nil || len(found["leases"]) != 1 || found["leases"][0].String("status") != "active" {
		t.Errorf("an active turn: %v", found["leases"])
	}
	if _, err := p.export(bridge.Options{}).Objects("receipt",
		false); runner.ErrorCode(err) != wire.CodeInvalidStateTransition {
		t.Errorf("the receipt of an active run: %v", err)
	}
	p.accept(pm, "phase_transition_request", "qa")
	found = sound(t, p.export(bridge.Options{}))
	if b := found["blocked"]; len(b) != 1 || b[0].String("code") != "awaiting-approval" ||
		b[0].String("scope") != "plan" {
		t.Errorf("a gate that waits: %v", b)
	}
	_, err := p.r.Approve(p.ctx, runner.ApproveOptions{})
	p.must(err)
	qa := p.assign("qa")
	p.stage(qa)
	_, err = p.r.RejectTurn(p.ctx, runner.RejectOptions{TurnID: qa.TurnID, Reason: "again"})
	p.must(err)
	found = sound(t, p.export(bridge.Options{}))
	lease := found["leases"][0]
	if !strings.HasSuffix(lease.Object("fencing_token").String("token"), "-"+qa.TurnID+"-0002") ||
		lease.String("lease_id") != "lease-"+qa.TurnID+"-2" {
		t.Errorf("the second attempt: %s", ojson.Compact(lease))
	}
	_, err = p.r.Escalate(p.ctx, protocol.Escalate{Reason: "stuck"})
	p.must(err)
	found = sound(t, p.export(bridge.Options{}))
	if r := found["receipt"]; len(r) != 1 || r[0].Object("failure").String("class") != "policy" ||
		r[0].String("status") != "executing" {
		t.Errorf("the receipt of a blocked run: %v", r)
	}
	if b := found["blocked"]; len(b) != 1 || b[0].String("code") != "operator-escalation" ||
		b[0].String("scope") != "step" {
		t.Errorf("a block: %v", b)
	}
	_, err = p.r.ReactivateRun(p.ctx, runner.ReactivateOptions{})
	p.must(err)
	p.accept(qa, "run_completion_request", true)
	_, err = p.r.Approve(p.ctx, runner.ApproveOptions{})
	p.must(err)
	found = sound(t, p.export(bridge.Options{}))
	var gates []string
	for _, g := range found["gates"] {
		gates = append(gates, g.String("gate")+" "+g.String("status"))
	}
	if want := []string{"sign awaiting_human_approval", "sign pass", "ship awaiting_human_approval",
		"ship pass"}; !slices.Equal(gates, want) {
		t.Errorf("gates: %v", gates)
	}
}

func TestExportIsTheSameEverywhere(t *testing.T) {
	p := eventful(t)
	all := func(r *runner.Runner, opt bridge.Options) string {
		t.Helper()
		x, err := bridge.Read(p.ctx, r, opt)
		p.must(err)
		var b strings.Builder
		for _, strictly := range []bool{false, true} {
			groups, err := x.All(strictly)
			p.must(err)
			for _, g := range groups {
				for _, o := range g.Objects {
					b.Write(ojson.Compact(o.Value))
				}
			}
		}
		return b.String()
	}
	run := *p.mustState().RunID
	once := all(p.r, bridge.Options{})
	if all(p.r, bridge.Options{Run: run}) != once {
		t.Error("two exports of a run differ")
	}
	if all(p.r, bridge.Options{At: time.Unix(1e9, 0)}) == once {
		t.Error("the time of the export is nowhere")
	}
	// In a clone that has the run's ref and none of its working files.
	there := t.TempDir()
	for _, args := range [][]string{
		{"clone", "-q", p.repo.Dir, there},
		{"-C", there, "fetch", "-q", "origin", "refs/agentxchain/runs/*:refs/agentxchain/runs/*"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	r, err := runner.Open(p.ctx, there, runner.Options{})
	p.must(err)
	defer func() { _ = r.Close() }()
	if all(r, bridge.Options{Run: run}) != once {
		t.Error("the export of a clone differs")
	}
	// A checkpoint changes history; the plan stays what it was.
	x := p.export(bridge.Options{})
	before, err := x.Objects("receipt", false)
	p.must(err)
	if _, err := p.r.AssignTurn(p.ctx, runner.AssignOptions{Role: "pm", NewRun: true}); err != nil {
		t.Fatal(err)
	}
	after, err := p.export(bridge.Options{Run: run}).Objects("receipt", false)
	p.must(err)
	if !ojson.Equal(before[0].Value, after[0].Value) {
		t.Error("a run that is over changes when another begins")
	}
	sound(t, p.export(bridge.Options{}))
}

func (p *project) mustState() *run.State {
	p.t.Helper()
	v, err := p.r.View(p.ctx)
	p.must(err)
	return v.State
}

func TestExportOfTheDemo(t *testing.T) {
	testrepo.Isolate()
	dir := t.TempDir()
	_, err := demo.Run(t.Context(), demo.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, ctx: t.Context()}
	p.r, err = runner.Open(p.ctx, dir, runner.Options{})
	p.must(err)
	defer func() { _ = p.r.Close() }()
	found := sound(t, p.export(bridge.Options{}))
	var gates []string
	for _, g := range found["gates"] {
		gates = append(gates, g.String("gate")+" "+g.String("status"))
	}
	want := []string{"planning_signoff awaiting_human_approval", "planning_signoff fail",
		"planning_signoff awaiting_human_approval", "planning_signoff pass",
		"implementation_complete pass", "qa_ship_verdict awaiting_human_approval", "qa_ship_verdict pass"}
	if !slices.Equal(gates, want) {
		t.Errorf("gates: %v", gates)
	}
	strictPlan := found["plan strict"][0]
	var kinds []string
	for _, s := range strictPlan.Objects("steps") {
		kinds = append(kinds, s.String("kind"))
	}
	if want := []string{"review", "review", "execution", "review"}; !slices.Equal(kinds, want) {
		t.Errorf("kinds of steps: %v", kinds)
	}
}

func TestAgentRole(t *testing.T) {
	for id, want := range map[string]portable.AgentRole{
		"pm":           "product_owner",
		"PO":           "product_owner",
		"eng_director": "project_manager",
		"dev":          "dev",
		"architect":    "dev",
		"tester":       "qa",
		"qa":           "qa",
		"code_review":  "reviewer",
		"sec_ops":      "security",
		"app-sec":      "security",
		"secretary":    "dev",
		"security-qa":  "security",
		"sre":          "ops",
		"scribe":       "publisher",
		"docs":         "publisher",
		"human":        portable.RoleUnspecified,
		"gardener":     "dev",
		"researcher":   "researcher",
	} {
		if got := bridge.AgentRole(id, wire.Authoritative); got != want {
			t.Errorf("%s is %s, not %s", id, got, want)
		}
	}
	if got := bridge.AgentRole("gardener", wire.ReviewOnly); got != portable.RoleReviewer {
		t.Errorf("who only reviews is %s", got)
	}
}
