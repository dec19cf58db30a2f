// A request that waits for a person while the rules have changed.

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// cmdDeny takes a request back that cannot be granted.
const cmdDeny = run.CmdApprove + " --deny --reason TEXT"

// Overtaken returns why the request that waits cannot be granted, whatever the files contain: since the turn asked, other
// phases or another gate of the phase were adopted, and with the gate the people who decide. It is "" for a request that
// fits, and where none waits.
func Overtaken(s *run.State, cfg *config.Config) string {
	w := s.Waiting()
	if w == nil || cfg.Routing.Len() == 0 {
		return ""
	}
	next, route := cfg.NextPhase(s.Phase), cfg.Route(s.Phase)
	switch phase := run.Clip(s.Phase, 60); {
	case w.Type == run.GateCompletion && next != "":
		return fmt.Sprintf("it asks to complete the run, and after phase %q comes %q now", phase, run.Clip(next, 60))
	case w.Type == run.GatePhase && next == "":
		return fmt.Sprintf("it asks for phase %q, and phase %q is the last one now", run.Clip(w.To, 60), phase)
	case w.Type == run.GatePhase && next != w.To:
		return fmt.Sprintf("it asks for phase %q, and after %q comes %q now", run.Clip(w.To, 60), phase,
			run.Clip(next, 60))
	case route != nil && route.ExitGate != "" && route.ExitGate != w.Gate:
		return fmt.Sprintf("phase %q ends at gate %q now", phase, run.Clip(route.ExitGate, 60))
	}
	return ""
}
