// Running the hooks of a phase one after another (docs/hooks.md#what-becomes-of-it).

package hooks

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxTimeout is the longest time for a hook, and the default.
const maxTimeout = 30 * time.Second

// attempt is the transport's result for one hook.
type attempt struct {
	exit     *int
	timedOut bool
	stdout   []byte
	stderr   string
	elapsed  time.Duration
}

// Run runs hooks in order, each guarded, and says whether the pipeline may go on. The first hook that changes a
// protected file or blocks ends the phase; after a block the others are entered as skipped. Without hooks nothing
// is touched.
//
// The error is for what the hooks did not cause: the guard could not read or restore a protected file (a
// *wire.Error with CodeGuardFailed), or ctx ended, in which case the interrupted hook has no entry. The outcome
// then has the entries so far and is not OK; it is never nil.
func (r *Runner) Run(ctx context.Context, hooks []Hook, call Call) (*Outcome, error) {
	out := &Outcome{OK: true}
	if len(hooks) == 0 {
		return out, nil
	}
	g, err := r.guard(call)
	if err != nil {
		out.OK = false
		return out, err
	}
	defer g.close()
	for i, h := range hooks {
		if err := r.one(ctx, g, h, call, out); err != nil {
			out.OK = false
			return out, err
		}
		if out.Tamper != nil {
			break
		}
		if out.Blocked {
			for _, later := range hooks[i+1:] {
				out.Entries = append(out.Entries, r.skipped(later, call, h.Name))
			}
			break
		}
	}
	return out, nil
}

// one runs one hook and judges it: tampering takes precedence over a timeout, then failure, invalid output, and the
// verdict.
func (r *Runner) one(ctx context.Context, g *guard, h Hook, call Call, out *Outcome) error {
	env := r.environment(h, call)
	a, secrets := r.try(ctx, h, call, env)
	changed, err := g.check()
	if err != nil {
		return guardError(err)
	}
	if changed != "" {
		if err := g.restore(); err != nil {
			return guardError(fmt.Errorf("hook %s changed %s, and not everything could be restored: %w", show(h.Name),
				changed, err))
		}
	} else if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := r.entry(h, call)
	e.Transport = h.Type
	e.DurationMS = int(a.elapsed.Milliseconds())
	e.ExitCode = a.exit
	e.TimedOut = a.timedOut
	e.Stderr = cut(secrets.redact(a.stderr), maxStderr)
	if changed != "" {
		text := fmt.Sprintf("Hook tampered with protected file %s (SHA-256 digest mismatch).", changed)
		e.Action, e.Message = ActionAbortedTamper, text+" Protected content restored."
		out.OK = false
		out.Tamper = &Tamper{HookName: h.Name, File: changed, Code: tamperCode(changed), Message: text}
		out.Entries = append(out.Entries, e)
		return nil
	}
	judge(&e, h, a, secrets)
	if e.Verdict == VerdictBlock && call.Overruled != nil && call.Overruled(h.Name, messageText(e.Message)) {
		e.Verdict, e.Action = VerdictWarn, ActionDowngraded
		e.Annotations = append(e.Annotations,
			ojson.NewObject("key", "overruled", "value", "a person takes it as it is"))
	}
	out.Entries = append(out.Entries, e)
	if e.Verdict == VerdictBlock {
		out.OK, out.Blocked = false, true
		out.Blocker = &Blocker{HookName: h.Name, Verdict: VerdictBlock, Message: messageText(e.Message)}
	}
	if call.Phase == "after_acceptance" && len(e.Annotations) > 0 {
		out.Annotations = append(out.Annotations,
			ojson.NewObject("timestamp", e.Timestamp, "turn_id", ojson.OrNull(call.TurnID),
				"hook_name", h.Name, "annotations", e.Annotations))
	}
	return nil
}

// judge fills in verdict, message, annotations and action (docs/hooks.md#what-becomes-of-it).
func judge(e *Entry, h Hook, a attempt, secrets secrets) {
	pick := func(blocking, advisory string) {
		e.Verdict, e.Action = VerdictWarn, advisory
		if h.Blocking {
			e.Verdict, e.Action = VerdictBlock, blocking
		}
	}
	if a.timedOut {
		pick(ActionBlockedTimeout, ActionWarnedTimeout)
		e.Message = fmt.Sprintf(`Hook "%s" timed out after %dms`, h.Name, h.timeout().Milliseconds())
		return
	}
	if a.exit == nil || *a.exit != 0 {
		pick(ActionBlockedFailure, ActionWarnedFailure)
		code := "null"
		if a.exit != nil {
			code = strconv.Itoa(*a.exit)
		}
		e.Message = fmt.Sprintf(`Hook "%s" failed (exit code %s)`, h.Name, code)
		return
	}
	answer, ok := parseAnswer(a.stdout, secrets)
	if !ok {
		pick(ActionBlockedInvalid, ActionWarnedInvalid)
		e.Message = fmt.Sprintf(`Hook "%s" produced invalid JSON output`, h.Name)
		return
	}
	e.Verdict = answer.verdict
	e.Message, e.Annotations = answer.message, answer.annotations
	switch answer.verdict {
	case VerdictAllow:
		e.Action = ActionContinued
	case VerdictWarn:
		e.Action = ActionWarned
	case VerdictBlock:
		pick(ActionBlocked, ActionDowngraded)
	}
}

// timeout returns the hook's time limit, clamped to what a configuration may set.
func (h Hook) timeout() time.Duration {
	if d := time.Duration(h.TimeoutMS) * time.Millisecond; h.TimeoutMS > 0 &&
		h.TimeoutMS <= int(maxTimeout.Milliseconds()) {
		return d
	}
	return maxTimeout
}

func (r *Runner) entry(h Hook, call Call) Entry {
	return Entry{
		Timestamp: wire.FormatTime(r.now()),
		Phase:     call.Phase,
		HookName:  h.Name,
		RunID:     call.RunID,
		TurnID:    call.TurnID,
	}
}

func (r *Runner) skipped(h Hook, call Call, by string) Entry {
	e := r.entry(h, call)
	e.Action = ActionSkipped
	e.Message = fmt.Sprintf(`Skipped: prior hook "%s" blocked`, by)
	return e
}

// envelope returns what every hook is given (docs/hooks.md#what-a-hook-is-given).
func (r *Runner) envelope(h Hook, call Call) []byte {
	payload := call.Payload
	if payload == nil {
		payload = ojson.NewObject()
	}
	o := ojson.NewObject("hook_phase", call.Phase, "hook_name", h.Name, "run_id", call.RunID,
		"project_root", r.Root, "timestamp", wire.FormatTime(r.now()), "payload", payload)
	if r.Correlation != "" {
		o.Set("correlation_id", r.Correlation)
	}
	return ojson.Compact(o)
}

func (r *Runner) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r *Runner) environ() []string {
	if r.Environ != nil {
		return r.Environ()
	}
	return os.Environ()
}

func guardError(err error) error {
	return &wire.Error{
		Code:    CodeGuardFailed,
		Message: "The files that hooks must not change could not be guarded: " + err.Error() + ".",
		Hint:    "git agentxchain doctor",
	}
}
