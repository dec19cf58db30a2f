// Whether what agentxchain.json would run may run on this machine.

package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// trust reports hooks, webhooks and runtimes that are not trusted here. Commands that run hooks or
// dispatch turns stop until a person trusts them; webhooks are merely not sent. Only gate actions
// are asked about when a gate is approved.
func (d *doctor) trust(ctx context.Context) {
	state, err := d.r.TrustState(ctx)
	if err != nil {
		d.failed("hooks", err, "git agentxchain hooks show")
		return
	}
	scope := state.Scope
	if len(scope.Hooks)+len(scope.Webhooks)+len(scope.Runtimes) == 0 {
		return
	}
	hooks, webhooks := text.Count(len(scope.Hooks), "hook", "hooks"), text.Count(len(scope.Webhooks), "webhook", "webhooks")
	runtimes := text.Count(len(scope.Runtimes), "runtime", "runtimes")
	what := slices.DeleteFunc([]string{hooks, webhooks, runtimes}, func(s string) bool { return s[0] == '0' })
	switch how := state.How; {
	case how == trust.Stored:
		d.ok("hooks", "trusted on this machine: %s", strings.Join(what, ", "))
	case how != "":
		d.ok("hooks", "trusted for this command (%s): %s", how, strings.Join(what, ", "))
	case len(scope.Hooks) > 0:
		d.add("hooks", LevelError, "git agentxchain hooks trust",
			"not trusted on this machine: %s of %s; commands that would run one stop", hooks, wire.ConfigPath)
	case len(scope.Webhooks) == 0:
		d.add("runtimes", LevelWarning, "git agentxchain hooks trust",
			"not trusted on this machine: %s of %s; step and run stop before they would use one", runtimes, wire.ConfigPath)
	default:
		d.add("hooks", LevelWarning, "git agentxchain hooks trust",
			"not trusted on this machine: %s of %s; nothing is sent there", webhooks, wire.ConfigPath)
	}
}
