// The coordinator's configuration agentxchain-multi.json: types and decoding (docs/coordinator.md#the-configuration).

package initiative

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ConfigFile is the name of the coordinator's configuration in the workspace.
const ConfigFile = "agentxchain-multi.json"

// Schema is the version of the configuration and of state.json.
const Schema = "0.1"

// MaxConfigBytes is larger than any realistic configuration.
const MaxConfigBytes = 4 << 20

// Barrier types (docs/coordinator.md#barriers).
const (
	AllReposAccepted   = "all_repos_accepted"
	InterfaceAlignment = "interface_alignment"
	NamedDecisions     = "named_decisions"
	OrderedSequence    = "ordered_repo_sequence"
	SharedHumanGate    = "shared_human_gate"
)

// barrierTypes lists the barrier types for messages.
func barrierTypes() []string {
	return []string{AllReposAccepted, InterfaceAlignment, NamedDecisions, OrderedSequence, SharedHumanGate}
}

// Config is a decoded configuration. Names keep their order of declaration:
// workstreams are offered, and phases follow each other, in that order.
type Config struct {
	Raw         *ojson.Object // the document, unknown members included
	ProjectID   string
	ProjectName string
	Repos       ojson.Map[*Repo]
	Workstreams ojson.Map[*Workstream]
	Routing     ojson.Map[*Route]
	Gates       ojson.Map[*Gate]
	Hooks       *ojson.Object     // nil when there are none
	Authority   *config.Authority // who passes the gates; nil: any person
	// branch whose signers and authority count, "" when none is protected
	ProtectedBranch string
}

// Repo is a declared repository.
type Repo struct {
	ID            string
	Path          string // as written, trimmed; relative to the workspace
	DefaultBranch string // informational, "main" unless declared
	Required      bool   // true unless declared false
	Remote        string // address of its server, read when Path is missing; "" for none
}

// Workstream is a part of the initiative that one or more repositories work on.
type Workstream struct {
	ID        string
	Phase     string
	Repos     []string
	EntryRepo string
	DependsOn []string // each once
	Barrier   string   // one of the barrier types
	// Decisions are the decision ids that each repository must accept: repo -> [DEC-n]. Nil unless the barrier is
	// about decisions.
	Decisions *ojson.Map[[]string]
}

// Route is the entry of a phase in routing.
type Route struct {
	EntryWorkstream string // "" for none
}

// Gate is a declared gate; only initiative_ship has a meaning.
type Gate struct {
	RequiresHumanApproval bool
	RequiresRepos         []string
	Declared              bool // requires_repos was given
}

// Decode reads the bytes of agentxchain-multi.json.
//
// The error is invalid_json when data is not one JSON document and invalid_coordinator_config when it is not an
// object. Otherwise the Config is filled as far as the document allows and the Problems list all findings in the
// order of docs/coordinator.md#the-configuration; it may coordinate a run only when there are none.
func Decode(data []byte) (*Config, wire.Problems, *wire.Error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: MaxConfigBytes})
	if err != nil {
		e := &wire.Error{
			Code:    wire.CodeInvalidJSON,
			Field:   ConfigFile,
			Message: ConfigFile + " is not valid JSON: " + err.Error(),
			Hint:    "correct that line of " + ConfigFile,
		}
		if syntax, ok := errors.AsType[*ojson.SyntaxError](err); ok {
			e.Details = ojson.NewObject("line", syntax.Line, "offset", syntax.Offset)
		}
		return nil, nil, e
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, nil, &wire.Error{Code: CodeInvalidConfig, Field: ConfigFile,
			Message: ConfigFile + " must hold a JSON object, not " + ojson.TypeName(v)}
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
	d.repos()
	d.workstreams()
	d.routing()
	d.gates()
	d.hooks()
	d.authority()
	return d.cfg, d.problems
}

// ConfigError turns findings into the refusal shown to a person; nil when there
// are none. The code is workstream_cycle when that is the first finding, else
// invalid_coordinator_config.
func ConfigError(p wire.Problems) *wire.Error {
	if len(p) == 0 {
		return nil
	}
	e := &wire.Error{
		Code:     CodeInvalidConfig,
		Field:    p[0].Field,
		Problems: p,
		Message:  ConfigFile + ": " + p[0].Message,
		Hint:     "correct " + ConfigFile,
	}
	if p[0].Code == problemCycle {
		e.Code = CodeWorkstreamCycle
	}
	if n := len(p) - 1; n > 0 {
		e.Message += fmt.Sprintf(" (%d in all)", n+1)
	}
	return e
}

// Lines returns findings as the protocol spells them: "code: message".
func Lines(p wire.Problems) []string {
	out := make([]string, len(p))
	for i := range p {
		out[i] = p[i].Code + ": " + p[i].Message
	}
	return out
}

// Repo returns the declared repository of that name, or nil.
func (c *Config) Repo(id string) *Repo { r, _ := c.Repos.Get(id); return r }

// Workstream returns the declared workstream of that name, or nil.
func (c *Config) Workstream(id string) *Workstream { w, _ := c.Workstreams.Get(id); return w }

// Phases returns the phases in order: those of routing, or those of the
// workstreams as they are declared.
func (c *Config) Phases() []string {
	if keys := c.Routing.Keys(); len(keys) > 0 {
		return keys
	}
	var out []string
	for _, w := range c.Workstreams.All() {
		if !slices.Contains(out, w.Phase) {
			out = append(out, w.Phase)
		}
	}
	return out
}

// NextPhase returns the phase after p, "" when p is the last one or unknown.
func (c *Config) NextPhase(p string) string {
	phases := c.Phases()
	if i := slices.Index(phases, p); i >= 0 && i+1 < len(phases) {
		return phases[i+1]
	}
	return ""
}

// PhaseWorkstreams returns the workstreams of a phase in working order: the phase's entry workstream, then the
// others as declared.
func (c *Config) PhaseWorkstreams(phase string) []*Workstream {
	var out []*Workstream
	for _, w := range c.Workstreams.All() {
		if w.Phase == phase {
			out = append(out, w)
		}
	}
	if r, _ := c.Routing.Get(phase); r != nil && r.EntryWorkstream != "" {
		if i := slices.IndexFunc(out, func(w *Workstream) bool { return w.ID == r.EntryWorkstream }); i > 0 {
			entry := out[i]
			copy(out[1:i+1], out[:i])
			out[0] = entry
		}
	}
	return out
}

// decisionMap returns the decision_ids_by_repo of a workstream as an object; nil when its barrier is not about
// decisions.
func (w *Workstream) decisionMap() *ojson.Object {
	if w.Decisions == nil {
		return nil
	}
	out := ojson.NewObject()
	for repo, ids := range w.Decisions.All() {
		out.Set(repo, ids)
	}
	return out
}
