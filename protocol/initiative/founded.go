// Whether a state and barriers that came from elsewhere follow from their history
// (docs/coordinator.md#on-another-machine).

package initiative

import (
	"bytes"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Unfounded says which claim of an initiative's documents its history does not support, "" for none: files holds
// the documents by path. A barrier is satisfied by acceptances in the history; a phase is entered, and the
// initiative completed or abandoned, by a row that says so.
func Unfounded(files map[string][]byte, superRun string) string {
	doc, err := ojson.DecodeObject(files[StatePath])
	if err != nil {
		return "its state cannot be read"
	}
	state, e := DecodeState(doc)
	if e != nil {
		return e.Message
	}
	cfg, _, e := Decode(files[ConfigFile])
	if e != nil {
		return "its " + ConfigFile + " cannot be read"
	}
	barriers, err := ojson.DecodeObject(files[BarriersPath])
	if err != nil && files[BarriersPath] != nil {
		return "its barriers cannot be read"
	}
	var rows []*ojson.Object
	for line := range bytes.Lines(files[HistoryPath]) {
		if row, err := ojson.DecodeObject(bytes.TrimSpace(line)); err == nil {
			rows = append(rows, row)
		}
	}
	h := NewHistory(rows, superRun)
	list, _ := DecodeBarriers(barriers)
	for _, b := range list.All() {
		if b.Status == Pending || cfg.Workstream(b.Workstream) == nil {
			continue
		}
		anew := *b
		anew.Status, anew.Satisfied = Pending, nil
		status, _ := anew.Evaluate(cfg, h)
		founded := status == b.Status || status == Satisfied
		if b.Type == SharedHumanGate {
			// A person satisfies it with the gate of its phase.
			founded = b.Status != Satisfied || h.passed(cfg.Workstream(b.Workstream).Phase)
		}
		if !founded && slices.Contains(barrierTypes(), b.Type) {
			return "barrier " + b.ID + " is " + b.Status + ", and no acceptance in the history makes it so"
		}
	}
	phases := cfg.Phases()
	if !slices.Contains(phases, state.Phase) {
		return "it is in phase " + state.Phase + ", which its " + ConfigFile + " does not have"
	}
	if slices.Index(phases, state.Phase) != 0 && !h.entered(state.Phase) {
		return "it is in phase " + state.Phase + ", and no row of the history approves that"
	}
	if state.Status == StatusCompleted && !h.has(rowFinishApproved, "", "") {
		return "it is complete, and no row of the history completes it"
	}
	if state.Abandoned() && !h.has(rowAbandoned, "", "") {
		return "it is abandoned, and no row of the history abandons it"
	}
	return ""
}

// entered reports whether a person approved the way into a phase.
func (h *History) entered(phase string) bool { return h.has(rowPhaseApproved, "to", phase) }

// passed reports whether a person approved the way out of a phase.
func (h *History) passed(phase string) bool {
	return h.has(rowPhaseApproved, "from", phase) || h.has(rowFinishApproved, "", "")
}

func (h *History) has(kind, member, value string) bool {
	return slices.ContainsFunc(h.rows, func(row *ojson.Object) bool {
		return row.String("type") == kind && (member == "" || row.String(member) == value)
	})
}
