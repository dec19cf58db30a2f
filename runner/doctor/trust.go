// Whether what agentxchain.json would run may run on this machine.

package doctor

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// trust reports hooks, webhooks and runtimes that nobody has agreed to here.
// Commands that run hooks or dispatch turns stop until somebody has; webhooks are
// merely not sent. Gate actions
// alone are asked about when a gate is approved.
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
	what := fmt.Sprintf("%d hooks and %d webhooks", len(scope.Hooks), len(scope.Webhooks))
	switch n := len(scope.Runtimes); {
	case n > 0 && len(scope.Hooks)+len(scope.Webhooks) == 0:
		what = fmt.Sprintf("%d runtimes", n)
	case n > 0:
		what = fmt.Sprintf("%d hooks, %d webhooks and %d runtimes", len(scope.Hooks), len(scope.Webhooks), n)
	}
	switch how := state.How; {
	case how == trust.Stored:
		d.ok("hooks", "%s are trusted on this machine", what)
	case how != "":
		d.ok("hooks", "%s are trusted for this command (%s)", what, how)
	case len(scope.Hooks) > 0:
		d.add("hooks", LevelError, "git agentxchain hooks trust",
			"%d hooks of %s are not trusted on this machine; commands that would run them stop", len(scope.Hooks),
			wire.ConfigPath)
	case len(scope.Webhooks) == 0:
		d.add("runtimes", LevelWarning, "git agentxchain hooks trust",
			"%d runtimes of %s are not trusted on this machine; step and run stop before they would use one",
			len(scope.Runtimes), wire.ConfigPath)
	default:
		d.add("hooks", LevelWarning, "git agentxchain hooks trust",
			"%d webhooks of %s are not trusted on this machine; nothing is sent to them", len(scope.Webhooks),
			wire.ConfigPath)
	}
}
