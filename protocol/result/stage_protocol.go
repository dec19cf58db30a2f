// Stage E: challenge, routing, lifecycle requests and delegations (docs/spec/results.md#protocol-stage).

package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxDelegations is the largest number of delegations of a turn.
const maxDelegations = 5

func checkProtocol(r *stageReport, c *stageContext) {
	res, cfg := c.result, c.in.Config
	if cfg.Rules.ChallengeRequired && c.authority == wire.ReviewOnly && len(res.Objections) == 0 {
		r.errorf(ProblemChallenge, "objections", res.Role,
			"role %s reviews and must raise at least one objection (rules.challenge_required)", wire.Shown(res.Role))
	}
	if c.route != nil && res.ProposedNextRole != "human" &&
		!slices.Contains(c.route.AllowedNextRoles, res.ProposedNextRole) {
		r.errorf(ProblemNextRole, "proposed_next_role", res.ProposedNextRole,
			"proposed_next_role %s is not among the roles that may follow in phase %s: %s",
			wire.Shown(res.ProposedNextRole), wire.Shown(c.phase), roleList(c.route.AllowedNextRoles))
	}
	if res.PhaseTransitionRequest != nil {
		checkTransition(r, c, *res.PhaseTransitionRequest)
		if res.RunCompletionRequest {
			r.errorf(ProblemMutuallyExclusive, "run_completion_request", "",
				"phase_transition_request and run_completion_request exclude each other; set at most one")
		}
	}
	if res.Status == wire.ResultNeedsHuman && wire.Blank(res.NeedsHumanReason) {
		const why = `status is "needs_human" but needs_human_reason does not say what a person has to do`
		if cfg.StrictResults() {
			r.errorf(ProblemNoHumanReason, "needs_human_reason", "", why)
		} else {
			r.warnf(why)
		}
	}
	if cfg.StrictResults() {
		checkDecisionNumbers(r, c)
	}
	if w := unaskedReview(c); w != "" {
		r.warnf("%s", w)
	}
	if (res.Status == wire.ResultBlocked || res.Status == wire.ResultFailed) &&
		(res.PhaseTransitionRequest != nil || res.RunCompletionRequest) {
		// Legal, but probably not intended (docs/compatibility.md#where-we-differ-on-purpose).
		r.warnf("status is %q, yet the result asks to move the run on", res.Status)
	}
	checkDelegations(r, c)
	checkDelegationReview(r, c)
}

// unaskedReview tells a reviewer whose completed turn requests nothing how the run would go on: the reference
// treats that as a request, strict does not.
func unaskedReview(c *stageContext) string {
	res := c.result
	if !c.in.Config.StrictResults() || c.route == nil || c.authority != wire.ReviewOnly ||
		res.Status != wire.ResultCompleted ||
		res.PhaseTransitionRequest != nil || res.RunCompletionRequest || len(res.Delegations) > 0 ||
		c.in.Turn.CharterID() != "" || c.in.Turn.DelegationContext != nil {
		return ""
	}
	ask := "run_completion_request true"
	if next := c.in.Config.NextPhase(c.phase); next != "" {
		ask = "phase_transition_request " + wire.Shown(next)
	}
	return fmt.Sprintf("the review asks for nothing, so phase %s goes on; a review that finds it done says %s",
		wire.Shown(c.phase), ask)
}

// roleList names the roles that may follow; a person always may.
func roleList(roles []string) string {
	names := []string{"human"}
	for _, r := range roles {
		if r != "human" {
			names = append(names, r)
		}
	}
	return strings.Join(names, ", ")
}

func checkTransition(r *stageReport, c *stageContext, target string) {
	if c.in.Config.Routing.Len() == 0 {
		return // without routing there is no order to check
	}
	const field = "phase_transition_request"
	next := c.in.Config.NextPhase(c.phase)
	switch {
	case !c.in.Config.Routing.Has(target):
		r.errorf(ProblemUndefinedPhase, field, target, "%s names %s, which is no phase of the routing", field,
			wire.Shown(target))
	case next == "":
		r.errorf(ProblemPhaseOrder, field, target,
			"%s to %s: phase %s is the last one; ask for run_completion_request instead", field, wire.Shown(target),
			wire.Shown(c.phase))
	case target != next:
		r.errorf(ProblemPhaseOrder, field, target, "%s to %s: after phase %s comes %s", field, wire.Shown(target),
			wire.Shown(c.phase), wire.Shown(next))
	}
}

func checkDelegations(r *stageReport, c *stageContext) {
	list := c.result.Delegations
	if len(list) == 0 {
		return
	}
	if len(list) > maxDelegations {
		r.errorf(ProblemTooManyDelegates, "delegations", "", "%d delegations; a turn may make at most %d", len(list),
			maxDelegations)
	}
	if c.result.RunCompletionRequest {
		r.errorf(ProblemDelegateComplete, "delegations", "", "a turn cannot delegate work and complete the run")
	}
	// A delegate's turn and the parent's review of it both end a delegation; neither may start a new one
	// (docs/compatibility.md#where-we-differ-on-purpose).
	if t := c.in.Turn; t != nil && (t.DelegationContext != nil || t.DelegationReview != nil) {
		r.errorf(ProblemDelegateRecursive, "delegations", "",
			"a turn that works on or reviews a delegation cannot delegate further")
	}
	if c.in.Config.StrictResults() {
		checkRequiredNumbers(r, c)
	}
	seen := make(map[string]bool, len(list))
	for i, d := range list {
		at := indexed("delegations", i)
		if seen[d.ID] {
			r.errorf(ProblemDelegateTwice, at+".id", d.ID, "%s uses the id %s again", at, d.ID)
		}
		seen[d.ID] = true
		switch {
		case d.ToRole == c.result.Role:
			r.errorf(ProblemSelfDelegation, at+".to_role", d.ToRole, "%s: role %s cannot delegate to itself", d.ID,
				wire.Shown(d.ToRole))
		case c.in.Config.Role(d.ToRole) == nil:
			r.errorf(ProblemDelegateUndefined, at+".to_role", d.ToRole, "%s: role %s is not defined", d.ID,
				wire.Shown(d.ToRole))
		case c.route != nil && len(c.route.AllowedNextRoles) > 0 &&
			!slices.Contains(c.route.AllowedNextRoles, d.ToRole):
			r.errorf(ProblemDelegateRoute, at+".to_role", d.ToRole,
				"%s: role %s is not among the roles that may follow in phase %s: %s", d.ID, wire.Shown(d.ToRole),
				wire.Shown(c.phase), roleList(c.route.AllowedNextRoles))
		}
	}
}

// checkDelegationReview keeps the parent from moving on while decisions that it required of its delegates are
// missing.
func checkDelegationReview(r *stageReport, c *stageContext) {
	t := c.in.Turn
	if t == nil || t.DelegationReview == nil {
		return
	}
	var missing []string
	for _, result := range t.DelegationReview.Objects("results") {
		if ids := result.Strings("missing_decision_ids"); len(ids) > 0 {
			missing = append(missing, result.String("delegation_id")+": "+strings.Join(ids, ", "))
		}
	}
	if len(missing) == 0 {
		return
	}
	list := strings.Join(missing, "; ")
	if c.result.PhaseTransitionRequest != nil {
		r.errorf(ProblemReviewIncomplete, "phase_transition_request", list,
			"the review cannot ask for a phase transition while required decisions are missing: %s", list)
	}
	if c.result.RunCompletionRequest {
		r.errorf(ProblemReviewIncomplete, "run_completion_request", list,
			"the review cannot ask for run completion while required decisions are missing: %s", list)
	}
}
