// What a role can deliver through its runtime: write path and artifact ownership (docs/spec/configuration.md#roles,
// docs/spec/configuration.md#admission).

package config

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Write paths: how the work of a role reaches the project.
const (
	PathDirect               = "direct"
	PathPatchAuthoring       = "patch_authoring"
	PathPlanningOnly         = "planning_only"
	PathProposalApply        = "proposal_apply_required"
	PathReviewArtifactOnly   = "review_artifact_only"
	PathToolDefined          = "tool_defined"
	PathUnknown              = "unknown"
	PathInvalidAuthoritative = "invalid_authoritative_binding"
	PathInvalidReviewOnly    = "invalid_review_only_binding"
)

// Workflow artifact ownership: whether a role can deliver the files that name it as owner.
const (
	OwnershipYes           = "yes"
	OwnershipNo            = "no"
	OwnershipProposalApply = "proposal_apply_required"
	OwnershipToolDefined   = "tool_defined"
	OwnershipUnknown       = "unknown"
	OwnershipInvalid       = "invalid"
)

// Contract is the effective write contract of a role.
type Contract struct {
	Path            string // a Path constant
	Ownership       string // an Ownership constant
	CanProduceFiles bool   // a gate's files can come from this role
	CanOwn          bool   // an artifact's owned_by can name this role
}

// RuntimeContract is what a runtime can do before a role is considered,
// declared capabilities included.
type RuntimeContract struct {
	Type                string // "unknown" when undeclared
	Transport           string
	CanWriteFiles       string // direct, proposal_only, tool_defined, unknown
	ProposalSupport     string // none, optional, native, tool_defined, unknown
	RequiresLocalBinary bool
	Ownership           string // an Ownership constant
}

// ContractOf returns the contract of a runtime; rt may be nil.
func ContractOf(rt *Runtime) RuntimeContract {
	c := RuntimeContract{
		Type:            "unknown",
		Transport:       "unknown",
		CanWriteFiles:   "unknown",
		ProposalSupport: "unknown",
		Ownership:       OwnershipUnknown,
	}
	if rt == nil {
		return c
	}
	switch rt.Type {
	case RuntimeManual:
		c = RuntimeContract{RuntimeManual, "manual", "direct", "none", false, OwnershipYes}
	case "local_cli":
		c = RuntimeContract{"local_cli", "local_cli", "direct", "optional", true, OwnershipYes}
	case "api_proxy":
		c = RuntimeContract{"api_proxy", "provider_api", "proposal_only", "native", false, OwnershipProposalApply}
	case "remote_agent":
		c = RuntimeContract{"remote_agent", "remote_http", "proposal_only", "native", false, OwnershipProposalApply}
	case "mcp":
		c = RuntimeContract{"mcp", "mcp_stdio", "tool_defined", "tool_defined", true, OwnershipToolDefined}
		if rt.Raw.String("transport") == "streamable_http" {
			c.Transport, c.RequiresLocalBinary = "mcp_streamable_http", false
		}
	}
	declared := func(key string, member *string) {
		if v := rt.capability(key); v != "" {
			*member = v
		}
	}
	declared("can_write_files", &c.CanWriteFiles)
	declared("proposal_support", &c.ProposalSupport)
	declared("workflow_artifact_ownership", &c.Ownership)
	return c
}

// WriteContract returns the contract of a role. An unknown role, authority or runtime yields unknown, which can
// neither produce nor own.
func WriteContract(c *Config, roleID string) Contract {
	r := c.Role(roleID)
	if r == nil {
		return contract(PathUnknown, OwnershipUnknown)
	}
	base := ContractOf(c.Runtimes.Value(r.RuntimeID))
	// If one side is tool-defined, the whole contract is left to the tool.
	toolDefined := base.CanWriteFiles == "tool_defined" || base.Ownership == OwnershipToolDefined
	switch r.WriteAuthority {
	case wire.Authoritative:
		switch {
		case base.CanWriteFiles == "direct":
			return contract(PathDirect, base.Ownership)
		case base.CanWriteFiles == "proposal_only":
			return contract(PathInvalidAuthoritative, OwnershipInvalid)
		case toolDefined:
			return contract(PathToolDefined, OwnershipToolDefined)
		}
	case wire.Proposed:
		switch {
		case base.Type == RuntimeManual:
			return contract(PathPatchAuthoring, OwnershipYes)
		case base.CanWriteFiles == "direct":
			return contract(PathPatchAuthoring, base.Ownership)
		case base.CanWriteFiles == "proposal_only":
			return contract(PathProposalApply, OwnershipProposalApply)
		case toolDefined:
			return contract(PathToolDefined, OwnershipToolDefined)
		}
	case wire.ReviewOnly:
		switch {
		case base.Type == RuntimeManual:
			return contract(PathPlanningOnly, OwnershipYes)
		case base.Type == "local_cli" && base.CanWriteFiles == "direct":
			return contract(PathInvalidReviewOnly, OwnershipInvalid)
		case toolDefined:
			return contract(PathToolDefined, OwnershipToolDefined)
		case base.CanWriteFiles == "direct" && base.Ownership == OwnershipYes:
			return contract(PathPlanningOnly, OwnershipYes)
		case base.CanWriteFiles == "direct", base.CanWriteFiles == "proposal_only":
			return contract(PathReviewArtifactOnly, OwnershipNo)
		}
	}
	return contract(PathUnknown, OwnershipUnknown)
}

func contract(path, ownership string) Contract {
	c := Contract{Path: path, Ownership: ownership}
	switch path {
	case PathDirect, PathPlanningOnly, PathPatchAuthoring, PathProposalApply, PathToolDefined:
		c.CanProduceFiles = true
	}
	switch ownership {
	case OwnershipYes, OwnershipProposalApply, OwnershipToolDefined:
		c.CanOwn = true
	}
	return c
}
