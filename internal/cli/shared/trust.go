// Trust: what a person is shown about hooks and runtimes before they may run.

package shared

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// Truster is a project or a workspace, whose files name what a command would run or contact.
type Truster interface {
	TrustState(ctx context.Context) (*trust.State, error)
	Trust(ctx context.Context, digest string) error
}

// Trusting runs a command that may need hooks. A person who can be asked is shown what would run,
// once, instead of being sent to another command.
func Trusting(ctx context.Context, f *term.Factory, r *runner.Runner, command func() error) error {
	return trusting(ctx, f, r, wire.ConfigPath, "git agentxchain hooks trust", command)
}

// TrustingWorkspace is Trusting for the hooks of a workspace.
func TrustingWorkspace(ctx context.Context, f *term.Factory, co *coordinator.Coordinator, command func() error) error {
	return trusting(ctx, f, co, initiative.ConfigFile, coordinator.TrustCommand, command)
}

// trusting asks about what a file names if the command was refused because of it: the hint says so.
func trusting(ctx context.Context, f *term.Factory, by Truster, file, hint string, command func() error) error {
	err := command()
	var refusal *wire.Error
	if !errors.As(err, &refusal) || refusal.Code != trust.CodeHooksUntrusted || refusal.Hint != hint || !f.Interactive() {
		return err
	}
	t, terr := by.TrustState(ctx)
	if terr != nil || t.Scope.Empty() {
		return err
	}
	f.Out.Notice("%s makes this command run programs or contact addresses that are not trusted here:", file)
	if e := agree(ctx, f, by, t, "Trust all of this on this machine, and continue?", "--trust", err); e != nil {
		return e
	}
	return command()
}

// Agree makes all of t trusted, after a person has seen it and agreed, or at once with yes. show is the command that
// shows it again.
func Agree(ctx context.Context, f *term.Factory, by Truster, t *trust.State, yes bool, show string) error {
	if t.Scope.Empty() || t.How == trust.Stored {
		return nil
	}
	var err error
	if yes {
		err = by.Trust(ctx, t.Scope.Digest)
	} else {
		err = agree(ctx, f, by, t, "Let all of this run on this machine?", "--yes",
			term.Errorf(trust.CodeHooksUntrusted, "nothing was trusted").WithHint(show))
	}
	if err == nil {
		t.How = trust.Stored
	}
	return err
}

// agree trusts what a person has seen and agreed to; refused is the error if they have not.
func agree(
	ctx context.Context, f *term.Factory, by Truster, t *trust.State, question, flag string, refused error,
) error {
	for _, line := range TrustLines(t.Scope) {
		f.Out.Notice("%s", line)
	}
	agreed, err := f.Prompt.Confirm(ctx, question, flag, false)
	switch {
	case err != nil:
		return err
	case !agreed:
		return refused
	}
	return by.Trust(ctx, t.Scope.Digest)
}

// TrustObject returns a scope and its standing for --json. Of headers and variables it has only the
// names; their values may be confidential.
func TrustObject(t *trust.State) *ojson.Object {
	s := t.Scope
	list, hooksOf, actions, rts, files := []*ojson.Object{}, []*ojson.Object{}, []*ojson.Object{}, []*ojson.Object{},
		[]*ojson.Object{}
	for _, h := range s.Hooks {
		o := ojson.NewObject("phase", h.Phase, "name", h.Name, "type", h.Type, "mode", hookMode(h),
			"timeout_ms", h.TimeoutMS)
		if h.Type == "http" {
			o.Set("url", h.URL)
			o.Set("header_names", wire.NonNil(h.Headers.Keys()))
		} else {
			o.Set("command", wire.NonNil(h.Command))
		}
		o.Set("env_names", wire.NonNil(hookVariables(h)))
		hooksOf = append(hooksOf, o)
	}
	for _, w := range s.Webhooks {
		list = append(list, ojson.NewObject("name", w.String("name"), "url", w.String("url"),
			"events", wire.NonNil(w.Strings("events")), "header_names", wire.NonNil(w.Object("headers").Keys())))
	}
	for _, a := range s.Actions {
		actions = append(actions, ojson.NewObject("gate_id", a.Gate, "run", a.Run, "timeout_ms", a.TimeoutMS))
	}
	for _, rt := range s.Runtimes {
		rts = append(rts, ojson.NewObject("id", rt.ID, "type", rt.Type,
			"command", wire.NonNil(runtimes.Command(rt.Raw)), "url", ojson.OrNull(runtimeAddress(rt)),
			"auth_env", ojson.OrNull(rt.Raw.String("auth_env")),
			"header_names", wire.NonNil(rt.Raw.Object("headers").Keys())))
	}
	for _, f := range s.Files {
		files = append(files, ojson.NewObject("path", f.Path, "sha256", f.SHA256, "size", f.Size))
	}
	return ojson.NewObject("trusted", t.Trusted(), "trusted_by", ojson.OrNull(t.How), "digest", ojson.OrNull(s.Digest),
		"hooks", hooksOf, "webhooks", list, "gate_actions", actions, "runtimes", rts, "files", files)
}

