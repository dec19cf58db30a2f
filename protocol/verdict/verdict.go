// Chain and Step: a decision, and the rules that led to it.

package verdict

import (
	"iter"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// What a rule says.
const (
	Pass    = "pass"
	Warn    = "warn"    // the rule is broken but stops nothing
	Wait    = "wait"    // a person decides
	Fail    = "fail"    // the rule refuses
	Unknown = "unknown" // the rule's input was never recorded
)

// Outcomes of an operation.
const (
	Granted = "granted" // it was carried out
	Refused = "refused" // it was not; Code says why
)

// Chain is one decision with the rules that led to it, in the order they were asked.
type Chain struct {
	Op      string  `json:"op,omitempty"` // commit of the recorded operation, "" when none
	Kind    string  `json:"kind"`         // wire name of the operation: accept_turn
	At      string  `json:"at"`           // RFC 3339, milliseconds
	Actor   string  `json:"actor,omitempty"`
	Run     string  `json:"run,omitempty"`
	Turn    string  `json:"turn,omitempty"`
	Role    string  `json:"role,omitempty"`
	Phase   string  `json:"phase,omitempty"` // before the operation
	Outcome string  `json:"outcome"`         // Granted, Refused
	Code    string  `json:"code,omitempty"`  // of a refusal (docs/errors.md)
	Message string  `json:"message,omitempty"`
	Status  string  `json:"status,omitempty"`      // of the run afterwards
	Next    string  `json:"phase_after,omitempty"` // phase afterwards
	Steps   []*Step `json:"steps"`
}

// Step is what one rule said. A step with Steps of its own sums them up.
type Step struct {
	Rule     string     `json:"rule"`              // stable name: policy.max_total_turns
	Subject  string     `json:"subject,omitempty"` // a gate, a policy, a path
	Verdict  string     `json:"verdict"`
	Code     string     `json:"code,omitempty"`
	Why      string     `json:"why,omitempty"`
	Spec     string     `json:"spec,omitempty"`   // section: docs/spec/gates.md#policies
	Config   string     `json:"config,omitempty"` // JSON Pointer into agentxchain.json
	Line     int        `json:"line,omitempty"`   // line of Config, 0 when the configuration lacks it
	Evidence []Evidence `json:"evidence,omitempty"`
	Steps    []*Step    `json:"steps,omitempty"`
}

// Evidence is a file the rule looked at.
type Evidence struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // hex; "" for a file that did not exist
}

// Add appends a step and returns it. On nil it does nothing and returns nil, so that a decision without a trace
// costs nothing.
func (s *Step) Add(step Step) *Step {
	if s == nil {
		return nil
	}
	s.Steps = append(s.Steps, &step)
	return &step
}

// Sum sets the verdict of a step to the gravest of its own steps; a step without any passes.
func (s *Step) Sum() {
	if s == nil {
		return
	}
	s.Verdict = Pass
	for _, in := range s.Steps {
		if gravity(in.Verdict) > gravity(s.Verdict) {
			s.Verdict = in.Verdict
		}
	}
}

func gravity(verdict string) int {
	switch verdict {
	case Warn:
		return 1
	case Wait:
		return 2
	case Unknown:
		return 3
	case Fail:
		return 4
	}
	return 0
}

// Leaf is a step with its enclosing steps, outermost first.
type Leaf struct {
	*Step
	Path []*Step
}

// All yields every step, each before the steps inside it.
func (c *Chain) All() iter.Seq[Leaf] {
	return func(yield func(Leaf) bool) {
		var walk func(steps, path []*Step) bool
		walk = func(steps, path []*Step) bool {
			for _, s := range steps {
				if !yield(Leaf{s, path}) || !walk(s.Steps, append(slices.Clip(path), s)) {
					return false
				}
			}
			return true
		}
		if c != nil {
			walk(c.Steps, nil)
		}
	}
}

// Decisive returns the innermost step that refuses, nil when none does.
func (c *Chain) Decisive() *Step {
	var found *Step
	for steps := c.Steps; ; steps = found.Steps {
		var in *Step
		for _, s := range steps {
			if s.Verdict == Fail {
				in = s
			}
		}
		if in == nil {
			return found
		}
		found = in
	}
}

// Object returns the chain as --json and the dashboard's API show it.
func (c *Chain) Object() *ojson.Object { return ojson.Marshal(c) }

// Undecided returns the innermost step whose input was never recorded, or nil.
func (c *Chain) Undecided() *Step {
	var found *Step
	for l := range c.All() {
		if l.Verdict == Unknown {
			found = l.Step
		}
	}
	return found
}
