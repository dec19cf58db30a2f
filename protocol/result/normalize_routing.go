// Normalisation rules N22-N31: status, lifecycle requests and the proposed next role.

package result

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// N22.
func (n *normalizer) missingStatus() {
	switch {
	case n.doc.Has("status"):
	case nonBlank(n.get("needs_human_reason")):
		n.set("status", wire.ResultNeedsHuman, "status_inferred_from_needs_human_reason")
	case nonBlank(n.get("phase_transition_request")):
		n.set("status", wire.ResultCompleted, "status_inferred_from_phase_transition_request")
	case n.doc.Bool("run_completion_request"):
		n.set("status", wire.ResultCompleted, "status_inferred_from_run_completion_request")
	}
}

// requested returns the name in phase_transition_request, or "".
func (n *normalizer) requested() string { return n.doc.String("phase_transition_request") }

// wantsCompletion reports whether run_completion_request is not falsy.
func (n *normalizer) wantsCompletion() bool { return !falsy(n.get("run_completion_request")) }

func (n *normalizer) completedReview() bool {
	return n.route != nil && n.authority == wire.ReviewOnly && n.doc.String("status") == wire.ResultCompleted
}

// requestNext requests the phase after the current one, or the run's completion when the current phase is the last.
func (n *normalizer) requestNext(transition, completion string) {
	if next := n.cfg.NextPhase(n.phase); next != "" {
		n.set("phase_transition_request", next, transition)
		return
	}
	n.set("run_completion_request", true, completion)
}

// seriousObjection reports whether an objection of severity high or blocking is open, so that the result must not
// be read as consent (docs/compatibility.md#where-we-differ-on-purpose).
func (n *normalizer) seriousObjection() bool {
	if n.in.SeriousObjectionOpen {
		return true
	}
	for _, o := range n.doc.Objects("objections") {
		if ob := newObjection(o); ob.Serious() {
			return true
		}
	}
	return false
}

// N25: a gate's name where the phase after it was meant.
func (n *normalizer) gateAsPhase() {
	gate := n.requested()
	if gate == "" || n.cfg.Routing.Has(gate) || !n.cfg.Gates.Has(gate) || n.wantsCompletion() {
		return
	}
	for phase, route := range n.cfg.Routing.All() {
		if route == nil || route.ExitGate != gate {
			continue
		}
		if next := n.cfg.NextPhase(phase); next != "" {
			n.set("phase_transition_request", next, "gate_name_corrected_to_phase")
			return
		}
		const why = "terminal_gate_name_corrected_to_run_completion"
		n.clearTransition(why)
		n.set("run_completion_request", true, why)
		return
	}
}

// clearTransition sets the transition request to null.
func (n *normalizer) clearTransition(why string) {
	old := n.get("phase_transition_request")
	n.doc.Set("phase_transition_request", nil)
	n.changed("phase_transition_request", old, nil, why)
}

// N26: a reviewer who stops for a person only to say that all is well.
func (n *normalizer) reviewAffirmation() {
	reason, ok := n.get("needs_human_reason").(string)
	if !ok || n.route == nil || n.authority != wire.ReviewOnly || n.doc.String("status") != wire.ResultNeedsHuman ||
		n.get("run_completion_request") == false || n.delegating() || !affirms(reason) || n.seriousObjection() {
		return
	}
	const why = "review_affirmation_is_no_reason_to_stop"
	n.set("status", wire.ResultCompleted, why)
	n.remove("needs_human_reason", why)
	n.requestNext("review_affirmation_read_as_phase_transition", "review_affirmation_read_as_run_completion")
}

// N27: a completed review without any request asks to go on.
func (n *normalizer) reviewRequest() {
	if !n.completedReview() || n.get("run_completion_request") != nil || !falsy(n.get("phase_transition_request")) ||
		n.seriousObjection() || n.delegating() {
		return
	}
	n.requestNext("phase_transition_inferred_for_completed_review", "run_completion_inferred_for_completed_review")
}

// delegating reports whether the turn delegates work, does delegated work, or reviews its results. Leaving a
// request out then requests nothing: the phase waits for the review.
func (n *normalizer) delegating() bool {
	if len(n.doc.Array("delegations")) > 0 {
		return true
	}
	t := n.in.Turn
	return t != nil && (t.DelegationContext != nil || t.DelegationReview != nil)
}

