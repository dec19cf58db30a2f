// The upgrade of legacy plans and receipts (docs/monarchic.md#upgrading).

package monarchic_test

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
)

func TestUpgradePlan(t *testing.T) {
	t.Parallel()
	o := first(t, "plan")
	o.Set("future", "ignored")
	plan, err := monarchic.UpgradePlan(o)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"plan_id":"plan-1","intent_id":"run-1","plan_version":"v1","planner_version":"planner","created_at":1760000000000,"steps":[{"step_id":"s1","task_id":"s1","kind":"custom","description":"Build","dependencies":[],"inputs":{"role":"dev"},"expected_outputs":[],"policy_tags":["legacy-compat"]}],"replan_policy":{"strategy":"repair","max_attempts":1},"input_digest":"legacy-plan:plan-1"}`
	if got := compact(plan); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o.Delete("run_id")
	if plan, err = monarchic.UpgradePlan(o); err != nil || plan.IntentID != "legacy-intent-plan-1" {
		t.Errorf("without run_id: %v %v", plan, err)
	}
	for text, mutate := range map[string]func(*ojson.Object){
		"legacy task_template must be an object": func(o *ojson.Object) {
			o.Objects("steps")[0].Set("task_template", "text")
		},
		"/steps/0/depends_on":                 func(o *ojson.Object) { o.Objects("steps")[0].Delete("depends_on") },
		"/steps/0/task_template: is required": func(o *ojson.Object) { o.Objects("steps")[0].Delete("task_template") },
		"/provenance/generated_by":            func(o *ojson.Object) { o.Object("provenance").Delete("generated_by") },
		"/steps: is required":                 drop("steps"),
		"/created_at_ms":                      set("created_at_ms", ojson.Number("-1")),
	} {
		o := first(t, "plan")
		mutate(o)
		if _, err := monarchic.UpgradePlan(o); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	if _, err := monarchic.UpgradePlan("plan"); err == nil {
		t.Error("a string is upgraded")
	}
}

func TestUpgradeReceipt(t *testing.T) {
	t.Parallel()
	receipt, err := monarchic.UpgradeReceipt(first(t, "execution_receipt"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"receipt_id":"legacy-receipt:plan-1:run-1","plan_id":"plan-1","step_id":"legacy-step","task_id":"sha256:t","runner_id":"legacy-runner","contract_version":"v1","status":"completed","started_at":1760000002000,"finished_at":1760000002000,"artifact_descriptors":[{"artifact_id":"legacy-artifact-0","kind":"custom","digest":"sha256:a","media_type":"application/octet-stream","logical_name":"legacy-artifact-0","producer":"legacy-runtime","contract_version":"v1"}],"event_digest":"sha256:p","output_digest":"sha256:o"}`
	if got := compact(receipt); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o := first(t, "execution_receipt")
	o.Set("task_hashes", []any{})
	if receipt, err = monarchic.UpgradeReceipt(o); err != nil || receipt.TaskID != "legacy-task" {
		t.Errorf("without task hashes: %v %v", receipt, err)
	}
	o.Set("task_hashes", []string{"a", "b"})
	if _, err := monarchic.UpgradeReceipt(o); err == nil ||
		!strings.Contains(err.Error(),
			"legacy execution receipt contains multiple task hashes and cannot be losslessly upgraded") {
		t.Errorf("two task hashes: %v", err)
	}
	for status, want := range map[string]strict.ExecutionStatus{
		"complete":    "completed",
		"failed":      "failed",
		"cancelled":   "cancelled",
		"blocked":     "blocked",
		"running":     "running",
		"mystery":     "",
		"draft":       "",
		"planned":     "",
		"executing":   "",
		"bounded":     "",
		"unspecified": "",
		"unknown":     "",
		"":            "",
	} {
		o := first(t, "execution_receipt")
		o.Set("status", status)
		receipt, err := monarchic.UpgradeReceipt(o)
		switch {
		case want == "" &&
			(err == nil || !strings.Contains(err.Error(), "unknown legacy execution status '"+status+"'")):
			t.Errorf("status %q: %v", status, err)
		case want != "" && (err != nil || receipt.Status != want):
			t.Errorf("status %q: %v %v", status, receipt, err)
		}
	}
}
