// What the proof prints with --json, and what it finds at the end.

package main

import (
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
)

// Report is the proof's result (docs/runner.md#proofs).
type Report struct {
	Runner              string      `json:"runner"`
	InterfaceVersion    string      `json:"runner_interface_version"`
	Result              string      `json:"result"` // pass, fail
	RunID               string      `json:"run_id"`
	Turns               int         `json:"turns_executed"`
	Roles               []string    `json:"roles"` // in the order of acceptance
	Rejections          []Rejection `json:"rejections"`
	PhaseApprovals      int         `json:"phase_transition_approvals"`
	CompletionApprovals int         `json:"completion_approvals"`
	FinalStatus         string      `json:"final_status"`
	FinalPhase          string      `json:"final_phase"`
	Bundles             []Bundle    `json:"dispatch_bundles"`
	Artifacts           Artifacts   `json:"artifacts"`
	Errors              []string    `json:"errors"`
}

// Rejection is a turn that was sent back.
type Rejection struct {
	Role           string `json:"role"`
	TurnID         string `json:"turn_id"`
	FirstAttempt   int    `json:"first_attempt"`
	RetryAttempt   int    `json:"retry_attempt"`
	RetryStatus    string `json:"retry_status"`
	SameTurn       bool   `json:"same_turn_id_retained"`
	BundleExists   bool   `json:"pre_reject_bundle_exists"`
	StagingRemoved bool   `json:"post_reject_staging_removed"`
	ArtifactCount  int    `json:"rejected_artifact_count"`
	Preserved      bool   `json:"rejected_artifact_preserved"`
}

// count counts the refused results that are kept.
func (r *Rejection) count(p *proof.Project) {
	entries, err := os.ReadDir(p.Path(".agentxchain/dispatch/rejected"))
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), r.TurnID+"-attempt-1-") {
			r.ArtifactCount++
			data, err := os.ReadFile(p.Path(".agentxchain/dispatch/rejected/" + e.Name()))
			r.Preserved = err == nil && strings.Contains(string(data), "this is not a turn result")
		}
	}
}

// Bundle is a dispatch bundle before and after its turn.
type Bundle struct {
	TurnID         string `json:"turn_id"`
	Role           string `json:"role"`
	Attempt        int    `json:"attempt,omitempty"` // of a retry
	Exists         bool   `json:"pre_accept_bundle_exists"`
	BundlePath     string `json:"bundle_path"`
	StagingPath    string `json:"staging_path"`
	BundleRemoved  bool   `json:"post_accept_bundle_removed"`
	StagingRemoved bool   `json:"post_accept_staging_removed"`
}

// Artifacts is what the run left behind.
type Artifacts struct {
	State struct {
		Valid  bool   `json:"valid"`
		SHA256 string `json:"sha256"`
	} `json:"state"`
	History Ledger `json:"history"`
	Ledger  Ledger `json:"ledger"`
	Events  Ledger `json:"events"`
	Talk    struct {
		Valid bool     `json:"valid"`
		Roles []string `json:"roles"`
	} `json:"talk"`
}

// Ledger is a ledger that the proof examined.
type Ledger struct {
	Valid   bool `json:"valid"`
	Entries int  `json:"entry_count"`
}

// final reads the files like any other program.
func (l *lifecycle) final() {
	a, c := &l.out.Artifacts, &l.c
	state, digest, err := l.p.State()
	if !c.Fail("state.json", err) {
		l.out.FinalStatus, _ = state["status"].(string)
		l.out.FinalPhase, _ = state["phase"].(string)
		at, _ := state["completed_at"].(string)
		a.State.SHA256 = digest
		a.State.Valid = l.out.FinalStatus == "completed" && at != "" && state["pending_phase_transition"] == nil &&
			state["pending_run_completion"] == nil
		c.That(a.State.Valid, "state.json: status %q, completed_at %q, or something is still pending",
			l.out.FinalStatus, at)
	}
	want := []string{"pm", "dev", "qa"}
	if rows, err := l.p.Rows("history.jsonl"); !c.Fail("history.jsonl", err) {
		a.History = Ledger{slices.Equal(column(rows, "role"), want), len(rows)}
		c.That(a.History.Valid, "history.jsonl: turns of %v, want %v", column(rows, "role"), want)
	}
	if rows, err := l.p.Rows("decision-ledger.jsonl"); !c.Fail("decision-ledger.jsonl", err) {
		a.Ledger = Ledger{len(rows) >= 3, len(rows)}
		c.That(a.Ledger.Valid, "decision-ledger.jsonl: %d entries, want 3 or more", len(rows))
	}
	if rows, err := l.p.Rows("events.jsonl"); !c.Fail("events.jsonl", err) {
		a.Events = Ledger{l.causal(rows), len(rows)}
	}
	talk, err := os.ReadFile(l.p.Path("TALK.md"))
	if !c.Fail("TALK.md", err) {
		a.Talk.Roles = []string{}
		for _, role := range want {
			if strings.Contains(string(talk), "("+role+")") || strings.Contains(string(talk), role) {
				a.Talk.Roles = append(a.Talk.Roles, role)
			}
		}
		a.Talk.Valid = slices.Equal(a.Talk.Roles, want)
		c.That(a.Talk.Valid, "TALK.md mentions %v, want %v", a.Talk.Roles, want)
	}
	c.That(slices.Equal(l.out.Roles, want), "accepted turns of %v, want %v", l.out.Roles, want)
	c.That(len(l.out.Rejections) == 1, "%d rejections, want 1", len(l.out.Rejections))
	c.That(l.out.PhaseApprovals == 1 && l.out.CompletionApprovals == 1,
		"%d phase and %d completion approvals, want 1 and 1", l.out.PhaseApprovals, l.out.CompletionApprovals)
}

// causal checks the event log against the order in which things must have happened: a turn is
// accepted after it was dispatched, a phase is entered after the turn that asked for it was
// accepted, and the end comes last.
func (l *lifecycle) causal(rows []proof.Map) bool {
	types := column(rows, "event_type")
	dispatched, accepted := 0, 0
	ok := len(types) > 0 && types[0] == "run_started" && types[len(types)-1] == "run_completed"
	for _, t := range types {
		switch t {
		case "turn_dispatched":
			dispatched++
		case "turn_accepted":
			accepted++
			ok = ok && accepted <= dispatched
		case "phase_entered":
			ok = ok && accepted > 0
		}
	}
	ok = ok && dispatched == 4 && accepted == 3
	l.c.That(ok, "events.jsonl: out of order or incomplete: %v", types)
	return ok
}

func column(rows []proof.Map, member string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i], _ = r[member].(string)
	}
	return out
}
