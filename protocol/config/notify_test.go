package config

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestNotificationWarnings(t *testing.T) {
	for doc, want := range map[string]int{
		`{}`: 0,
		`{"approval_sla":{"reminder_after_seconds":[300]}}`:                                                                                         1,
		`{"approval_sla":{"reminder_after_seconds":[300]},"webhooks":[{"name":"a","events":["run_blocked"]}]}`:                                      1,
		`{"approval_sla":{"reminder_after_seconds":[300]},"webhooks":[{"name":"a","events":["run_blocked"]},{"events":["approval_sla_reminder"]}]}`: 0,
		`{"approval_sla":{"enabled":false,"reminder_after_seconds":[300]}}`:                                                                         0,
	} {
		notifications, err := ojson.DecodeObject([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		if got := NotificationWarnings(&Config{Notifications: notifications}); len(got) != want {
			t.Errorf("%s: %v", doc, got)
		}
	}
	if got := NotificationWarnings(&Config{}); got != nil {
		t.Error(got)
	}
}
