// The agents that a project can be set up for, and how each is started to work unattended.

package scaffold

import (
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Agent is a command-line program that carries out turns.
type Agent struct {
	ID        string   // also the id of its runtime
	Title     string   // as spelled by its makers
	Command   []string // unattended: it asks nothing, may edit files and run commands
	Transport string   // docs/runtimes.md#local_cli: stdin or argv
	Tested    bool     // a test carries out a run with the real program
	Leaves    []string // patterns of files that it leaves in the project, in .gitignore syntax
	Guide     string   // the project file that it reads before it works; GuideFile when empty
}

// GuideFile is the project file that most agents read before they work.
const GuideFile = "AGENTS.md"

// Agents returns the known agents. Their options are those of the versions in docs/agents.md.
func Agents() []Agent {
	return []Agent{
		{
			ID:    "claude",
			Title: "Claude Code",
			Command: []string{
				"claude", "-p", "--output-format", "stream-json", "--verbose",
				"--permission-mode", "acceptEdits", "--allowedTools", "Bash",
			},
			Transport: "stdin",
			Tested:    true,
			Guide:     "CLAUDE.md",
		},
		{
			ID:        "codex",
			Title:     "Codex",
			Command:   []string{"codex", "exec", "--json", "--sandbox", "workspace-write", "-"},
			Transport: "stdin",
			Tested:    true,
		},
		{
			ID:        "gemini",
			Title:     "Gemini CLI",
			Command:   []string{"gemini", "--approval-mode", "yolo", "--skip-trust", "--output-format", "stream-json"},
			Transport: "stdin",
			Tested:    true,
			Guide:     "GEMINI.md",
		},
		{
			ID:        "qwen",
			Title:     "Qwen Code",
			Command:   []string{"qwen", "--approval-mode", "yolo", "--output-format", "stream-json"},
			Transport: "stdin",
			Tested:    true,
		},
		{
			ID:        "opencode",
			Title:     "opencode",
			Command:   []string{"opencode", "run", "--format", "json", "--auto"},
			Transport: "stdin",
			Tested:    true,
		},
		{
			ID:        "copilot",
			Title:     "GitHub Copilot CLI",
			Command:   []string{"copilot", "--allow-all-tools", "--no-ask-user", "--output-format", "json"},
			Transport: "stdin",
			Tested:    true,
		},
		{
			ID:    "aider",
			Title: "Aider",
			Command: []string{
				"aider", "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore",
				"--no-check-update", "--message", "{prompt}",
			},
			Transport: "argv",
			Leaves:    []string{".aider*"},
		},
		{
			ID:        "cursor",
			Title:     "Cursor",
			Command:   []string{"cursor-agent", "-p", "--force", "--output-format", "stream-json", "{prompt}"},
			Transport: "argv",
		},
	}
}

// AgentIDs returns the names of the known agents.
func AgentIDs() []string {
	var ids []string
	for _, a := range Agents() {
		ids = append(ids, a.ID)
	}
	return ids
}

// customAgent is the runtime id of an agent given as a command.
const customAgent = "agent"

// FindAgent returns the agent of that name; any other text is a command, its words separated by white space. A
// command with {prompt} gets the prompt there, every other one on standard input.
//
// Errors: *Error with invalid_argument for a text that is blank or would need a shell.
func FindAgent(text string) (*Agent, error) {
	for _, a := range Agents() {
		if a.ID == text {
			return &a, nil
		}
	}
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		return nil, &Error{
			Code:    "invalid_argument",
			Message: "the agent must not be blank",
			Hint:    "agents: " + strings.Join(AgentIDs(), ", ") + ", or a command",
		}
	case strings.ContainsAny(text, "\"'`\\|&;<>()$*?~"):
		return nil, &Error{
			Code:    "invalid_argument",
			Message: "the command has quotes or characters of a shell, and no shell is involved",
			Hint: "give the program alone, then write its arguments into runtimes." + customAgent +
				".command in agentxchain.json",
		}
	}
	for _, r := range text {
		if r < 0x20 && r != '\t' || r == 0x7f {
			return nil, &Error{Code: "invalid_argument", Message: "the command has control characters"}
		}
	}
	a := &Agent{ID: customAgent, Title: filepath.Base(words[0]), Command: words, Transport: "stdin"}
	if strings.Contains(text, "{prompt}") {
		a.Transport = "argv"
	}
	return a, nil
}

// Runtime returns the agent's entry in agentxchain.json.
func (a *Agent) Runtime() *ojson.Object {
	return ojson.NewObject("type", "local_cli", "command", a.Command, "prompt_transport", a.Transport)
}
