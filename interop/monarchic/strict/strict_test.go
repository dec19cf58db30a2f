// Values made by a program, and hostile documents of the closed family.

package strict_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

func lease() *strict.Lease {
	return &strict.Lease{
		LeaseID:      "l",
		RunID:        "r",
		PlanID:       "p",
		StepID:       "s",
		TaskID:       "t",
		RunnerID:     "rn",
		SessionID:    "ss",
		FencingToken: strict.FencingToken{Token: "f"},
		IssuedAtMs:   1,
		ExpiresAtMs:  2,
		Status:       strict.LeaseActive,
	}
}

func TestValidateHoldsMadeValuesToTheRules(t *testing.T) {
	t.Parallel()
	if err := strict.Validate(lease()); err != nil {
		t.Error(err)
	}
	l := lease()
	l.Status = "lost"
	var problems wire.Problems
	if err := strict.Validate(l); !errors.As(err, &problems) || problems[0].Pointer != "/status" {
		t.Errorf("status lost: %v", err)
	}
	if err := strict.Validate(&strict.VerificationReceipt{
		ContractVersion: "v1",
		Status:          strict.VerificationBlocked,
	}); err == nil {
		t.Error("a blocked receipt without outcome is valid")
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"plan_id":"plan-7","intent_id":"int-7","plan_version":"v1","planner_version":"x-1","created_at":1,"steps":[],"replan_policy":{"strategy":"retry","max_attempts":1},"input_digest":"d"}`,
		`{"token":"t","issued_at_ms":1,"issuer":"o","scope":"s","extensions":{"b":1,"a":{"z":[],"y":1e5}}}`,
		`{"version":"v1","task_id":"t","role":"r","goal":"g","required_mcps":[{"id":"a"}],"extensions":{"required_mcps":[{"id":"a"}]}}`,
		`{"version":"v1","message_id":"m","run_id":"r","from_task_id":"a","to_task_id":"b","kind":"clarification_response","reply_to":"x","created_at":"t"}`,
		`"executing"`, `null`, `{"a":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable[strict.Plan](t, data)
		stable[strict.FencingToken](t, data)
		stable[strict.Task](t, data)
		stable[strict.TaskMessage](t, data)
		stable[strict.VerificationReceipt](t, data)
		stable[strict.RecoveryEvent](t, data)
		stable[strict.RunLifecycleState](t, data)
	})
}

// stable: canonical bytes are read back and written the same.
func stable[T any](t *testing.T, data []byte) {
	v, err := decode[T](data)
	if err != nil {
		return
	}
	once := wire.Canonical(v)
	again, err := decode[T](once)
	if err != nil {
		t.Fatalf("%v\nread    %s\nwritten %s", err, data, once)
	}
	if twice := wire.Canonical(again); !bytes.Equal(twice, once) {
		t.Fatalf("not stable\nonce  %s\ntwice %s", once, twice)
	}
}

// decode reads text as T.
func decode[T any](text []byte) (*T, error) {
	v, err := wire.Parse(text)
	if err != nil {
		return nil, err
	}
	return wire.From[T](v)
}
