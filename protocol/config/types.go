// The types of a decoded agentxchain.json (docs/spec/configuration.md). decode.go decodes and validates.

package config

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Config is a governed configuration, normalised. Raw is the document as read: it is written back, and status
// --json takes unknown members from it.
type Config struct {
	Raw *ojson.Object

	Template       string
	Project        Project
	Roles          ojson.Map[*Role]
	Runtimes       ojson.Map[*Runtime]
	Routing        ojson.Map[*Route] // key order is phase order
	Gates          ojson.Map[*Gate]
	Hooks          *ojson.Object // phase -> hook list, as read
	Notifications  *ojson.Object
	Schedules      *ojson.Object // schedule id -> schedule, as read
	Budget         *Budget
	Policies       []Policy
	ApprovalPolicy *ApprovalPolicy
	Authority      *Authority // nil: any person may approve, and a turn may write a sign-off
	Timeouts       *Timeouts
	WorkflowKit    WorkflowKit
	Rules          Rules
	RunLoop        RunLoop
	Prompts        ojson.Map[string] // role -> project-relative path

	// Protected are patterns of paths that no commit may touch (git_hooks.protected).
	Protected []string
	// ProtectedBranches are patterns of branches that no push may overwrite (git_hooks.protected_branches); nil
	// means the default branch.
	ProtectedBranches []string
	// RequireTurn are patterns of branches on which every commit that changes the
	// product names its turn (git_hooks.require_turn).
	RequireTurn []string

	GateCoverageMode   string // gate_semantic_coverage_mode; "" means strict
	IntentCoverageMode string // intent_coverage_mode; "" when absent
}

// Project identifies the governed project.
type Project struct {
	ID            string
	Name          string
	Goal          string // "" when absent
	DefaultBranch string // default main
}

// Role is one role with its authority and the runtime it is bound to.
type Role struct {
	ID                string
	Title             string
	Mandate           string
	WriteAuthority    string // authoritative, proposed, review_only; "" when unknown
	DecisionAuthority *int   // 0..99; nil: the role takes no part in authority checks
	RuntimeID         string
	RuntimeType       string // the runtime's type, manual when undeclared
	Raw               *ojson.Object
}

// Runtime is one declared runtime; Raw keeps the type-specific members.
type Runtime struct {
	ID   string
	Type string // manual, local_cli, api_proxy, mcp, remote_agent
	Raw  *ojson.Object
}

// Route is one phase.
type Route struct {
	Phase              string
	EntryRole          string // "" when absent
	AllowedNextRoles   []string
	ExitGate           string // "" when absent
	MaxConcurrentTurns int    // 1..4, default 1
	TimeoutMinutes     *float64
	TimeoutAction      string // "", escalate, warn, skip_phase
	Raw                *ojson.Object
}

// Gate is the definition of an exit gate.
type Gate struct {
	ID             string
	RequiresFiles  []string // project-relative, cleaned
	RequiresVerify bool
	RequiresHuman  bool
	Credentialed   bool
	Actions        []GateAction
	Raw            *ojson.Object
}

// GateAction is a command that runs when a person approves (docs/spec/gates.md#gate-actions).
type GateAction struct {
	Run       string
	Label     string // "" when absent
	TimeoutMS int    // default 900000
}

// Budget limits in US dollars; nil is unlimited.
type Budget struct {
	PerTurnMaxUSD *float64
	PerRunMaxUSD  *float64
	OnExceed      string // pause_and_escalate (default), warn
	CostRates     ojson.Map[CostRate]
}

// CostRate is the price of a model, in US dollars per million tokens.
type CostRate struct {
	InputPer1M, OutputPer1M float64
}

// Policy is one acceptance policy (docs/spec/gates.md#policies).
type Policy struct {
	ID      string
	Rule    string
	Action  string // block, warn, escalate
	Message string // replaces the default text when not ""
	Phases  []string
	Roles   []string

	Limit    float64  // max_turns_per_phase, max_total_turns, max_consecutive_same_role
	LimitUSD float64  // max_cost_per_turn
	Allowed  []string // require_status
}

// ApprovalPolicy decides whether a human gate may be passed without a person (docs/spec/gates.md#approval-policy).
type ApprovalPolicy struct {
	HasPhaseTransitions bool
	Default             string // auto_approve, require_human; "" means require_human
	Rules               []ApprovalRule
	RunCompletion       *ApprovalRule // From and To unused
}

