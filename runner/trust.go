// Trust: a committed file names programs and addresses; a person agrees to them on their own
// machine before any of them is used (docs/hooks.md#fields).

package runner

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// TrustState says what agentxchain.json would run and contact, and whether that is
// trusted. It needs no run. Errors: those of reading the configuration.
func (r *Runner) TrustState(ctx context.Context) (*trust.State, error) {
	docs := r.CheckDocuments()
	if docs.ConfigErr != nil {
		return nil, docs.ConfigErr
	}
	return r.trust().State(ctx, r.store.Dir(), docs.Config)
}

// Trust agrees to exactly what was shown: digest is that of the scope that a person looked at; if
// the scope differs by now, the call is refused (state_moved). It is refused inside a dispatched
// turn (inside_dispatched_turn).
func (r *Runner) Trust(ctx context.Context, digest string) error {
	if err := r.personOnly("trust hooks", "git agentxchain hooks trust"); err != nil {
		return err
	}
	docs := r.CheckDocuments()
	if docs.ConfigErr != nil {
		return docs.ConfigErr
	}
	if len(docs.ConfigProblems) > 0 {
		return config.Refusal(docs.ConfigProblems)
	}
	scope, err := trust.Of(r.store.Dir(), docs.Config)
	if err != nil {
		return err
	}
	if scope.Digest != digest {
		return &wire.Error{Code: gitstore.CodeStateMoved, Field: wire.ConfigPath,
			Message: "What would be run has changed since it was shown.", Hint: "git agentxchain hooks trust"}
	}
	return r.trust().Keep(ctx, digest)
}

// Revoke withdraws every trust given in this repository.
func (r *Runner) Revoke(ctx context.Context) error {
	if err := r.personOnly("change what is trusted", "git agentxchain hooks trust --revoke"); err != nil {
		return err
	}
	return r.trust().Drop(ctx)
}

// personOnly refuses what an agent inside a dispatched turn may not decide.
func (r *Runner) personOnly(what, command string) error {
	return trust.PersonOnly(r.Asker(), what, command)
}

// trusted reports whether what cfg would run or contact may be used here and now. What cannot be
// examined is not trusted.
func (r *Runner) trusted(ctx context.Context, cfg *config.Config) bool {
	t, err := r.trust().State(ctx, r.store.Dir(), cfg)
	return err == nil && t.Trusted()
}

// trust returns the asker for this runner.
func (r *Runner) trust() trust.Asker {
	return trust.Asker{Repo: r.store.Repository(), Getenv: r.opt.Getenv, Trust: r.opt.Trust, Inside: r.Asker}
}

// RuntimeTrusted refuses a runtime that this machine has not been told to trust (hooks_untrusted):
// it would start a program, or send a prompt and a key, as a committed file says. A manual runtime
// needs no trust.
func (r *Runner) RuntimeTrusted(ctx context.Context, cfg *config.Config, ids ...string) error {
	scope, err := trust.Of(r.store.Dir(), cfg)
	if err != nil {
		return err
	}
	var names []string
	for _, id := range ids {
		if rt, ok := cfg.Runtimes.Get(id); ok && rt != nil && rt.Type != config.RuntimeManual {
			names = append(names, id+" ("+rt.Type+")")
		}
	}
	if len(names) == 0 {
		return nil
	}
	how, err := r.trust().By(ctx, scope.Digest)
	if err != nil || how != "" {
		return err
	}
	return &wire.Error{
		Code:    trust.CodeHooksUntrusted,
		Field:   "runtimes",
		Details: ojson.NewObject("runtimes", ids, "digest", scope.Digest),
		Message: fmt.Sprintf(
			"agentxchain.json names runtimes that are not trusted on this machine (%s); nothing was started or sent.", wire.ListSome(names, 3)),
		Hint: "git agentxchain hooks trust",
	}
}
