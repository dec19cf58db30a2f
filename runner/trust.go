// Trust: a committed file names programs and addresses; a person agrees to them
// on their own machine before any of them is used (docs/hooks.md#fields).

package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeHooksUntrusted means that lifecycle hooks would run, or runtimes be used,
// which this person has not agreed to on this machine.
const CodeHooksUntrusted = "hooks_untrusted"

// TrustEnv is the environment variable that gives trust for one process tree: the
// digest of what is trusted, or 1 for whatever is configured.
const TrustEnv = "AGENTXCHAIN_TRUST"

// trustKey is where trusted digests are kept, in the repository's own git
// configuration and nowhere else: that file is never cloned, pushed or shared.
const trustKey = "agentxchain.trusted"

// Ways in which a scope is trusted.
const (
	TrustStored      = "stored"      // by "hooks trust", in this repository's git configuration
	TrustInvocation  = "invocation"  // by --trust
	TrustEnvironment = "environment" // by AGENTXCHAIN_TRUST
)

// TrustScope is everything a committed file would make this machine run or
// contact, with the one digest that stands for all of it.
type TrustScope struct {
	Digest   string // SHA-256, 64 hex digits; "" when nothing is configured
	Hooks    []hooks.Hook
	Webhooks []*ojson.Object // as configured
	Actions  []TrustedAction
	Runtimes []*config.Runtime // that are no person's hands, as configured
	Files    []TrustedFile     // project files that commands of hooks and runtimes name
}

// TrustedAction is a command that the approval of a gate runs.
type TrustedAction struct {
	Gate string
	config.GateAction
}

// TrustedFile is a file whose contents are part of what is trusted.
type TrustedFile struct {
	Path   string // project-relative
	SHA256 string
	Size   int64
}

// Empty reports whether nothing is configured that would need trust.
func (s *TrustScope) Empty() bool {
	return len(s.Hooks)+len(s.Webhooks)+len(s.Actions)+len(s.Runtimes) == 0
}

// Trust is a scope and whether this machine trusts it.
type Trust struct {
	Scope *TrustScope
	How   string // one of the Trust constants; "" when it is not trusted
}

// Trusted reports whether the scope may be used, an empty one included.
func (t *Trust) Trusted() bool { return t.How != "" || t.Scope.Empty() }

// TrustState says what agentxchain.json would run and contact, and whether that is
// trusted. It needs no run. Errors: those of reading the configuration.
func (r *Runner) TrustState(ctx context.Context) (*Trust, error) {
	docs := r.CheckDocuments()
	if docs.ConfigErr != nil {
		return nil, docs.ConfigErr
	}
	scope, err := r.trustScope(docs.Config)
	if err != nil {
		return nil, err
	}
	t := &Trust{Scope: scope}
	if !scope.Empty() {
		t.How, err = r.trustedBy(ctx, scope.Digest)
	}
	return t, err
}

// Trust agrees to exactly what was shown: digest is that of the scope a person
// looked at, and anything else by now is refused (state_moved). It is refused
// inside a dispatched turn (inside_dispatched_turn).
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
	scope, err := r.trustScope(docs.Config)
	if err != nil {
		return err
	}
	if scope.Digest != digest {
		return &wire.Error{Code: gitstore.CodeStateMoved, Field: wire.ConfigPath,
			Message: "What would be run has changed since it was shown.", Hint: "git agentxchain hooks trust"}
	}
	have, err := r.store.Repository().LocalSettings(ctx, trustKey)
	if err != nil || slices.Contains(have, digest) {
		return err
	}
	return r.store.Repository().AddLocalSetting(ctx, trustKey, digest)
}

// Revoke takes back every trust given in this repository.
func (r *Runner) Revoke(ctx context.Context) error {
	if err := r.personOnly("change what is trusted", "git agentxchain hooks trust --revoke"); err != nil {
		return err
	}
	return r.store.Repository().DropLocalSetting(ctx, trustKey)
}

// personOnly refuses what an agent inside a dispatched turn may not decide.
func (r *Runner) personOnly(what, command string) error {
	in := r.Asker()
	if in.Turn == "" {
		return nil
	}
	return &wire.Error{Code: wire.CodeInsideTurn, Field: "actor",
		Message: evidence.InsideTurnText(in.Turn, in.Why) + "; an agent cannot " + what + ".",
		Hint:    "ask a person to run " + command + " in their own terminal"}
}

// trusted reports whether what cfg would run or contact may be used here and now.
// What cannot be looked at is not trusted.
func (r *Runner) trusted(ctx context.Context, cfg *config.Config) bool {
	scope, err := r.trustScope(cfg)
	if err != nil || scope.Empty() {
		return err == nil
	}
	how, err := r.trustedBy(ctx, scope.Digest)
	return err == nil && how != ""
}

