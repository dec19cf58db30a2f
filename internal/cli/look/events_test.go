package look

import (
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestIsToday(t *testing.T) {
	now := time.Date(2026, 3, 2, 0, 30, 0, 0, time.Local)
	for at, want := range map[time.Duration]bool{0: true, -29 * time.Minute: true, -31 * time.Minute: false, 24 * time.Hour: false} {
		stamp := now.Add(at).UTC().Format(time.RFC3339)
		if got := isToday(ojson.NewObject("timestamp", stamp), now); got != want {
			t.Errorf("%s: today is %t, want %t", stamp, got, want)
		}
	}
	if isToday(ojson.NewObject("timestamp", "when it rained"), now) {
		t.Error("a time that is none is of today")
	}
}
