// People in the record: who asks, what they said, and what an agent may not ask for.

package change

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Person returns who asks for the operation, as a row names them.
func (t *Draft) Person() *ojson.Object {
	return ojson.NewObject("name", t.Env.Actor.Name, "email", t.Env.Actor.Email)
}

// Talk writes what a person said, and why, into TALK.md.
func (t *Draft) Talk(does, about, reason string) {
	if reason == "" || t.Earlier.ReasonsUnkept {
		return
	}
	who := t.Env.Actor.Name
	if t.Env.Actor.Email != "" {
		who += " <" + t.Env.Actor.Email + ">"
	}
	t.AppendBytes(wire.LedgerTalk,
		fmt.Appendf(nil, "\n## A person %s (%s)\n\n- **By:** %s\n- **About:** %s\n- **Reason:** %s\n\n---\n",
			does, t.State.Phase, wire.OneLine(strings.TrimSpace(who)), wire.OneLine(about), wire.OneLine(reason)))
}

// OutsideTurn refuses to lift a block or override a check at the request of a dispatched turn's own process: that
// is for a person to decide.
func (t *Draft) OutsideTurn(what, command string) *wire.Error {
	if t.Env.Actor.InsideTurn == "" {
		return nil
	}
	return &wire.Error{Code: wire.CodeInsideTurn, Field: "actor",
		Message: t.Env.Actor.Place() + "; an agent cannot " + what + ".",
		Hint:    "ask a person to run " + command + " in their own terminal"}
}
