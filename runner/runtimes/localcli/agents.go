// The command lines of known agents: which of them cannot carry out a turn
// (docs/runtimes.md#local_cli).

package localcli

import (
	"path/filepath"
	"slices"
	"strings"
)

// agentName returns the name of a program without its directory and the suffixes it has on Windows.
func agentName(program string) string {
	base := strings.ToLower(filepath.Base(strings.ReplaceAll(program, `\`, "/")))
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		base = strings.TrimSuffix(base, suffix)
	}
	return base
}

// incompatible returns why a known agent with this command line would wait for a person or print
// output that cannot be followed, "" when no such problem is known.
func incompatible(words []string) string {
	args := words[1:]
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return slices.Contains(names, name)
		})
	}
	switch agentName(words[0]) {
	case "claude":
		if has("-p", "--print") && value(args, "--output-format") == "stream-json" && !has("--verbose") {
			return "claude prints stream-json only together with --verbose"
		}
	case "codex":
		switch {
		case !slices.Contains(args, "exec") && !slices.Contains(args, "e"):
			return "codex without the subcommand exec asks at the terminal"
		case !has("--json"):
			return "codex exec without --json prints nothing that can be followed"
		}
	case "cursor":
		if !has("--agent", "agent", "--background-agent") {
			return "cursor without its agent opens the editor"
		}
	case "windsurf":
		if !has("--agent") {
			return "windsurf without --agent opens the editor"
		}
	case "opencode":
		if !has("--non-interactive", "run") {
			return "opencode without the subcommand run asks at the terminal"
		}
	}
	return ""
}

// value returns an option's value, in the same word after = or in the next one.
func value(args []string, option string) string {
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, option+"="); ok {
			return v
		}
		if a == option && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
