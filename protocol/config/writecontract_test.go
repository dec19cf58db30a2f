// Tests of the write contract against the matrix of docs/spec/configuration.md#admission.

package config

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func cfgContract(authority, runtimeType, canWrite, ownership string) Contract {
	caps := &ojson.Object{}
	if canWrite != "" {
		caps.Set("can_write_files", canWrite)
	}
	if ownership != "" {
		caps.Set("workflow_artifact_ownership", ownership)
	}
	c := &Config{}
	c.Roles.Set("r", &Role{ID: "r", WriteAuthority: authority, RuntimeID: "rt"})
	c.Runtimes.Set("rt", &Runtime{
		ID:   "rt",
		Type: runtimeType,
		Raw:  ojson.NewObject("type", runtimeType, "capabilities", caps),
	})
	return WriteContract(c, "r")
}

func TestWriteContractMatrix(t *testing.T) {
	for _, tc := range []struct {
		authority, runtime, canWrite, ownership string
		want                                    Contract
	}{
		{wire.Authoritative, "manual", "", "", Contract{"direct", "yes", true, true}},
		{wire.Authoritative, "local_cli", "", "", Contract{"direct", "yes", true, true}},
		{wire.Authoritative, "api_proxy", "", "", Contract{"invalid_authoritative_binding", "invalid", false, false}},
		{wire.Authoritative, "remote_agent", "", "",
			Contract{"invalid_authoritative_binding", "invalid", false, false}},
		{wire.Authoritative, "mcp", "", "", Contract{"tool_defined", "tool_defined", true, true}},
		{wire.Proposed, "manual", "", "", Contract{"patch_authoring", "yes", true, true}},
		{wire.Proposed, "local_cli", "", "", Contract{"patch_authoring", "yes", true, true}},
		{wire.Proposed, "api_proxy", "", "",
			Contract{"proposal_apply_required", "proposal_apply_required", true, true}},
		{wire.Proposed, "remote_agent", "", "",
			Contract{"proposal_apply_required", "proposal_apply_required", true, true}},
		{wire.Proposed, "mcp", "", "", Contract{"tool_defined", "tool_defined", true, true}},
		{wire.ReviewOnly, "manual", "", "", Contract{"planning_only", "yes", true, true}},
		{wire.ReviewOnly, "local_cli", "", "", Contract{"invalid_review_only_binding", "invalid", false, false}},
		{wire.ReviewOnly, "api_proxy", "", "", Contract{"review_artifact_only", "no", false, false}},
		{wire.ReviewOnly, "remote_agent", "", "", Contract{"review_artifact_only", "no", false, false}},
		{wire.ReviewOnly, "mcp", "", "", Contract{"tool_defined", "tool_defined", true, true}},

		// Declared capabilities change the base.
		{wire.Authoritative, "api_proxy", "direct", "", Contract{"direct", "proposal_apply_required", true, true}},
		{wire.Authoritative, "local_cli", "proposal_only", "",
			Contract{"invalid_authoritative_binding", "invalid", false, false}},
		{wire.Authoritative, "local_cli", "", "no", Contract{"direct", "no", true, false}},
		{wire.Authoritative, "manual", "unknown", "", Contract{"unknown", "unknown", false, false}},
		{wire.Authoritative, "mcp", "unknown", "", Contract{"tool_defined", "tool_defined", true, true}},
		{wire.Proposed, "manual", "unknown", "no", Contract{"patch_authoring", "yes", true, true}},
		{wire.Proposed, "local_cli", "proposal_only", "",
			Contract{"proposal_apply_required", "proposal_apply_required", true, true}},
		{wire.Proposed, "remote_agent", "direct", "no", Contract{"patch_authoring", "no", true, false}},
		{wire.ReviewOnly, "local_cli", "proposal_only", "", Contract{"review_artifact_only", "no", false, false}},
		{wire.ReviewOnly, "local_cli", "direct", "tool_defined",
			Contract{"invalid_review_only_binding", "invalid", false, false}},
		{wire.ReviewOnly, "api_proxy", "", "tool_defined", Contract{"tool_defined", "tool_defined", true, true}},
		{wire.ReviewOnly, "api_proxy", "direct", "yes", Contract{"planning_only", "yes", true, true}},
		{wire.ReviewOnly, "api_proxy", "direct", "no", Contract{"review_artifact_only", "no", false, false}},

		// What is unknown can do nothing.
		{"", "manual", "", "", Contract{"unknown", "unknown", false, false}},
		{"owner", "mcp", "", "", Contract{"unknown", "unknown", false, false}},
		{wire.Authoritative, "robot", "", "", Contract{"unknown", "unknown", false, false}},
	} {
		if got := cfgContract(tc.authority, tc.runtime, tc.canWrite, tc.ownership); got != tc.want {
			t.Errorf("%s on %s (%q, %q): %+v, want %+v", tc.authority, tc.runtime, tc.canWrite, tc.ownership, got,
				tc.want)
		}
	}
	if got := WriteContract(&Config{}, "nobody"); got != (Contract{Path: PathUnknown, Ownership: OwnershipUnknown}) {
		t.Errorf("unknown role: %+v", got)
	}
	c := &Config{}
	c.Roles.Set("r", &Role{ID: "r", WriteAuthority: wire.Authoritative, RuntimeID: "gone", RuntimeType: RuntimeManual})
	if got := WriteContract(c, "r"); got.CanProduceFiles || got.CanOwn {
		t.Errorf("undeclared runtime: %+v", got)
	}
}

func TestContractOf(t *testing.T) {
	for _, tc := range []struct {
		rt   *Runtime
		want RuntimeContract
	}{
		{nil, RuntimeContract{"unknown", "unknown", "unknown", "unknown", false, "unknown"}},
		{&Runtime{Type: "manual"}, RuntimeContract{"manual", "manual", "direct", "none", false, "yes"}},
		{&Runtime{Type: "mcp"}, RuntimeContract{"mcp", "mcp_stdio", "tool_defined", "tool_defined", true,
			"tool_defined"}},
		{&Runtime{Type: "mcp", Raw: ojson.NewObject("transport", "streamable_http")},
			RuntimeContract{"mcp", "mcp_streamable_http", "tool_defined", "tool_defined", false, "tool_defined"}},
		{&Runtime{
			Type: "local_cli",
			Raw:  ojson.NewObject("capabilities", ojson.NewObject("proposal_support", "none")),
		},
			RuntimeContract{"local_cli", "local_cli", "direct", "none", true, "yes"}},
	} {
		if got := ContractOf(tc.rt); got != tc.want {
			t.Errorf("%+v: %+v", tc.rt, got)
		}
	}
}
