// What a gate ends (a phase or the run), and the gate that waits for a person.

package run

import "cmp"

const (
	GatePhase      = "phase_transition"
	GateCompletion = "run_completion"
)

// Waiting is the request for which a run waits for a person at a gate.
type Waiting struct {
	Type     string // GatePhase or GateCompletion
	Gate     string
	From, To string // phases; To is "" for a completion
	By, At   string // the turn that asked, and when; "" where the state does not say
}

// Waiting returns the request for which the run waits for a person, nil where it does not wait. A state with
// requests of both kinds, which other writers can make, waits with the phase first.
func (s *State) Waiting() *Waiting {
	if p := s.PendingPhaseTransition; p != nil {
		return &Waiting{
			Type: GatePhase,
			Gate: p.Gate,
			From: cmp.Or(p.From, s.Phase),
			To:   p.To,
			By:   p.RequestedByTurn,
			At:   p.RequestedAt,
		}
	}
	if p := s.PendingRunCompletion; p != nil {
		return &Waiting{Type: GateCompletion, Gate: p.Gate, From: s.Phase, By: p.RequestedByTurn, At: p.RequestedAt}
	}
	return nil
}

// HasPending reports whether a gate waits for a person.
func HasPending(s *State) bool {
	return s.PendingPhaseTransition != nil || s.PendingRunCompletion != nil
}

// PendingGate returns the gate that waits for a person, or "".
func PendingGate(s *State) string {
	if w := s.Waiting(); w != nil {
		return w.Gate
	}
	return ""
}
