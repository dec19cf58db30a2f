// What is configured, and whether it is trusted here (docs/hooks.md#fields).

package trust

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeHooksUntrusted means that lifecycle hooks would run, or runtimes be used, to which this
// person has not agreed on this machine.
const CodeHooksUntrusted = "hooks_untrusted"

// Env is the environment variable that gives trust for one process tree: the digest of what is
// trusted, or 1 for anything configured.
const Env = "AGENTXCHAIN_TRUST"

// key is where trusted digests are kept, in the repository's own git configuration and nowhere
// else: that file is never cloned, pushed or shared. It may be copied or unpacked with a git
// directory: see entry.
const key = "agentxchain.trusted"

// Ways in which a scope is trusted.
const (
	Stored      = "stored"      // by "hooks trust", in this repository's git configuration
	Invocation  = "invocation"  // by --trust
	Environment = "environment" // by AGENTXCHAIN_TRUST
)

// Scope is everything that a committed file would make this machine run or contact, with one digest
// of all of it.
type Scope struct {
	Digest   string // SHA-256, 64 hex digits; "" when nothing is configured
	Hooks    []hooks.Hook
	Webhooks []*ojson.Object // as configured
	Actions  []Action
	Runtimes []*config.Runtime // that are not manual, as configured
	Files    []File            // project files that commands of hooks and runtimes name
}

// Action is a command that the approval of a gate runs.
type Action struct {
	Gate string
	config.GateAction
}

// File is a file whose contents are part of what is trusted.
type File struct {
	Path   string // project-relative
	SHA256 string
	Size   int64
}

// Empty reports whether nothing is configured that would need trust.
func (s *Scope) Empty() bool {
	return len(s.Hooks)+len(s.Webhooks)+len(s.Actions)+len(s.Runtimes) == 0
}

// State is a scope and whether this machine trusts it.
type State struct {
	Scope *Scope
	How   string // Stored, Invocation or Environment; "" when it is not trusted
}

// Trusted reports whether the scope may be used, an empty one included.
func (t *State) Trusted() bool { return t.How != "" || t.Scope.Empty() }

// Asker says who asks whether something is trusted, and where an answer is kept.
type Asker struct {
	Repo   *git.Repository         // keeps what is trusted; nil without a repository
	Getenv func(string) string     // of the process
	Trust  bool                    // the command gives trust (--trust)
	Inside func() turnmark.Verdict // the dispatched turn the process belongs to
}

// State returns what cfg would run and contact in dir, and whether that is trusted.
func (a Asker) State(ctx context.Context, dir string, cfg *config.Config) (*State, error) {
	scope, err := Of(dir, cfg)
	if err != nil {
		return nil, err
	}
	t := &State{Scope: scope}
	if !scope.Empty() {
		t.How, err = a.By(ctx, scope.Digest)
	}
	return t, err
}

// By returns how a digest is trusted, "" when it is not. Trust that a caller gives counts only
// outside of dispatched turns: an agent may not speak for the person it works for. Without a
// repository nothing is stored.
func (a Asker) By(ctx context.Context, digest string) (string, error) {
	if a.Repo != nil {
		have, err := a.Repo.LocalSettings(ctx, key)
		if err != nil {
			return "", err
		}
		if slices.Contains(have, a.entry(digest)) {
			return Stored, nil
		}
	}
	env := a.Getenv(Env)
	if !a.Trust && env == "" || a.Inside().Turn != "" {
		return "", nil
	}
	switch {
	case a.Trust:
		return Invocation, nil
	case env == "1" || strings.EqualFold(env, digest):
		return Environment, nil
	}
	return "", nil
}

// Keep remembers a digest that a person has agreed to.
func (a Asker) Keep(ctx context.Context, digest string) error {
	have, err := a.Repo.LocalSettings(ctx, key)
	if err != nil || slices.Contains(have, a.entry(digest)) {
		return err
	}
	return a.Repo.AddLocalSetting(ctx, key, a.entry(digest))
}

// entry returns a digest as it is kept, with what it is bound to. Another project of the repository may mean something
// else by the same command, such as make.
func (a Asker) entry(digest string) string {
	bound := private.Bound(a.Repo, "trusted", a.Repo.Prefix+digest)
	return digest + "@" + hex.EncodeToString(bound[:16])
}

// Drop withdraws every trust given in the repository.
func (a Asker) Drop(ctx context.Context) error { return a.Repo.DropLocalSetting(ctx, key) }

// PersonOnly refuses what an agent inside a dispatched turn may not decide; command is what
// a person runs instead.
func PersonOnly(in turnmark.Verdict, what, command string) error {
	if in.Turn == "" {
		return nil
	}
	return &wire.Error{Code: wire.CodeInsideTurn, Field: "actor",
		Message: evidence.InsideTurnText(in.Turn, in.Why) + "; an agent cannot " + what + ".",
		Hint:    "ask a person to run " + command + " in their own terminal"}
}

// Of gathers what a configuration runs and contacts in dir.
func Of(dir string, cfg *config.Config) (*Scope, error) {
	s := &Scope{Webhooks: cfg.Notifications.Objects("webhooks")}
	for _, phase := range config.HookPhases() {
		s.Hooks = append(s.Hooks, hooks.FromConfig(cfg, phase)...)
	}
	for id, g := range cfg.Gates.All() {
		if g == nil {
			continue
		}
		for _, a := range g.Actions {
			s.Actions = append(s.Actions, Action{Gate: id, GateAction: a})
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
	doc := ojson.NewObject("trust", 1, "hooks", cfg.Hooks, "webhooks", s.Webhooks, "gate_actions", actions,
		"files", files)
	if len(s.Runtimes) > 0 { // else the digest is what it was before runtimes could be trusted
		list := ojson.NewObject()
		for _, rt := range s.Runtimes {
			list.Set(rt.ID, rt.Raw)
		}
		doc.Set("runtimes", list)
	}
	s.Digest = wire.SHA256(ojson.Compact(canonical(doc)))
	return s, nil
}

// canonical sorts the members of every object by name, so that the same configuration in another
// order is trusted already.
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
			out.Set(k, canonical(v.Value(k)))
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

// Untrusted returns the refusal to run hooks of the given phases.
func Untrusted(s *Scope, phases []string) *wire.Error {
	var names []string
	for _, h := range s.Hooks {
		if slices.Contains(phases, h.Phase) {
			names = append(names, h.Phase+" "+h.Name)
		}
	}
	return &wire.Error{
		Code:    CodeHooksUntrusted,
		Field:   "hooks",
		Details: ojson.NewObject("hooks", names, "digest", s.Digest),
		Message: fmt.Sprintf(
			"agentxchain.json names hooks that are not trusted on this machine (%s); nothing was run or changed.", wire.ListSome(names, 3)),
		Hint: "git agentxchain hooks trust",
	}
}
