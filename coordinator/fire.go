// The coordinator's hooks: when they run, what they are shown, and what is guarded meanwhile
// (docs/coordinator.md#hooks).

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// Phases of coordinator hooks.
const (
	HookBeforeAssignment = "before_assignment"
	HookAfterAcceptance  = "after_acceptance"
	HookBeforeGate       = "before_gate"
	HookOnEscalation     = "on_escalation"
)

// TrustCommand is the command with which a person trusts the hooks of a workspace.
const TrustCommand = Program + " multi hooks --trust"

// TrustState returns what the hooks of the workspace would run, and whether that is trusted. Errors: those of reading
// the configuration.
func (c *Coordinator) TrustState(ctx context.Context) (*trust.State, error) {
	cfg, e := newReader(c.store.root).config(c.store.dir)
	if e != nil {
		return nil, e
	}
	return c.hooksOf(ctx, cfg).State(ctx)
}

// Trust agrees to exactly the hooks of the workspace that were shown, as trust.OtherHooks.Trust does.
func (c *Coordinator) Trust(ctx context.Context, digest string) error {
	cfg, e := newReader(c.store.root).config(c.store.dir)
	if e != nil {
		return e
	}
	return c.hooksOf(ctx, cfg).Trust(ctx, digest)
}

func (c *Coordinator) hooksOf(ctx context.Context, cfg *initiative.Config) trust.OtherHooks {
	by := trust.Asker{Getenv: c.opt.Getenv, Trust: c.opt.Trust}
	var dirs []string
	if home := c.repository(ctx); home != nil {
		by.Repo = home.Repository()
		dirs = append(dirs, home.Dir())
	}
	by.Inside = func() (in turnmark.Verdict) {
		in.Turn, in.Why = runner.InsideTurnOf(c.opt.Getenv, dirs...)
		return in
	}
	return trust.OtherHooks{
		Dir:     c.store.dir,
		Hooks:   cfg.Hooks,
		By:      by,
		File:    initiative.ConfigFile,
		Command: TrustCommand,
	}
}

// willRun refuses a command, before any of it has happened, if it would run hooks that are not trusted on this
// machine.
func (c *Coordinator) willRun(ctx context.Context, cfg *initiative.Config, phases ...string) error {
	if !slices.ContainsFunc(phases, func(p string) bool { return len(cfg.Hooks.Array(p)) > 0 }) {
		return nil
	}
	h := c.hooksOf(ctx, cfg)
	t, err := h.State(ctx)
	if err == nil && !t.Trusted() {
		return h.Untrusted(t, phases)
	}
	return err
}

