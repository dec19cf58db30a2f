// Signing an in-toto statement with the person's own key.

package consent

import (
	"context"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/signing"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// SignStatement signs an in-toto statement as git is configured, in dir, to sign commits, and
// returns the DSSE envelope. It is refused to an agent within a turn (inside_dispatched_turn). It
// fails with signing_not_configured or signing_failed.
func SignStatement(ctx context.Context, dir string, getenv func(string) string, payload []byte) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	in := turnmark.Look(getenv, root)
	_ = root.Close()
	if refusal := protocol.CheckApprover(evidence.Actor{InsideTurn: in.Turn, InsideWhy: in.Why}); refusal != nil {
		return nil, &wire.Error{
			Code:    refusal.Code,
			Field:   refusal.Field,
			Message: "An agent at work on " + in.Turn + " cannot sign for a person.",
			Hint:    "ask a person to run the command in their own terminal",
		}
	}
	return SignPayload(ctx, dir, payload)
}

// Settings returns git's settings for signing commits in dir.
func Settings(ctx context.Context, dir string) signing.Settings {
	out := signing.From(git.Variables(ctx, dir, signing.Pattern))
	out.Dir = dir
	return out
}

// SignPayload is SignStatement for an operation that has already refused agents.
func SignPayload(ctx context.Context, dir string, payload []byte) ([]byte, error) {
	env, err := signing.Sign(ctx, Settings(ctx, dir), payload)
	if err != nil {
		return nil, err
	}
	return env.EncodeDSSE(), nil
}
