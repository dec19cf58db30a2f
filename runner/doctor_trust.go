// Doctor: whether what agentxchain.json would run may run on this machine.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// trust reports hooks and webhooks that nobody has agreed to here. Commands that
// run hooks stop until somebody has; webhooks are merely not sent. Gate actions
// alone are asked about when a gate is approved.
func (d *doctor) trust(ctx context.Context, c *protocol.Config) {
	scope, err := d.r.trustScope(c)
	if err != nil {
		d.failed("hooks", err, "git agentxchain hooks show")
		return
	}
	if len(scope.Hooks)+len(scope.Webhooks) == 0 {
		return
	}
	how, err := d.r.trustedBy(ctx, scope.Digest)
	switch {
	case err != nil:
		d.failed("hooks", err, "git agentxchain hooks show")
	case how == TrustStored:
		d.ok("hooks", "%d hooks and %d webhooks are trusted on this machine", len(scope.Hooks), len(scope.Webhooks))
	case how != "":
		d.ok("hooks", "%d hooks and %d webhooks are trusted for this command (%s)", len(scope.Hooks), len(scope.Webhooks), how)
	case len(scope.Hooks) > 0:
		d.add("hooks", LevelError, "git agentxchain hooks trust", "%d hooks of %s are not trusted on this machine; commands that would run them stop", len(scope.Hooks), protocol.ConfigPath)
	default:
		d.add("hooks", LevelWarning, "git agentxchain hooks trust", "%d webhooks of %s are not trusted on this machine; nothing is sent to them", len(scope.Webhooks), protocol.ConfigPath)
	}
}