// ApprovalRule is one rule of an approval policy.
type ApprovalRule struct {
	From, To string // "" matches any
	Action   string
	When     *ApprovalWhen
	Raw      *ojson.Object // the rule as read, recorded as matched_rule
}

// ApprovalWhen are the conditions of a rule; all present ones must hold.
type ApprovalWhen struct {
	GatePassed        bool
	RolesParticipated []string
	AllPhasesVisited  bool
	CredentialedGate  *bool
}

// Timeouts in minutes; nil means no limit.
type Timeouts struct {
	PerTurn, PerPhase, PerRun *float64
	Action                    string // escalate (default), warn
}

// WorkflowKit lists the artifacts that phases own (docs/spec/configuration.md#workflow-kit).
type WorkflowKit struct {
	Explicit bool
	Phases   ojson.Map[[]Artifact]
}

// Artifact is one workflow-kit artifact.
type Artifact struct {
	Path             string        // project-relative, slash-separated, cleaned
	Semantics        string        // "" when none
	SemanticsConfig  *ojson.Object // as read, nil when absent
	RequiredSections []string      // section_check
	OwnedBy          string        // "" when no role owns it
	Required         bool
}

// Rules are the run rules with defaults applied (docs/spec/configuration.md).
type Rules struct {
	ChallengeRequired bool // default true
	MaxTurnRetries    int  // total attempts, default 2
	MaxDeadlockCycles int  // default 2
	EnforceRouting    bool // rules.enforce_routing: refuse roles outside allowed_next_roles (ours, default false)
	StrictVerify      bool // rules.strict_verification: gates need a reproducible pass (ours, default false)
	// rules.objections_block: no completion with a blocking objection open (ours, default false)
	ObjectionsBlock bool
	// ResultRepair is rules.result_repair: RepairStrict or RepairReference (ours, default reference).
	ResultRepair string
}

// RunLoop holds the run-loop settings with defaults applied (docs/spec/configuration.md#budget-and-timeouts).
// Times are milliseconds.
type RunLoop struct {
	NonProgressThreshold int  // default 3
	MaxTurns             int  // accepted turns after which the loop stops, default 50
	StartupWatchdogMS    int  // default 180000
	StartupHeartbeatMS   int  // default 30000
	LivenessHeartbeatMS  *int // nil when not set
	StaleThresholdMS     *int // nil: 600000, and 300000 for api_proxy
	Raw                  *ojson.Object
}

// Phases returns the phase names in order.
func (c *Config) Phases() []string { return c.Routing.Keys() }

// FinalPhase returns the last phase, or "" without routing.
func (c *Config) FinalPhase() string {
	if n := c.Routing.Len(); n > 0 {
		return c.Routing.Keys()[n-1]
	}
	return ""
}

// FirstPhase returns the initial phase of a run: the first routing key, else planning.
func (c *Config) FirstPhase() string {
	if c.Routing.Len() > 0 {
		return c.Routing.Keys()[0]
	}
	return "planning"
}

// NextPhase returns the phase after p, or "" when p is the last or unknown.
func (c *Config) NextPhase(p string) string {
	keys := c.Routing.Keys()
	for i, k := range keys {
		if k == p && i+1 < len(keys) {
			return keys[i+1]
		}
	}
	return ""
}

// Route returns the routing entry of phase p, or nil.
func (c *Config) Route(p string) *Route { r, _ := c.Routing.Get(p); return r }

// Role returns the role, or nil.
func (c *Config) Role(id string) *Role { r, _ := c.Roles.Get(id); return r }

// Gate returns the gate definition, or nil.
func (c *Config) Gate(id string) *Gate { g, _ := c.Gates.Get(id); return g }

// PhaseRoles returns entry_role and allowed_next_roles of p without "human", in order, each once.
func (c *Config) PhaseRoles(p string) []string {
	r := c.Route(p)
	if r == nil {
		return nil
	}
	var out []string
	seen := map[string]bool{"": true, "human": true}
	for _, id := range append([]string{r.EntryRole}, r.AllowedNextRoles...) {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// Routed refuses a role outside a phase's routing when rules.enforce_routing asks for that.
func (c *Config) Routed(phase, role string) *wire.Error {
	if !c.Rules.EnforceRouting || c.Route(phase) == nil || slices.Contains(c.PhaseRoles(phase), role) {
		return nil
	}
	return &wire.Error{
		Code:  wire.CodeRoleNotRouted,
		Field: "role",
		Message: fmt.Sprintf("Role %q is not routed in phase %q (roles there: %s).", role, phase,
			wire.List(c.PhaseRoles(phase))),
	}
}
