// Tests of a repository's hints as a person reads them in the workspace.

package coordinator

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestHintsOfARepositoryNameWhatWorksInTheWorkspace(t *testing.T) {
	for _, tc := range []struct{ hint, step, other string }{
		{
			"git agentxchain accept turn_1",
			"git agentxchain -C ../my-api accept turn_1",
			"git agentxchain -C ../my-api accept turn_1",
		},
		{
			"raise budget.per_run_max_usd in agentxchain.json, then: git agentxchain assign",
			"raise budget.per_run_max_usd in agentxchain.json, then: git agentxchain multi step",
			"raise budget.per_run_max_usd in agentxchain.json, then: git agentxchain -C ../my-api assign",
		},
		{
			"commit them (or git agentxchain checkpoint for an accepted turn), then: git agentxchain assign",
			"commit them (or git agentxchain -C ../my-api checkpoint for an accepted turn), then: git agentxchain multi step",
			"commit them (or git agentxchain -C ../my-api checkpoint for an accepted turn), then: git agentxchain -C ../my-api assign",
		},
		{
			"do it, then: git agentxchain assign pm",
			"do it, then: git agentxchain multi step",
			"do it, then: git agentxchain -C ../my-api assign pm",
		},
		{
			"git agentxchain repair --from-ref run_1 brings it here; git agentxchain assign --new-run starts another",
			"git agentxchain -C ../my-api repair --from-ref run_1 brings it here; git agentxchain -C ../my-api assign --new-run starts another",
			"git agentxchain -C ../my-api repair --from-ref run_1 brings it here; git agentxchain -C ../my-api assign --new-run starts another",
		},
		{
			"git merge --continue, or --abort; then try again",
			"git -C ../my-api merge --continue, or --abort; then try again",
			"git -C ../my-api merge --continue, or --abort; then try again",
		},
	} {
		e := &wire.Error{Code: "x", Message: "No.", Hint: tc.hint}
		hint := func(err error) string { return err.(*wire.Error).Hint }
		if have := hint(inRepo("api", "../my-api", stepAgain(e, false))); have != tc.step {
			t.Errorf("a step: %q, want %q", have, tc.step)
		}
		if have := hint(inRepo("api", "../my-api", e)); have != tc.other {
			t.Errorf("another command: %q, want %q", have, tc.other)
		}
		var store *fail.Error
		if !errors.As(inRepo("api", "../my-api", fail.Errorf("x", nil, "no").WithHint("%s", tc.hint)), &store) || store.Hint != tc.other {
			t.Errorf("a refusal of the store: %q, want %q", store.Hint, tc.other)
		}
		if e.Hint != tc.hint {
			t.Errorf("the repository's own error has changed: %q", e.Hint)
		}
	}
	again := stepAgain(&wire.Error{Hint: "commit them, then: git agentxchain assign --new-run"}, true)
	if have := refusalOf(again).Hint; have != "commit them, then: git agentxchain multi step" {
		t.Errorf("a step that starts a run: %q", have)
	}
	if have := inRepo("api", "/x y",
		&wire.Error{Hint: "git agentxchain accept"}).(*wire.Error).Hint; have != "git agentxchain -C '/x y' accept" {
		t.Errorf("a place with a space: %q", have)
	}
}

// Of the people whom the beginning of an initiative names, the file may no longer name enough.
func TestTooFewAreLeft(t *testing.T) {
	for _, c := range []struct {
		missing []string
		want    string
	}{
		{[]string{"bob@example.org"}, "too few people are left"},
		{[]string{"bob@example.org", "cy@example.org"}, "waits for bob@example.org, cy@example.org"},
	} {
		next := []initiative.Action{{Code: initiative.NextGate, Command: "multi approve-gate"}}
		(&GateStanding{Need: 2, Missing: c.missing}).explain(next, "eve@example.org")
		if !strings.Contains(next[0].Reason, c.want) {
			t.Errorf("%v: %s", c.missing, next[0].Reason)
		}
	}
}
