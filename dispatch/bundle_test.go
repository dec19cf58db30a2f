// Build: sections, members, refusals.

package dispatch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestPromptSections(t *testing.T) {
	minimal := newInput(wire.Authoritative, "manual")
	minimal.Config.Routing = ojson.Map[*config.Route]{}
	minimal.Config.WorkflowKit = config.WorkflowKit{}
	implementation := newInput(wire.Authoritative, "manual")
	implementation.State.Phase = "implementation"
	for name, tc := range map[string]struct {
		in   Input
		want []string
	}{
		"all": {fullInput(t, wire.ReviewOnly, "manual"), []string{
			"# Turn Assignment: Product Manager (pm)", "## Your Mandate", "## Before You Start", "## Protocol Rules",
			"### Write Authority: review_only", "### Charter Materialization Required",
			"## Workflow-Kit Responsibilities", "## Phase Exit Gate", "## Previous Attempt Failed",
			"### Active Injected Intent — respond to this as your primary charter",
			"## File Conflict - Retry Required", "## Role-Specific Instructions",
			"## Single-Shot Execution (read carefully)", "## Required Output", "### Field Rules"}},
		"minimal": {minimal, []string{
			"# Turn Assignment: Product Manager (pm)", "## Your Mandate", "## Before You Start", "## Protocol Rules",
			"### Write Authority: authoritative", "## Single-Shot Execution (read carefully)",
			"## Required Output", "### Field Rules"}},
		"implementation": {implementation, []string{
			"# Turn Assignment: Product Manager (pm)", "## Your Mandate", "## Before You Start", "## Protocol Rules",
			"### Write Authority: authoritative", "### Implementation Phase: Code Production Required",
			"## Single-Shot Execution (read carefully)", "## Required Output", "### Field Rules"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, prompt, _ := build(t, tc.in)
			if d := cmp.Diff(tc.want, headings(prompt)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPromptTellsHowToAnswer(t *testing.T) {
	for _, tc := range []struct {
		authority, runtime string
		want, never        []string
	}{
		{wire.ReviewOnly, "manual", []string{"`artifact.type` is `review`", "At least one objection", "`.planning/`"},
			[]string{"proposed_changes"}},
		{wire.ReviewOnly, "api_proxy",
			[]string{".agentxchain/reviews/turn_00112233445566bb-pm-review.md", "You cannot write these files"},
			[]string{"proposed_changes"}},
		{wire.Proposed, "remote_agent", []string{"`proposed_changes[]`", "`artifact.type` is `patch`",
			`"type": "patch"`, ".agentxchain/proposed/turn_00112233445566bb/"}, []string{"git:dirty"}},
		{wire.Authoritative, "local_cli", []string{`"ref": "git:dirty"`, "not declared makes the result fail"},
			[]string{"proposed_changes"}},
	} {
		t.Run(tc.authority+" "+tc.runtime, func(t *testing.T) {
			_, prompt, _ := build(t, newInput(tc.authority, tc.runtime))
			want := append(tc.want, ".agentxchain/staging/turn_00112233445566bb/turn-result.json",
				"git agentxchain accept turn_00112233445566bb", "`planning`, `implementation`",
				"set `phase_transition_request` to `implementation`", "a person decides", "`.agentxchain/lock.json`",
				"Required by the phase's workflow kit as well: `.planning/ROADMAP.md`",
				"`.planning/PM_SIGNOFF.md` — MISSING")
			for _, w := range want {
				if !strings.Contains(prompt, w) {
					t.Errorf("prompt lacks %q", w)
				}
			}
			for _, w := range tc.never {
				if strings.Contains(prompt, w) {
					t.Errorf("prompt must not mention %q", w)
				}
			}
		})
	}
}

func TestApprovalOutlook(t *testing.T) {
	auto := config.ApprovalRule{From: "planning", To: "implementation", Action: "auto_approve"}
	for name, tc := range map[string]struct {
		policy       *config.ApprovalPolicy
		credentialed bool
		phase        string
		want         string
	}{
		"no policy": {nil, false, "planning", "human"},
		"rule":      {&config.ApprovalPolicy{Rules: []config.ApprovalRule{auto}}, false, "planning", "auto"},
		"conditional": {&config.ApprovalPolicy{Rules: []config.ApprovalRule{
			{Action: "auto_approve", When: &config.ApprovalWhen{GatePassed: true}},
		}}, false, "planning", "maybe"},
		"credentialed": {&config.ApprovalPolicy{Rules: []config.ApprovalRule{auto}}, true, "planning", "human"},
		"default":      {&config.ApprovalPolicy{Default: "auto_approve"}, false, "planning", "auto"},
		"completion":   {&config.ApprovalPolicy{RunCompletion: &auto}, false, "implementation", "auto"},
		"final other":  {&config.ApprovalPolicy{Default: "auto_approve"}, false, "implementation", "human"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(wire.ReviewOnly, "manual")
			in.Config.ApprovalPolicy, in.State.Phase = tc.policy, tc.phase
			in.Config.Gate("plan_gate").Credentialed = tc.credentialed
			v, err := newView(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.approval(); got != tc.want {
				t.Errorf("approval outlook %q, want %q", got, tc.want)
			}
		})
	}
}

// Where a person signs, no agent is told to write the sign-off, and no policy is promised.
func TestPersonSigns(t *testing.T) {
	for name, tc := range map[string]struct {
		authority *config.Authority
		signs     bool // the document is a person's
		human     bool // the gate waits for one
	}{
		"none":   {nil, false, false},
		"agents": {&config.Authority{}, false, false},
		"person": {&config.Authority{PersonSigns: true}, true, true},
		"rule":   {authorityFor("plan_gate"), false, true},
		"other":  {authorityFor("other_gate"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(wire.ReviewOnly, "manual")
			in.Config.Authority = tc.authority
			in.Config.ApprovalPolicy = &config.ApprovalPolicy{Default: "auto_approve"}
			in.Config.Gate("plan_gate").RequiresHuman = !tc.human
			_, prompt, context := build(t, in)
			for _, want := range []string{"leave its sign-off line as it is", "signoff_by_agent",
				"the sign-off line of `.planning/PM_SIGNOFF.md`, which is a person's"} {
				if strings.Contains(prompt, want) != tc.signs {
					t.Errorf("prompt has %q: %v", want, !tc.signs)
				}
			}
			if strings.Contains(prompt, "Approved: YES") == tc.signs {
				t.Errorf("prompt asks an agent to sign: %v", tc.signs)
			}
			if strings.Contains(prompt, "the run pauses there for a person") != tc.human {
				t.Errorf("prompt foretells a person: %v\n%s", !tc.human, prompt)
			}
			if strings.Contains(prompt, "passed without a person") == tc.human {
				t.Errorf("prompt promises the policy's approval: %v", tc.human)
			}
			if strings.Contains(context, "Approved: YES") {
				t.Error("context shows a yes that is not there")
			}
		})
	}
}

func authorityFor(gate string) *config.Authority {
	a := &config.Authority{}
	a.Approvers.Set("maintainers", &config.Approvers{Principals: []string{"ada@example.org"}, Threshold: 1})
	a.Gates.Set(gate, &config.GateAuthority{By: "maintainers"})
	return a
}

func TestContextSections(t *testing.T) {
	reviewer := []string{"# Execution Context", "## Current State", "## Project Goal", "## Intake Intent",
		"## Delegation Context", "## Delegation Review", "### del-002 → dev", "## Runtime Capability Contract",
		"## Active Repo Decisions", "## Inherited Run Context", "## Last Accepted Turn", "### Open Objections",
		"### Files Changed", "### Changed File Previews", "#### `src/a.go`", "### Proposed Artifact",
		"### Proposed File Previews", "#### `new.go` (create)", "### Verification", "### Dispatch Log Excerpt",
		"### Observed Artifact", "## Decision History", "## Blockers", "## Escalation", "## Workflow Artifacts",
		"### `.planning/ROADMAP.md`", "## Gate Required Files", "### `.planning/PM_SIGNOFF.md` — exists",
		"## Phase Gate Status"}
	other := slices.DeleteFunc(slices.Clone(reviewer), func(h string) bool {
		return strings.HasPrefix(h, "####") || strings.Contains(h, "Preview") || strings.Contains(h, "Proposed") ||
			strings.Contains(h, "Excerpt") || strings.Contains(h, ".planning/")
	})
	_, _, minimal := build(t, newInput(wire.Authoritative, "manual"))
	if d := cmp.Diff([]string{"# Execution Context", "## Current State", "## Project Goal",
		"## Runtime Capability Contract", "## Workflow Artifacts", "## Gate Required Files",
		"## Phase Gate Status"}, headings(minimal)); d != "" {
		t.Error(d)
	}
	for authority, want := range map[string][]string{wire.ReviewOnly: reviewer, wire.Authoritative: other} {
		_, _, context := build(t, fullInput(t, authority, "manual"))
		if d := cmp.Diff(want, headings(context)); d != "" {
			t.Errorf("%s: %s", authority, d)
		}
	}
}

func TestContextContents(t *testing.T) {
	_, _, context := build(t, fullInput(t, wire.ReviewOnly, "manual"))
	for _, want := range []string{
		"- **Budget spent:** $0.25\n- **Budget remaining:** $4.75",
		"- **Integration ref:** git:0123456789abcdef0123456789abcdef01234567",
		"| DEC-001 | planning | dev | rt | use \\| go now |",
		"_1 of 7 decisions shown",
		"**DEC-100** (process, by pm, authority 30): Go only — supersedes DEC-050",
		"- **Status:** pass\n- **Normalized status:** attested_pass — by hand",
		"| `a \\| b` | 0 | — |",
		"**Semantic: Approved: YES**",
		"2 of these files could not be read",
		"- **Missing decisions:** `DEC-001`",
		"- **Effective write path for this role:** planning_only",
		"| `docs/design.md` | no | — | dev | MISSING |",
		"- `plan_gate`: pending",
		"- **Decisions:**\n  - DEC-001: use go\n",
		"- **Recent decisions:** 1", // compact after the first turn
		"line one\nline two\n",
	} {
		if !strings.Contains(context, want) {
			t.Errorf("context lacks %q", want)
		}
	}
	if strings.Contains(context, "**DEC-050**") {
		t.Error("an overridden repo decision is shown as active")
	}
}

func TestInheritedInFullOnFirstTurn(t *testing.T) {
	in := newInput(wire.Authoritative, "manual")
	in.State.InheritedContext = obj(t,
		`{"parent_run_id":"run_p","recent_decisions":[{"id":"DEC-009","statement":"old ways","decided_by":"dev"}],"recent_accepted_turns":[{"turn_id":"turn_q","role":"dev","phase":"qa","summary":"shipped"}]}`)
	_, _, context := build(t, in)
	for _, want := range []string{"**DEC-009** (dev): old ways", "`turn_q` (dev, qa): shipped"} {
		if !strings.Contains(context, want) {
			t.Errorf("context lacks %q", want)
		}
	}
}

func TestRowOfAnotherRunIsNotTheLastTurn(t *testing.T) {
	in := fullInput(t, wire.ReviewOnly, "manual")
	in.LastRow.Set("run_id", "run_ffffffffffffffff")
	_, _, context := build(t, in)
	if strings.Contains(context, "## Last Accepted Turn") {
		t.Error("a row of an earlier run is shown as this run's last turn")
	}
}

func TestAssignment(t *testing.T) {
	a, _, _ := build(t, newInput(wire.ReviewOnly, "manual"))
	want := []string{"run_id", "turn_id", "phase", "role", "runtime_id", "write_authority", "accepted_integration_ref",
		"staging_result_path", "reserved_paths", "allowed_next_roles", "attempt", "deadline_at", "assigned_sequence",
		"budget_reservation_usd", "active_siblings"}
	if d := cmp.Diff(want, a.Keys()); d != "" {
		t.Error(d)
	}
	in := fullInput(t, wire.ReviewOnly, "manual")
	in.Config.Raw = obj(t,
		`{"roles":{"pm":{"declared_file_scope":["docs/**"]},"dev":{"declared_file_scope":["src","docs/api"]}}}`)
	in.State.ActiveTurns.Set("turn_sib", &run.Turn{TurnID: "turn_sib", AssignedRole: "dev", Status: wire.TurnRunning})
	in.Warnings = []Warning{{"dirty_tree", "x is dirty"}}
	in.Config.Prompts.Set("pm", "prompts/pm.md")
	a, _, _ = build(t, in)
	if d := cmp.Diff(append(want, "intake_context", "conflict_context", "delegation_context", "delegation_review",
		"advisory_warnings", "role_prompt"), a.Keys()); d != "" {
		t.Error(d)
	}
	check := func(got ojson.Value, want string) {
		t.Helper()
		if g := string(ojson.Compact(got)); g != want {
			t.Errorf("got  %s\nwant %s", g, want)
		}
	}
	sib, _ := a.Get("active_siblings")
	check(sib,
		`[{"turn_id":"turn_sib","role":"dev","status":"running","assigned_sequence":null,"declared_file_scope":["src","docs/api"]}]`)
	check(a.Object("role_prompt"), `{"path":"prompts/pm.md","sha256":"`+InfoOf([]byte(in.Prompts["pm"])).SHA256+`"}`)
	usd, _ := a.Get("budget_reservation_usd")
	check(usd, "2")
	check(a.Object("intake_context"),
		`{"intent_id":"intent_1","event_id":"evt_1","source":null,"category":"feature","charter":"Add search.","acceptance_contract":["finds words","is fast"],"phase_scope":null}`)
	check(a.Object("conflict_context"),
		`{"prior_attempt_turn_id":"turn_x","prior_attempt_number":1,"conflict_type":"file_conflict","conflicting_files":["a.go"],"accepted_turns_since":[{"turn_id":"turn_y","role":"dev","files_changed":["a.go"]}],"forward_revision_files":[],"forward_revision_turns_since":[],"non_conflicting_files_preserved":[],"guidance":"rebase"}`)
	ws := a.Objects("advisory_warnings")
	if len(ws) != 2 || ws[0].String("code") != WarningScopeOverlap || ws[1].String("code") != "dirty_tree" {
		t.Errorf("warnings %v", string(ojson.Compact(ws)))
	}
}

func TestScopesMeet(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"src", "src/x", true},
		{"src/", "src", true},
		{"src/**", "src/a.go", true},
		{"./src", "src/*", true},
		{"**", "x", true},
		{"src", "srcs", false},
		{"src/a.go", "src/b.go", false},
		{"src/a*.go", "src/b", true},
		{"docs", "src", false},
	} {
		if _, got := meets([]string{tc.a}, tc.b); got != tc.want {
			t.Errorf("meets(%q, %q) = %v", tc.a, tc.b, got)
		}
	}
}

func TestPromptTemplateMissing(t *testing.T) {
	in := newInput(wire.ReviewOnly, "manual")
	in.Config.Prompts.Set("pm", "prompts/pm.md")
	b, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0], "prompts/pm.md") {
		t.Errorf("warnings %q", b.Warnings)
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*Input)
		code string
	}{
		"no config":    {func(in *Input) { in.Config = nil }, wire.CodeInvalidArgument},
		"no state":     {func(in *Input) { in.State = nil }, wire.CodeInvalidArgument},
		"unknown role": {func(in *Input) { in.Turn.AssignedRole = "ghost" }, wire.CodeUnknownRole},
		"escaping id":  {func(in *Input) { in.Turn.TurnID = "../x" }, wire.CodeInvalidArgument},
		"empty id":     {func(in *Input) { in.Turn.TurnID = "" }, wire.CodeInvalidArgument},
		"no turn": {func(in *Input) {
			in.State.ActiveTurns.Delete(in.Turn.TurnID)
			in.Turn = nil
		}, wire.CodeTurnNotActive},
		"two turns": {func(in *Input) {
			in.State.ActiveTurns.Set("turn_b", &run.Turn{TurnID: "turn_b"})
			in.Turn = nil
		}, wire.CodeTargetRequired},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(wire.ReviewOnly, "manual")
			tc.edit(&in)
			_, err := Build(in)
			var e *wire.Error
			if !errors.As(err, &e) || e.Code != tc.code {
				t.Fatalf("error %v, want code %s", err, tc.code)
			}
			if Template(in) != nil {
				t.Error("a template for an input that cannot be dispatched")
			}
		})
	}
	in := newInput(wire.ReviewOnly, "manual")
	in.Turn = nil
	if _, err := Build(in); err != nil {
		t.Errorf("the only active turn is not found: %v", err)
	}
}

