// What a role's runtime can do with files (docs/spec/configuration.md#roles, docs/spec/configuration.md#admission).

package dispatch

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// capability is a runtime's contract combined with a role's authority.
type capability struct {
	runtimeType, transport     string
	canWrite, proposals        string
	ownership                  string
	localBinary                bool
	reviewBehavior             string // what a review_only role may do there
	effectivePath, effectiveOw string
	notes                      []string
}

// capabilityOf returns the contract of the runtime, with its declared overrides, for a role with the given
// authority.
func capabilityOf(runtimeType string, raw *ojson.Object, authority string) capability {
	c := capability{runtimeType: runtimeType}
	switch runtimeType {
	case "manual":
		c.transport, c.canWrite, c.proposals, c.ownership = "manual", "direct", "none", "yes"
		c.reviewBehavior = "a person reviewing here may write planning and review documents"
	case "local_cli":
		c.transport, c.canWrite, c.proposals, c.ownership = "local_cli", "direct", "optional", "yes"
		c.localBinary = true
		c.reviewBehavior = "not available: a local process could write anywhere, so review roles are not bound to it"
	case "api_proxy", "remote_agent":
		c.transport, c.canWrite, c.proposals, c.ownership = "provider_api", "proposal_only", "native",
			"proposal_apply_required"
		if runtimeType == "remote_agent" {
			c.transport = "remote_http"
		}
		c.reviewBehavior = "the review is returned as data and filed for the role"
	case "mcp":
		c.transport, c.canWrite, c.proposals, c.ownership = "mcp_stdio", "tool_defined", "tool_defined", "tool_defined"
		c.localBinary = true
		if raw.String("transport") == "streamable_http" {
			c.transport, c.localBinary = "mcp_streamable_http", false
		}
		c.reviewBehavior = "decided by the tool"
	default:
		c.transport, c.canWrite, c.proposals, c.ownership = "unknown", "unknown", "unknown", "unknown"
		c.reviewBehavior = "unknown"
	}
	over := raw.Object("capabilities")
	declared := func(key string, dst *string) bool {
		s := over.String(key)
		if s != "" {
			*dst = s
		}
		return s != ""
	}
	declared("can_write_files", &c.canWrite)
	declared("proposal_support", &c.proposals)
	owns := declared("workflow_artifact_ownership", &c.ownership)

	c.effectivePath, c.effectiveOw = c.effective(authority)
	if owns && c.effectiveOw != "invalid" {
		c.effectiveOw = c.ownership
	}
	c.note(authority)
	return c
}

// effective returns the write path and the ownership of workflow artifacts for an authority, following the table of
// docs/spec/configuration.md#admission.
func (c *capability) effective(authority string) (path, ownership string) {
	switch {
	case authority == wire.ReviewOnly && c.runtimeType == "local_cli":
		return "invalid_review_only_binding", "invalid"
	case authority != wire.ReviewOnly && authority != wire.Proposed && authority != wire.Authoritative:
		return "unknown", "unknown"
	case c.canWrite == "tool_defined":
		return "tool_defined", "tool_defined"
	case c.canWrite == "direct":
		switch authority {
		case wire.ReviewOnly:
			return "planning_only", "yes"
		case wire.Proposed:
			return "patch_authoring", "yes"
		}
		return "direct", "yes"
	case c.canWrite == "proposal_only":
		switch authority {
		case wire.ReviewOnly:
			return "review_artifact_only", "no"
		case wire.Proposed:
			return "proposal_apply_required", "proposal_apply_required"
		}
		return "invalid_authoritative_binding", "invalid"
	}
	return "unknown", "unknown"
}

func (c *capability) note(authority string) {
	add := func(s string) { c.notes = append(c.notes, s) }
	switch c.effectivePath {
	case "planning_only":
		add("Files under `.planning/` and `.agentxchain/reviews/` may be written; product files may not.")
	case "patch_authoring":
		add("Changes are handed in as a patch; the work tree stays the integrator's.")
	case "proposal_apply_required":
		add("Proposed changes are kept aside on acceptance and reach the work tree only when a person applies them.")
	case "review_artifact_only":
		add("No file is written by the role itself; a document a gate requires has to come from another role.")
	case "tool_defined":
		add("Which files can be written depends on the tool behind the runtime.")
	case "invalid_review_only_binding", "invalid_authoritative_binding":
		add("This role and this runtime do not fit together; the configuration check says how to correct it.")
	}
	if authority == wire.Authoritative && c.effectivePath == "direct" {
		add("Every change in the work tree since the assignment is compared with what the result declares.")
	}
}
