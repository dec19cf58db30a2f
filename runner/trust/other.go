// Trust in hooks that a document other than agentxchain.json names, such as the coordinator's
// (docs/coordinator.md#hooks).

package trust

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OtherHooks holds the hooks of a document other than agentxchain.json.
type OtherHooks struct {
	Dir     string        // where their commands start
	Hooks   *ojson.Object // phase -> list of hooks, as in agentxchain.json
	By      Asker         // who asks, and where the answer is kept
	File    string        // the document that names them
	Command string        // with which a person trusts them
}

// State returns what the hooks would run and whether that is trusted.
func (h OtherHooks) State(ctx context.Context) (*State, error) {
	return h.By.State(ctx, h.Dir, &config.Config{Hooks: h.Hooks})
}

// Trust agrees to exactly what was shown, like runner.Runner.Trust. Errors: inside_dispatched_turn,
// state_moved, and not_a_git_repository where nothing can be kept.
func (h OtherHooks) Trust(ctx context.Context, digest string) error {
	if err := PersonOnly(h.By.Inside(), "trust hooks", h.Command); err != nil {
		return err
	}
	t, err := h.State(ctx)
	switch {
	case err != nil:
		return err
	case t.Scope.Digest != digest:
		return &wire.Error{
			Code:    gitstore.CodeStateMoved,
			Field:   "hooks",
			Message: "What would be run has changed since it was shown.",
			Hint:    h.Command,
		}
	case h.By.Repo == nil:
		return &wire.Error{
			Code:    fail.CodeNotRepository,
			Field:   "hooks",
			Message: "Trust is kept in the git configuration of a repository, and this directory is in none.",
			Hint:    "give it to each command: --trust, or " + Env + "=" + digest,
		}
	}
	return h.By.Keep(ctx, digest)
}

// Untrusted returns the refusal to run hooks of the given phases.
func (h OtherHooks) Untrusted(t *State, phases []string) *wire.Error {
	e := Untrusted(t.Scope, phases)
	e.Message = h.File + " names hooks that are not trusted on this machine (" +
		wire.ListSome(e.Details.Strings("hooks"), 3) + "); nothing was run and nothing was changed."
	e.Hint = h.Command
	return e
}
