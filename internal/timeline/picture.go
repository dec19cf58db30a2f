// The picture: turns with their attempts, gates, waits, and their connections.

package timeline

import (
	"cmp"
	"time"
)

// Outcomes of an attempt, and of a turn.
const (
	Open     = "at work"
	Accepted = "accepted"
	Refused  = "refused"   // by the rules; the same attempt continues
	SentBack = "sent back" // a new attempt follows
	Conflict = "conflict"
	Stalled  = "stalled"
	Failed   = "failed" // no attempt follows
	GivenUp  = "given up"
)

// Picture is a run in the order of time.
type Picture struct {
	Run    string    `json:"run_id"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	Live   bool      `json:"live"` // something is open: End is the current time
	Phase  string    `json:"only_phase,omitempty"`
	Phases []Span    `json:"phases"`
	Turns  []Turn    `json:"turns"`
	Posts  []Post    `json:"gates"`
	Waits  []Wait    `json:"waits"`
	Alarms []Alarm   `json:"escalations"`
	Arrows []Arrow   `json:"arrows"`
}

// Span is a phase from its beginning to its end.
type Span struct {
	Name  string    `json:"phase"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// Turn is a bar of the picture.
type Turn struct {
	ID           string    `json:"turn_id"`
	Role         string    `json:"role"`
	Repo         string    `json:"repo_id,omitempty"` // in an initiative: the lane of the turn
	Phase        string    `json:"phase"`
	Outcome      string    `json:"outcome"`
	Start        time.Time `json:"start"`
	End          time.Time `json:"end"`
	Attempts     []Attempt `json:"attempts"` // its segments, at least one
	Summary      string    `json:"summary,omitempty"`
	Commit       string    `json:"checkpoint,omitempty"`
	CommittedAt  time.Time `json:"checkpointed_at,omitzero"`
	USD          float64   `json:"usd"`
	InputTokens  int64     `json:"input_tokens"`
	OutputTokens int64     `json:"output_tokens"`
}

// Attempt is the part of a turn up to an answer.
type Attempt struct {
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Outcome string    `json:"outcome"`
	Why     string    `json:"why,omitempty"`
}

// lane returns the name of the turn's lane.
func (t *Turn) lane() string { return cmp.Or(t.Repo, t.Role, "unknown role") }

// who returns the role, with the repository if there are several.
func (t *Turn) who() string {
	if t.Repo == "" {
		return t.Role
	}
	return t.Role + " in " + t.Repo
}

// retries returns how often the work on the turn began again. A result that was refused, and then sent back, is one of them.
func (t *Turn) retries() int {
	n := 0
	for i := 1; i < len(t.Attempts); i++ {
		if t.Attempts[i].Outcome != SentBack || t.Attempts[i-1].Outcome != Refused {
			n++
		}
	}
	return n
}

// Worked returns the total duration of its attempts.
func (t *Turn) Worked() (d time.Duration) {
	for _, a := range t.Attempts {
		d += a.End.Sub(a.Start)
	}
	return d
}

// Post is a gate that opened, or stayed shut.
type Post struct {
	At     time.Time `json:"at"`
	Gate   string    `json:"gate_id"`
	From   string    `json:"from_phase,omitempty"`
	To     string    `json:"to_phase,omitempty"`
	Opened bool      `json:"opened"`
	By     string    `json:"by,omitempty"`
	Why    string    `json:"why,omitempty"`
}

// Wait is a time of waiting for a person.
type Wait struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Phase string    `json:"phase"`
	For   string    `json:"for"` // approval, or what the run was blocked on
	Open  bool      `json:"open"`
}

// Alarm is an escalation or a block.
type Alarm struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

// Arrow connects two turns.
type Arrow struct {
	From string `json:"from_turn"`
	To   string `json:"to_turn"`
	Kind string `json:"kind"` // delegation, conflict, reissue
}

// Options are the options of Build.
type Options struct {
	Run   string    // skip rows of other runs; rows that name no run belong
	Phase string    // only this phase, "" for all
	Now   time.Time // the end of open items; zero: at the last row
}