// trustedBy says how a digest is trusted, "" when it is not. What a caller brings
// along counts only outside of dispatched turns: an agent may not speak for the
// person it works for. Without a repository nothing is stored.
func (r *Runner) trustedBy(ctx context.Context, digest string) (string, error) {
	if r.store != nil {
		have, err := r.store.Repository().LocalSettings(ctx, trustKey)
		if err != nil {
			return "", err
		}
		if slices.Contains(have, digest) {
			return TrustStored, nil
		}
	}
	env := r.opt.Getenv(TrustEnv)
	if !r.opt.Trust && env == "" || r.InsideTurn() != "" {
		return "", nil
	}
	switch {
	case r.opt.Trust:
		return TrustInvocation, nil
	case env == "1" || strings.EqualFold(env, digest):
		return TrustEnvironment, nil
	}
	return "", nil
}

// trustScope gathers what a configuration runs and contacts.
func (r *Runner) trustScope(cfg *config.Config) (*TrustScope, error) {
	return scopeOf(r.store.Dir(), cfg)
}

func scopeOf(dir string, cfg *config.Config) (*TrustScope, error) {
	s := &TrustScope{Webhooks: cfg.Notifications.Objects("webhooks")}
	for _, phase := range config.HookPhases() {
		s.Hooks = append(s.Hooks, hooks.FromConfig(cfg, phase)...)
	}
	for id, g := range cfg.Gates.All() {
		if g == nil {
			continue
		}
		for _, a := range g.Actions {
			s.Actions = append(s.Actions, TrustedAction{Gate: id, GateAction: a})
		}
	}
	for _, rt := range cfg.Runtimes.All() {
		if rt != nil && rt.Type != config.RuntimeManual {
			s.Runtimes = append(s.Runtimes, rt)
		}
	}
	if s.Empty() {
		return s, nil
	}
	if err := s.namedFiles(dir); err != nil {
		return nil, err
	}
	actions, files := []any{}, []any{}
	for _, a := range s.Actions {
		actions = append(actions, ojson.NewObject("gate", a.Gate, "run", a.Run, "timeout_ms", a.TimeoutMS))
	}
	for _, f := range s.Files {
		files = append(files, ojson.NewObject("path", f.Path, "sha256", f.SHA256))
	}
	doc := ojson.NewObject("trust", 1, "hooks", cfg.Hooks, "webhooks", s.Webhooks, "gate_actions", actions, "files", files)
	if len(s.Runtimes) > 0 { // else the digest is what it was before runtimes could be trusted
		list := ojson.NewObject()
		for _, rt := range s.Runtimes {
			list.Set(rt.ID, rt.Raw)
		}
		doc.Set("runtimes", list)
	}
	sum := sha256.Sum256(ojson.Compact(canonical(doc)))
	s.Digest = hex.EncodeToString(sum[:])
	return s, nil
}

// canonical orders the members of every object by name, so that writing the same
// configuration in another order asks nobody anything.
func canonical(v ojson.Value) ojson.Value {
	switch v := v.(type) {
	case *ojson.Object:
		if v == nil {
			return nil
		}
		keys := slices.Clone(v.Keys())
		slices.Sort(keys)
		out := &ojson.Object{}
		for _, k := range keys {
			m, _ := v.Get(k)
			out.Set(k, canonical(m))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = canonical(v[i])
		}
		return out
	}
	return v
}

// RuntimeTrusted refuses a runtime that this machine has not been told to trust
// (hooks_untrusted): it would start a program or send a prompt and a key to where a
// committed file says. A manual runtime needs no trust.
func (r *Runner) RuntimeTrusted(ctx context.Context, cfg *config.Config, ids ...string) error {
	scope, err := r.trustScope(cfg)
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
	how, err := r.trustedBy(ctx, scope.Digest)
	if err != nil || how != "" {
		return err
	}
	return &wire.Error{Code: CodeHooksUntrusted, Field: "runtimes", Details: ojson.NewObject("runtimes", ids, "digest", scope.Digest),
		Message: fmt.Sprintf("agentxchain.json names runtimes that this machine has not been told to trust (%s); nothing was started and nothing was sent.", wire.ListSome(names, 3)),
		Hint:    "git agentxchain hooks trust"}
}

func untrusted(s *TrustScope, phases []string) *wire.Error {
	var names []string
	for _, h := range s.Hooks {
		if slices.Contains(phases, h.Phase) {
			names = append(names, h.Phase+" "+h.Name)
		}
	}
	return &wire.Error{Code: CodeHooksUntrusted, Field: "hooks", Details: ojson.NewObject("hooks", names, "digest", s.Digest),
		Message: fmt.Sprintf("agentxchain.json names hooks that this machine has not been told to trust (%s); nothing was run and nothing was changed.", wire.ListSome(names, 3)),
		Hint:    "git agentxchain hooks trust"}
}
