// Whose turn it is: role resolution and the next commands to run (docs/spec/lifecycle.md#assigning-a-turn).

package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ResolveRole picks the role of the next turn: the override, else a due delegation review, else a pending
// delegation, else a ready charter of the queue, else a charter to materialise, else the recommendation when the
// phase allows it, else the phase's entry role, else the first role (docs/spec/lifecycle.md#assigning-a-turn).
// Warnings say what an override skips. Errors: unknown_role; role_not_routed when rules.enforce_routing forbids the
// override; charters_wait when the phase has open charters and none can be assigned; invalid_config without any
// role.
func ResolveRole(cfg *config.Config, s *run.State, override string) (role string, warnings []string, err *wire.Error) {
	allowed := cfg.PhaseRoles(s.Phase)
	route := cfg.Route(s.Phase)
	if override != "" {
		if cfg.Role(override) == nil {
			return "", nil, run.UnknownRole(cfg, override)
		}
		if len(allowed) > 0 && !slices.Contains(allowed, override) {
			text := fmt.Sprintf("Role %q is not routed in phase %q (roles there: %s).", override, s.Phase,
				wire.List(allowed))
			if cfg.Rules.EnforceRouting {
				return "", nil, &wire.Error{
					Code:    wire.CodeRoleNotRouted,
					Field:   "role",
					Message: text,
					Hint:    run.CmdAssign,
				}
			}
			warnings = append(warnings, text)
		}
		if due := dueRole(s); due != "" && due != override {
			warnings = append(warnings, fmt.Sprintf(
				"Role %q has delegated work waiting; assigning %q first leaves it waiting.", due, override))
		} else if due == "" && len(s.OpenCharters()) > 0 && s.NextCharter(override) == nil {
			warnings = append(warnings,
				fmt.Sprintf("No charter is ready for role %q; the turn works on none.", override))
		}
		return override, warnings, nil
	}
	if due := dueRole(s); due != "" {
		if cfg.Role(due) == nil {
			return "", nil, run.UnknownRole(cfg, due)
		}
		return due, nil, nil
	}
	if role, err := run.CharterRole(cfg, s); role != "" || err != nil {
		return role, nil, err
	}
	if charterPending(s) && s.Phase == "planning" && cfg.Role("pm") != nil {
		return "pm", nil, nil
	}
	if !charterPending(s) {
		if r := wire.OrEmpty(s.NextRecommendedRole); r != "" && cfg.Role(r) != nil &&
			(slices.Contains(allowed, r) || len(allowed) == 0) {
			return r, nil, nil
		}
	}
	if route != nil && route.EntryRole != "" {
		if cfg.Role(route.EntryRole) == nil {
			return "", nil, run.UnknownRole(cfg, route.EntryRole)
		}
		return route.EntryRole, nil, nil
	}
	if cfg.Roles.Len() == 0 {
		return "", nil, &wire.Error{
			Code:    wire.CodeInvalidConfig,
			Field:   "roles",
			Message: "agentxchain.json defines no role, so no turn can be assigned.",
			Hint:    "git agentxchain validate",
		}
	}
	first := cfg.Roles.Keys()[0]
	return first,
		[]string{fmt.Sprintf("Phase %q names no entry role; %q, the first one, takes the turn.", s.Phase, first)}, nil
}

// dueRole returns the role that delegated work waits for, or "".
func dueRole(s *run.State) string {
	if s.PendingDelegation != nil && s.PendingDelegation.ParentRole != "" {
		return s.PendingDelegation.ParentRole
	}
	for _, d := range s.DelegationQueue {
		if role := d.Due(); role != "" {
			return role
		}
	}
	return ""
}

// dueReason says what delegated work the next turn is for; "" for none.
func dueReason(s *run.State) string {
	if r := s.PendingDelegation; r != nil && r.ParentRole != "" {
		return fmt.Sprintf("%s reviews what came back of the work that turn %s delegated.", r.ParentRole,
			r.ParentTurnID)
	}
	for _, d := range s.DelegationQueue {
		if role := d.Due(); role != "" {
			return fmt.Sprintf("%s delegated %s to %s: %s", d.ParentRole, d.DelegationID, role,
				run.Clip(wire.OneLine(d.Charter), 200))
		}
	}
	return ""
}

func charterPending(s *run.State) bool {
	_, ok := s.Extra.Value("charter_materialization_pending").(*ojson.Object)
	return ok
}

// NextAction is a command to run and the reason to run it.
type NextAction struct {
	Command string
	Reason  string
}

// NextActions returns the next_actions member of status --json: advice on a gate that cannot pass, then the way out
// of a block. It is empty for a run that proceeds normally (docs/spec/lifecycle.md#recovery). escalationID is the
// open human escalation of the current block, or "".
func NextActions(s *run.State, cfg *config.Config, escalationID string) []NextAction {
	var out []NextAction
	guidance := run.DeriveGuidance(s, cfg)
	for _, g := range guidance {
		out = append(out, NextAction{g.Command, g.Reason})
	}
	if v := run.DeriveRecovery(s, cfg); v != nil {
		reason := "The run waits: " + v.TypedReason + "."
		if len(guidance) > 0 {
			reason = "Once " + guidance[0].Code + " is settled, the run goes on."
		}
		out = append(out, NextAction{withEscalation(v.RecoveryAction, escalationID), reason})
	}
	return out
}

