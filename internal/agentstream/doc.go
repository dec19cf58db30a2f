// Package agentstream parses the output of command-line agents while they work, one JSON record per line, and
// describes each record in words. It recognises the formats of Claude Code, Qwen Code, Codex, Gemini CLI, opencode
// and Cursor by their shape. Its results are foreign text: the caller must clean them before showing them.
package agentstream
