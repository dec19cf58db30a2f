// Semantic evaluators judge what a gate's document says (docs/spec/gates.md#semantic-evaluators).

package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// SemanticsRecoveryReport judges the coordinator's recovery report. A configuration cannot name it; workflowkit.go
// lists the kinds that it can.
const SemanticsRecoveryReport = "recovery_report"

// EvaluateSemantics judges the contents of the file at path. sections are the required_sections of section_check. A
// reason is part of the protocol: it names the evaluator's own canonical path, not the argument. Warnings are about
// input that the rule judges literally, probably not as its author meant it.
//
// An unknown kind does not pass: a check that cannot run is not a check that succeeded.
func EvaluateSemantics(kind, path string, data []byte, sections []string) (ok bool, reason string, warnings []string) {
	text := DecodeText(data)
	var w []string
	switch kind {
	case config.SemanticsPMSignoff:
		reason, w = pmSignoff(text)
	case config.SemanticsShipVerdict:
		reason, w = shipVerdict(text)
	case config.SemanticsSystemSpec:
		reason = systemSpec(newSectioned(text))
	case config.SemanticsImplementationNotes:
		reason = sectionNotes(newSectioned(text), implementationRules)
	case config.SemanticsReleaseNotes:
		reason = sectionNotes(newSectioned(text), releaseRules)
	case SemanticsRecoveryReport:
		reason = recoveryReport(newSectioned(text))
	case config.SemanticsAcceptanceMatrix:
		reason, w = acceptanceMatrix(text)
	case config.SemanticsSectionCheck:
		reason = sectionCheck(newSectioned(text), sections)
	default:
		return false, fmt.Sprintf("%s asks for the check %q, which does not exist.", path, kind), nil
	}
	if loneTerminator(text) && kind != config.SemanticsPMSignoff && kind != config.SemanticsShipVerdict {
		w = append(w, "has line ends other than LF or CRLF; sections and tables are cut at LF only")
	}
	for i := range w {
		w[i] = path + " " + w[i]
	}
	return reason == "", reason, w
}

// loneTerminator reports whether s contains a line end that editors show but that does not end a line for sections
// and tables.
func loneTerminator(s string) bool {
	for {
		i := strings.IndexAny(s, "\r\u2028\u2029")
		if i < 0 {
			return false
		}
		if s[i] != '\r' || i+1 == len(s) || s[i+1] != '\n' {
			return true
		}
		s = s[i+2:]
	}
}

func pmSignoff(text string) (reason string, warnings []string) {
	v := lineValue(text, approvedLabel)
	warnings = labelWarnings(text, "Approved", v, approvedLabel)
	switch {
	case !v.found:
		reason = "PM signoff must declare `Approved: YES` in .planning/PM_SIGNOFF.md."
	case token(v.value) != "YES":
		reason = `PM signoff is not approved. Found "Approved: ` + v.value +
			`" in .planning/PM_SIGNOFF.md; set it to "Approved: YES".`
	}
	return reason, warnings
}

func shipVerdict(text string) (reason string, warnings []string) {
	v := lineValue(text, verdictLabel)
	warnings = labelWarnings(text, "## Verdict", v, verdictLabel)
	if !v.found {
		return "Ship verdict must declare an affirmative `## Verdict:` line in .planning/ship-verdict.md.", warnings
	}
	switch token(v.value) {
	case "YES", "SHIP", "SHIP IT":
		return "", warnings
	}
	return `Ship verdict is not affirmative. Found "## Verdict: ` + v.value +
		`" in .planning/ship-verdict.md; use "## Verdict: YES".`, warnings
}

