// Conflicts: files changed by a turn and by turns accepted since it was assigned (docs/spec/observation.md#conflicts).

package result

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Suggested resolutions of a conflict.
const (
	SuggestReassign = "reject_and_reassign"
	SuggestMerge    = "human_merge"
)

// ConflictInput is a turn's changes and the history since its assignment.
type ConflictInput struct {
	Config     *config.Config
	Turn       *run.Turn
	Rows       []*ojson.Object // accepted history rows of this run, in order
	Attributed []string        // Attribution.Files
	Declared   []string        // effective files_changed
	Observed   []string        // raw observed paths
}

// ConflictFinding is the outcome; both members are nil without overlap.
type ConflictFinding struct {
	Conflict        *ojson.Object // docs/spec/observation.md#conflicts
	ForwardRevision *ojson.Object // {files, accepted_since_turn_ids, accepted_since}
}

// DetectConflict applies docs/spec/observation.md#conflicts. An overlap is a forward revision rather than a
// conflict when the same role revises a file that is its own. A file that one accepted turn only revised and
// another contends for is in conflict.
func DetectConflict(in ConflictInput) ConflictFinding {
	candidates := conflictCandidates(in)
	mine := wire.PathSet(candidates)
	contended, revised := make(map[string]bool), make(map[string]bool)
	var against, forward []overlap
	for _, row := range in.Rows {
		if !AcceptedSince(in.Turn, row) {
			continue
		}
		var theirs, own []string
		for _, path := range row.Object("observed_artifact").Strings("files_changed") {
			switch {
			case !mine[path] || slices.Contains(theirs, path) || slices.Contains(own, path):
			case row.String("role") == in.Turn.AssignedRole && ownFile(in.Config, in.Turn.AssignedRole, path):
				own = append(own, path)
				revised[path] = true
			default:
				theirs = append(theirs, path)
				contended[path] = true
			}
		}
		if len(theirs) > 0 {
			against = append(against, overlap{row, theirs})
		}
		if len(own) > 0 {
			forward = append(forward, overlap{row, own})
		}
	}
	var conflicting, rest, forwardFiles []string
	for _, path := range candidates {
		switch {
		case contended[path]:
			conflicting = append(conflicting, path)
		case revised[path]:
			forwardFiles = append(forwardFiles, path)
		default:
			rest = append(rest, path)
		}
	}
	var forwardRows []*ojson.Object
	for _, o := range forward {
		o.files = slices.DeleteFunc(o.files, func(p string) bool { return contended[p] })
		if len(o.files) > 0 {
			forwardRows = append(forwardRows, o.object())
		}
	}
	var out ConflictFinding
	if len(forwardFiles) > 0 {
		out.ForwardRevision = ojson.NewObject("files", forwardFiles, "accepted_since_turn_ids", turnIDs(forwardRows),
			"accepted_since", forwardRows)
	}
	if len(conflicting) == 0 {
		return out
	}
	var since []*ojson.Object
	for _, o := range against {
		since = append(since, o.object())
	}
	ratio := float64(len(conflicting)) / float64(len(candidates))
	suggestion := SuggestMerge
	if ratio < 0.5 {
		suggestion = SuggestReassign
	}
	out.Conflict = ojson.NewObject("type", "file_conflict",
		"conflicting_turn", ojson.NewObject("turn_id", in.Turn.TurnID, "role", in.Turn.AssignedRole,
			"attempt", in.Turn.Attempt, "files_changed", candidates),
		"accepted_since", since, "conflicting_files", conflicting, "non_conflicting_files", rest,
		"forward_revision_files", forwardFiles, "forward_revision_turns", forwardRows,
		"overlap_ratio", ratio, "suggested_resolution", suggestion)
	return out
}

// overlap is what an accepted turn has in common with the turn being judged.
type overlap struct {
	row   *ojson.Object
	files []string
}

func (o overlap) object() *ojson.Object {
	wire.SortPaths(o.files)
	seq, _ := o.row.Int("accepted_sequence")
	return ojson.NewObject("turn_id", o.row.String("turn_id"), "role", o.row.String("role"), "accepted_sequence", seq,
		"files_changed", o.files)
}

func turnIDs(rows []*ojson.Object) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.String("turn_id"))
	}
	return out
}

// conflictCandidates returns the attributed changes and those raw ones that the turn declares: declaring a
// sibling's change makes it the turn's own.
func conflictCandidates(in ConflictInput) []string {
	observed := wire.PathSet(in.Observed)
	out := slices.Clone(in.Attributed)
	for _, path := range in.Declared {
		if observed[path] {
			out = append(out, path)
		}
	}
	wire.SortPaths(out)
	return slices.Compact(out)
}

// ownFile reports whether the role may revise the file: the workflow kit names the role as its only owner, or names
// no owner and the file is a planning document of the role that plans.
func ownFile(cfg *config.Config, role, path string) bool {
	owner := ""
	for _, artifacts := range cfg.WorkflowKit.Phases.All() {
		for _, a := range artifacts {
			if a.Path != path || a.OwnedBy == "" {
				continue
			}
			if owner != "" && owner != a.OwnedBy {
				return false
			}
			owner = a.OwnedBy
		}
	}
	if owner != "" {
		return owner == role
	}
	planning := cfg.Route("planning")
	return planning != nil && planning.EntryRole == role && strings.HasPrefix(path, ".planning/")
}

// ConflictSummary returns the part of a conflict for ledger rows and events. A nil conflict gives an empty summary.
func ConflictSummary(conflict *ojson.Object) *ojson.Object {
	files := conflict.Strings("conflicting_files")
	if files == nil {
		files = []string{}
	}
	ratio, _ := conflict.Float("overlap_ratio")
	return ojson.NewObject("conflicting_files", files,
		"accepted_since_turn_ids", turnIDs(conflict.Objects("accepted_since")), "overlap_ratio", ratio)
}
