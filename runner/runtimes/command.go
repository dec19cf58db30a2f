// The command of a runtime, and the prompt it gets (docs/runtimes.md#local_cli, docs/runtimes.md).

package runtimes

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Command returns the configured argument vector of a runtime, nil when it names no program. An
// array is used as it is, except that a first element with white space is split; a string is one
// program name, followed by "args". No shell is involved.
func Command(raw *ojson.Object) []string {
	switch v := raw.Value("command").(type) {
	case string:
		if strings.TrimSpace(v) == "" {
			return nil
		}
		return append([]string{v}, raw.Strings("args")...)
	case []any:
		words := raw.Strings("command")
		if len(words) == 0 || len(words) != len(v) {
			return nil
		}
		first := strings.Fields(words[0])
		if len(first) == 0 {
			return nil
		}
		if len(first) == 1 {
			first[0] = words[0]
		}
		return append(first, words[1:]...)
	}
	return nil
}

// InvalidOption refuses a runtime whose configuration has an option that cannot be used; problem ends the sentence.
func InvalidOption(id, option, problem string) error {
	field := "runtimes." + id + "." + option
	return &wire.Error{
		Code:    wire.CodeInvalidConfig,
		Field:   field,
		Message: field + " " + problem + ".",
		Hint:    "git agentxchain validate",
	}
}

// Placeholder marks the prompt in an argument of a command.
const Placeholder = "{prompt}"

// PromptText returns what an agent is told: the prompt, then the context behind a rule
// (docs/runtimes.md). Without a context it is the prompt alone.
func PromptText(prompt, context []byte) []byte {
	if len(bytes.TrimSpace(context)) == 0 {
		return prompt
	}
	out := make([]byte, 0, len(prompt)+len(context)+8)
	out = append(out, prompt...)
	out = append(out, "\n---\n\n"...)
	return append(out, context...)
}

// ProgramProblem returns why the program of a runtime cannot be started for the project in root, "" when no problem
// is known: a runtime may start no program, and a name may contain a placeholder.
func ProgramProblem(raw *ojson.Object, root string) string {
	words := Command(raw)
	if len(words) == 0 || strings.Contains(words[0], "{") {
		return ""
	}
	return hooks.ProgramProblem(words[0], filepath.Join(root, filepath.FromSlash(raw.String("cwd"))))
}
