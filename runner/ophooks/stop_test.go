package ophooks

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// A hook that failed instead of answering is reported with its standard error.
func TestStoppedTellsWhyAHookFailed(t *testing.T) {
	out := &hooks.Outcome{
		Blocker: &hooks.Blocker{HookName: "check", Verdict: "block", Message: `Hook "check" failed (exit code 3)`},
		Entries: []hooks.Entry{
			{HookName: "first", Action: hooks.ActionContinued, Stderr: "nothing to see"},
			{HookName: "check", Action: hooks.ActionBlockedFailure, Stderr: "npm:\nnot found."},
		},
	}
	stop := Stopped(&run.State{}, hooks.Call{Phase: "before_assignment"}, out)
	if want := `hook "check": Hook "check" failed (exit code 3): npm: not found.`; !strings.HasSuffix(stop.Err.Message, want) {
		t.Errorf("%s, want %s at the end", stop.Err.Message, want)
	}
	if said, _ := stop.Err.Details.Get("hook_message"); said != `Hook "check" failed (exit code 3)` {
		t.Errorf("what is recorded changed: %v", said)
	}
}
