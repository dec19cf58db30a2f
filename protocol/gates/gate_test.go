// Tests of gate evaluation (docs/spec/gates.md#what-a-gate-looks-at).

package gates

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
)

// gateConfig returns plan -> build -> ship with one gate each; edit changes it.
func gateConfig(edit func(c *config.Config)) *config.Config {
	c := &config.Config{}
	for _, p := range []string{"plan", "build", "ship"} {
		c.Routing.Set(p, &config.Route{
			Phase:            p,
			EntryRole:        "pm",
			AllowedNextRoles: []string{"pm", "dev"},
			ExitGate:         p + "_gate",
		})
		c.Gates.Set(p+"_gate", &config.Gate{ID: p + "_gate"})
	}
	if edit != nil {
		edit(c)
	}
	return c
}

func kit(c *config.Config, phase string, artifacts ...config.Artifact) {
	c.WorkflowKit.Phases.Set(phase, artifacts)
}

func filesOf(pairs ...string) *evidence.Files {
	var facts []evidence.FileFact
	for i := 0; i+1 < len(pairs); i += 2 {
		facts = append(facts, evidence.FileFact{Path: pairs[i], Exists: true, Data: []byte(pairs[i+1])})
	}
	return evidence.NewFiles(facts)
}

func TestFiles(t *testing.T) {
	f := evidence.NewFiles([]evidence.FileFact{{
		Path:   "a",
		Exists: true,
		Data:   []byte("x"),
	}, {Path: "b", Data: []byte("stale")}, {Path: "d", Exists: true}})
	for path, want := range map[string]bool{"a": true, "b": false, "c": false, "d": true} {
		if got := f.Exists(path); got != want {
			t.Errorf("Exists(%s) = %v", path, got)
		}
	}
	if string(f.Data("a")) != "x" || f.Data("b") != nil || f.Data("d") != nil {
		t.Error("Data of a, b or d")
	}
	var none *evidence.Files
	if none.Exists("a") || none.Data("a") != nil {
		t.Error("the nil Files has a file")
	}
}

