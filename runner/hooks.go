// Lifecycle hooks of a command: when they run, what is kept of their answers, and
// what becomes of the operation (docs/hooks.md#what-becomes-of-it).

package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// Codes of operations that hooks stopped beside hook_blocked (the operation was
// refused and the run is as it was) and the tamper codes of package hooks.
const (
	CodeHookBlockedRun = "hook_blocked_run"       // a hook said no and the run is blocked on it
	CodeHookPostCommit = "hook_post_commit_error" // recorded, and then the hooks after it could not be run
)

// hookEnvKey names, in git's configuration, further environment variables that
// process hooks are handed; values are lists separated by white space or commas.
const hookEnvKey = "agentxchain.hookEnv"

// HooksRun is the outcome of RunHooks. OK means that the pipeline may go on.
type HooksRun struct {
	Outcome
	Result *HookOutcome
}

// RunHooks runs the hooks of a phase and records their answers. It is for callers
// that drive a phase themselves; AssignTurn, AcceptTurn, Approve and the others
// run theirs. Without hooks for the phase the outcome is OK and nothing is
// touched. A hook that says no is an answer and no Go error: OK is then false and
// the code hook_blocked, or that of a tampering hook (hook_state_tamper and so on).
// Errors: hooks_untrusted, hook_guard_failed, and the store's.
func (r *Runner) RunHooks(ctx context.Context, call HookCall) (*HooksRun, error) {
	out := &HooksRun{Result: &hooks.Outcome{OK: true}}
	_, err := r.do(ctx, "hooks", func(ctx context.Context, c *change) (protocol.Operation, error) {
		if err := c.willRun(ctx, call.Phase); err != nil {
			return nil, err
		}
		if !c.hooks.has(call.Phase) {
			return nil, nil
		}
		call.RunID = c.view.State.Run()
		got, err := c.hooks.call(ctx, call)
		if got != nil {
			out.Result = got
		}
		return nil, err
	})
	if out.Outcome = OutcomeOf(err); err == nil {
		out.Outcome = outcomeOf(out.Result)
	}
	return out, err
}

// outcomeOf is what a phase's answers mean for the operation that asked.
func outcomeOf(o *HookOutcome) Outcome {
	switch {
	case o.OK:
		return Outcome{OK: true}
	case o.Tamper != nil:
		return Outcome{Code: o.Tamper.Code, Error: o.Tamper.Message}
	case o.Blocker != nil:
		return Outcome{Code: wire.CodeHookBlocked, Error: fmt.Sprintf("Hook %q said no: %s", o.Blocker.HookName, o.Blocker.Message)}
	}
	return Outcome{Code: wire.CodeHookBlocked, Error: "A hook said no."}
}

// hooking is what one command does with lifecycle hooks. It is nil when none are
// configured; its methods may be called all the same.
type hooking struct {
	r      *Runner
	tx     *gitstore.Tx
	cfg    *config.Config
	run    *hooks.Runner // made at the first use
	digest string        // of the trusted scope; "" until trust was looked at
	rows   []protocol.AuditRow
	turn   string // turn the rows are about
	notice string // said to the person afterwards
}

func (r *Runner) hooking(tx *gitstore.Tx, cfg *config.Config) *hooking {
	if cfg.Hooks.Len() == 0 {
		return nil
	}
	return &hooking{r: r, tx: tx, cfg: cfg}
}

// has reports whether hooks are configured for one of the phases.
func (h *hooking) has(phases ...string) bool {
	if h == nil {
		return false
	}
	return slices.ContainsFunc(phases, func(p string) bool { return len(h.cfg.Hooks.Array(p)) > 0 })
}

// willRun refuses the operation, before anything of it has happened, when it would
// run hooks that are not trusted on this machine.
func (c *change) willRun(ctx context.Context, phases ...string) error {
	h := c.hooks
	if !h.has(phases...) || h.digest != "" {
		return nil
	}
	scope, err := trust.Of(h.r.store.Dir(), h.cfg)
	if err != nil {
		return err
	}
	how, err := h.r.trust().By(ctx, scope.Digest)
	if err != nil {
		return err
	}
	if how == "" {
		return trust.Untrusted(scope, phases)
	}
	h.digest = scope.Digest
	return nil
}

