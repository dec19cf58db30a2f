// The parts of CONTEXT.md that can be left out when it does not fit (docs/runtimes.md#api_proxy).

package apiproxy

import (
	"cmp"
	"strings"
)

// section is a piece of the context, in the order of the text. All pieces together are the text,
// byte for byte.
type section struct {
	id       string
	required bool
	text     string
	action   string // kept, dropped, truncated
	original int    // tokens
	final    int
}

// Actions of a section.
const (
	kept      = "kept"
	dropped   = "dropped"
	truncated = "truncated"
)

// sectionIDs maps the headings of the model to its ids; sticky sections are those that no step may
// touch.
func sectionIDs(heading string) (id string, sticky bool) {
	switch heading {
	case "Current State":
		return "current_state", true
	case "Project Goal":
		return "project_goal", true
	case "Runtime Capability Contract":
		return "runtime_capability_contract", false
	case "Inherited Run Context":
		return "inherited_run_context", true
	case "Last Accepted Turn":
		return "last_turn_header", true
	case "Decision History":
		return "decision_history", false
	case "Blockers":
		return "blockers", true
	case "Escalation":
		return "escalation", true
	case "Workflow Artifacts":
		return "workflow_artifacts", false
	case "Gate Required Files":
		return "gate_required_files", false
	case "Phase Gate Status":
		return "phase_gate_status", false
	}
	// Charters, delegations, decisions in force, and sections of a later version: a section that is
	// not known to be dispensable is kept.
	return slug(heading), true
}

// slug turns a heading into an id: Intake Intent, intake_intent.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() >= 60 {
			break
		}
	}
	return cmp.Or(strings.Trim(b.String(), "_"), "other")
}

// splitter cuts a context into sections line by line.
type splitter struct {
	text  string
	at    int // where the line begins
	out   []*section
	id    string
	keep  bool
	top   string // id of the enclosing ## section
	fence string // the open fence, "" when none
}

// sections cuts the text of a context. Headings inside fenced blocks are quoted
// text, not headings.
func sections(text string) []*section {
	s := &splitter{text: text, id: "preamble", keep: true, top: "preamble"}
	for line := range strings.Lines(text) {
		s.line(line)
		s.at += len(line)
	}
	return s.out
}

func (s *splitter) line(line string) {
	bare := strings.TrimRight(line, "\r\n")
	if s.fenced(bare) {
		s.add(s.id, s.keep, line)
		return
	}
	switch {
	case strings.HasPrefix(bare, "## "):
		s.id, s.keep = sectionIDs(strings.TrimSpace(bare[3:]))
		s.top = s.id
	case s.top == "current_state":
		id, keep := "current_state", true
		if label := bullet(bare); label == "Budget spent" || label == "Budget remaining" {
			id, keep = "budget", false
		}
		s.id, s.keep = id, keep
	case s.top == "last_turn_header" && strings.HasPrefix(bare, "### "):
		s.lastTurn(strings.TrimSpace(bare[4:]))
	case s.top == "last_turn_header" && (s.id == "last_turn_header" || s.bulleted()):
		s.lastBullet(bare)
	}
	s.add(s.id, s.keep, line)
}

// fenced follows the fences and reports whether the line is inside one, or opens or closes one.
func (s *splitter) fenced(bare string) bool {
	trimmed := strings.TrimLeft(bare, " ")
	if s.fence != "" {
		if strings.HasPrefix(trimmed, s.fence) && strings.Trim(trimmed, s.fence[:1]+" ") == "" {
			s.fence = ""
		}
		return true
	}
	for _, sign := range []string{"`", "~"} {
		if n := len(trimmed) - len(strings.TrimLeft(trimmed, sign)); n >= 3 &&
			(sign == "~" || !strings.Contains(trimmed[n:], "`")) {
			s.fence = strings.Repeat(sign, n)
			return true
		}
	}
	return false
}

func (s *splitter) lastTurn(heading string) {
	switch heading {
	case "Files Changed":
		s.id, s.keep = "last_turn_files_changed", false
	case "Changed File Previews":
		s.id, s.keep = "last_turn_changed_file_previews", false
	case "Verification":
		s.id, s.keep = "last_turn_verification", false
	default:
		// Open objections, proposals, logs: part of what the turn reviews.
		s.id, s.keep = "last_turn_"+slug(heading), true
	}
}

func (s *splitter) bulleted() bool {
	return s.id == "last_turn_summary" || s.id == "last_turn_decisions" || s.id == "last_turn_objections"
}

// lastBullet tells the bullets of the last turn apart; indented lines belong to the bullet before.
func (s *splitter) lastBullet(bare string) {
	if !strings.HasPrefix(bare, "- ") && !strings.HasPrefix(bare, "* ") {
		if bare != "" && bare[0] != ' ' && bare[0] != '\t' {
			s.id, s.keep = "last_turn_header", true
		}
		return
	}
	switch bullet(bare) {
	case "Summary":
		s.id, s.keep = "last_turn_summary", false
	case "Decisions":
		s.id, s.keep = "last_turn_decisions", false
	case "Objections":
		s.id, s.keep = "last_turn_objections", false
	default:
		s.id, s.keep = "last_turn_header", true
	}
}

// bullet returns the label of a bullet: "- **Budget spent:** $1.00" or the same without the
// emphasis.
func bullet(bare string) string {
	rest, ok := strings.CutPrefix(bare, "- ")
	if !ok {
		if rest, ok = strings.CutPrefix(bare, "* "); !ok {
			return ""
		}
	}
	label, _, ok := strings.Cut(strings.TrimLeft(rest, "*"), ":")
	if !ok {
		return ""
	}
	return strings.TrimSpace(label)
}

func (s *splitter) add(id string, required bool, line string) {
	if n := len(s.out); n > 0 && s.out[n-1].id == id {
		last := s.out[n-1]
		last.text = s.text[s.at-len(last.text) : s.at+len(line)]
		return
	}
	s.out = append(s.out, &section{id: id, required: required, text: line, action: kept})
}
