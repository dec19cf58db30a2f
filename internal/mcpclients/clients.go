// The clients, each with its command line and its file.

package mcpclients

// Server is the name under which our server is registered.
const Server = "agentxchain"

// Client is a program that starts MCP servers.
type Client struct {
	ID     string
	Title  string
	Line   string // command that registers the server, "" where the client has none
	Scope  string // scope of the line: project or user; "" without one
	File   string // project file, with slashes
	Trust  string // what the client asks before it starts a server from a project's file, "" for nothing
	Tested bool   // a test has the real program list the servers in the file

	member string // member of the file that holds the servers; "" for TOML
	entry  string // our server, a JSON object
}

const (
	stdio    = `{"command": "git-agentxchain", "args": ["mcp"]}`
	typed    = `{"type": "stdio", "command": "git-agentxchain", "args": ["mcp"]}`
	openCode = `{"type": "local", "command": ["git-agentxchain", "mcp"], "enabled": true}`
)

// Clients returns the known clients. Their commands and files are those of the versions in docs/agents.md.
func Clients() []Client {
	return []Client{
		{
			ID: "claude", Title: "Claude Code", Tested: true,
			Line: "claude mcp add --scope project agentxchain -- git-agentxchain mcp", Scope: "project",
			File: ".mcp.json", member: "mcpServers", entry: stdio,
			Trust: "claude asks once, when it is started in the project",
		},
		{
			ID: "codex", Title: "Codex", Tested: true,
			Line: "codex mcp add agentxchain -- git-agentxchain mcp", Scope: "user",
			File:  ".codex/config.toml",
			Trust: "codex reads the file in a project that it trusts",
		},
		{
			ID: "gemini", Title: "Gemini CLI", Tested: true,
			Line: "gemini mcp add --scope project agentxchain git-agentxchain mcp", Scope: "project",
			File: ".gemini/settings.json", member: "mcpServers", entry: stdio,
			Trust: "gemini starts it in a folder that it trusts",
		},
		{
			ID: "qwen", Title: "Qwen Code", Tested: true,
			Line: "qwen mcp add --scope project agentxchain git-agentxchain mcp", Scope: "project",
			File: ".qwen/settings.json", member: "mcpServers", entry: stdio,
			Trust: "qwen starts it once you have approved it: qwen mcp approve agentxchain",
		},
		{
			ID: "opencode", Title: "opencode", Tested: true,
			Line: "opencode mcp add agentxchain -- git-agentxchain mcp", Scope: "user",
			File: "opencode.json", member: "mcp", entry: openCode,
		},
		{
			ID: "copilot", Title: "GitHub Copilot CLI", Tested: true,
			Line: "copilot mcp add agentxchain -- git-agentxchain mcp", Scope: "user",
			File: ".mcp.json", member: "mcpServers", entry: stdio,
			Trust: "copilot reads the file in a folder that it trusts",
		},
		{
			ID: "cursor", Title: "Cursor",
			File: ".cursor/mcp.json", member: "mcpServers", entry: stdio,
		},
		{
			ID: "vscode", Title: "Visual Studio Code",
			Line:  `code --add-mcp '{"name":"agentxchain","command":"git-agentxchain","args":["mcp"]}'`,
			Scope: "user",
			File:  ".vscode/mcp.json", member: "servers", entry: typed,
		},
	}
}

// IDs returns the names of the clients.
func IDs() []string {
	var ids []string
	for _, c := range Clients() {
		ids = append(ids, c.ID)
	}
	return ids
}

// Find returns the client of that name, nil for an unknown one.
func Find(id string) *Client {
	for _, c := range Clients() {
		if c.ID == id {
			return &c
		}
	}
	return nil
}

// Example returns the client's file with only our server in it.
func (c *Client) Example() string {
	data, err := c.Register(nil)
	if err != nil {
		panic(err) // from the table above; a test makes each
	}
	return string(data)
}

// Register returns the client's file, data, with our server in it; data itself when it is there already. Everything
// else stays byte for byte.
//
// Errors: a file that does not match the client's documentation, or one that has another server of our name.
func (c *Client) Register(data []byte) ([]byte, error) {
	if c.member == "" {
		return registerTOML(data)
	}
	return registerJSON(data, c.member, c.entry)
}
