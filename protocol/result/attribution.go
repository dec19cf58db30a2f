// Attribution separates a turn's changes from those of concurrent turns
// (docs/spec/observation.md#concurrent-turns).

package result

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// AttributionInput is the observed work tree and the turns that may have changed it.
type AttributionInput struct {
	Turn     *run.Turn
	Active   *ojson.Map[*run.Turn] // the run's active turns, including this one
	Rows     []*ojson.Object       // accepted history rows of this run, at least those since the assignment
	Observed []string              // changed paths
	Markers  *ojson.Map[string]    // path -> fingerprint
	Declared []string              // effective files_changed of the turn
	Siblings []SiblingClaim        // what active turns have staged
}

// Attribution is the outcome.
type Attribution struct {
	Files         []string       // observed paths that are this turn's, in the order observed
	Siblings      []string       // observed paths left to siblings, sorted: attributed_to_concurrent_siblings
	Pending       []SiblingClaim // claims of siblings that are still active
	AcceptedFiles []string       // observed files of siblings accepted since the assignment
	Unaccepted    bool           // a concurrent sibling is still active
}

// Attribute applies docs/spec/observation.md#concurrent-turns. A path belongs to an accepted sibling only with the
// exact contents it was accepted with, and to a pending sibling only when the sibling declared it and this turn did
// not.
func Attribute(in AttributionInput) Attribution {
	var out Attribution
	markers := make(map[string][]string) // path -> fingerprints that accepted siblings left
	for _, row := range in.Rows {
		if !AcceptedSince(in.Turn, row) || !ConcurrentRow(in.Turn, row) {
			continue
		}
		observed := row.Object("observed_artifact")
		out.AcceptedFiles = append(out.AcceptedFiles, observed.Strings("files_changed")...)
		for path := range observed.Object("file_markers").All() {
			if m := observed.Object("file_markers").String(path); m != "" {
				markers[path] = append(markers[path], m)
			}
		}
	}
	pending := make(map[string]bool)
	concurrent := concurrentActive(in.Turn, in.Active)
	out.Unaccepted = len(concurrent) > 0
	for _, claim := range in.Siblings {
		if !slices.Contains(concurrent, claim.TurnID) {
			continue
		}
		out.Pending = append(out.Pending, claim)
		for _, path := range claim.FilesChanged {
			pending[path] = true
		}
	}
	declared := wire.PathSet(in.Declared)
	for _, path := range in.Observed {
		marker := ""
		if in.Markers != nil {
			marker, _ = in.Markers.Get(path)
		}
		if marker != "" && slices.Contains(markers[path], marker) || pending[path] && !declared[path] {
			out.Siblings = append(out.Siblings, path)
		} else {
			out.Files = append(out.Files, path)
		}
	}
	wire.SortPaths(out.Siblings)
	return out
}

// AcceptedSince reports whether the row is a turn of the same run that was accepted after turn was assigned.
// Reissued rows were never accepted, and the row that turn was reissued from is its own earlier life.
func AcceptedSince(turn *run.Turn, row *ojson.Object) bool {
	id, run := row.String("turn_id"), row.String("run_id")
	if id == turn.TurnID || turn.ReissuedFrom != "" && id == turn.ReissuedFrom || row.String("status") == "reissued" {
		return false
	}
	if run != "" && turn.RunID != "" && run != turn.RunID {
		return false
	}
	seq, ok := row.Int("accepted_sequence")
	return ok && seq > turn.AssignedSequence
}

// ConcurrentRow reports whether the accepted turn and turn were active together.
func ConcurrentRow(turn *run.Turn, row *ojson.Object) bool {
	return slices.Contains(turn.ConcurrentWith, row.String("turn_id")) ||
		slices.Contains(row.Strings("concurrent_with"), turn.TurnID)
}

// concurrentActive lists the active turns that work concurrently with turn.
func concurrentActive(turn *run.Turn, active *ojson.Map[*run.Turn]) []string {
	var out []string
	if active == nil {
		return nil
	}
	for id, other := range active.All() {
		if id == turn.TurnID || other == nil {
			continue
		}
		if slices.Contains(turn.ConcurrentWith, id) || slices.Contains(other.ConcurrentWith, turn.TurnID) {
			out = append(out, id)
		}
	}
	return out
}