// Results, intents and file contents, whatever they contain, add no section and leave no fence open.
func TestForeignTextIsNeverStructure(t *testing.T) {
	_, wantPrompt, wantContext := build(t, fullInput(t, wire.ReviewOnly, "manual"))
	hostile := rapid.StringOf(rapid.SampledFrom([]rune("`#~|>-*ab \n\r\t\\\x1b\x00\u2028é")))
	rapid.Check(t, func(rt *rapid.T) {
		in := fullInput(t, wire.ReviewOnly, "manual")
		n := 0
		text := func() string { n++; return "x" + hostile.Draw(rt, fmt.Sprint("text", n)) }
		r := in.LastRow
		r.Set("summary", text())
		r.Objects("decisions")[0].Set("statement", text())
		r.Objects("objections")[0].Set("statement", text())
		r.Object("verification").Set("evidence_summary", text())
		r.Object("verification").Set("commands", []string{text()})
		in.Decisions[0].Set("statement", text())
		in.RepoDecisions[0].Set("statement", text())
		in.OpenObjections[0].Set("statement", text())
		in.Turn.IntakeContext.Set("charter", text())
		in.Turn.IntakeContext.Set("acceptance_contract", []string{text()})
		in.Turn.LastRejection.Set("reason", text())
		in.Turn.LastRejection.Set("validation_errors", []string{text()})
		in.Turn.ConflictContext.Set("guidance", text())
		in.Turn.ConflictContext.Set("conflicting_files", []string{text()})
		in.Turn.DelegationReview.Objects("results")[0].Set("summary", text())
		in.State.Escalation.Set("reason", text())
		in.Config.Project.Goal = text()
		in.LastLog = []byte(text())
		body := text()
		read := in.Read
		in.Read = func(p string, limit int) ([]byte, bool) {
			if p == "src/a.go" {
				return []byte(body), true
			}
			return read(p, limit)
		}
		_, prompt, context := build(t, in)
		if d := cmp.Diff(headings(wantPrompt), headings(prompt)); d != "" {
			rt.Error(d)
		}
		if d := cmp.Diff(headings(wantContext), headings(context)); d != "" {
			rt.Error(d)
		}
	})
}

func TestBuildIsDeterministic(t *testing.T) {
	in := fullInput(t, wire.ReviewOnly, "api_proxy")
	a, _ := Build(in)
	b, _ := Build(in)
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
}