// labelWarnings reports values that cross a line end and later lines that contradict the one that counts.
func labelWarnings(text, label string, v labelled, match func(string) int) []string {
	if !v.found {
		return nil
	}
	var out []string
	if v.crossed {
		out = append(out, fmt.Sprintf("has the value of %q on a later line; write it behind the colon", label))
	}
	for rest := text[v.end:]; ; {
		// The value ends at a line end or at the end of the text, so no line of
		// rest starts in the middle of a line of text.
		next := lineValue(rest, match)
		if !next.found {
			return out
		}
		if token(next.value) != token(v.value) {
			return append(out, fmt.Sprintf("states %q more than once with different values; only the first counts",
				label))
		}
		rest = rest[next.end:]
	}
}

// systemSpec tests presence by substring and contents by heading line, so a
// heading that occurs only inside a line is present and never empty.
func systemSpec(d sectioned) string {
	headings := []string{"## Purpose", "## Interface", "## Acceptance Tests"}
	if missing := missingHeadings(d, headings); len(missing) > 0 {
		return ".planning/SYSTEM_SPEC.md must define " + strings.Join(missing, ", ") + " before planning can exit."
	}
	if empty := emptyHeadings(d, headings, specPlaceholder); len(empty) > 0 {
		return strings.Join(empty, " and ") +
			" in .planning/SYSTEM_SPEC.md still contains only scaffold placeholder text. Replace placeholder content with real spec content before planning can exit."
	}
	return ""
}

// specPlaceholder matches a wholly parenthesised line and the scaffold's open
// checklist item.
func specPlaceholder(line string) bool {
	if strings.HasPrefix(line, "- [ ] Name the executable checks") {
		return true
	}
	return len(line) >= 2 && line[0] == '(' && line[len(line)-1] == ')' && !strings.ContainsAny(line, lineTerminators)
}

func sectionCheck(d sectioned, sections []string) string {
	if missing := missingHeadings(d, sections); len(missing) > 0 {
		return "Document must contain sections: " + strings.Join(missing, ", ")
	}
	placeholder := func(line string) bool {
		return equalFoldASCII(line, "(Content here.)") || equalFoldASCII(line, "(Operator fills this in.)")
	}
	if empty := emptyHeadings(d, sections, placeholder); len(empty) > 0 {
		return "Sections still contain only scaffold placeholder text: " + strings.Join(empty, ", ") +
			". Replace placeholder content before this gate can pass."
	}
	return ""
}

// missingHeadings returns the headings that occur nowhere in the text.
func missingHeadings(d sectioned, headings []string) []string {
	var out []string
	for _, h := range headings {
		if !strings.Contains(d.text, h) {
			out = append(out, h)
		}
	}
	return out
}

// emptyHeadings returns the headings that have a line of their own but no real content.
func emptyHeadings(d sectioned, headings []string, placeholder func(string) bool) []string {
	var out []string
	for _, h := range headings {
		if found, content := d.section(h, placeholder); found && !content {
			out = append(out, h)
		}
	}
	return out
}

// notesRules has the rules of the two documents that need filled sections.
type notesRules struct {
	headings         [2]string
	placeholder      string
	missing, unready [2]string // text around the joined headings
}

var (
	implementationRules = notesRules{
		headings:    [2]string{"## Changes", "## Verification"},
		placeholder: "(Dev fills this during implementation)",
		missing:     [2]string{".planning/IMPLEMENTATION_NOTES.md must define ", " before implementation can exit."},
		unready: [2]string{"",
			" in .planning/IMPLEMENTATION_NOTES.md still contains only placeholder text. Dev must replace placeholder content with real implementation notes."},
	}
	releaseRules = notesRules{
		headings:    [2]string{"## User Impact", "## Verification Summary"},
		placeholder: "(QA fills this during the QA phase)",
		missing:     [2]string{".planning/RELEASE_NOTES.md must define ", " before ship approval can be requested."},
		unready: [2]string{"",
			" in .planning/RELEASE_NOTES.md still contains only placeholder text. QA must replace placeholder content with real release notes."},
	}
)

func sectionNotes(d sectioned, r notesRules) string {
	missing, empty := filled(d, r.headings[:], r.placeholder)
	if len(missing) > 0 {
		return r.missing[0] + strings.Join(missing, " and ") + r.missing[1]
	}
	if len(empty) > 0 {
		return r.unready[0] + strings.Join(empty, " and ") + r.unready[1]
	}
	return ""
}

