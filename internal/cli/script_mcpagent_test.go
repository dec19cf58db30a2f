// An agent behind MCP for the scripts: a server made with the SDK, in a process of its own.

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpAgentFiles is what each role writes.
var mcpAgentFiles = map[string]map[string]string{
	"pm": {
		".planning/ROADMAP.md":     "# Roadmap\n\n## Phases\n\n- Phase 1: greet\n\n## Acceptance Criteria\n\n- [ ] greets\n",
		".planning/PM_SIGNOFF.md":  "Approved: YES\n\nWorth doing.\n",
		".planning/SYSTEM_SPEC.md": "# System Spec\n\n## Purpose\n\nGreet.\n\n## Interface\n\ngreet.sh NAME.\n\n## Acceptance Tests\n\n- [ ] test.sh passes\n",
	},
	"dev": {
		"src/greet.sh":                      "echo \"hello $1\"\n",
		"src/test.sh":                       "[ \"$(sh src/greet.sh Ada)\" = \"hello Ada\" ]\n",
		".planning/IMPLEMENTATION_NOTES.md": "# Implementation Notes\n\n## Changes\n\nsrc/greet.sh greets.\n\n## Verification\n\nsh src/test.sh passes.\n",
	},
	"qa": {
		".planning/acceptance-matrix.md": "# Acceptance Matrix\n\n| Req # | Requirement | Acceptance criteria | Test status | Last tested | Status |\n|---|---|---|---|---|---|\n| 1 | greet | greets | pass | today | PASS |\n",
		".planning/ship-verdict.md":      "# Ship Verdict\n\n## Verdict: YES\n\n## QA Summary\n\nWorks.\n\n## Open Blockers\n\nNone.\n",
		".planning/RELEASE_NOTES.md":     "# Release Notes\n\n## User Impact\n\nPeople are greeted.\n\n## Verification Summary\n\nsrc/test.sh was run.\n",
	},
}

// scriptMCPAgent serves agentxchain_turn on its standard streams: it does the work of the role it
// is called for and answers with the turn result. Its first answer to dev is an attempt that fails
// its own test.
func scriptMCPAgent([]string) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "script-agent", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "agentxchain_turn", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args map[string]string
			if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
				return nil, err
			}
			result, err := mcpAgentTurn(ctx, args)
			if err != nil {
				return &mcp.CallToolResult{
					IsError: true,
					Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}},
				}, nil
			}
			return &mcp.CallToolResult{StructuredContent: result}, nil
		})
	return server.Run(context.Background(), &mcp.StdioTransport{})
}

func mcpAgentTurn(ctx context.Context, args map[string]string) (map[string]any, error) {
	root, role := args["project_root"], args["role"]
	fmt.Fprintln(os.Stderr, "agent of", role, "begins")
	var changed []string
	for path, text := range mcpAgentFiles[role] {
		file := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return nil, err
		}
		changed = append(changed, path)
	}
	check := "true"
	if role != "pm" {
		check = "sh src/test.sh"
		test := exec.CommandContext(ctx, "sh", "src/test.sh")
		test.Dir = root
		if out, err := test.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("the test fails: %w: %s", err, out)
		}
	}
	var assignment struct {
		Attempt int `json:"attempt"`
	}
	data, err := os.ReadFile(args["assignment_path"])
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &assignment); err != nil {
		return nil, err
	}
	if role == "dev" && assignment.Attempt == 1 {
		return nil, fmt.Errorf("lost the thread")
	}
	result := map[string]any{
		"schema_version": "1.0",
		"run_id":         args["run_id"],
		"turn_id":        args["turn_id"],
		"role":           role,
		"runtime_id":     args["runtime_id"],
		"status":         "completed",
		"summary": role +
			" did its part over MCP",
		"decisions":         []any{},
		"artifacts_created": []any{},
		"files_changed":     changed,
		"objections": []any{map[string]any{
			"id":              "OBJ-001",
			"severity":        "low",
			"statement":       "Could be better.",
			"against_turn_id": nil,
		}},
		"verification": map[string]any{
			"status":           "pass",
			"commands":         []string{check},
			"evidence_summary": "It was run.",
			"machine_evidence": []any{map[string]any{"command": check, "exit_code": 0}},
		},
		"artifact": map[string]any{
			"type": "workspace",
			"ref":  nil,
		},
		"proposed_next_role":       "human",
		"phase_transition_request": nil,
		"run_completion_request":   nil,
		"needs_human_reason":       nil,
		"cost":                     map[string]any{"input_tokens": 1, "output_tokens": 1, "usd": 0.5},
	}
	switch role {
	case "pm":
		result["phase_transition_request"] = "implementation"
	case "dev":
		result["phase_transition_request"], result["proposed_next_role"] = "qa", "qa"
	case "qa":
		result["run_completion_request"] = true
	}
	return result, nil
}
