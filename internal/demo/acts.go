// The three acts: what the scripted pm, dev and qa do.

package demo

import (
	"errors"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/commands"
)

func objection(id, severity, statement string) []*ojson.Object {
	return []*ojson.Object{ojson.NewObject("id", id, "severity", severity, "statement", statement, "status", "raised")}
}

func decision(id, category, statement, rationale string) []*ojson.Object {
	return []*ojson.Object{ojson.NewObject("id", id, "category", category, "statement", statement,
		"rationale", rationale)}
}

const (
	signoff      = "# PM Signoff\n\nApproved: NO\n\nScope: greet one person by name, refuse an empty name.\n"
	selfSigned   = "# PM Signoff\n\nApproved: YES\n\nScope: greet one person by name, refuse an empty name.\n"
	roadmap      = "# Roadmap\n\n| Req # | Requirement |\n|-------|-------------|\n| 1 | `greet.sh NAME` prints a greeting |\n| 2 | An empty name is refused |\n"
	roadmapAgain = roadmap + "\nNot in this version: names with line breaks.\n"
	systemSpec   = "# System Spec\n\n## Purpose\n\nGreet a person by name.\n\n## Interface\n\n`sh greet.sh NAME` prints `Hello, NAME!` and ends with 0.\n\n## Acceptance Tests\n\n- [ ] `sh greet_test.sh` ends with 0\n"
	script       = "#!/bin/sh\n# Greets the person named by the first argument.\nif [ -z \"$1\" ]; then\n\techo 'usage: greet.sh NAME' >&2\n\texit 2\nfi\nprintf 'Hello, %s!\\n' \"$1\"\n"
	scriptTest   = "#!/bin/sh\n# Checks greet.sh.\nset -eu\n[ \"$(sh greet.sh Ada)\" = 'Hello, Ada!' ]\nif sh greet.sh '' 2>/dev/null; then exit 1; fi\n"
	implNotes    = "# Implementation Notes\n\n## Changes\n\n- greet.sh greets, and refuses an empty name.\n\n## Verification\n\n- `sh greet_test.sh` ends with 0.\n"
	matrix       = "# Acceptance Matrix\n\n| Req # | Requirement | Acceptance criteria | Test status | Last tested | Status |\n|-------|-------------|-------------------|-------------|-------------|--------|\n| 1 | Greeting | `sh greet.sh Ada` prints Hello, Ada! | pass | today | pass |\n| 2 | Empty name | `sh greet.sh ''` ends with 2 | pass | today | pass |\n"
	verdict      = "# Ship Verdict\n\n## Verdict: PENDING\n\nBoth requirements hold; nothing stands against shipping.\n"
	releaseNotes = "# Release Notes\n\n## User Impact\n\nPeople can be greeted by name.\n\n## Verification Summary\n\nBoth requirements were tested.\n"
)

// planning: a result without the mandatory challenge is rejected and redone; an agent that signs for a person is
// refused; the gate waits, and a person says no before saying yes.
func (p *play) planning() error {
	a, err := p.assign("")
	if err != nil {
		return err
	}
	if err := p.stage(a, "summary", "Planned a greeter.", "objections", []any{}, "files_changed", []any{},
		"proposed_next_role", "human"); err != nil {
		return err
	}
	p.say(Did, "pm", "stages a result without a single objection", "")
	_, err = p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	if err := p.refused(err, wire.CodeValidationFailed); err != nil {
		return err
	}
	p.say(Refused, "agentxchain", "refuses it", firstProblem(err))
	back, err := p.r.RejectTurn(p.ctx, runner.RejectOptions{Reason: "challenge the plan: what could go wrong?"})
	if err != nil {
		return err
	}
	a.Turn = back.Result.Turn
	p.say(Did, "person", "rejects the turn, attempt 2 begins", "challenge the plan: what could go wrong?")

	for path, content := range map[string]string{
		".planning/ROADMAP.md":     roadmap,
		".planning/SYSTEM_SPEC.md": systemSpec,
		".planning/PM_SIGNOFF.md":  selfSigned,
	} {
		if err := p.write(path, content); err != nil {
			return err
		}
	}
	if err := p.stage(a, "summary", "Scope, interface and acceptance tests are written down.",
		"phase_transition_request", "implementation",
		"objections", objection("OBJ-001", "medium", "The plan does not say what an empty name should do."),
		"decisions", decision("DEC-001", "scope", "An empty name is refused with exit status 2.",
			"A greeting without a name hides a mistake of the caller."),
		"files_changed", []string{".planning/PM_SIGNOFF.md", ".planning/ROADMAP.md", ".planning/SYSTEM_SPEC.md"},
		"proposed_next_role", "human"); err != nil {
		return err
	}
	p.say(Did, "pm", "writes roadmap and system spec, and signs them off itself", "Approved: YES")
	_, err = p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	if err := p.refused(err, protocol.CodeSignoffByAgent); err != nil {
		return err
	}
	p.say(Refused, "agentxchain", "refuses it: only a person signs", firstProblem(err))
	if err := p.write(".planning/PM_SIGNOFF.md", signoff); err != nil {
		return err
	}
	p.say(Did, "pm", "takes the signature out again", "Approved: NO")
	if _, err := p.accept(a); err != nil {
		return err
	}
	if _, err := p.r.Deny(p.ctx, "Say what is left out of the first version."); err != nil {
		return err
	}
	p.say(Did, "person", "says no: the run goes back to work", "Say what is left out of the first version.")

	if a, err = p.assign("pm"); err != nil {
		return err
	}
	if err := p.write(".planning/ROADMAP.md", roadmapAgain); err != nil {
		return err
	}
	if err := p.stage(a, "summary", "The roadmap says what is left out.", "phase_transition_request", "implementation",
		"objections", objection("OBJ-002", "low", "Names with line breaks are not covered."),
		"files_changed", []string{".planning/ROADMAP.md"}, "proposed_next_role", "human"); err != nil {
		return err
	}
	p.say(Did, "pm", "answers in the roadmap, and asks again", "")
	if _, err := p.accept(a); err != nil {
		return err
	}
	return p.approve()
}