// call runs the hooks of a phase and keeps their rows for the record. The outcome
// is nil when the phase has none.
func (h *hooking) call(ctx context.Context, call hooks.Call) (*hooks.Outcome, error) {
	if !h.has(call.Phase) {
		return nil, nil
	}
	// What was trusted when the command began must still be what runs: a process
	// that works beside us may have changed a script meanwhile.
	scope, err := trust.Of(h.r.store.Dir(), h.cfg)
	if err != nil {
		return nil, err
	}
	if scope.Digest != h.digest {
		e := trust.Untrusted(scope, []string{call.Phase})
		e.Message = fmt.Sprintf("What the hooks are made of has changed since this command began; those of %s were not run and it goes no further.", call.Phase)
		return nil, e
	}
	if h.run == nil {
		if h.run, err = h.r.hookRunner(ctx, h.tx); err != nil {
			return nil, err
		}
	}
	faults.Point("hooks.run.before")
	out, err := h.run.Run(ctx, hooks.FromConfig(h.cfg, call.Phase), call)
	faults.Point("hooks.run.after")
	if out != nil {
		for _, row := range out.Rows() {
			h.rows = append(h.rows, protocol.AuditRow{Ledger: wire.LedgerHookAudit, Row: bounded(row)})
		}
		for _, row := range out.Annotations {
			h.rows = append(h.rows, protocol.AuditRow{Ledger: wire.LedgerHookAnnotations, Row: row})
		}
		if call.TurnID != "" {
			h.turn = call.TurnID
		}
	}
	if out != nil && out.Tamper != nil {
		// What was put back is a new file with the old contents.
		err = errors.Join(err, h.tx.Reread(context.WithoutCancel(ctx)))
	}
	if err == nil && ctx.Err() != nil {
		// Interrupted: what a killed hook did not say must not count as its no.
		err = context.Cause(ctx)
	}
	return out, err
}

// bounded cuts a row down to what an operation records: a message may be as large
// as a hook likes to make it.
func bounded(row *ojson.Object) *ojson.Object {
	if (protocol.AuditRow{Row: row}).Fits() {
		return row
	}
	row = row.Clone()
	const keep = 4096
	text := row.String("message")
	if text == "" {
		m, _ := row.Get("message")
		text = string(ojson.Compact(m))
	}
	if len(text) > keep {
		text = strings.ToValidUTF8(text[:keep], "") + " [cut]"
	}
	row.Set("message", text)
	if !(protocol.AuditRow{Row: row}).Fits() {
		row.Set("annotations", []any{})
	}
	return row
}

func (r *Runner) hookRunner(ctx context.Context, tx *gitstore.Tx) (*hooks.Runner, error) {
	values, err := r.store.Repository().Settings(ctx, hookEnvKey)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, v := range values {
		names = append(names, strings.FieldsFunc(v, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })...)
	}
	// Without its lock the command could not record what the hook has done.
	return &hooks.Runner{Root: r.store.Dir(), Now: r.opt.Now, ExtraEnvNames: names, Correlation: r.opt.Correlation, Kept: []string{wire.LockPath}, Restorable: tx.Records,
		// Also when the person has just interrupted: what a hook did is undone first.
		Restore: func(name string) ([]byte, error) { return tx.Recorded(context.WithoutCancel(ctx), name) }}, nil
}

// stop is an operation that a hook has stopped: the block that follows from it, if
// any, and the error of the command.
type stop struct {
	block *protocol.Block
	err   *wire.Error
}

