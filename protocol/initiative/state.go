// The coordinator's state.json: types, reading and writing (docs/coordinator.md#files-and-refs).

package initiative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Status is the status of a super run.
type Status string

const (
	StatusActive    Status = "active"
	StatusPaused    Status = "paused"
	StatusBlocked   Status = "blocked"
	StatusCompleted Status = "completed"
)

// Statuses of a repository's run as the coordinator records them.
const (
	RepoLinked      = "linked"      // its run already existed
	RepoInitialized = "initialized" // its run was started for the initiative
	RepoCompleted   = "completed"
	RepoBlocked     = "blocked"
)

// State is state.json: the state of a super run.
type State struct {
	SchemaVersion   string              `json:"schema_version"`
	SuperRunID      string              `json:"super_run_id"`
	ProjectID       string              `json:"project_id"`
	Status          Status              `json:"status"`
	Phase           string              `json:"phase"`
	RepoRuns        ojson.Map[*RepoRun] `json:"repo_runs"`
	PendingGate     *PendingGate        `json:"pending_gate"`
	PhaseGateStatus ojson.Map[string]   `json:"phase_gate_status"` // gate id -> passed
	CreatedAt       string              `json:"created_at"`
	UpdatedAt       string              `json:"updated_at"`
	BlockedReason   string              `json:"blocked_reason,omitempty"`
	CompletedAt     string              `json:"completed_at,omitempty"`
	AbandonedAt     string              `json:"abandoned_at,omitempty"` // ours: a person ended it early
	// ours: the commit at which signers and authority are read, the workspace's when the initiative began
	AuthorityBase string `json:"authority_base,omitempty"`
	Extra         ojson.Extra
}

// RepoRun is what the coordinator knows of a repository's run.
type RepoRun struct {
	RunID       *string `json:"run_id"`
	Status      string  `json:"status"`
	Phase       string  `json:"phase"`
	Initialized bool    `json:"initialized_by_coordinator"`
	Extra       ojson.Extra
}

// PendingGate is a gate that waits for a person.
type PendingGate struct {
	GateType      string      `json:"gate_type"` // phase_transition, run_completion
	Gate          string      `json:"gate"`
	From          string      `json:"from,omitempty"` // phases, for a phase transition
	To            string      `json:"to,omitempty"`
	RequiredRepos []string    `json:"required_repos"`
	HumanBarriers []string    `json:"human_barriers"`
	RequestedAt   string      `json:"requested_at"`
	Votes         []*run.Vote `json:"votes,omitempty"` // ours: of people who approved it, while more are needed
	Extra         ojson.Extra
}

// Gate types.
const (
	GatePhase      = "phase_transition"
	GateCompletion = "run_completion"
)

// RunOf returns the recorded run id of a repository, or "".
func (s *State) RunOf(repo string) string {
	if r, _ := s.RepoRuns.Get(repo); r != nil && r.RunID != nil {
		return *r.RunID
	}
	return ""
}

// Clone returns a copy that can be changed without changing s.
func (s *State) Clone() *State {
	c := *s
	c.RepoRuns = s.RepoRuns.Clone(func(r *RepoRun) *RepoRun {
		if r == nil {
			return nil
		}
		out := *r
		out.Extra = r.Extra.Clone(nil)
		return &out
	})
	c.PhaseGateStatus = s.PhaseGateStatus.Clone(nil)
	if s.PendingGate != nil {
		g := *s.PendingGate
		g.RequiredRepos, g.HumanBarriers = slices.Clone(g.RequiredRepos), slices.Clone(g.HumanBarriers)
		g.Votes = slices.Clone(g.Votes)
		g.Extra = g.Extra.Clone(nil)
		c.PendingGate = &g
	}
	c.Extra = s.Extra.Clone(nil)
	return &c
}

// DecodeState reads state.json. Members that other implementations leave out or write as null read as absent; the
// error is invalid_state when a member has the wrong type or the status is unknown, with every finding in Problems.
func DecodeState(o *ojson.Object) (*State, *wire.Error) {
	s := &State{}
	var problems wire.Problems
	for _, fe := range ojson.Unmarshal(o, s) {
		if fe.Got == "null" && !strings.HasPrefix(fe.Path, "phase_gate_status.") {
			continue
		}
		problems = append(problems, wire.Problem{Code: wire.CodeInvalidState, Field: fe.Path, Message: fe.Error()})
	}
	switch s.Status {
	case StatusActive, StatusPaused, StatusBlocked, StatusCompleted:
	default:
		problems = append(problems, wire.Problem{Code: wire.CodeInvalidState, Field: "status", Value: string(s.Status),
			Message: "status must be one of active, paused, blocked, completed, not " + ojson.Shown(string(s.Status))})
	}
	for repo, r := range s.RepoRuns.All() {
		if r == nil {
			s.RepoRuns.Set(repo, &RepoRun{})
		}
	}
	if len(problems) > 0 {
		e := &wire.Error{
			Code:     wire.CodeInvalidState,
			Field:    problems[0].Field,
			Problems: problems[:min(len(problems), maxProblems)],
			Message:  "the coordinator's state.json is not a valid state: " + problems[0].Message,
		}
		if len(problems) > 1 {
			e.Message += fmt.Sprintf(" (and %d more)", len(problems)-1)
		}
		return nil, e
	}
	return s, nil
}

// Object returns the state as it is written.
func (s *State) Object() *ojson.Object { return ojson.Marshal(s) }
