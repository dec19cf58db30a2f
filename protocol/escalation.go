// Human escalations: the ledger rows, their classification and HUMAN_TASKS.md (spec/01 §5.8).

package protocol

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// NewEscalation returns the raise row of the block s is in: who has to do what,
// and the command that says it is done. s.BlockedReason must be set; roleID is
// the role of the turn concerned, or "". The row is {kind:"raised",
// escalation_id, created_at, run_id, phase, blocked_on, category, typed_reason,
// type, service, action, recovery_action, resolution_command, detail, turn_id,
// role_id}.
func NewEscalation(id, at string, s *State, roleID string) *ojson.Object {
	b := s.BlockedReason
	if b == nil {
		b = DescribeBlock(s, strOr(s.BlockedOn), "")
	}
	typ, service := ClassifyEscalation(strOr(s.BlockedOn), b.Recovery.TypedReason, strOr(b.Recovery.Detail), b.Category)
	return ojson.NewObject(
		"kind", "raised", "escalation_id", id, "created_at", at,
		"run_id", nullable(s.Run()), "phase", nullable(s.Phase), "blocked_on", s.BlockedOn,
		"category", nullable(b.Category), "typed_reason", nullable(b.Recovery.TypedReason),
		"type", typ, "service", nullable(service), "action", escalationAction(typ, service),
		"recovery_action", nullable(b.Recovery.RecoveryAction), "resolution_command", cmdUnblock+" "+id,
		"detail", b.Recovery.Detail, "turn_id", b.TurnID, "role_id", nullable(roleID),
	)
}

// NewEscalationResolution returns the resolve row {kind:"resolved",
// escalation_id, resolved_at, resolved_via, resolution_notes}; notes may be "".
func NewEscalationResolution(id, at, via, notes string) *ojson.Object {
	return ojson.NewObject("kind", "resolved", "escalation_id", id, "resolved_at", at,
		"resolved_via", via, "resolution_notes", nullable(notes))
}

// CompletedEscalation joins a raise row with its resolve row.
func CompletedEscalation(raised, resolved *ojson.Object) *ojson.Object {
	o := raised.Clone()
	if o == nil {
		o = ojson.NewObject()
	}
	for _, k := range []string{"resolved_at", "resolved_via", "resolution_notes"} {
		v, _ := resolved.Get(k)
		o.Set(k, v)
	}
	return o
}

// FoldEscalations reads the rows of human-escalations.jsonl in order: the
// records still open, oldest first, and the completed ones, newest first.
func FoldEscalations(rows []*ojson.Object) (open, completed []*ojson.Object) {
	for _, row := range rows {
		id := row.String("escalation_id")
		if id == "" {
			continue
		}
		switch row.String("kind") {
		case "raised":
			if i := indexOfEscalation(open, id); i < 0 {
				open = append(open, row)
			}
		case "resolved":
			if i := indexOfEscalation(open, id); i >= 0 {
				completed = append([]*ojson.Object{CompletedEscalation(open[i], row)}, completed...)
				open = append(open[:i:i], open[i+1:]...)
			}
		}
	}
	return open, completed
}

func indexOfEscalation(rows []*ojson.Object, id string) int {
	for i, r := range rows {
		if r.String("escalation_id") == id {
			return i
		}
	}
	return -1
}

// EscalationKey is the de-duplication key of a raise row: one open record per
// run, blocker and turn.
func EscalationKey(row *ojson.Object) [3]string {
	return [3]string{row.String("run_id"), row.String("blocked_on"), row.String("turn_id")}
}

// CurrentEscalation returns the open record of the block s is in, or nil.
func CurrentEscalation(s *State, open []*ojson.Object) *ojson.Object {
	if s.Status != StatusBlocked || s.BlockedReason == nil {
		return nil
	}
	key := [3]string{s.Run(), strOr(s.BlockedOn), strOr(s.BlockedReason.TurnID)}
	for _, row := range open {
		if EscalationKey(row) == key {
			return row
		}
	}
	return nil
}

// OperatorSlug turns the reason of an operator escalation into the last part of
// blocked_on: lower case, runs of other characters as one hyphen, "operator" when
// nothing is left (spec/01 §3.3).
func OperatorSlug(reason string) string {
	var b strings.Builder
	gap := false
	for _, c := range strings.ToLower(reason) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(c)
			gap = false
		} else {
			gap = true
		}
	}
	if b.Len() == 0 {
		return "operator"
	}
	return b.String()
}

