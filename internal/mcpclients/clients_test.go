package mcpclients

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestRegister checks that existing content stays byte for byte, with its line ends and its indentation.
func TestRegister(t *testing.T) {
	const ours = "\"agentxchain\": {\n    \"command\": \"git-agentxchain\",\n    \"args\": [\n      \"mcp\"\n    ]\n  }"
	deeper := strings.ReplaceAll(ours, "\n", "\n  ")
	for _, c := range []struct{ name, client, in, want string }{
		{"no file", "cursor", "", "{\n  \"mcpServers\": {\n    " + deeper + "\n  }\n}\n"},
		{"empty object", "cursor", "{}", "{\n  \"mcpServers\": {\n    " + deeper + "\n  }\n}"},
		{"no servers", "cursor", "{\"a\": 1e2}", "{\n  \"mcpServers\": {\n    " + deeper + "\n  },\n  \"a\": 1e2}"},
		{
			"others", "cursor", "{\n  \"x\": \"\\u00e9\",\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}",
			"{\n  \"x\": \"\\u00e9\",\n  \"mcpServers\": {\n    " + deeper + ",\n    \"b\": {}\n  }\n}",
		},
		{
			"tabs and CRLF", "cursor", "\ufeff{\r\n\t\"mcpServers\": {}\r\n}\r\n",
			"\ufeff" + strings.ReplaceAll("{\n\t\"mcpServers\": {\n\t\t"+strings.ReplaceAll(deeper, "  ", "\t")+
				"\n\t}\n}\n", "\n", "\r\n"),
		},
		{"there", "cursor", `{"mcpServers":{"agentxchain":{"command":"/b/git-agentxchain","args":["-C","x","mcp"]}}}`,
			""},
		{"there too", "opencode", `{"mcp":{"agentxchain":{"command":["git-agentxchain","mcp"]}}}`, ""},
		{"TOML", "codex", "a = 1", "a = 1\n\n" + table},
		{"TOML, there", "codex",
			"[mcp_servers.\"agentxchain\"]\r\ncommand = 'git-agentxchain'\r\nargs = [\"mcp\"]\r\n[x]\r\n", ""},
	} {
		if c.want == "" {
			c.want = c.in
		}
		got, err := Find(c.client).Register([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", c.name, err, got, c.want)
			continue
		}
		if again, err := Find(c.client).Register(got); err != nil || string(again) != string(got) {
			t.Errorf("%s: the second time: %v\n%s", c.name, err, again)
		}
	}
}

func TestRegisterRefuses(t *testing.T) {
	for in, client := range map[string]string{
		"{ // mine\n}":         "vscode",
		"[]":                   "cursor",
		"{\"mcpServers\": []}": "cursor",
		"{\"mcpServers\": {\"agentxchain\": {\"command\": \"x\", \"args\": [\"mcp\"]}}}": "cursor",
		"{\"mcpServers\": {\"agentxchain\": null}}":                                      "cursor",
		"{\"mcpServers\": {}, \"mcpServers\": {}}":                                       "cursor",
		"[mcp_servers.agentxchain]\ncommand = \"x\"\n":                                   "codex",
		"mcp_servers = {}\n":        "codex",
		"mcp_servers.a.command = 1": "codex",
	} {
		if got, err := Find(client).Register([]byte(in)); err == nil {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// TestClients checks that the example shown for each client is what its file would hold, and that docs/mcp.md
// agrees.
func TestClients(t *testing.T) {
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Clients() {
		if text := c.Example(); !strings.HasSuffix(c.File, ".toml") && !json.Valid([]byte(text)) {
			t.Errorf("%s: %s", c.ID, text)
		}
		_, row, _ := strings.Cut(string(page), "\n| `"+c.ID+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if !strings.Contains(row, c.Line) || !strings.Contains(row, "`"+c.File+"`") ||
			strings.Contains(row, "not tested here") == c.Tested ||
			strings.Contains(row, "for the user") != (c.Scope == "user") {
			t.Errorf("docs/mcp.md: %s: %q", c.ID, row)
		}
		if page, err := os.ReadFile("../../docs/agents/" + c.ID + ".md"); err == nil &&
			!strings.Contains(string(page), "\n```sh\n"+strings.TrimPrefix(c.Line+"\n", "\n")+
				"git agentxchain mcp install --client "+c.ID+" --write\n") {
			t.Errorf("docs/agents/%s.md does not say how the server is registered", c.ID)
		}
	}
}

func FuzzRegister(f *testing.F) {
	f.Add("{\"mcpServers\": {\"b\": {}}}")
	f.Fuzz(func(t *testing.T, in string) {
		for _, c := range Clients() {
			out, err := c.Register([]byte(in))
			if err != nil {
				continue
			}
			if again, err := c.Register(out); err != nil || string(again) != string(out) {
				t.Errorf("%s: %q became %q, then %q: %v", c.ID, in, out, again, err)
			}
		}
	})
}
