// What the exit gate of the phase will check, told in advance.

package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
)

// leaveTheLine tells an agent about a document with a person's sign-off (docs/spec/gates.md#sign-off-documents).
const leaveTheLine = "everything a person has to know before they sign. Prepare it and leave its sign-off line as it is: " +
	"a result that changes the line is refused (`signoff_by_agent`), and a person signs by approving the gate"

// semanticHint says what a named evaluator checks (docs/spec/gates.md#semantic-evaluators), or "".
func semanticHint(a config.Artifact) string {
	switch a.Semantics {
	case "pm_signoff":
		return "a line `Approved: YES`, which is the sign-off: in this project the role that answers for the document writes it"
	case "system_spec":
		return "the sections `## Purpose`, `## Interface` and `## Acceptance Tests`, each with real content instead of the scaffold's"
	case "implementation_notes":
		return "the sections `## Changes` and `## Verification`, each with real content"
	case "acceptance_matrix":
		return "the `| Req # |` table with a row for each requirement, the last cell of every row being a pass"
	case "ship_verdict":
		return "a line `## Verdict: YES` (or `SHIP`)"
	case "release_notes":
		return "the sections `## User Impact` and `## Verification Summary`, each with real content"
	case "section_check":
		return "these sections, each with real content: " + inlineCodes(a.RequiredSections)
	}
	return ""
}

// gateHint says what a document must contain, "" when nothing is known of it.
func (v *view) gateHint(a config.Artifact) string {
	if v.personSigns(a.Path) {
		return leaveTheLine
	}
	return semanticHint(a)
}

// required returns a file that the gate wants, with what its path or the workflow kit asks of it.
func (v *view) required(path string) config.Artifact {
	semantics := config.PathSemantics(path)
	for _, a := range v.artifacts() {
		if a.Path == path && semantics == "" {
			return a
		}
	}
	return config.Artifact{Path: path, Semantics: semantics}
}

// personSigns reports whether only people sign the document.
func (v *view) personSigns(path string) bool {
	return v.Config.PersonSigns() && gates.SignoffDocument(v.Config, path)
}

// exitGate returns the section on the phase's gate, or "".
func (v *view) exitGate() string {
	if v.gate == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Phase Exit Gate\n\nGate: %s\n", code(v.route.ExitGate))
	if len(v.gate.RequiresFiles) > 0 {
		b.WriteString("\nRequired files:\n")
		for _, p := range v.gate.RequiresFiles {
			fmt.Fprintf(&b, "- %s — %s", code(p), v.presence(p))
			if h := v.gateHint(v.required(p)); h != "" {
				b.WriteString("; must hold " + h)
			}
			b.WriteByte('\n')
		}
	}
	var more []string
	for _, a := range v.artifacts() {
		if a.Required && !slices.Contains(v.gate.RequiresFiles, a.Path) {
			more = append(more, a.Path)
		}
	}
	if len(more) > 0 {
		b.WriteString("\nRequired by the phase's workflow kit as well: " + inlineCodes(more) + "\n")
	}
	b.WriteByte('\n')
	for _, role := range v.owners() {
		fmt.Fprintf(&b, "- Requires %s: the gate stays shut until that role has an accepted turn in this phase",
			code(role))
		if role != v.Turn.AssignedRole {
			b.WriteString(". Until then do not ask to leave the phase; propose that role as the next")
		}
		b.WriteByte('\n')
	}
	if v.gate.RequiresVerify {
		b.WriteString("- Requires verification pass: the result that asks to leave the phase must report `verification.status` `pass`\n")
	}
	if v.waits() {
		b.WriteString("- " + v.humanLine() + "\n")
	}
	if !v.gate.RequiresVerify && !v.waits() {
		b.WriteString("- No verification and no approval is asked for beyond the files\n")
	}
	return b.String()
}

// owners returns the roles that documents of the phase are named for (docs/spec/gates.md#what-a-gate-looks-at).
func (v *view) owners() []string {
	var roles []string
	for _, a := range v.artifacts() {
		if a.OwnedBy != "" && !slices.Contains(roles, a.OwnedBy) {
			roles = append(roles, a.OwnedBy)
		}
	}
	return roles
}

func (v *view) humanLine() string {
	switch v.approval() {
	case "auto":
		return "Requires human approval, which the project's approval policy grants by itself once the rest of the gate passes"
	case "maybe":
		return "Requires human approval, which the project's approval policy may grant by itself under its conditions; otherwise the run pauses for a person"
	}
	return "Requires human approval: the run pauses there for a person. You cannot approve it, and approval from inside a turn is refused"
}

// asksPerson reports whether no approval policy can pass the gate: authority names who approves it, or it reads a
// sign-off that only people give.
func (v *view) asksPerson() bool {
	if v.gate == nil {
		return false
	}
	return v.gate.Credentialed || v.Config.GateRule(v.route.ExitGate) != nil ||
		slices.ContainsFunc(gates.Files(v.Config, v.State.Phase), v.personSigns)
}

// waits reports whether the gate needs an approval, by a person or by the policy.
func (v *view) waits() bool { return v.gate != nil && (v.gate.RequiresHuman || v.asksPerson()) }

// approval predicts how a gate of this phase that needs an approval will be decided (docs/spec/results.md): auto,
// maybe (conditions must hold) or human. It is advice; the decision is made at acceptance.
func (v *view) approval() string {
	p := v.Config.ApprovalPolicy
	if p == nil || v.asksPerson() {
		return "human"
	}
	verdict := func(r *config.ApprovalRule) string {
		switch {
		case r.Action != "auto_approve":
			return "human"
		case r.When != nil:
			return "maybe"
		}
		return "auto"
	}
	if v.final {
		if p.RunCompletion == nil {
			return "human"
		}
		return verdict(p.RunCompletion)
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		if (r.From == "" || r.From == v.State.Phase) && (r.To == "" || r.To == v.next) {
			return verdict(r)
		}
	}
	if p.Default == "auto_approve" {
		return "auto"
	}
	return "human"
}

// annotation returns a one-line reading of a signature document, by file name (docs/bundles.md#what-is-in-it), or
// "".
func annotation(path, text string) string {
	name := strings.ToLower(path)
	switch {
	case strings.HasSuffix(name, "pm_signoff.md"):
		if val, ok := lineValue(text, "Approved"); ok && strings.EqualFold(val, "YES") {
			return "Approved: YES"
		}
		return "approval not found"
	case strings.HasSuffix(name, "ship-verdict.md"):
		if val, ok := lineValue(text, "## Verdict"); ok {
			switch strings.ToUpper(strings.Join(strings.Fields(val), " ")) {
			case "YES", "SHIP", "SHIP IT":
				return "Verdict: " + line(val)
			}
		}
		return "verdict not affirmative"
	}
	return ""
}

// lineValue returns what follows "label:" on the first line that starts with it, ignoring case. As for the gate
// evaluators, the value may start on a later line, and any amount of space may follow heading marks.
func lineValue(text, label string) (string, bool) {
	want := strings.Fields(strings.ToLower(label))
	rest := strings.ReplaceAll(text, "\r", "\n")
	for rest != "" {
		l, after, _ := strings.Cut(rest, "\n")
		head, val, ok := strings.Cut(l, ":")
		if ok && !strings.HasPrefix(l, " ") && !strings.HasPrefix(l, "\t") &&
			slices.Equal(strings.Fields(strings.ToLower(head)), want) {
			if val = strings.TrimSpace(val); val == "" {
				val, _, _ = strings.Cut(strings.TrimSpace(after), "\n")
			}
			return strings.TrimSpace(val), true
		}
		rest = after
	}
	return "", false
}
