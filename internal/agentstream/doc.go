// Package agentstream reads what agents on the command line print while they work, one
// JSON record a line, and says in words what a record is about. It knows the formats of
// Claude Code, Qwen Code, Codex, Gemini CLI, opencode and Cursor by their shape. What it
// returns is foreign text: whoever shows it cleans it.
package agentstream