// implementation: real code with a real test; its evidence is reproduced.
func (p *play) implementation() error {
	a, err := p.assign("")
	if err != nil {
		return err
	}
	for path, content := range map[string]string{
		"greet.sh":                          script,
		"greet_test.sh":                     scriptTest,
		".planning/IMPLEMENTATION_NOTES.md": implNotes,
	} {
		if err := p.write(path, content); err != nil {
			return err
		}
	}
	evidence := ojson.NewObject("status", "pass", "commands", []string{"sh greet_test.sh"},
		"evidence_summary", "The test ends with 0.",
		"machine_evidence", []*ojson.Object{ojson.NewObject("command", "sh greet_test.sh", "exit_code", 0)})
	if err := p.stage(a, "summary", "Wrote greet.sh and its test.", "phase_transition_request", "qa",
		"verification", evidence,
		"files_changed", []string{".planning/IMPLEMENTATION_NOTES.md", "greet.sh", "greet_test.sh"},
		"proposed_next_role", "qa",
		"decisions", decision("DEC-002", "implementation", "POSIX sh, no dependencies.",
			"It runs wherever git runs.")); err != nil {
		return err
	}
	p.say(Did, "dev", "writes greet.sh and greet_test.sh and runs the test", "")
	_, _, doc, err := p.r.Validate(p.ctx, a.Turn.TurnID)
	if err != nil {
		return err
	}
	again, err := p.r.ReplayTurn(p.ctx, doc, commands.ReplayOptions{Execute: true})
	if err != nil {
		return err
	}
	if again.Overall != result.ReplayMatch {
		return errors.New("the demo's own test does not pass: " + again.Overall + " " + again.Reason)
	}
	p.say(Passed, "agentxchain", "runs the declared evidence again: it matches", "")
	_, err = p.accept(a)
	return err
}

// shipping: qa raises a challenge, fills in the matrix and asks to complete the run.
func (p *play) shipping() error {
	a, err := p.assign("")
	if err != nil {
		return err
	}
	for path, content := range map[string]string{
		".planning/acceptance-matrix.md": matrix,
		".planning/ship-verdict.md":      verdict,
		".planning/RELEASE_NOTES.md":     releaseNotes,
	} {
		if err := p.write(path, content); err != nil {
			return err
		}
	}
	if err := p.stage(a, "summary", "Both requirements hold; ready to ship.", "run_completion_request", true,
		"objections", objection("OBJ-003", "low", "There is no man page."),
		"verification", ojson.NewObject("status", "pass", "commands", []string{"sh greet_test.sh"},
			"evidence_summary", "Ran the test again."),
		"files_changed", []string{".planning/RELEASE_NOTES.md", ".planning/acceptance-matrix.md",
			".planning/ship-verdict.md"}, "proposed_next_role", "human"); err != nil {
		return err
	}
	p.say(Did, "qa", "tests both requirements and asks to ship", "")
	if _, err := p.accept(a); err != nil {
		return err
	}
	return p.approve()
}

func firstProblem(err error) string {
	var refusal *wire.Error
	if errors.As(err, &refusal) && len(refusal.Problems) > 0 {
		return refusal.Problems[0].Message
	}
	return err.Error()
}
