package agreement

import (
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
)

// A statement from a machine with a fast clock is not reported as a statement about something else.
func TestStatementOfAFastClock(t *testing.T) {
	now := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
	m := &Moment{Now: now}
	st := &attest.Statement{IssuedAt: now.Add(MaxSkew + time.Second), ExpiresAt: now.Add(time.Hour)}
	refusal := m.answers(&Consent{}, &Decision{}, st)
	if refusal == nil || refusal.Code != CodeStatementMismatch || strings.Contains(refusal.Message, "something else") ||
		!strings.Contains(refusal.Hint, "clock") {
		t.Errorf("%+v", refusal)
	}
}
