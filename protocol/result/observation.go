package result

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Observation is the work tree at acceptance, compared with the turn's baseline
// (docs/spec/observation.md#what-is-observed). Paths are project-relative; operational paths are excluded.
type Observation struct {
	Available    bool              `json:"available"` // false outside git
	HeadRef      *string           `json:"head_ref"`
	FilesChanged []string          `json:"files_changed"`
	Markers      ojson.Map[string] `json:"file_markers"`
	Committed    []string          `json:"committed,omitempty"` // paths changed by commits made during the turn
	// what the remote's branches brought meanwhile, not the turn's work
	Pulled []Pulled `json:"pulled,omitempty"`
	// the pulled commit to compare with instead of the baseline's
	ComparedWith string `json:"compared_with,omitempty"`
	// when the baseline was taken, for a turn that was tried before
	Since         string         `json:"since,omitempty"`
	DiffSummary   *string        `json:"diff_summary"`
	Dirty         []string       `json:"dirty"`          // every dirty project-owned path now
	UnchangedDirt []string       `json:"unchanged_dirt"` // of these, unchanged since the baseline
	Siblings      []SiblingClaim `json:"siblings"`
}

// Pulled is what one branch of a remote brought while the turn was active
// (docs/spec/observation.md#commits-that-were-pulled).
type Pulled struct {
	Remote  string         `json:"remote"`
	Branch  string         `json:"branch"`
	Head    string         `json:"head"`           // the newest commit of the branch that was pulled
	Commits []PulledCommit `json:"commits"`        // newest first
	Files   []string       `json:"files"`          // attributed to the branch, sorted
	More    bool           `json:"more,omitempty"` // there are more commits
}

// PulledCommit is one commit of Pulled.
type PulledCommit struct {
	Commit  string `json:"commit"`
	Author  string `json:"author"` // name and address
	Subject string `json:"subject"`
}

// SiblingClaim is what a still active concurrent turn has staged.
type SiblingClaim struct {
	TurnID       string   `json:"turn_id"`
	FilesChanged []string `json:"files_changed"`
}
