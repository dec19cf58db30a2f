// Adding a server to Codex's configuration, which is TOML.

package mcpclients

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/personfile"
)

const table = "[mcp_servers." + Server + "]\ncommand = \"git-agentxchain\"\nargs = [\"mcp\"]\n"

// registerTOML appends our table to data: in TOML a table may be anywhere, so it only needs to know whether the
// table is there already. It refuses servers that are not written as tables.
func registerTOML(data []byte) ([]byte, error) {
	var (
		ourTable   = regexp.MustCompile(`^\s*\[\s*["']?mcp_servers["']?\s*\.\s*["']?` + Server + `["']?\s*\]`)
		otherTable = regexp.MustCompile(`^\s*\[`)
		inline     = regexp.MustCompile(`^\s*["']?mcp_servers["']?\s*[.=]`)
	)
	var ours []string
	within := false
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case inline.MatchString(text):
			return nil, fmt.Errorf("line %d has servers that are not written as tables", number)
		case ourTable.MatchString(text):
			within = true
		case otherTable.MatchString(text):
			within = false
		}
		if within {
			ours = append(ours, text)
		}
	}
	if have := strings.Join(ours, "\n"); have != "" {
		if !strings.Contains(have, "git-agentxchain") || !strings.Contains(have, `mcp"`) {
			return nil, errors.New("its table mcp_servers." + Server + " is another server")
		}
		return data, nil
	}
	eol := personfile.LineEnd(data)
	out := bytes.Clone(data)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, eol...)
	}
	if len(out) > 0 {
		out = append(out, eol...)
	}
	return append(out, strings.ReplaceAll(table, "\n", eol)...), nil
}