// fire runs the hooks of a phase and records their answers. Without hooks the outcome is OK. The error is not
// caused by the hooks: they are not trusted, another process is changing a repository, or the guard has failed.
func (c *Coordinator) fire(ctx context.Context, tx *Tx, s *Seen, phase string,
	payload *ojson.Object) (*hooks.Outcome, error) {
	list := hooks.FromObject(s.Config.Hooks, phase)
	if len(list) == 0 {
		return &hooks.Outcome{OK: true}, nil
	}
	if err := c.willRun(ctx, s.Config, phase); err != nil {
		return nil, err
	}
	unlock, err := c.hold(ctx, s)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r := &hooks.Runner{Root: c.store.dir, Now: c.opt.Now, Kept: []string{lockPath}, Beside: c.siblings(s)}
	full := ojson.NewObject("phase", phase)
	for k, v := range payload.All() {
		full.Set(k, v)
	}
	c.common(s, full)
	out, err := r.Run(ctx, list, hooks.Call{
		Phase:     phase,
		RunID:     s.State.SuperRunID,
		Payload:   full,
		Protected: c.guarded(),
	})
	if out != nil {
		ch := &initiative.Change{HookAudit: out.Rows(), HookNotes: out.Annotations}
		if cerr := c.commit(context.WithoutCancel(ctx), tx, "hooks", "Hooks of "+phase+" have answered",
			ch); cerr != nil {
			err = errors.Join(err, cerr)
		}
		s.Documents = tx.Docs
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out, err
}

// hold takes the locks of the repositories: then only the hook can change something there while it runs.
func (c *Coordinator) hold(ctx context.Context, s *Seen) (func(), error) {
	var held []*lockfile.Lock
	unlock := func() {
		for _, l := range held {
			_ = l.Release()
		}
	}
	for _, repo := range s.Config.Repos.Keys() {
		dir, ok := s.Roots.Path(repo)
		if !ok || s.Children.State(repo) == nil {
			continue
		}
		err := makeDirIn(dir, path.Dir(wire.LockPath))
		if err == nil {
			var l *lockfile.Lock
			if l, err = lockfile.Acquire(ctx, filepath.Join(dir, filepath.FromSlash(wire.LockPath)),
				"coordinator hooks", c.opt.LockWait); err == nil {
				held = append(held, l)
			}
		}
		if err != nil {
			unlock()
			return nil, inRepo(repo, dir, err)
		}
	}
	return unlock, nil
}

// makeDirIn creates a directory below dir without following a link out of it.
func makeDirIn(dir, name string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return root.MkdirAll(name, 0o777)
}

// siblings returns the repositories as the guard names them, relative to the workspace if possible.
func (c *Coordinator) siblings(s *Seen) []hooks.Sibling {
	var out []hooks.Sibling
	for _, repo := range s.Config.Repos.Keys() {
		if dir, ok := s.Roots.Path(repo); ok && s.Children.State(repo) != nil {
			name, err := filepath.Rel(s.Roots.Workspace, dir)
			if err != nil {
				name = dir
			}
			out = append(out, hooks.Sibling{Name: filepath.ToSlash(name), Root: dir})
		}
	}
	return out
}

// guarded returns the coordinator's own files that no hook may change: those of the protocol first, in its order,
// then the decisions, reports and contexts (docs/coordinator.md).
func (c *Coordinator) guarded() []string {
	out := []string{initiative.StatePath, initiative.HistoryPath, initiative.BarriersPath,
		initiative.BarrierLedgerPath, initiative.DecisionsPath, initiative.ReportPath, initiative.HookAuditPath,
		initiative.HookNotesPath, initiative.ConfigFile}
	for _, dir := range []string{initiative.ContextDir, initiative.HandoffDir, initiative.ReportArchive} {
		out = append(out, filesBelow(c.store.root, dir)...)
	}
	return out
}

// common adds the members that every payload has (docs/coordinator.md#hooks).
func (c *Coordinator) common(s *Seen, o *ojson.Object) {
	pending := []*ojson.Object{}
	all := ojson.NewObject()
	for _, b := range s.Barriers.All() {
		all.Set(b.ID, ojson.NewObject("status", b.Status, "type", b.Type))
		if b.Status != initiative.Satisfied {
			pending = append(pending, ojson.NewObject("barrier_id", b.ID, "workstream_id", b.Workstream,
				"type", b.Type, "status", b.Status, "required_repos", append([]string{}, b.Required...),
				"satisfied_repos", append([]string{}, b.Satisfied...)))
		}
	}
	o.Set("super_run_id", s.State.SuperRunID)
	o.Set("pending_barriers", pending)
	o.Set("pending_gate", gateObject(s.State.PendingGate))
	o.Set("coordinator_workspace", c.store.dir)
	o.Set("barriers", all)
}

// stopped returns the error for an outcome that is not OK, nil if it is. Code hook_blocked, or that of the
// tampering; Details {hook_phase, hook_name, verdict}.
func stopped(phase string, out *hooks.Outcome) *wire.Error {
	switch {
	case out.OK:
		return nil
	case out.Tamper != nil:
		return &wire.Error{
			Code:    out.Tamper.Code,
			Field:   "hooks." + phase,
			Message: out.Tamper.Message + " Its changes were reverted.",
			Details: ojson.NewObject("hook_phase", phase, "hook_name", out.Tamper.HookName),
			Hint:    "correct the hook, then run the command again",
		}
	case out.Blocker != nil:
		b := out.Blocker
		return &wire.Error{
			Code:    wire.CodeHookBlocked,
			Field:   "hooks." + phase,
			Message: fmt.Sprintf("Hook %s of %s refused: %s", ojson.Shown(b.HookName), phase, b.Message),
			Details: ojson.NewObject("hook_phase", phase, "hook_name", b.HookName, "verdict", b.Verdict),
			Hint:    "settle what the hook asks for, then run the command again",
		}
	}
	return &wire.Error{
		Code:    wire.CodeHookBlocked,
		Field:   "hooks." + phase,
		Message: "A hook of " + phase + " refused.",
		Details: ojson.NewObject("hook_phase", phase),
	}
}

// stepAgain makes the refusal of an assignment by the initiative name the step command: an assignment by hand would
// be a turn that the initiative does not know, and a run started by hand would be in its way. newRun says that the
// step was to start one.
func stepAgain(err error, newRun bool) error {
	var e *wire.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	assignWords := regexp.MustCompile(Program + ` assign( --new-run)?( [^ ,;]+$)?`)
	out.Hint = assignWords.ReplaceAllStringFunc(e.Hint, func(s string) string {
		if strings.Contains(s, "--new-run") && !newRun {
			return s
		}
		return Program + " multi step"
	})
	return &out
}

// inRepo adds to an error the repository in which it arose and where to fix it.
func inRepo(repo, dir string, err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		out := *e
		out.Message = fmt.Sprintf("Repository %s (%s): %s", repo, dir, e.Message)
		out.Field = "repos." + repo
		out.Hint = hintIn(dir, e.Hint)
		return &out
	}
	if g, ok := errors.AsType[*fail.Error](err); ok {
		out := *g
		out.Message = fmt.Sprintf("repository %s (%s): %s", repo, dir, g.Message)
		out.Hint = hintIn(dir, g.Hint)
		return &out
	}
	return fmt.Errorf("repository %s (%s): %w", repo, dir, err)
}

// hintIn adapts a repository's hint so that it can be followed in the workspace.
func hintIn(dir, hint string) string {
	commandWords := regexp.MustCompile(`\bgit (` + // git commands that a repository tells a person to run
		`agentxchain [a-z-]+|am|bisect|cherry-pick|config|fetch|log|ls-remote|merge|pull|rebase|remote|restore|revert|status|` +
		`switch|update-ref)\b`)
	return commandWords.ReplaceAllStringFunc(hint, func(s string) string {
		program := "git"
		switch {
		case strings.HasSuffix(s, " multi"):
			return s // for the workspace
		case strings.HasPrefix(s, Program):
			program = Program
		}
		return program + " -C " + wire.ShellWord(dir) + strings.TrimPrefix(s, program)
	})
}