// TrustLines shows a scope to a person. Every word comes from a foreign file, so none may move the
// cursor or pose as another.
func TrustLines(s *trust.Scope) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, h := range s.Hooks {
		add("%s hook %s (%s, %d ms)", h.Phase, shownWord(h.Name), hookMode(h), h.TimeoutMS)
		if h.Type == "http" {
			add("  sends to  %s", shownWord(h.URL))
			if names := h.Headers.Keys(); len(names) > 0 {
				add("  headers   %s", shownWords(names))
			}
		} else {
			add("  runs      %s", shownWords(h.Command))
		}
		if names := hookVariables(h); len(names) > 0 {
			add("  variables %s", shownWords(names))
		}
	}
	for _, w := range s.Webhooks {
		add("webhook %s", shownWord(w.String("name")))
		add("  sends to  %s", shownWord(w.String("url")))
		add("  events    %s", shownWords(w.Strings("events")))
		if names := w.Object("headers").Keys(); len(names) > 0 {
			add("  headers   %s", shownWords(names))
		}
	}
	for _, a := range s.Actions {
		add("gate %s, on approval", shownWord(a.Gate))
		add("  runs      %s", strconv.Quote(a.Run))
	}
	for _, rt := range s.Runtimes {
		add("runtime %s (%s)", shownWord(rt.ID), shownWord(rt.Type))
		if argv := runtimes.Command(rt.Raw); len(argv) > 0 {
			add("  runs      %s", shownWords(argv))
		}
		if cwd := rt.Raw.String("cwd"); cwd != "" {
			add("  in        %s", shownWord(cwd))
		}
		if to := runtimeAddress(rt); to != "" {
			add("  sends to  %s", shownWord(to))
		}
		if name := rt.Raw.String("auth_env"); name != "" {
			add("  key from  %s", shownWord(name))
		}
		if names := rt.Raw.Object("headers").Keys(); len(names) > 0 {
			add("  headers   %s", shownWords(names))
		}
	}
	for _, f := range s.Files {
		add("file %s (%d bytes, sha256 %.16s)", shownWord(f.Path), f.Size, f.SHA256)
	}
	return out
}

// runtimeAddress returns where a runtime sends prompts, "" when it starts a program.
func runtimeAddress(rt *config.Runtime) string {
	for _, key := range []string{"url", "base_url"} {
		if u := rt.Raw.String(key); u != "" {
			return u
		}
	}
	if rt.Type == "api_proxy" {
		return "the API of " + rt.Raw.String("provider")
	}
	return ""
}

func hookMode(h runner.Hook) string {
	if h.Blocking {
		return "blocking"
	}
	return "advisory"
}

// hookVariables returns what a hook receives besides the documented variables.
func hookVariables(h runner.Hook) []string {
	return append(append([]string{}, h.Env.Keys()...), h.EnvNames...)
}

func shownWords(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = shownWord(w)
	}
	return strings.Join(shown, " ")
}

// shownWord returns a plain word unchanged, and any other in quotes with everything invisible
// spelled out.
func shownWord(w string) string {
	for i := range len(w) {
		if c := w[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"'\\`$;&|<>(){}*?[]!#~", c) >= 0 {
			return strconv.QuoteToASCII(w)
		}
	}
	if w == "" {
		return `""`
	}
	return w
}
