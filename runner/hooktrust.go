// Trust in hooks that another document than agentxchain.json names, such as the coordinator's (docs/coordinator.md#hooks).

package runner

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OtherHooks are the hooks of a document beside agentxchain.json.
type OtherHooks struct {
	Dir   string          // where their commands start
	Hooks *ojson.Object   // phase -> list of hooks, as in agentxchain.json
	Store *gitstore.Store // keeps what is trusted; nil where there is no repository
	Opt   Options         // Getenv and Trust count
}

func (h OtherHooks) runner() *Runner {
	r := New(h.Store, h.Opt)
	return r
}

// State says what the hooks would run and whether that is trusted.
func (h OtherHooks) State(ctx context.Context) (*Trust, error) {
	scope, err := scopeOf(h.Dir, &config.Config{Hooks: h.Hooks})
	if err != nil {
		return nil, err
	}
	t := &Trust{Scope: scope}
	if !scope.Empty() {
		t.How, err = h.runner().trustedBy(ctx, scope.Digest)
	}
	return t, err
}

// Trust agrees to exactly what was shown, as Runner.Trust. command is what a
// person runs instead of an agent. Errors: inside_dispatched_turn, state_moved,
// and not_a_git_repository where nothing can be kept.
func (h OtherHooks) Trust(ctx context.Context, digest, command string) error {
	if err := h.runner().personOnly("trust hooks", command); err != nil {
		return err
	}
	t, err := h.State(ctx)
	switch {
	case err != nil:
		return err
	case t.Scope.Digest != digest:
		return &wire.Error{Code: gitstore.CodeStateMoved, Field: "hooks", Message: "What would be run has changed since it was shown.", Hint: command}
	case h.Store == nil:
		return &wire.Error{Code: git.CodeNotRepository, Field: "hooks", Message: "Trust is kept in the git configuration of a repository, and this directory is in none.",
			Hint: "give it to each command: --trust, or " + TrustEnv + "=" + digest}
	}
	have, err := h.Store.Repository().LocalSettings(ctx, trustKey)
	if err != nil || slices.Contains(have, digest) {
		return err
	}
	return h.Store.Repository().AddLocalSetting(ctx, trustKey, digest)
}

// Untrusted is the refusal to run hooks of the given phases.
func (h OtherHooks) Untrusted(t *Trust, file, command string, phases []string) *wire.Error {
	e := untrusted(t.Scope, phases)
	var names []string
	for _, k := range t.Scope.Hooks {
		if slices.Contains(phases, k.Phase) {
			names = append(names, k.Phase+" "+k.Name)
		}
	}
	e.Message = file + " names hooks that this machine has not been told to trust (" + wire.ListSome(names, 3) + "); nothing was run and nothing was changed."
	e.Hint = command
	return e
}
