// Taking a turn as it is: which refusal of a policy or a hook a person can overrule, and what their consent is
// bound to (docs/spec/lifecycle.md#taking-a-turn-as-it-is).

package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeNotOverrulable means that nothing stops the run that a person could take as it is.
const CodeNotOverrulable = "not_overrulable"

// Kinds of what is overruled: the gate_type of a statement about it.
const (
	overrulePolicy = "policy"
	overruleHook   = "hook"
)

// OverruleKey reduces a message so that two answers with the same key count as the same refusal. It drops numbers
// of two digits and more: a hook that prints when it ran, or how long, then says the same again.
func OverruleKey(message string) string {
	var b strings.Builder
	text := wire.OneLine(message)
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && text[j] >= '0' && text[j] <= '9' {
			j++
		}
		switch {
		case j-i >= 2:
			b.WriteByte('#')
		case j > i:
			b.WriteString(text[i:j])
		default:
			j++
			b.WriteByte(text[i])
		}
		i = j
	}
	return b.String()
}

// WorkDigest digests what a turn hands in: its staged result and the contents of the files it declares. Consent to
// other bytes does not count for these.
func WorkDigest(staged *evidence.Blob, seen *result.Observation) string {
	h := sha256.New()
	if staged != nil {
		_, _ = fmt.Fprintf(h, "%s\x00", staged.Digest)
		if doc, err := DecodeStaged("", staged.Data); err == nil {
			files := doc.Strings("files_changed")
			wire.SortPaths(files)
			for _, f := range files {
				_, _ = fmt.Fprintf(h, "%s\x00%s\x00", f, seen.Markers.Value(f))
			}
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// GateDigest digests the request that a gate waits for, and the commit it is about.
func GateDigest(s *run.State, head string) string {
	h := sha256.New()
	if p := s.PendingPhaseTransition; p != nil {
		_, _ = fmt.Fprintf(h, "%s\x00%s\x00%s\x00", p.Gate, p.To, p.RequestedByTurn)
	}
	if p := s.PendingRunCompletion; p != nil {
		_, _ = fmt.Fprintf(h, "%s\x00%s\x00", p.Gate, p.RequestedByTurn)
	}
	_, _ = fmt.Fprintf(h, "%s\x00%s", s.Phase, head)
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Overrulable is something that stopped a run and that a person can take as it is.
type Overrulable struct {
	On     string   // the state's blocked_on
	Kind   string   // policy, hook
	TurnID string   // "" for a gate
	Said   []string // by the policies or the hook, in their own words
}

// Overruled returns what a person could overrule now. Errors in the result, and a hook that changed files, cannot
// be overruled: those are facts, not opinions. Codes: not_overrulable.
func Overruled(s *run.State) (*Overrulable, *wire.Error) {
	on, r := wire.OrEmpty(s.BlockedOn), s.BlockedReason
	refuse := func(why, hint string) (*Overrulable, *wire.Error) {
		return nil, &wire.Error{
			Code:    CodeNotOverrulable,
			Field:   "blocked_on",
			Message: "There is nothing to accept as it is: " + why + ".",
			Hint:    hint,
		}
	}
	if s.Status != wire.StatusBlocked || r == nil {
		return refuse("the run is "+string(s.Status)+", and no policy or hook stops it", "git agentxchain status")
	}
	o := &Overrulable{On: on, TurnID: wire.OrEmpty(r.TurnID)}
	active := s.ActiveTurns.Has(o.TurnID)
	switch r.Category {
	case "policy_escalation":
		if !active {
			return refuse("its turn is gone", run.CmdUnblock)
		}
		o.Kind = overrulePolicy
		list, _ := r.Extra.Value("violations").([]any)
		for _, v := range list {
			if row, ok := v.(*ojson.Object); ok {
				o.Said = append(o.Said, row.String("message"))
			}
		}
	case "hook_block":
		o.Kind = overruleHook
		switch scope := run.ParseBlocker(on).Scope; {
		case scope == "before_gate" && run.HasPending(s):
			o.TurnID = ""
		case (scope == "before_validation" || scope == "after_validation" || scope == "before_acceptance") && active:
		default:
			return refuse("hook phase "+wire.Shown(scope)+" judges neither a result nor a gate",
				r.Recovery.RecoveryAction)
		}
	default:
		return refuse("the run is blocked on "+on+", which is neither a policy's nor a hook's opinion",
			r.Recovery.RecoveryAction)
	}
	if len(o.Said) == 0 {
		o.Said = []string{wire.OrEmpty(r.Recovery.Detail)}
	}
	return o, nil
}

// Overruling is a hook's refusal that a person overruled.
type Overruling struct {
	On   string `json:"on"`   // hook:<phase>:<name>
	Said string `json:"said"` // OverruleKey
}

// asIs records that a person takes what stopped the run as it is.
func (op *Reactivate) asIs(t *change.Draft) *wire.Error {
	s := t.State
	o, refusal := Overruled(s)
	if refusal != nil {
		return refusal
	}
	reason, refusal := personsReason(op.Reason,
		"To accept what was refused takes a reason: the record says why it counts.",
		"git agentxchain unblock --accept-as-is --reason TEXT")
	if refusal != nil {
		return refusal
	}
	if op.On != o.On {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "on",
			Message: fmt.Sprintf("The run is blocked on %s, not on what was shown (%s).", o.On, wire.Shown(op.On)),
			Hint:    "git agentxchain status",
		}
	}
	if o.TurnID != "" && op.Staged == nil {
		return &wire.Error{
			Code:    wire.CodeStagedMissing,
			Field:   wire.StagingPath(o.TurnID),
			Message: fmt.Sprintf("Turn %s has no staged result, so there is nothing to accept as it is.", o.TurnID),
			Hint:    "git agentxchain unblock",
		}
	}
	if refusal := t.Agree(op.Asks(t.Config, t.State.Phase)); refusal != nil {
		return refusal
	}
	entry := &run.Overrule{
		On:      o.On,
		TurnID:  o.TurnID,
		Content: op.Content,
		At:      t.Env.Time(),
		By:      t.Person(),
		Reason:  reason,
	}
	if turn, ok := s.ActiveTurns.Get(o.TurnID); ok {
		entry.Attempt = turn.Attempt
		t.About(turn)
	}
	for _, said := range o.Said {
		entry.Said = append(entry.Said, OverruleKey(said))
	}
	s.Overruled = append(slices.DeleteFunc(slices.Clone(s.Overruled), func(e *run.Overrule) bool {
		return e.On == entry.On && e.TurnID == entry.TurnID && slices.Equal(e.Said, entry.Said)
	}), entry)
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "human_overrule",
		"run_id", s.Run(),
		"phase", s.Phase,
		"blocked_on", o.On,
		"kind", o.Kind,
		"turn_id", ojson.OrNull(o.TurnID),
		"said", o.Said,
		"content", op.Content,
		"overruled_by", t.Person(),
		"reason", reason,
		"votes", t.Voters(),
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.Talk("accepts as it is", o.On, reason)
	return nil
}

// overruled returns a person's consent despite what a policy or hook says of a content; nil for none.
func overruled(s *run.State, turn, on, said, content string) *run.Overrule {
	for _, o := range s.Overruled {
		if o.TurnID == turn && o.Content == content && slices.Contains(o.Said, OverruleKey(said)) &&
			(o.On == on || strings.HasPrefix(on, "policy:") && strings.HasPrefix(o.On, "policy:")) {
			return o
		}
	}
	return nil
}

// HookOverruled returns a person's consent despite what a hook says of a turn's result, or of the waiting gate when
// turn is "".
func HookOverruled(s *run.State, turn, phase, name, said, content string) *run.Overrule {
	return overruled(s, turn, "hook:"+phase+":"+name, said, content)
}

// settledOverrules drops the entries whose turn or gate is over: each counts once.
func settledOverrules(t *change.Draft) {
	s := t.State
	if len(s.Overruled) == 0 {
		return
	}
	keep := slices.DeleteFunc(slices.Clone(s.Overruled), func(o *run.Overrule) bool {
		if o.TurnID == "" {
			return !run.HasPending(s)
		}
		turn, ok := s.ActiveTurns.Get(o.TurnID)
		return !ok || turn.Attempt != o.Attempt
	})
	if s.Overruled = keep; len(keep) == 0 {
		s.Overruled = nil
	}
}