// withEscalation completes a rendered unblock command with the id of the escalation.
func withEscalation(action, id string) string {
	if id == "" || len(action) < len(run.CmdUnblock) || action[len(action)-len(run.CmdUnblock):] != run.CmdUnblock {
		return action
	}
	return action + " " + wire.ShellWord(id)
}

// GateStep returns what passes the gate that waits for people, nil when none waits: whose approval is still
// missing, and whether it has to be signed. votes are the approvals that count; authors are the known authors of
// what is decided on.
func GateStep(s *run.State, cfg *config.Config, votes []*run.Vote, authors []string) *NextAction {
	w, v := s.Waiting(), run.DeriveRecovery(s, cfg)
	if w == nil || v == nil || !strings.HasSuffix(v.RecoveryAction, run.CmdApprove) {
		return nil
	}
	gate := run.Clip(wire.OneLine(w.Gate), 200)
	if why := Overtaken(s, cfg); why != "" {
		return &NextAction{cmdDeny, fmt.Sprintf("Gate %s can no longer be approved: %s. The next turn asks again.", gate, why)}
	}
	n := &NextAction{v.RecoveryAction, fmt.Sprintf("Gate %s waits for a person.", gate)}
	if s.Status == wire.StatusBlocked && v.Detail != nil {
		said := run.Clip(wire.OneLine(*v.Detail), 200)
		n.Reason = fmt.Sprintf("Gate %s is stopped: %s", gate, said)
		if run.ParseBlocker(wire.OrEmpty(s.BlockedOn)).OverruleKind() != "" && s.BlockedReason.Category != "hook_tamper" {
			n.Reason += ". Do what the hook asks for, or overrule it: " + run.CmdAsIs
		}
	}
	rule := cfg.GateRule(w.Gate)
	if rule == nil {
		return n
	}
	if rule.Signed {
		n.Command += " --sign"
	}
	left := agreement.Unheard(rule, votes)
	if rule.NotAuthor {
		left = agreement.Others(left, authors)
	}
	if missing := rule.Threshold - len(votes); s.Status == wire.StatusPaused && len(votes) > 0 && missing > 0 && len(left) > 0 {
		n.Reason = fmt.Sprintf("Gate %s waits for %d more: %s.", gate, missing, run.Clip(wire.ListSome(left, 3), 400))
	}
	return n
}

// NextStep returns the one command that moves the run on from s; nil when the run is over. Unlike NextActions it
// also has an answer for a healthy run.
func NextStep(s *run.State, cfg *config.Config, escalationID string) *NextAction {
	switch s.Status {
	case wire.StatusCompleted, wire.StatusFailed:
		return nil
	case wire.StatusIdle:
		return &NextAction{run.CmdAssign, "No run has started."}
	case wire.StatusPaused, wire.StatusBlocked:
		if n := GateStep(s, cfg, s.GateVotes, nil); n != nil {
			return n
		}
		v := run.DeriveRecovery(s, cfg)
		reason := v.TypedReason
		if v.Detail != nil && *v.Detail != "" {
			reason += ": " + run.Clip(wire.OneLine(*v.Detail), 200)
		}
		return &NextAction{withEscalation(v.RecoveryAction, escalationID), reason}
	}
	var turns []*run.Turn
	for _, t := range s.ActiveTurns.All() {
		turns = append(turns, t)
	}
	if step := TurnsStep(turns); step != nil {
		return step
	}
	role, _, err := ResolveRole(cfg, s, "")
	if err != nil {
		return &NextAction{run.CmdAssign, err.Message}
	}
	if err := Affordable(cfg, s, role); err != nil {
		return &NextAction{"Raise budget.per_run_max_usd in agentxchain.json, then run: " + run.CmdAdopt, err.Message}
	}
	reason := fmt.Sprintf("Phase %q has no turn at work.", s.Phase)
	if due := dueReason(s); due != "" {
		reason = due
	}
	return &NextAction{run.CmdAssign + " " + wire.ShellWord(role), reason}
}

// TurnsStep returns what moves on the first active turn that is not at work, else the first turn; nil without
// turns.
func TurnsStep(turns []*run.Turn) *NextAction {
	for _, t := range turns {
		if step := TurnStep(t); step != nil {
			return step
		}
	}
	if len(turns) == 0 {
		return nil
	}
	t := turns[0]
	return &NextAction{"git agentxchain accept " + wire.ShellWord(t.TurnID),
		fmt.Sprintf("Turn %s of %s is at work.", t.TurnID, t.AssignedRole)}
}

// TurnStep returns what moves on a turn that is not at work; nil for a turn that is.
func TurnStep(t *run.Turn) *NextAction {
	id := wire.ShellWord(t.TurnID)
	who := fmt.Sprintf("Turn %s of %s", t.TurnID, t.AssignedRole)
	switch t.Status {
	case wire.TurnFailed, wire.TurnFailedStart, wire.TurnStalled:
		return &NextAction{"git agentxchain reissue " + id, who + " is " + t.Status + "."}
	case wire.TurnConflicted:
		return &NextAction{"git agentxchain reject " + id + " --reassign",
			who + " conflicts with turns accepted meanwhile."}
	case wire.TurnFailedAcceptance:
		return &NextAction{"git agentxchain accept " + id,
			who + " was not accepted: " + cmp.Or(run.Clip(wire.OneLine(t.FailureReason), 200), "see status") + "."}
	}
	return nil
}
