// HUMAN_TASKS.md: what runs need a person for, in managed sections of a file that people own
// (docs/notifications.md#human-escalations).

package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Markers of the managed sections of HUMAN_TASKS.md. They are part of the protocol: the reference finds its
// sections by them.
const (
	TasksOpenStart      = "<!-- AGENTXCHAIN:HUMAN_ESCALATIONS:OPEN:START -->"
	TasksOpenEnd        = "<!-- AGENTXCHAIN:HUMAN_ESCALATIONS:OPEN:END -->"
	TasksCompletedStart = "<!-- AGENTXCHAIN:HUMAN_ESCALATIONS:COMPLETED:START -->"
	TasksCompletedEnd   = "<!-- AGENTXCHAIN:HUMAN_ESCALATIONS:COMPLETED:END -->"

	TasksKept = 10 // completed records shown
)

// RenderHumanTasks returns HUMAN_TASKS.md with its managed sections updated and every other byte unchanged.
// existing is nil when the file does not exist; open are the open raise rows; done are the records completed by
// this operation (run.CompletedEscalation), newest first: they go before those already in the file.
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
		lines = append(lines, "_No escalation is open._")
	} else {
		lines = append(lines, "Kept from `"+wire.LedgerEscalations.Path()+"`, which is what counts.")
	}
	for _, row := range open {
		lines = append(lines, "")
		lines = append(lines, openTask(row)...)
	}
	out := replaceSection(existing, TasksOpenStart, TasksOpenEnd, strings.Join(lines, nl), nl)

	var blocks []string
	seen := make(map[string]bool)
	for _, row := range done {
		if id := row.String("escalation_id"); !seen[id] {
			seen[id] = true
			blocks = append(blocks, strings.Join(doneTask(row), nl))
		}
	}
	for _, block := range taskBlocks(taskSection(out, TasksCompletedStart, TasksCompletedEnd)) {
		if id := taskID(block); !seen[id] {
			seen[id] = true
			blocks = append(blocks, block)
		}
	}
	if len(blocks) > TasksKept {
		blocks = blocks[:TasksKept]
	}
	text := "## Completed" + nl + nl
	if len(blocks) == 0 {
		text += "_None yet._"
	} else {
		text += strings.Join(blocks, nl+nl)
	}
	return replaceSection(out, TasksCompletedStart, TasksCompletedEnd, text, nl)
}

func openTask(row *ojson.Object) []string {
	out := []string{"### " + taskText(row.String("escalation_id")) + " — " + taskText(row.String("type"))}
	for _, m := range []struct{ label, key string }{
		{"Created", "created_at"}, {"Run", "run_id"}, {"Phase", "phase"}, {"Turn", "turn_id"}, {"Role", "role_id"},
		{"Blocked on", "blocked_on"}, {"Reason", "typed_reason"}, {"Service", "service"}, {"To do", "action"},
		{"Detail", "detail"},
	} {
		if v := taskText(row.String(m.key)); v != "" {
			out = append(out, "- "+m.label+": "+v)
		}
	}
	for _, m := range []struct{ label, key string }{{"Way out", "recovery_action"},
		{"When done", "resolution_command"}} {
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

// taskText turns foreign text into one bounded line that cannot pose as a heading, a list item or one of our
// markers.
func taskText(s string) string {
	s = run.Clip(wire.OneLine(s), 500)
	return strings.NewReplacer("<!--", "&lt;!--", "-->", "--&gt;").Replace(s)
}

// ManagedTasks returns the managed sections of HUMAN_TASKS.md, or "". The text between and around them belongs to
// people.
func ManagedTasks(doc []byte) string {
	open, done := taskSection(doc, TasksOpenStart, TasksOpenEnd),
		taskSection(doc, TasksCompletedStart, TasksCompletedEnd)
	if open == "" && done == "" {
		return ""
	}
	return open + "\x00" + done
}

// taskSection returns the text between a pair of markers, "" without one.
func taskSection(doc []byte, start, end string) string {
	from, to := findSection(doc, start, end)
	if from < 0 {
		return ""
	}
	return string(doc[from+len(start) : to])
}

// findSection returns the offsets of the first start marker that is followed by its end marker with no other marker in
// between; -1 without such a pair. A lone marker, or a pair around markers, is ordinary text: people may have written
// anything there.
func findSection(doc []byte, start, end string) (from, to int) {
	for off := 0; ; {
		e := bytes.Index(doc[off:], []byte(end))
		if e < 0 {
			return -1, -1
		}
		s := bytes.LastIndex(doc[off:off+e], []byte(start))
		if s >= 0 && !marked(doc[off+s+len(start):off+e]) {
			return off + s, off + e
		}
		off += e + len(end)
	}
}

// marked reports whether a text contains the marker of a section.
func marked(text []byte) bool {
	return slices.ContainsFunc([]string{TasksOpenStart, TasksOpenEnd, TasksCompletedStart, TasksCompletedEnd},
		func(m string) bool { return bytes.Contains(text, []byte(m)) })
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
