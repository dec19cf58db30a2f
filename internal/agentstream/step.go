// Turning a record into one line: which tool with what, or what the agent said.

package agentstream

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Step describes a line of output. A line that is not a record describes itself. A record becomes "Bash: make
// test", the words of the agent, or "" if it tells a person nothing; a truncated, unreadable record also gives "".
func Step(line string) (text string, record bool) {
	trimmed := strings.TrimSpace(line)
	if !strings.HasPrefix(trimmed, "{") {
		return line, false
	}
	doc, err := ojson.DecodeObject([]byte(trimmed))
	switch {
	case err != nil && strings.HasPrefix(trimmed, `{"`):
		return "", true
	case err != nil || !doc.Has("type"):
		return line, false
	}
	for _, read := range []func(*ojson.Object) string{message, item, toolUse, part, event, result, failure} {
		if text := read(doc); text != "" {
			return text, true
		}
	}
	return "", true
}

// message handles a record of Claude Code, Qwen Code and Cursor: the content of one answer of the model.
func message(doc *ojson.Object) string {
	if doc.String("type") != "assistant" {
		return ""
	}
	var out []string
	for _, c := range doc.Object("message").Objects("content") {
		switch c.String("type") {
		case "tool_use":
			out = append(out, tool(c.String("name"), c.Object("input")))
		case "text":
			out = append(out, c.String("text"))
		}
	}
	return join(out)
}

// item handles a record of Codex.
func item(doc *ojson.Object) string {
	it := doc.Object("item")
	switch kind := doc.String("type"); it.String("type") {
	case "command_execution":
		if kind == "item.started" {
			return tool("shell", it)
		}
	case "agent_message":
		return it.String("text")
	case "file_change":
		var paths []string
		for _, c := range it.Objects("changes") {
			paths = append(paths, c.String("path"))
		}
		return "edit: " + strings.Join(paths, ", ")
	}
	return ""
}

// toolUse handles a record of Gemini CLI.
func toolUse(doc *ojson.Object) string {
	switch doc.String("type") {
	case "tool_use":
		if name := doc.String("tool_name"); name != "" {
			return tool(name, doc.Object("parameters"))
		}
	case "message":
		if doc.String("role") == "assistant" {
			return doc.String("content")
		}
	}
	return ""
}

// part handles a record of opencode.
func part(doc *ojson.Object) string {
	p := doc.Object("part")
	switch doc.String("type") {
	case "tool_use":
		return tool(p.String("tool"), p.Object("state").Object("input"))
	case "text":
		return p.String("text")
	}
	return ""
}

// event handles a record of GitHub Copilot CLI.
func event(doc *ojson.Object) string {
	data := doc.Object("data")
	switch doc.String("type") {
	case "tool.execution_start":
		return tool(data.String("toolName"), data.Object("arguments"))
	case "assistant.message":
		return data.String("content")
	}
	return ""
}

// result handles the last record of Claude Code, Qwen Code, Gemini CLI and GitHub Copilot CLI.
func result(doc *ojson.Object) string {
	if doc.String("type") != "result" {
		return ""
	}
	text := "done"
	if code, _ := doc.Int("exitCode"); doc.Bool("is_error") || doc.String("status") == "error" || code != 0 {
		text = "failed"
		if why := Failure(doc); why != "" {
			text += ": " + why
		}
	}
	if usd, ok := doc.Float("total_cost_usd"); ok {
		text += fmt.Sprintf(", $%.2f", usd)
	}
	return text
}

// failure handles an error record of any of them.
func failure(doc *ojson.Object) string {
	if why := Failure(doc); why != "" {
		return "error: " + why
	}
	return ""
}

// Failure returns the error that a record reports; "" for any other record.
func Failure(doc *ojson.Object) string {
	kind := doc.String("type")
	failed, data := doc.Object("error"), doc.Object("data")
	switch {
	case kind == "system" && doc.String("subtype") == "api_retry": // Claude Code retries its model
		return doc.String("error")
	case kind == "result":
		return cmp.Or(failed.String("message"), doc.String("result"))
	case kind == "error", strings.HasSuffix(kind, ".error"), strings.HasSuffix(kind, ".failed"):
		return cmp.Or(failed.String("message"), failed.Object("data").String("message"), data.String("message"),
			doc.String("message"))
	}
	return ""
}

// tool returns the name of a tool and its most informative argument.
func tool(name string, input *ojson.Object) string {
	if name == "" {
		return ""
	}
	for _, key := range []string{"command", "file_path", "filePath", "path", "absolute_path", "pattern", "query",
		"url", "description"} {
		if s := input.String(key); s != "" {
			return name + ": " + s
		}
	}
	if words := input.Strings("command"); len(words) > 0 {
		return name + ": " + strings.Join(words, " ")
	}
	return name
}

func join(parts []string) string {
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}