// hook runs a phase and says whether the operation may go on; when it may not,
// c.stop holds what follows and the error is that of the command.
func (c *change) hook(ctx context.Context, call hooks.Call) error {
	h := c.hooks
	if !h.has(call.Phase) {
		return nil
	}
	call.RunID = c.view.State.Run()
	out, err := h.call(ctx, call)
	if err != nil || out == nil || out.OK {
		return err
	}
	c.stop = c.stopped(call, out)
	return c.stop.err
}

// hookAsks begins what to do about a hook that refuses to give a turn out.
const hookAsks = "do what the hook asks for, then: "

// stopped says what follows from an outcome that is not OK (docs/hooks.md#phases).
func (c *change) stopped(call hooks.Call, out *hooks.Outcome) *stop {
	phase, s := call.Phase, c.view.State
	name, verdict, detail, tamper := "unknown", "", "", ""
	switch {
	case out.Tamper != nil:
		name, detail, tamper = out.Tamper.HookName, out.Tamper.Message, out.Tamper.Code
	case out.Blocker != nil:
		name, verdict, detail = out.Blocker.HookName, out.Blocker.Verdict, out.Blocker.Message
	}
	detail = hookSaid(phase, name, detail)
	e := &wire.Error{Code: wire.CodeHookBlocked, Field: "hooks." + phase,
		Details: ojson.NewObject("hook_phase", phase, "hook_name", name, "verdict", ojson.OrNull(verdict), "hook_message", detail, "error_code", wire.CodeHookBlocked)}
	said := fmt.Sprintf("hook %q: %s", name, strings.TrimSuffix(text.Brief(detail, 500), "."))
	if tamper == "" && phase == "before_assignment" {
		e.Message = "The assignment is refused by " + said + "."
		e.Hint = hookAsks + run.CmdAssign
		return &stop{err: e}
	}
	category := "hook_block"
	e.Code = CodeHookBlockedRun
	if tamper != "" {
		category = "hook_tamper"
		e.Code = tamper
		e.Details.Set("error_code", tamper)
		e.Details.Set("file", out.Tamper.File)
	}
	typed := category
	on := "hook:" + phase + ":" + name
	if phase == "before_gate" && tamper == "" {
		typed = "pending_phase_transition"
		if s.PendingRunCompletion != nil && s.PendingPhaseTransition == nil {
			typed = "pending_run_completion"
		}
	}
	action := run.RecoveryAction(typed, on, call.TurnID)
	if tamper != "" && (s.PendingPhaseTransition != nil || s.PendingRunCompletion != nil) {
		// A run with a gate that waits goes on by its approval, not by unblock.
		action = run.RecoveryAction(typed, "hook:before_gate:"+name, call.TurnID)
	}
	e.Message = fmt.Sprintf("The run is blocked by %s.", said)
	e.Hint = action
	e.Details.Set("blocked_on", on)
	b := &protocol.Block{BlockedOn: on, Category: category, TypedReason: typed, Owner: run.OwnerHuman, Action: action, Detail: detail}
	if s.ActiveTurns.Has(call.TurnID) {
		b.TurnID = call.TurnID
	}
	return &stop{block: b, err: e}
}

// hookSaid is what a hook that stops a phase said, in words also where it gave none.
func hookSaid(phase, name, message string) string {
	if strings.TrimSpace(message) == "" {
		return fmt.Sprintf("Hook %q of %s said no and gave no reason", name, phase)
	}
	return message
}

// asItIs is what a hook of a phase is told has been overruled: by a person, of these very
// contents of a turn, or of the gate that waits when turn is "".
func (c *change) asItIs(turn, phase, content string) func(hook, message string) bool {
	s := c.view.State
	if len(s.Overruled) == 0 {
		return nil
	}
	return func(hook, message string) bool {
		o := protocol.HookOverruled(s, turn, phase, hook, hookSaid(phase, hook, message), content)
		if o != nil {
			c.asIs = append(c.asIs, protocol.Overruling{On: o.On, Said: protocol.OverruleKey(hookSaid(phase, hook, message))})
		}
		return o != nil
	}
}