// N28, N28b: phases are passed one at a time.
func (n *normalizer) skippedPhase() {
	skipped, next := n.requested(), n.cfg.NextPhase(n.phase)
	if n.route == nil || next == "" || n.authority == wire.ReviewOnly ||
		n.doc.String("status") != wire.ResultCompleted || n.wantsCompletion() {
		return
	}
	phases := n.cfg.Phases()
	if slices.Index(phases, skipped) <= slices.Index(phases, n.phase)+1 {
		return
	}
	n.set("phase_transition_request", next, "skip_forward_phase_corrected_to_next_phase")
	route := n.cfg.Route(next)
	if route == nil || route.EntryRole == "" || !slices.Contains(n.allowed(), route.EntryRole) {
		return
	}
	proposed, ok := n.get("proposed_next_role").(string)
	if ok && proposed != route.EntryRole && (proposed == skipped || !n.nextRoleAllowed(proposed)) {
		n.set("proposed_next_role", route.EntryRole, "aligned_to_corrected_phase_entry_role")
	}
}

// N29: a completed review that names an unknown or an earlier phase. With a serious objection open it may well mean
// "go back", so stage E is left to refuse it.
func (n *normalizer) reviewTarget() {
	target := n.requested()
	if target == "" || !n.completedReview() || n.wantsCompletion() || n.seriousObjection() {
		return
	}
	phases := n.cfg.Phases()
	if slices.Index(phases, target) > slices.Index(phases, n.phase) {
		return
	}
	const completion = "review_transition_corrected_to_run_completion"
	if n.cfg.NextPhase(n.phase) == "" {
		n.clearTransition(completion)
	}
	n.requestNext("review_transition_corrected_to_next_phase", completion)
}

func (n *normalizer) nextRoleAllowed(role string) bool {
	return role == "human" || slices.Contains(n.allowed(), role)
}

// N30, N31.
func (n *normalizer) nextRole() {
	value := n.get("proposed_next_role")
	if value == "human" {
		return
	}
	review := n.authority == wire.ReviewOnly
	if review && n.doc.Bool("run_completion_request") && falsy(n.get("phase_transition_request")) {
		n.set("proposed_next_role", "human", "run_completion_goes_to_human")
		return
	}
	proposed, ok := value.(string)
	if !ok || n.route == nil || n.doc.String("status") != wire.ResultCompleted || len(n.allowed()) == 0 ||
		n.nextRoleAllowed(proposed) {
		return
	}
	// A placeholder marks an unfinished result; stage A reports it. For a review the protocol still repairs it.
	if !review && isPlaceholder(proposed) {
		return
	}
	n.set("proposed_next_role", n.preferredNext(), "routing_illegal_for_phase_"+n.phase)
}

// cleanPaths converts every accepted path to the form that wire.CleanPath returns, so that later comparisons with
// observed files compare strings. It runs after the stages, on a document that passed them.
func (n *normalizer) cleanPaths() {
	const why = "path_spelling_normalized"
	files := n.array("files_changed")
	for i := range files {
		if p, ok := files[i].(string); ok {
			if clean, problem := wire.CleanPath(p); problem == "" && clean != p {
				files[i] = clean
				n.changed(indexed("files_changed", i), p, clean, why)
			}
		}
	}
	clean := func(o *ojson.Object, field, member string) {
		p := o.String(member)
		if clean, problem := wire.CleanPath(p); problem == "" && clean != p {
			o.Set(member, clean)
			n.changed(field+"."+member, p, clean, why)
		}
	}
	for i, item := range n.doc.Object("verification").Array("produced_files") {
		if o, ok := item.(*ojson.Object); ok {
			clean(o, indexed("verification.produced_files", i), "path")
		}
	}
	for i, item := range n.doc.Array("proposed_changes") {
		if o, ok := item.(*ojson.Object); ok {
			clean(o, indexed("proposed_changes", i), "path")
		}
	}
	if a := n.doc.Object("artifact"); a != nil && isReviewRef(a.String("ref")) {
		clean(a, "artifact", "ref")
	}
}
