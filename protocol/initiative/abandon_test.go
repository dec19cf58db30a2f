// Tests of ending an initiative early.

package initiative

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestAbandon(t *testing.T) {
	w, a, _ := sent(t)
	w = gated(w)
	if _, e := Abandon(w, " ", env("s")); e == nil || e.Code != wire.CodeReasonRequired {
		t.Errorf("without a reason: %v", e)
	}
	c, e := Abandon(w, "not\nlike this", env("s"))
	if e != nil {
		t.Fatal(e)
	}
	w = w.With(c)
	if s := w.State; !s.Over() || s.PendingGate != nil || s.BlockedReason != "abandoned: not like this" {
		t.Errorf("%+v", s)
	}
	if next := NextActions(w, a.read()); len(next) != 1 || next[0].Command != "multi init" {
		t.Errorf("what is next: %v", next)
	}
	report := Report("x", "now")
	for name, e := range map[string]*wire.Error{
		"again":  second(Abandon(w, "again", env("s"))),
		"resume": third(Resume(w, a.read(), &report, env("s"))),
	} {
		if e == nil || e.Code != wire.CodeInvalidStateTransition {
			t.Errorf("%s: %v", name, e)
		}
	}

	// Another implementation resumes it, and keeps the member it does not know.
	w.State = w.State.Clone()
	w.State.Status, w.State.BlockedReason = StatusActive, ""
	if w.State.Over() {
		t.Error("an active initiative has ended")
	}
	if w = w.With(Block(w, "a hook", env("s"))); w.State.Over() {
		t.Error("a block is taken for the end that was")
	}
}

func second[A, E any](_ A, e E) E        { return e }
func third[A, B, E any](_ A, _ B, e E) E { return e }