// ClassifyEscalation sorts an escalation by what a person has to bring: type is
// needs_oauth, needs_credential, needs_payment, needs_legal,
// needs_physical_access or needs_decision; service is a known service the texts
// name, or "". It looks at whole words.
func ClassifyEscalation(blockedOn, typedReason, detail, category string) (typ, service string) {
	text := escalationWords(blockedOn + " " + typedReason + " " + detail + " " + category)
	typ = "needs_decision"
	for _, c := range []struct{ typ, keys string }{
		{"needs_oauth", "oauth|oauth2|sign in|log in|login|sso|reauthenticate|re authenticate|reconnect"},
		{"needs_credential", "credential|credentials|api key|api keys|apikey|token|tokens|secret|secrets|password|passphrase|auth failed|unauthorized|401"},
		{"needs_payment", "payment|pay|billing|invoice|credit card|subscription|purchase|top up"},
		{"needs_legal", "legal|license|licence|licensing|contract|nda|terms of service|compliance|gdpr"},
		{"needs_physical_access", "physical|hardware|device|usb|2fa|mfa|phone|yubikey|captcha|in person"},
	} {
		if mentionsAny(text, c.keys) {
			typ = c.typ
			break
		}
	}
	for _, c := range []struct{ service, keys string }{
		{"Anthropic", "anthropic|claude"},
		{"OpenAI", "openai|chatgpt|gpt|codex"},
		{"GitHub", "github|gh"},
		{"Google", "google|gmail|gcp|gemini"},
		{"Linear", "linear"},
		{"Slack", "slack"},
		{"LinkedIn", "linkedin"},
		{"X/Twitter", "twitter|tweet|x com"},
		{"Reddit", "reddit"},
		{"npm", "npm|npmjs"},
		{"Homebrew", "homebrew"},
		{"VS Code Marketplace", "vs code marketplace|vscode marketplace|visual studio marketplace|vsce"},
	} {
		if mentionsAny(text, c.keys) {
			return typ, c.service
		}
	}
	return typ, ""
}

// escalationWords is the text in lower case with single spaces around every word.
func escalationWords(s string) string {
	const enough = 64 << 10
	s = strings.ToLower(clip(s, enough))
	return " " + strings.Join(strings.FieldsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), " ") + " "
}

func mentionsAny(text, keys string) bool {
	for key := range strings.SplitSeq(keys, "|") {
		if strings.Contains(text, " "+key+" ") {
			return true
		}
	}
	return false
}

func escalationAction(typ, service string) string {
	what := service
	if what == "" {
		what = "the service"
	}
	switch typ {
	case "needs_oauth":
		return "Sign in to " + what + " again and check that the session works."
	case "needs_credential":
		return "Provide working credentials for " + what + "."
	case "needs_payment":
		return "Settle the payment or plan of " + what + "."
	case "needs_legal":
		return "Obtain the legal clearance that is asked for."
	case "needs_physical_access":
		return "Do the step that needs a person at the device."
	}
	return "Decide, and record the decision where the run can see it."
}

// Markers of the managed sections of HUMAN_TASKS.md. They are wire: the
// reference finds its sections by them.
const (
	tasksOpenStart      = "<!-- AGENTXCHAIN:HUMAN_ESCALATIONS:OPEN:START -->"
	tasksOpenEnd        = "<!-- AGENTXCHAIN:HUMAN_ESCALATIONS:OPEN:END -->"
	tasksCompletedStart = "<!-- AGENTXCHAIN:HUMAN_ESCALATIONS:COMPLETED:START -->"
	tasksCompletedEnd   = "<!-- AGENTXCHAIN:HUMAN_ESCALATIONS:COMPLETED:END -->"

	tasksKept = 10 // completed records shown
)

