// Which scripts run: all of them, or with AGENTXCHAIN_SCRIPTS a part.

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// serving are the scripts whose programs serve, loop or work side by side: .ci/run has
// them run with the race detector. What the others start does its work in one go and
// ends, and each of their hundreds of processes would only be slower.
var serving = []string{
	"alx_conformance", "claim_run", "conformance_init", "conformance_profile", "conformance_serve", "dashboard",
	"dashboard_initiative", "dashboard_places", "mcp", "monarchic_lease", "multi_concurrent", "notify_reminders",
	"notify_webhooks", "run_agents", "run_demo", "run_mcp", "run_parallel", "run_watchdog", "serve",
	"serve_clients", "serve_guide", "status_dashboard", "step_person", "sync_servers",
}

func chosenScripts(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	name := func(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }
	for _, s := range serving {
		if !slices.ContainsFunc(files, func(file string) bool { return name(file) == s }) {
			t.Fatalf("there is no script %s", s)
		}
	}
	switch part := os.Getenv("AGENTXCHAIN_SCRIPTS"); part {
	case "":
	case "serving", "others":
		files = slices.DeleteFunc(files, func(file string) bool {
			return slices.Contains(serving, name(file)) != (part == "serving")
		})
	default:
		t.Fatalf("AGENTXCHAIN_SCRIPTS is serving or others, not %q", part)
	}
	return files
}
