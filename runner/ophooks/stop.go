// What a hook's no means for the run (docs/hooks.md#what-becomes-of-it).

package ophooks

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeBlockedRun means that a hook said no and the run is blocked on it.
const CodeBlockedRun = "hook_blocked_run"

// Stop is an operation that a hook has stopped: the resulting block, if any, and the error of the
// command.
type Stop struct {
	Block *protocol.Block
	Err   *wire.Error
}

// Asks begins the advice about a hook that refuses to let a turn be assigned.
const Asks = "do what the hook asks for, then: "

// Stopped returns what follows from an outcome that is not OK (docs/hooks.md#phases).
func Stopped(s *run.State, call hooks.Call, out *hooks.Outcome) *Stop {
	phase := call.Phase
	name, verdict, detail, tamper := "unknown", "", "", ""
	switch {
	case out.Tamper != nil:
		name, detail, tamper = out.Tamper.HookName, out.Tamper.Message, out.Tamper.Code
	case out.Blocker != nil:
		name, verdict, detail = out.Blocker.HookName, out.Blocker.Verdict, out.Blocker.Message
	}
	detail = Said(phase, name, detail)
	e := &wire.Error{
		Code:  wire.CodeHookBlocked,
		Field: "hooks." + phase,
		Details: ojson.NewObject("hook_phase", phase, "hook_name", name, "verdict", ojson.OrNull(verdict),
			"hook_message", detail, "error_code", wire.CodeHookBlocked),
	}
	said := fmt.Sprintf("hook %q: %s%s", name, strings.TrimSuffix(text.Brief(detail, 500), "."), complaint(out))
	if tamper == "" && phase == "before_assignment" {
		e.Message = "The assignment is refused by " + said + "."
		e.Hint = Asks + run.CmdAssign
		return &Stop{Err: e}
	}
	category := "hook_block"
	e.Code = CodeBlockedRun
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
	if tamper != "" && run.HasPending(s) {
		// A run with a waiting gate continues with its approval, not with unblock.
		action = run.RecoveryAction(typed, "hook:before_gate:"+name, call.TurnID)
	}
	e.Message = fmt.Sprintf("The run is blocked by %s.", said)
	e.Hint = action
	if action == run.CmdApprove && tamper == "" {
		e.Hint = "do what the hook asks for, then: " + action + "; or overrule it: " + run.CmdAsIs
	}
	e.Details.Set("blocked_on", on)
	b := &protocol.Block{
		BlockedOn:   on,
		Category:    category,
		TypedReason: typed,
		Owner:       run.OwnerHuman,
		Action:      action,
		Detail:      detail,
	}
	if s.ActiveTurns.Has(call.TurnID) {
		b.TurnID = call.TurnID
	}
	return &Stop{Block: b, Err: e}
}

// complaint returns a failed hook's standard error, or what ended it: its message only has the exit status.
func complaint(out *hooks.Outcome) string {
	for _, e := range out.Entries {
		if e.Action == hooks.ActionBlockedFailure && e.Stderr != "" {
			return ": " + strings.TrimSuffix(text.Brief(e.Stderr, 300), ".")
		}
	}
	return ""
}

// Said returns the message of a hook that stops a phase, or a text where it gave none.
func Said(phase, name, message string) string {
	if strings.TrimSpace(message) == "" {
		return fmt.Sprintf("Hook %q of %s said no and gave no reason", name, phase)
	}
	return message
}
