package result

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Observation is the work tree at acceptance, compared with the turn's baseline
// (docs/spec/observation.md#what-is-observed). Paths are project-relative; operational paths are left out.
type Observation struct {
	Available     bool              `json:"available"` // false outside git
	HeadRef       *string           `json:"head_ref"`
	FilesChanged  []string          `json:"files_changed"`
	Markers       ojson.Map[string] `json:"file_markers"`
	Committed     []string          `json:"committed,omitempty"` // paths that commits made during the turn change
	Since         string            `json:"since,omitempty"`     // when the baseline was taken, for a turn that was tried before
	DiffSummary   *string           `json:"diff_summary"`
	Dirty         []string          `json:"dirty"`          // every dirty project-owned path now
	UnchangedDirt []string          `json:"unchanged_dirt"` // of these, unchanged since the baseline
	Siblings      []SiblingClaim    `json:"siblings"`
}

// SiblingClaim is what a still active concurrent turn has staged.
type SiblingClaim struct {
	TurnID       string   `json:"turn_id"`
	FilesChanged []string `json:"files_changed"`
}
