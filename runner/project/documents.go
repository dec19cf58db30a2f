// The governed documents checked on their own: configuration, state, admission.

package project

import (
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"slices"
)

// maxDocumentBytes bounds agentxchain.json and state.json.
const maxDocumentBytes = 64 << 20

// Documents is the result of Check. Unlike a View it goes on after the first mistake, so that a
// person sees all of them at once.
type Documents struct {
	Config         *config.Config // nil when ConfigErr is set
	ConfigErr      error          // agentxchain.json cannot be read or is not a JSON object
	ConfigProblems wire.Problems
	ConfigWarnings wire.Problems             // what a valid configuration will not do; nil with problems
	Admission      []config.AdmissionFinding // gates the configuration can never pass; nil with problems

	State         *run.State // repaired; nil when absent or StateErr is set
	StateErr      error      // state.json cannot be read or decoded
	StateProblems wire.Problems
	StateNotes    []string // what was repaired in reading it
}

// Valid reports whether both documents may govern a run.
func (d *Documents) Valid() bool {
	return d.ConfigErr == nil && d.StateErr == nil && len(d.ConfigProblems) == 0 && len(d.StateProblems) == 0
}

// Check reads agentxchain.json and state.json of the project in dir and lists everything wrong with them
// (docs/spec/configuration.md; docs/spec/configuration.md#admission). It takes no lock and compares nothing with the
// record; a view does that.
func Check(dir string) *Documents {
	d := &Documents{}
	data, err := projectfile.Read(dir, wire.ConfigPath, maxDocumentBytes)
	switch {
	case err != nil:
		d.ConfigErr = err
	case data == nil:
		d.ConfigErr = &wire.Error{
			Code:    wire.CodeInvalidConfig,
			Field:   wire.ConfigPath,
			Message: wire.ConfigPath + " is not there.",
			Hint:    "git agentxchain init",
		}
	default:
		d.Config, d.ConfigProblems, d.ConfigErr = config.Decode(data)
	}
	if d.Config != nil && len(d.ConfigProblems) == 0 {
		// With an invalid configuration the findings would be about what is missing from it, not
		// about its gates.
		d.Admission = config.Admission(d.Config)
		d.ConfigWarnings = slices.Concat(config.NotificationWarnings(d.Config), config.BindingWarnings(d.Config),
			misspelt(d.Config.Raw))
	}
	data, err = projectfile.Read(dir, string(wire.DocState), maxDocumentBytes)
	if err != nil {
		d.StateErr = err
		return d
	}
	if data == nil {
		return d
	}
	s, refusal := run.DecodeState(data)
	if refusal != nil {
		d.StateErr = refusal
		return d
	}
	d.State, d.StateNotes = run.RepairState(s, d.Config)
	d.StateProblems = run.CheckState(d.State)
	if d.Config != nil && len(d.ConfigProblems) == 0 {
		d.StateProblems = append(d.StateProblems, agree(d.State, d.Config)...)
	}
	return d
}

// agree lists names in the state that the configuration does not know: the configuration was
// changed under a run that still uses them.
func agree(s *run.State, c *config.Config) wire.Problems {
	var out wire.Problems
	add := func(field, value, what string) {
		out = append(out, wire.Problem{
			Code:    wire.CodeInvalidState,
			Field:   field,
			Value:   value,
			Message: field + " is " + what + ", which " + wire.ConfigPath + " does not define",
		})
	}
	if s.RunID == nil || s.Status.Ended() {
		return nil // the next run begins in a phase of this configuration; an ended one may have had another
	}
	if c.Routing.Len() > 0 && c.Route(s.Phase) == nil {
		add("phase", s.Phase, "phase "+s.Phase)
	}
	for id, t := range s.ActiveTurns.All() {
		if t == nil {
			continue
		}
		if c.Role(t.AssignedRole) == nil {
			add("active_turns."+id+".assigned_role", t.AssignedRole, "role "+t.AssignedRole)
		}
		if !c.Runtimes.Has(t.RuntimeID) {
			add("active_turns."+id+".runtime_id", t.RuntimeID, "runtime "+t.RuntimeID)
		}
	}
	return out
}
