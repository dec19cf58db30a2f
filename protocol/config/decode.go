// Decoding of agentxchain.json: entry points and the order of the checks (docs/spec/configuration.md).

package config

import (
	"errors"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ConfigFile is the name of the governed configuration in the project root.
const ConfigFile = "agentxchain.json"

// Decode reads the bytes of agentxchain.json.
//
// The error is a *Error: invalid_json when data is not one JSON document, invalid_config when that document is not
// an object. In every other case the Config is filled as far as the document allows (a member of the wrong type
// reads as absent) and Problems lists all findings in the order of docs/spec/README.md §1.3-1.12; the configuration
// may govern a run only when there are none.
func Decode(data []byte) (*Config, wire.Problems, error) {
	v, err := ojson.Decode(data)
	if err != nil {
		e := &wire.Error{
			Code:    wire.CodeInvalidJSON,
			Field:   ConfigFile,
			Message: ConfigFile + " is not valid JSON: " + err.Error(),
			Hint:    "correct that line, then run: git agentxchain validate",
		}
		if syntax, ok := errors.AsType[*ojson.SyntaxError](err); ok {
			e.Details = ojson.NewObject("line", syntax.Line, "offset", syntax.Offset)
		}
		return nil, nil, e
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, nil, &wire.Error{Code: wire.CodeInvalidConfig, Field: ConfigFile,
			Message: ConfigFile + " must hold a JSON object, not " + ojson.TypeName(v),
			Hint:    "git agentxchain init writes a working configuration"}
	}
	cfg, problems := DecodeObject(o)
	return cfg, problems, nil
}

// DecodeObject is like Decode for a document that is already decoded. The Config keeps o as Raw; neither may be
// modified afterwards.
func DecodeObject(o *ojson.Object) (*Config, wire.Problems) {
	d := &decoder{cfg: &Config{Raw: o}}
	d.version()
	d.project()
	d.roles()
	d.runtimes()
	d.bindings()
	d.routing()
	d.gates()
	d.hooks()
	d.notifications()
	d.schedules()
	d.budget()
	d.policies()
	d.approvalPolicy()
	d.authority()
	d.timeouts()
	d.workflowKit()
	d.rules()
	d.runLoop()
	d.coverageModes()
	d.prompts()
	d.gitHooks()
	if d.legacy {
		// Every other finding would only say that version 3 is not version 4.
		d.problems = d.problems[:1]
	}
	return d.cfg, d.problems
}

// Refusal turns findings into the refusal shown to a person (code
// invalid_config); nil when there are none.
func Refusal(p wire.Problems) *wire.Error {
	if len(p) == 0 {
		return nil
	}
	e := &wire.Error{
		Code:     wire.CodeInvalidConfig,
		Field:    p[0].Field,
		Problems: p,
		Message:  ConfigFile + ": " + p[0].Message,
		Hint:     "correct " + ConfigFile + ", then run: git agentxchain validate",
	}
	if n := len(p) - 1; n == 1 {
		e.Message += " (and 1 more problem)"
	} else if n > 1 {
		e.Message += fmt.Sprintf(" (and %d more problems)", n)
	}
	if p[0].Code == ProblemLegacyConfig {
		e.Hint = "git agentxchain init writes a governed configuration; keep the old file for reference"
	}
	return e
}

// WithoutDefaultKit returns a copy whose workflow kit is empty unless the
// document declares one. Conformance fixtures are judged this way (docs/spec/gates.md#what-a-gate-looks-at).
func (c *Config) WithoutDefaultKit() *Config {
	out := *c
	if !out.WorkflowKit.Explicit {
		out.WorkflowKit = WorkflowKit{}
	}
	return &out
}