func TestEvaluatePhaseExit(t *testing.T) {
	signoff := func(c *config.Config) { c.Gate("plan_gate").RequiresFiles = []string{".planning/PM_SIGNOFF.md"} }
	tests := []struct {
		name         string
		phase, to    string
		edit         func(*config.Config)
		files        *evidence.Files
		verification string
		want         Result
		codes        []string
	}{
		{name: "no request", phase: "plan", want: Result{Action: ActionNoRequest}},
		{
			name:  "unknown target",
			phase: "plan",
			to:    "nowhere",
			codes: []string{verdict.FindingUnknownPhase},
			want: Result{
				Action:            ActionUnknownPhase,
				TransitionRequest: "nowhere",
				Reasons:           []string{`Requested phase "nowhere" does not exist in routing config`},
			},
		},
		{
			name:  "skipping a phase",
			phase: "plan",
			to:    "ship",
			codes: []string{verdict.FindingPhaseOrder},
			want: Result{
				Action:            ActionGateFailed,
				TransitionRequest: "ship",
				Reasons: []string{
					`phase_transition_request "ship" is invalid from phase "plan"; next phase is "build".`,
				},
			},
		},
		{
			name:  "out of the final phase",
			phase: "ship",
			to:    "plan",
			codes: []string{verdict.FindingFinalPhase},
			want: Result{
				Action:            ActionGateFailed,
				TransitionRequest: "plan",
				Reasons: []string{
					`phase_transition_request "plan" is invalid in final phase "ship"; use run_completion_request instead.`,
				},
			},
		},
		{
			name:  "out of an unknown phase",
			phase: "gone",
			to:    "plan",
			codes: []string{verdict.FindingFinalPhase},
			want: Result{
				Action:            ActionGateFailed,
				TransitionRequest: "plan",
				Reasons: []string{
					`phase_transition_request "plan" is invalid in final phase "gone"; use run_completion_request instead.`,
				},
			},
		},
		{name: "no gate", phase: "plan", to: "build", edit: func(c *config.Config) { c.Route("plan").ExitGate = "" },
			want: Result{Action: ActionAdvance, Passed: true, TransitionRequest: "build", NextPhase: "build"}},
		{
			name:  "undefined gate",
			phase: "plan",
			to:    "build",
			edit:  func(c *config.Config) { c.Gates.Delete("plan_gate") },
			codes: []string{verdict.FindingUndefinedGate},
			want: Result{
				Action:            ActionAdvance,
				GateID:            new("plan_gate"),
				Passed:            true,
				TransitionRequest: "build",
				NextPhase:         "build",
				Reasons: []string{
					`Gate "plan_gate" referenced by routing but not defined in gates config — treated as open`,
				},
			},
		},
		{
			name:  "nothing required",
			phase: "plan",
			to:    "build",
			want: Result{
				Action:            ActionAdvance,
				GateID:            new("plan_gate"),
				Passed:            true,
				TransitionRequest: "build",
				NextPhase:         "build",
			},
		},
		{
			name:  "human approval",
			phase: "plan",
			to:    "build",
			edit: func(c *config.Config) {
				c.Gate("plan_gate").RequiresHuman = true
				c.Gate("plan_gate").Credentialed = true
			},
			want: Result{
				Action:            ActionAwaitHuman,
				GateID:            new("plan_gate"),
				Passed:            true,
				BlockedByHuman:    true,
				Credentialed:      true,
				TransitionRequest: "build",
				NextPhase:         "build",
			},
		},
		{name: "file missing", phase: "plan", to: "build", edit: signoff, codes: []string{verdict.FindingMissingFile},
			want: Result{
				Action:            ActionGateFailed,
				GateID:            new("plan_gate"),
				TransitionRequest: "build",
				Reasons:           []string{"Required file missing: .planning/PM_SIGNOFF.md"},
				MissingFiles:      []string{".planning/PM_SIGNOFF.md"},
				FailingFiles:      []string{".planning/PM_SIGNOFF.md"},
			}},
		{
			name:  "semantics of the path",
			phase: "plan",
			to:    "build",
			edit:  signoff,
			files: filesOf(".planning/PM_SIGNOFF.md", "Approved: NO"),
			codes: []string{verdict.FindingSemantics},
			want: Result{
				Action:            ActionGateFailed,
				GateID:            new("plan_gate"),
				TransitionRequest: "build",
				Reasons:           []string{notApproved("NO")},
				FailingFiles:      []string{".planning/PM_SIGNOFF.md"},
			},
		},
		{
			name:  "file good",
			phase: "plan",
			to:    "build",
			edit:  signoff,
			files: filesOf(".planning/PM_SIGNOFF.md", "Approved: YES"),
			want: Result{
				Action:            ActionAdvance,
				GateID:            new("plan_gate"),
				Passed:            true,
				TransitionRequest: "build",
				NextPhase:         "build",
			},
		},
		{
			name:  "verification missing",
			phase: "plan",
			to:    "build",
			edit:  func(c *config.Config) { c.Gate("plan_gate").RequiresVerify = true },
			codes: []string{verdict.FindingVerification},
			want: Result{
				Action:              ActionGateFailed,
				GateID:              new("plan_gate"),
				TransitionRequest:   "build",
				MissingVerification: true,
				Reasons:             []string{`Verification status is "missing", requires "pass" or "attested_pass"`},
			},
		},
		{
			name:         "verification failed",
			phase:        "plan",
			to:           "build",
			edit:         func(c *config.Config) { c.Gate("plan_gate").RequiresVerify = true },
			verification: "fail",
			codes:        []string{verdict.FindingVerification},
			want: Result{
				Action:              ActionGateFailed,
				GateID:              new("plan_gate"),
				TransitionRequest:   "build",
				MissingVerification: true,
				Reasons:             []string{`Verification status is "fail", requires "pass" or "attested_pass"`},
			},
		},
		{
			name:         "verification attested",
			phase:        "plan",
			to:           "build",
			edit:         func(c *config.Config) { c.Gate("plan_gate").RequiresVerify = true },
			verification: "attested_pass",
			want: Result{
				Action:            ActionAdvance,
				GateID:            new("plan_gate"),
				Passed:            true,
				TransitionRequest: "build",
				NextPhase:         "build",
			},
		},
		{
			name:  "a failing gate does not wait for a person",
			phase: "plan",
			to:    "build",
			codes: []string{verdict.FindingMissingFile},
			edit:  func(c *config.Config) { signoff(c); c.Gate("plan_gate").RequiresHuman = true },
			want: Result{
				Action:            ActionGateFailed,
				GateID:            new("plan_gate"),
				TransitionRequest: "build",
				Reasons:           []string{"Required file missing: .planning/PM_SIGNOFF.md"},
				MissingFiles:      []string{".planning/PM_SIGNOFF.md"},
				FailingFiles:      []string{".planning/PM_SIGNOFF.md"},
			},
		},
		{
			name:  "everything at once",
			phase: "plan",
			to:    "build",
			files: filesOf(".planning/PM_SIGNOFF.md", "Approved: NO", "a.md", "Approved: NO"),
			edit: func(c *config.Config) {
				g := c.Gate("plan_gate")
				g.RequiresFiles, g.RequiresVerify = []string{".planning/PM_SIGNOFF.md", "gone.md", "a.md"}, true
				kit(c, "plan", config.Artifact{
					Path:      "a.md",
					Semantics: config.SemanticsPMSignoff,
					OwnedBy:   "pm",
					Required:  true,
				}, config.Artifact{Path: "optional.md", OwnedBy: "pm"},
					config.Artifact{
						Path:      ".planning/PM_SIGNOFF.md",
						Semantics: config.SemanticsPMSignoff,
						OwnedBy:   "qa",
					})
			},
			codes: []string{verdict.FindingSemantics, verdict.FindingOwnership, verdict.FindingMissingFile,
				verdict.FindingSemantics, verdict.FindingOwnership, verdict.FindingVerification},
			want: Result{
				Action:              ActionGateFailed,
				GateID:              new("plan_gate"),
				TransitionRequest:   "build",
				MissingVerification: true,
				MissingFiles:        []string{"gone.md"},
				FailingFiles:        []string{".planning/PM_SIGNOFF.md", "gone.md", "a.md"},
				Reasons: []string{notApproved("NO"),
					`".planning/PM_SIGNOFF.md" requires participation from role "qa" in phase "plan", but no accepted turn from that role was found`,
					"Required file missing: gone.md", "a.md: " + notApproved("NO"),
					`"a.md" requires participation from role "pm" in phase "plan", but no accepted turn from that role was found`,
					`Verification status is "missing", requires "pass" or "attested_pass"`},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{
				Config:             gateConfig(tt.edit),
				Phase:              tt.phase,
				Files:              tt.files,
				VerificationStatus: tt.verification,
			}
			if tt.to != "" {
				in.TransitionRequest = &tt.to
			}
			got := EvaluatePhaseExit(in)
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
			}
			if diff := cmp.Diff(tt.codes, codes); diff != "" {
				t.Errorf("findings: %s", diff)
			}
			got.Findings, got.Warnings = nil, nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEvaluateRunCompletion(t *testing.T) {
	tests := []struct {
		name, phase string
		request     bool
		edit        func(*config.Config)
		want        Result
	}{
		{"no request", "ship", false, nil, Result{Action: ActionNoRequest}},
		{"too early", "build", true, nil, Result{
			Action:  ActionNotFinalPhase,
			Reasons: []string{`Run completion requested but current phase "build" is not the final phase "ship"`},
		}},
		{"complete", "ship", true, nil, Result{Action: ActionComplete, GateID: new("ship_gate"), Passed: true}},
		{"no gate", "ship", true, func(c *config.Config) { c.Route("ship").ExitGate = "" }, Result{
			Action: ActionComplete,
			Passed: true,
		}},
		{"undefined gate", "ship", true, func(c *config.Config) { c.Gates.Delete("ship_gate") },
			Result{
				Action:  ActionComplete,
				GateID:  new("ship_gate"),
				Passed:  true,
				Reasons: []string{`Gate "ship_gate" referenced but not defined — treated as open`},
			}},
		{"human", "ship", true, func(c *config.Config) { c.Gate("ship_gate").RequiresHuman = true },
			Result{Action: ActionAwaitHuman, GateID: new("ship_gate"), Passed: true, BlockedByHuman: true}},
		{"fails", "ship", true, func(c *config.Config) { c.Gate("ship_gate").RequiresFiles = []string{"x"} },
			Result{
				Action:       ActionGateFailed,
				GateID:       new("ship_gate"),
				Reasons:      []string{"Required file missing: x"},
				MissingFiles: []string{"x"},
				FailingFiles: []string{"x"},
			}},
		{"no routing", "ship", true, func(c *config.Config) { c.Routing = ojson.Map[*config.Route]{} }, Result{
			Action: ActionComplete,
			Passed: true,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := EvaluateRunCompletion(Input{
				Config:            gateConfig(tt.edit),
				Phase:             tt.phase,
				CompletionRequest: tt.request,
			})
			got.Findings = nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGateOwnership(t *testing.T) {
	c := gateConfig(func(c *config.Config) {
		kit(c, "plan", config.Artifact{
			Path:     "a.md",
			OwnedBy:  "pm",
			Required: true,
		})
	})
	in := Input{Config: c, Phase: "plan", TransitionRequest: new("build"), Files: filesOf("a.md", "")}
	in.Participated = func(phase, role string) bool { return phase == "plan" && role == "pm" }
	if r := EvaluatePhaseExit(in); r.Action != ActionAdvance {
		t.Errorf("owner took part, got %s %q", r.Action, r.Reasons)
	}
	in.Participated = func(phase, role string) bool { return phase == "build" || role == "dev" }
	if r := EvaluatePhaseExit(in); r.Action != ActionGateFailed || r.Findings[0].Role != "pm" {
		t.Errorf("owner did not take part, got %+v", r)
	}
}

func TestGateStrictVerification(t *testing.T) {
	c := gateConfig(func(c *config.Config) { c.Gate("plan_gate").RequiresVerify = true; c.Rules.StrictVerify = true })
	in := Input{Config: c, Phase: "plan", TransitionRequest: new("build"), VerificationStatus: "pass"}
	if r := EvaluatePhaseExit(in); r.Action != ActionGateFailed || !r.MissingVerification ||
		r.Findings[0].Code != verdict.FindingNotReproducible {
		t.Errorf("a bare claim passed: %+v", r)
	}
	in.VerificationReproducible = true
	if r := EvaluatePhaseExit(in); r.Action != ActionAdvance {
		t.Errorf("a reproducible pass failed: %+v", r)
	}
	in.VerificationStatus = "fail"
	if r := EvaluatePhaseExit(in); r.Action != ActionGateFailed || r.Findings[0].Code != verdict.FindingVerification {
		t.Errorf("a failure passed: %+v", r)
	}
}

func TestGateFiles(t *testing.T) {
	c := gateConfig(func(c *config.Config) {
		c.Gate("plan_gate").RequiresFiles = []string{"b", "a", "b"}
		kit(c, "plan", config.Artifact{Path: "a"}, config.Artifact{Path: "opt"})
		kit(c, "build", config.Artifact{Path: "other"})
		c.Route("ship").ExitGate = ""
		kit(c, "ship", config.Artifact{Path: "unread"})
	})
	for phase, want := range map[string][]string{
		"plan":  {"b", "a", "opt"},
		"build": {"other"},
		"ship":  nil,
		"gone":  nil,
	} {
		if diff := cmp.Diff(want, Files(c, phase)); diff != "" {
			t.Errorf("%s: %s", phase, diff)
		}
	}
}

func TestGateResultObject(t *testing.T) {
	r := Result{Action: ActionNoRequest}
	want := `{"gate_id":null,"passed":false,"blocked_by_human_approval":false,"reasons":[],"missing_files":[],"failing_files":[],"missing_verification":false,"next_phase":null,"transition_request":null,"action":"no_request"}`
	if got := string(ojson.Compact(r.Object(true))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.Object(false).Has("next_phase") {
		t.Error("a completion result has next_phase")
	}
}

// TestGateReadsOnlyGateFiles: files that Files does not name never affect a gate's decision, and a gate passes only
// when every reason is gone.
func TestGateReadsOnlyGateFiles(t *testing.T) {
	paths := []string{".planning/PM_SIGNOFF.md", ".planning/SYSTEM_SPEC.md", "a.md", "b.md"}
	rapid.Check(t, func(t *rapid.T) {
		subset := func(name string) []string {
			var out []string
			for _, p := range paths {
				if rapid.Bool().Draw(t, name+p) {
					out = append(out, p)
				}
			}
			return out
		}
		c := gateConfig(func(c *config.Config) {
			g := c.Gate("plan_gate")
			g.RequiresFiles, g.RequiresHuman, g.RequiresVerify = subset("required"), rapid.Bool().Draw(t, "human"),
				rapid.Bool().Draw(t, "verify")
			for _, p := range subset("kit") {
				a := config.Artifact{
					Path:     p,
					Required: rapid.Bool().Draw(t, "kit required"),
					OwnedBy:  rapid.SampledFrom([]string{"", "pm"}).Draw(t, "owner"),
					Semantics: rapid.SampledFrom([]string{"", config.SemanticsPMSignoff,
						config.SemanticsSectionCheck}).Draw(t, "semantics"),
					RequiredSections: []string{"## A"},
				}
				kit(c, "plan", append(mustKit(c, "plan"), a)...)
			}
		})
		var facts []evidence.FileFact
		for _, p := range subset("present") {
			facts = append(facts, evidence.FileFact{Path: p, Exists: true, Data: []byte(genDocument().Draw(t, "doc"))})
		}
		took := rapid.Bool().Draw(t, "took part")
		in := Input{
			Config:             c,
			Phase:              "plan",
			TransitionRequest:  new("build"),
			Files:              evidence.NewFiles(facts),
			VerificationStatus: rapid.SampledFrom([]string{"", "pass", "fail"}).Draw(t, "status"),
			Participated:       func(string, string) bool { return took },
		}
		got := EvaluatePhaseExit(in)
		read := Files(c, "plan")
		in.Files = evidence.NewFiles(
			slices.DeleteFunc(facts, func(f evidence.FileFact) bool { return !slices.Contains(read, f.Path) }))
		if diff := cmp.Diff(got, EvaluatePhaseExit(in)); diff != "" {
			t.Fatalf("a file Files does not name was read: %s", diff)
		}
		if got.Passed != (len(got.Reasons) == 0) || len(got.Reasons) != len(got.Findings) ||
			got.Passed != (got.NextPhase == "build") {
			t.Fatalf("inconsistent result: %+v", got)
		}
		for _, f := range got.FailingFiles {
			if !slices.Contains(read, f) {
				t.Fatalf("%s fails but is not read", f)
			}
		}
		for i, f := range got.Findings {
			if f.Reason != got.Reasons[i] ||
				f.Path != "" && !strings.Contains(f.Reason, f.Path) && f.Code != verdict.FindingSemantics {
				t.Fatalf("finding %+v, reason %q", f, got.Reasons[i])
			}
		}
	})
}

func mustKit(c *config.Config, phase string) []config.Artifact {
	a, _ := c.WorkflowKit.Phases.Get(phase)
	return a
}
