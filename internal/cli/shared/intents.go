// Intents, as status and intake print them.

package shared

import (
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/intake"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

// IntentObject returns an intent for --json.
func IntentObject(x *intake.Intent) *ojson.Object {
	d := x.Document
	return ojson.NewObject("intent_id", d.String("intent_id"), "status", d.String("status"),
		"priority", d.String("priority"), "waits", x.Waits, "active_turn", ojson.OrNull(x.Turn),
		"recorded", x.Recorded, "charter", ojson.OrNull(d.String("charter")),
		"acceptance_contract", wire.NonNil(d.Strings("acceptance_contract")),
		"phase_scope", ojson.OrNull(d.String("phase_scope")), "target_run", ojson.OrNull(d.String("target_run")),
		"target_turn", ojson.OrNull(d.String("target_turn")), "created_at", ojson.OrNull(d.String("created_at")))
}

// PrintIntents prints which intent a turn works on and which wait.
func PrintIntents(p *term.Printer, st *status.Standing) {
	for _, x := range st.Intents {
		d := x.Document
		what := "waits (" + d.String("priority") + ")"
		if x.Turn != "" {
			what = "turn " + x.Turn
		} else if !x.Recorded {
			what += ", not on record yet"
		}
		p.Field("Intent", "%s, %s: %s", term.OneLine(d.String("intent_id")), term.OneLine(what),
			term.OneLine(run.Clip(d.String("charter"), 80)))
	}
}
