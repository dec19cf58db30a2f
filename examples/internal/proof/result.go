// The results of the agents of the proofs, and the files they write.

package proof

import (
	"encoding/json"
	"maps"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Result returns a valid result of a turn; change overrides or adds members.
func Result(run string, t *runner.Turn, change Map) ([]byte, error) {
	doc := Map{
		"schema_version": "1.0",
		"run_id":         run,
		"turn_id":        t.TurnID,
		"role":           t.AssignedRole,
		"runtime_id":     t.RuntimeID,
		"status":         "completed",
		"summary":        "The work of " + t.AssignedRole + " is done.",
		"decisions": []Map{{
			"id":        "DEC-001",
			"category":  "implementation",
			"statement": "Keep the first version small.",
			"rationale": "What is small can be checked as a whole.",
		}},
		"objections": []Map{{
			"id":        "OBJ-001",
			"severity":  "low",
			"statement": "Nobody has tried this on a second machine.",
			"status":    "raised",
		}},
		"files_changed":     []string{},
		"artifacts_created": []string{},
		"verification": Map{
			"status":           "pass",
			"commands":         []string{"true"},
			"evidence_summary": "The command ended with 0.",
			"machine_evidence": []Map{{"command": "true", "exit_code": 0}},
		},
		"artifact":                 Map{"type": "review", "ref": nil},
		"proposed_next_role":       "human",
		"phase_transition_request": nil,
		"run_completion_request":   nil,
		"needs_human_reason":       nil,
		"cost":                     Map{"input_tokens": 0, "output_tokens": 0, "usd": 0},
	}
	maps.Copy(doc, change)
	return json.MarshalIndent(doc, "", "  ")
}

// Work is what the agent of a role does in its turn: files, and what it asks for.
type Work struct {
	Files  map[string]string // path -> contents
	Change Map               // members of its result
}

// Lifecycle returns the work of pm, dev and qa.
func Lifecycle() map[string]Work {
	return map[string]Work{
		"pm": {map[string]string{
			".planning/PM_SIGNOFF.md": "# PM Signoff\n\nApproved: NO\n\nScope: one module that says it works.\n",
			".planning/ROADMAP.md":    "# Roadmap\n\n| Req # | Requirement |\n|-------|-------------|\n| 1 | The module reports that it works |\n",
		}, Map{
			"files_changed":            []string{".planning/PM_SIGNOFF.md", ".planning/ROADMAP.md"},
			"phase_transition_request": "implementation",
			"proposed_next_role":       "human",
		}},
		"dev": {map[string]string{
			"src/proof-output.js":               "module.exports = () => \"it works\";\n",
			".planning/IMPLEMENTATION_NOTES.md": "# Implementation Notes\n\n## Changes\n\n- src/proof-output.js reports that it works.\n\n## Verification\n\n- The declared command ends with 0.\n",
		}, Map{
			"files_changed":            []string{".planning/IMPLEMENTATION_NOTES.md", "src/proof-output.js"},
			"artifact":                 Map{"type": "workspace", "ref": "git:dirty"},
			"phase_transition_request": "qa",
			"proposed_next_role":       "qa",
		}},
		"qa": {map[string]string{
			".planning/acceptance-matrix.md": "# Acceptance Matrix\n\n| Req # | Requirement | Acceptance criteria | Test status | Last tested | Status |\n|-------|-------------|-------------------|-------------|-------------|--------|\n| 1 | It reports | The module returns its sentence | pass | today | pass |\n",
			".planning/ship-verdict.md":      "# Ship Verdict\n\n## Verdict: PENDING\n\nIt reports.\n",
			".planning/RELEASE_NOTES.md":     "# Release Notes\n\n## User Impact\n\nThere is a module that reports.\n\n## Verification Summary\n\nThe requirement was tested.\n",
		}, Map{
			"files_changed": []string{".planning/RELEASE_NOTES.md", ".planning/acceptance-matrix.md",
				".planning/ship-verdict.md"},
			"run_completion_request": true,
			"proposed_next_role":     "human",
		}},
	}
}

// Do writes the files of the work and returns the agent's result.
func (p *Project) Do(w Work, run string, t *runner.Turn) ([]byte, error) {
	for name, text := range w.Files {
		if err := p.Write(name, text); err != nil {
			return nil, err
		}
	}
	return Result(run, t, w.Change)
}