// RenderHumanTasks returns HUMAN_TASKS.md with its managed sections brought up to
// date and every other byte as it was. existing is nil when there is no file;
// open are the open raise rows; done the records completed by this operation
// (CompletedEscalation), newest first: they go before the ones the file already
// shows.
func RenderHumanTasks(existing []byte, open, done []*ojson.Object) []byte {
	if existing == nil {
		existing = []byte("# Human tasks\n\nWhat governed runs need a person for. The lists below are kept by git agentxchain.\n\n")
	}
	nl := "\n"
	if bytes.Contains(existing, []byte("\r\n")) {
		nl = "\r\n"
	}
	var lines []string
	lines = append(lines, "## Open", "")
	if len(open) == 0 {
		lines = append(lines, "_Nobody is waited for._")
	} else {
		lines = append(lines, "Kept from `"+LedgerEscalations.Path()+"`, which is what counts.")
	}
	for _, row := range open {
		lines = append(lines, "")
		lines = append(lines, openTask(row)...)
	}
	out := replaceSection(existing, tasksOpenStart, tasksOpenEnd, strings.Join(lines, nl), nl)

	var blocks []string
	seen := make(map[string]bool)
	for _, row := range done {
		if id := row.String("escalation_id"); !seen[id] {
			seen[id] = true
			blocks = append(blocks, strings.Join(doneTask(row), nl))
		}
	}
	for _, block := range taskBlocks(taskSection(out, tasksCompletedStart, tasksCompletedEnd)) {
		if id := taskID(block); !seen[id] {
			seen[id] = true
			blocks = append(blocks, block)
		}
	}
	if len(blocks) > tasksKept {
		blocks = blocks[:tasksKept]
	}
	text := "## Completed" + nl + nl
	if len(blocks) == 0 {
		text += "_None yet._"
	} else {
		text += strings.Join(blocks, nl+nl)
	}
	return replaceSection(out, tasksCompletedStart, tasksCompletedEnd, text, nl)
}

func openTask(row *ojson.Object) []string {
	out := []string{"### " + taskText(row.String("escalation_id")) + " — " + taskText(row.String("type"))}
	for _, m := range []struct{ label, key string }{
		{"Created", "created_at"}, {"Run", "run_id"}, {"Phase", "phase"}, {"Turn", "turn_id"}, {"Role", "role_id"},
		{"Blocked on", "blocked_on"}, {"Reason", "typed_reason"}, {"Service", "service"}, {"To do", "action"}, {"Detail", "detail"},
	} {
		if v := taskText(row.String(m.key)); v != "" {
			out = append(out, "- "+m.label+": "+v)
		}
	}
	for _, m := range []struct{ label, key string }{{"Way out", "recovery_action"}, {"When done", "resolution_command"}} {
		if v := strings.ReplaceAll(taskText(row.String(m.key)), "`", "'"); v != "" {
			out = append(out, fmt.Sprintf("- %s: `%s`", m.label, v))
		}
	}
	return out
}

func doneTask(row *ojson.Object) []string {
	out := []string{"### " + taskText(row.String("escalation_id")) + " — resolved"}
	for _, m := range []struct{ label, key string }{
		{"Created", "created_at"}, {"Resolved", "resolved_at"}, {"Resolved via", "resolved_via"}, {"Type", "type"},
		{"Service", "service"}, {"Blocked on", "blocked_on"}, {"Detail", "detail"}, {"Notes", "resolution_notes"},
	} {
		if v := taskText(row.String(m.key)); v != "" {
			out = append(out, "- "+m.label+": "+v)
		}
	}
	return out
}

// taskText makes foreign text one bounded line that cannot pose as a heading, a
// list item or one of our markers.
func taskText(s string) string {
	s = clip(oneLine(s), 500)
	return strings.NewReplacer("<!--", "&lt;!--", "-->", "--&gt;").Replace(s)
}

// taskSection returns the text between a pair of markers, "" without one.
func taskSection(doc []byte, start, end string) string {
	from, to := findSection(doc, start, end)
	if from < 0 {
		return ""
	}
	return string(doc[from+len(start) : to])
}

// findSection returns the offsets of the first start marker that has its end
// marker after it with no other start in between; -1 without such a pair. A lone
// marker is ordinary text: between it and a far end there may be anything.
func findSection(doc []byte, start, end string) (from, to int) {
	for off := 0; ; {
		e := bytes.Index(doc[off:], []byte(end))
		if e < 0 {
			return -1, -1
		}
		e += off
		if s := bytes.LastIndex(doc[off:e], []byte(start)); s >= 0 {
			return off + s, e
		}
		off = e + len(end)
	}
}

func replaceSection(doc []byte, start, end, body, nl string) []byte {
	block := start + nl + body + nl + end
	from, to := findSection(doc, start, end)
	var out []byte
	if from < 0 {
		out = append(out, doc...)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, nl...)
		}
		return append(append(out, block...), nl...)
	}
	out = append(out, doc[:from]...)
	out = append(out, block...)
	return append(out, doc[to+len(end):]...)
}

// taskBlocks splits a completed section into its records.
func taskBlocks(text string) []string {
	var out []string
	for _, part := range strings.Split("\n"+text, "\n### ")[1:] {
		out = append(out, "### "+strings.TrimRight(part, " \t\r\n"))
	}
	return out
}

func taskID(block string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(block, "### "), " ")
	return id
}
