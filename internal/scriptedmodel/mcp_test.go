// Tests that the real agents list the server that mcp install registered with them.

package scriptedmodel

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/mcpclients"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// trusting lists the files in the home directory that make agents trust a project, @DIR@.
var trusting = map[string]map[string]string{
	"codex":   {".codex/config.toml": "[projects.\"@DIR@\"]\ntrust_level = \"trusted\"\n"},
	"copilot": {".copilot/config.json": `{"trustedFolders": ["@DIR@"]}`},
	"gemini":  {".gemini/trustedFolders.json": `{"@DIR@": "TRUST_FOLDER"}`},
}

// TestAgentsListTheServer has each agent of AGENTXCHAIN_TEST_AGENTS read the project's file.
func TestAgentsListTheServer(t *testing.T) {
	testrepo.Thorough(t)
	dirs := os.Getenv("AGENTXCHAIN_TEST_AGENTS")
	if dirs == "" {
		t.Skip("AGENTXCHAIN_TEST_AGENTS names no directory with agents")
	}
	program := programDir(t)
	for _, c := range mcpclients.Clients() {
		if !c.Tested {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if !found(dirs, c.ID) {
				t.Skipf("%s is not in %s", c.ID, dirs)
			}
			w := newWorld(t, dirs, program, nil)
			for name, text := range trusting[c.ID] {
				put(t, filepath.Join(filepath.Dir(w.dir), name), strings.ReplaceAll(text, "@DIR@", w.dir))
			}
			w.run(0, "git", "agentxchain", "init", "--yes")
			w.run(0, "git", "agentxchain", "mcp", "install", "--write", "--client", c.ID)
			if out := w.run(0, "sh", "-c", c.ID+" mcp list 2>&1"); !bytes.Contains(out, []byte("agentxchain")) {
				t.Errorf("%s mcp list says:\n%s", c.ID, out)
			}
		})
	}
}