// recoveryReport judges the coordinator's report of an interrupted multi-repo run.
func recoveryReport(d sectioned) string {
	missing, empty := filled(d, []string{"## Trigger", "## Impact", "## Mitigation"},
		"(Operator fills this before running multi resume)")
	if len(missing) > 0 {
		return "Recovery report must define " + strings.Join(missing, " and ") + " before resume."
	}
	if len(empty) > 0 {
		return "Recovery report sections still contain placeholder text: " + strings.Join(empty, ", ") +
			". Replace placeholder content before running multi resume."
	}
	return ""
}

// filled separates the headings that have no line of their own from those that do but have nothing real below them.
func filled(d sectioned, headings []string, placeholder string) (missing, empty []string) {
	for _, h := range headings {
		found, content := d.section(h, func(line string) bool { return equalFoldASCII(line, placeholder) })
		switch {
		case !found:
			missing = append(missing, h)
		case !content:
			empty = append(empty, h)
		}
	}
	return missing, empty
}

// acceptanceMatrix judges the first table behind the requirement header.
func acceptanceMatrix(text string) (reason string, warnings []string) {
	lines := strings.Split(text, "\n")
	head := slices.IndexFunc(lines, matrixHeader)
	if head < 0 {
		return "Acceptance matrix must preserve the `| Req # |` requirement table header in .planning/acceptance-matrix.md.", nil
	}
	var failing []string
	rows, open, inTable, after := 0, 0, false, false
	for _, raw := range lines[head+1:] {
		line := wire.Trim(raw)
		piped := strings.HasPrefix(line, "|")
		if after {
			if piped {
				warnings = append(warnings,
					"has table rows behind the end of the requirement table; only the first table is judged")
				break
			}
			continue
		}
		if !piped {
			after = inTable
			continue
		}
		inTable = true
		if len(line) < 2 || !strings.HasSuffix(line, "|") {
			open++
		}
		cells := strings.Split(line, "|")
		cells = cells[1:max(1, len(cells)-1)]
		if separatorRow(cells) {
			continue
		}
		req, status := wire.Trim(cells[0]), wire.Trim(cells[len(cells)-1])
		if req == "" || equalFoldASCII(req, "(QA fills this from ROADMAP.md)") {
			continue
		}
		rows++
		switch token(status) {
		case "PASS", "PASSED", "OK", "YES":
		case "":
			failing = append(failing, req+"=missing")
		default:
			failing = append(failing, req+"="+status)
		}
	}
	if open > 0 {
		warnings = append(warnings,
			fmt.Sprintf("has %d table row(s) that do not end with a pipe; their last cell is not read", open))
	}
	switch {
	case rows == 0:
		reason = "Acceptance matrix has no real requirement verdict rows. Replace the scaffold placeholder with QA-owned requirement results before requesting ship approval."
	case len(failing) > 0:
		reason = "Acceptance matrix still has non-passing requirement rows in .planning/acceptance-matrix.md: " +
			strings.Join(failing, ", ") +
			". Mark every requirement row with a passing Status before requesting ship approval."
	}
	return reason, warnings
}

// matrixHeader matches a line that starts with | Req # |, in any case and with
// any white space between the four parts.
func matrixHeader(line string) bool {
	for i, part := range [...]string{"|", "Req", "#", "|"} {
		if i > 0 {
			line = trimLeftJS(line)
		}
		if !hasPrefixFold(line, part) {
			return false
		}
		line = line[len(part):]
	}
	return true
}

// separatorRow reports whether every cell of a row is :?-{3,}:?.
func separatorRow(cells []string) bool {
	for _, c := range cells {
		c = wire.Trim(c)
		c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":")
		if len(c) < 3 || strings.Trim(c, "-") != "" {
			return false
		}
	}
	return true
}
