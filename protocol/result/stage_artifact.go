// Stage C: what the role may produce, and where (docs/spec/results.md#artifact).

package result

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func checkArtifact(r *stageReport, c *stageContext) {
	res, kind := c.result, c.result.Artifact.Type
	var product, outside []string // outside: not below the review directories
	for _, p := range res.FilesChanged {
		clean, problem := wire.CleanPath(p)
		if problem != "" {
			continue // reported below
		}
		if wire.ProductPath(clean) {
			product = append(product, p)
		}
		if !wire.ReviewPath(clean) {
			outside = append(outside, p)
		}
	}

	if c.authority == wire.ReviewOnly {
		if len(outside) > 0 {
			r.errorf(ProblemReviewProduct, "files_changed", outside[0],
				"role %s may only review, but the result changes %s", wire.Shown(res.Role), quoteList(outside))
		}
		if kind != "review" {
			r.errorf(ProblemReviewArtifact, "artifact.type", kind,
				`role %s may only review: artifact.type must be "review", not %s`, wire.Shown(res.Role),
				wire.Shown(kind))
		}
	}
	if kind == "workspace" {
		if c.authority != "" && c.authority != wire.Authoritative {
			r.errorf(ProblemWorkspaceRole, "artifact.type", kind,
				"a workspace artifact needs an authoritative role; %s is %s", wire.Shown(res.Role), c.authority)
		}
		if len(res.FilesChanged) == 0 && !hasCheckpointable(c.doc.Object("verification")) {
			r.errorf(ProblemEmptyWorkspace, "files_changed", "",
				`artifact.type is "workspace" but no changed file is declared; list the files, declare produced files with disposition "artifact", or use artifact.type "review"`)
		}
	}
	for i, p := range res.FilesChanged {
		checkPath(r, indexed("files_changed", i), p)
		checkGovernedConfig(r, indexed("files_changed", i), p)
	}
	for i, f := range res.Verification.ProducedFiles {
		if !wire.Blank(f.Path) { // stage D asks for the name
			checkPath(r, indexed("verification.produced_files", i)+".path", f.Path)
			checkGovernedConfig(r, indexed("verification.produced_files", i)+".path", f.Path)
		}
	}
	if ref := res.Artifact.Ref; isReviewRef(ref) {
		checkPath(r, "artifact.ref", ref)
	}

	if c.authority == wire.Authoritative {
		if kind == "review" && len(outside) > 0 {
			r.errorf(ProblemProductReview, "artifact.type", kind,
				`artifact.type is "review" but the result changes %s; use "workspace" or "commit"`, quoteList(outside))
		}
		checkImplementation(r, c, product)
	}
	checkProposal(r, c)
}

// checkImplementation requires an implementation from a completed implementation turn. The phase name is literal
// (docs/spec/results.md#artifact).
func checkImplementation(r *stageReport, c *stageContext, product []string) {
	if c.phase != "implementation" || c.result.Status != wire.ResultCompleted {
		return
	}
	if len(product) == 0 {
		if !c.in.EarlierProduct {
			r.errorf(ProblemNoProduct, "files_changed", "",
				"the implementation turn of role %s is reported completed without a changed file outside planning and reviews", wire.Shown(c.result.Role))
		}
		return
	}
	for _, p := range product {
		if clean, _ := wire.CleanPath(p); !wire.TestPath(clean) {
			return
		}
	}
	r.warnf("the implementation turn of role %s changed only tests (%s); check that this is what was asked for",
		wire.Shown(c.result.Role), quoteList(product))
}

func checkProposal(r *stageReport, c *stageContext) {
	changes, isArray := c.doc.Value("proposed_changes").([]any)
	if c.authority == wire.Proposed && c.result.Status == wire.ResultCompleted && len(changes) == 0 &&
		!c.result.RunCompletionRequest {
		if t := runtimeType(c.in.Config, c.result.RuntimeID); t == "api_proxy" || t == "remote_agent" {
			r.errorf(ProblemNoProposal, "proposed_changes", "",
				"a completed turn of a proposing role on a runtime of type %s must bring proposed_changes", t)
		}
	}
	if isArray && c.authority == wire.ReviewOnly {
		r.warnf("role %s may only review: proposed_changes are ignored", wire.Shown(c.result.Role))
	}
	for i, item := range changes {
		at := indexed("proposed_changes", i)
		o, ok := item.(*ojson.Object)
		if !ok {
			r.errorf(ProblemProposedChange, at, "", "%s must be an object, not %s", at, ojson.TypeName(item))
			continue
		}
		path, _ := o.Get("path")
		if !nonBlank(path) {
			r.errorf(ProblemProposedChange, at+".path", "", "%s.path must name a file", at)
		}
		action, _ := o.Get("action")
		if s, _ := action.(string); !slices.Contains([]string{"create", "modify", "delete"}, s) {
			r.errorf(ProblemProposedChange, at+".action", "", "%s.action must be create, modify or delete, not %s", at,
				wire.Shown(action))
		} else if s != "delete" && !isString(o.Value("content")) {
			r.errorf(ProblemProposedChange, at+".content", "", "%s.content is required to %s a file", at, s)
		}
		if nonBlank(path) {
			checkPath(r, at+".path", o.String("path"))
		}
	}
}

// checkPath refuses a path that leaves the project or names a file that only the orchestrator writes. It reports
// the path as it was spelled.
func checkPath(r *stageReport, field, p string) {
	if wire.IsReserved(wire.ReservedForm(p)) {
		r.errorf(ProblemReservedPath, field, p, "%s claims %s, which only the orchestrator writes", field,
			wire.Shown(p))
		return
	}
	if _, problem := wire.CleanPath(p); problem != "" {
		r.errorf(ProblemUnsafePath, field, p, "%s: %s %s", field, wire.Shown(p), wire.PathProblemText(problem))
	}
}

// checkGovernedConfig refuses a turn that changes the rules by which it is judged: a role that may write product
// files could otherwise weaken a gate and pass it. A person changes the configuration between turns, and can apply
// a proposal.
func checkGovernedConfig(r *stageReport, field, p string) {
	if wire.ReservedForm(p) == wire.ConfigPath {
		r.errorf(ProblemGovernedConfig, field, p,
			"%s claims %s, which governs the run; a person changes it between turns", field, wire.Shown(p))
	}
}

// isReviewRef reports whether an artifact reference names a review file: the orchestrator writes there
// (docs/spec/observation.md#derived-reviews-and-proposals). Other references are opaque.
func isReviewRef(ref string) bool {
	clean, _ := wire.CleanPath(ref)
	return strings.HasPrefix(ref, wire.ReviewsDir+"/") || strings.HasPrefix(clean, wire.ReviewsDir+"/")
}

// runtimeType returns the type of a runtime, manual when it is not declared.
func runtimeType(c *config.Config, id string) string {
	if rt, _ := c.Runtimes.Get(id); rt != nil && rt.Type != "" {
		return rt.Type
	}
	return "manual"
}
