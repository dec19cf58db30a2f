// Inputs shared by the tests of this package.

package dispatch

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func obj(t testing.TB, text string) *ojson.Object {
	t.Helper()
	o, err := ojson.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// newInput returns a run in its planning phase with one turn of the given authority and runtime type.
func newInput(authority, runtime string) Input {
	c := &config.Config{Raw: &ojson.Object{}}
	c.Project = config.Project{ID: "demo", Name: "Demo", Goal: "Build the thing."}
	for _, r := range []*config.Role{
		{
			ID:                "pm",
			Title:             "Product Manager",
			Mandate:           "Guard the user's value.",
			WriteAuthority:    authority,
			RuntimeID:         "rt",
			RuntimeType:       runtime,
			DecisionAuthority: new(30),
		},
		{
			ID:             "dev",
			Title:          "Developer",
			Mandate:        "Build it.",
			WriteAuthority: wire.Authoritative,
			RuntimeID:      "rt",
			RuntimeType:    runtime,
		},
	} {
		c.Roles.Set(r.ID, r)
	}
	c.Runtimes.Set("rt", &config.Runtime{ID: "rt", Type: runtime, Raw: &ojson.Object{}})
	c.Routing.Set("planning", &config.Route{
		Phase:            "planning",
		EntryRole:        "pm",
		AllowedNextRoles: []string{"pm", "dev", "human"},
		ExitGate:         "plan_gate",
	})
	c.Routing.Set("implementation", &config.Route{
		Phase:            "implementation",
		EntryRole:        "dev",
		AllowedNextRoles: []string{"dev", "pm"},
		ExitGate:         "",
	})
	c.Gates.Set("plan_gate", &config.Gate{
		ID:             "plan_gate",
		RequiresFiles:  []string{".planning/PM_SIGNOFF.md"},
		RequiresHuman:  true,
		RequiresVerify: true,
	})
	c.WorkflowKit.Phases.Set("planning", []config.Artifact{
		{Path: ".planning/PM_SIGNOFF.md", Semantics: "pm_signoff", Required: true},
		{Path: ".planning/ROADMAP.md", Required: true},
		{Path: "docs/design.md", OwnedBy: "dev"},
	})
	c.Rules = config.Rules{ChallengeRequired: true, MaxTurnRetries: 2}

	s := &run.State{
		SchemaVersion: "1.1",
		RunID:         new("run_00112233445566aa"),
		ProjectID:     "demo",
		Status:        wire.StatusActive,
		Phase:         "planning",
	}
	s.BudgetStatus = run.BudgetStatus{SpentUSD: 0.254, RemainingUSD: new(4.746)}
	t := &run.Turn{
		TurnID:           "turn_00112233445566bb",
		RunID:            *s.RunID,
		AssignedRole:     "pm",
		Status:           wire.TurnAssigned,
		Attempt:          1,
		RuntimeID:        "rt",
		DeadlineAt:       "2026-01-02T05:04:05.678Z",
		AssignedSequence: 1,
	}
	s.ActiveTurns.Set(t.TurnID, t)
	s.PhaseGateStatus.Set("plan_gate", wire.GatePending)
	return Input{Config: c, State: s, Turn: t, Index: &run.Index{}, Now: "2026-01-02T03:04:05.678Z"}
}

// fullInput returns an input with every optional section.
func fullInput(t testing.TB, authority, runtime string) Input {
	in := newInput(authority, runtime)
	s := in.State
	s.LastCompletedTurnID = new("turn_00000000000000aa")
	s.AcceptedIntegrationRef = new("git:0123456789abcdef0123456789abcdef01234567")
	s.BlockedOn = new("escalation:operator:x")
	s.Escalation = obj(t, `{"from_role":"dev","reason":"stuck"}`)
	s.InheritedContext = obj(t,
		`{"parent_run_id":"run_p","parent_status":"completed","recent_decisions":[{"id":"DEC-009","statement":"old","decided_by":"dev","phase":"qa"}]}`)
	s.BudgetReservations.Set(in.Turn.TurnID, obj(t, `{"reserved_usd":2,"role_id":"pm"}`))
	s.Extra.Set("charter_materialization_pending",
		obj(t, `{"charter":"Take on search.","acceptance_contract":["search works"]}`))
	in.Turn.Attempt = 2
	in.Turn.LastRejection = obj(t,
		`{"attempt":1,"reason":"tests missing","failed_stage":"human_review","validation_errors":["tests missing"]}`)
	in.Turn.IntakeContext = obj(t,
		`{"intent_id":"intent_1","event_id":"evt_1","source":null,"category":"feature","charter":"Add search.","acceptance_contract":["finds words","is fast"],"phase_scope":null}`)
	in.Turn.ConflictContext = obj(t,
		`{"prior_attempt_turn_id":"turn_x","prior_attempt_number":1,"conflicting_files":["a.go"],"accepted_turns_since":[{"turn_id":"turn_y","role":"dev","files_changed":["a.go"]}],"guidance":"rebase"}`)
	in.Turn.DelegationContext = obj(t,
		`{"delegation_id":"del-001","parent_turn_id":"turn_z","parent_role":"dev","charter":"Check it.","acceptance_contract":["checked"],"required_decision_ids":["DEC-004"]}`)
	in.Turn.DelegationReview = obj(t,
		`{"parent_turn_id":"turn_z","results":[{"delegation_id":"del-002","child_turn_id":"turn_c","to_role":"dev","charter":"c","acceptance_contract":["x"],"required_decision_ids":["DEC-001"],"satisfied_decision_ids":[],"missing_decision_ids":["DEC-001"],"summary":"done","status":"completed","files_changed":["b.go"],"verification":{"status":"pass"}}]}`)
	in.LastRow = obj(t,
		`{"turn_id":"turn_00000000000000aa","run_id":"run_00112233445566aa","role":"dev","runtime_id":"rt","summary":"Wrote it.",
		"decisions":[{"id":"DEC-001","statement":"use go"}],"objections":[{"id":"OBJ-001","severity":"high","statement":"slow"}],
		"files_changed":["src/a.go","../outside","gone.go"],
		"verification":{"status":"pass","commands":["go test ./..."],"evidence_summary":"green","machine_evidence":[{"command":"a | b","exit_code":0}]},
		"normalized_verification":{"status":"attested_pass","reason":"by hand"},
		"artifact":{"type":"patch","ref":".agentxchain/proposed/turn_00000000000000aa"},
		"observed_artifact":{"baseline_ref":"git:0","files_changed":["src/a.go"],"attributed_to_concurrent_siblings":["z"]}}`)
	in.Decisions = []*ojson.Object{obj(
		t, `{"id":"DEC-001","phase":"planning","role":"dev","runtime_id":"rt","statement":"use | go\nnow"}`,
	), obj(t, `{"type":"gate_failure"}`)}
	in.DecisionCount = 7
	in.OpenObjections = []*ojson.Object{obj(t,
		`{"turn_id":"turn_00000000000000aa","id":"OBJ-001","severity":"high","statement":"slow"}`)}
	in.RepoDecisions = []*ojson.Object{obj(t,
		`{"id":"DEC-100","category":"process","role":"pm","statement":"Go only","status":"active","overrides":"DEC-050"}`),
		obj(t,
			`{"id":"DEC-050","status":"overridden"}`)}
	in.Prompts = map[string]string{"pm": "Be kind.\n\n```\nopen"}
	in.Config.Prompts.Set("pm", ".agentxchain/prompts/pm.md")
	in.LastLog = []byte("line one\nline two\n")
	withFiles(&in, map[string]string{
		"src/a.go":                "package a\n",
		".planning/PM_SIGNOFF.md": "# Signoff\n\nApproved: YES\n",
		".planning/ROADMAP.md":    "# Roadmap\n",
		".agentxchain/proposed/turn_00000000000000aa/PROPOSAL.md": "# Proposed Changes — t\n\n## Files\n- `new.go` — create\n- `old.go` — delete\n",
		".agentxchain/proposed/turn_00000000000000aa/new.go":      "package n\n",
	})
	return in
}

func withFiles(in *Input, files map[string]string) {
	in.Exists = func(p string) bool { _, ok := files[p]; return ok }
	in.Read = func(p string, limit int) ([]byte, bool) {
		text, ok := files[p]
		return []byte(text[:min(len(text), limit)]), ok
	}
}

// headings returns the heading lines of a document that are not inside a code
// fence, as a reader of its sections sees them.
func headings(doc string) []string {
	var out []string
	fence := ""
	for l := range strings.SplitSeq(doc, "\n") {
		mark, n, rest := fenceLine(l)
		switch {
		case fence != "":
			if n >= len(fence) && mark == fence[0] && strings.TrimSpace(rest) == "" {
				fence = ""
			}
		case n > 0 && !(mark == '`' && strings.Contains(rest, "`")):
			fence = strings.Repeat(string(mark), n)
		case strings.HasPrefix(l, "#"):
			out = append(out, l)
		}
	}
	if fence != "" {
		out = append(out, "UNCLOSED FENCE")
	}
	return out
}

func build(t testing.TB, in Input) (assignment *ojson.Object, prompt, context string) {
	t.Helper()
	b, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return obj(t, string(b.Files[AssignmentFile])), string(b.Files[PromptFile]), string(b.Files[ContextFile])
}
