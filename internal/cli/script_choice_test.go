// Which scripts run: all of them, or with AGENTXCHAIN_SCRIPTS a part.

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// serving are the scripts whose programs do several things at a time: .ci/run has them
// run with the race detector. What the others start does its work in one go, or serves
// what tests of its own package ask at a time, and each of their hundreds of processes
// would only be slower.
var serving = []string{
	"claim_run", "dashboard", "mcp", "multi_concurrent", "notify_webhooks", "run_agents", "run_parallel",
	"run_watchdog", "serve", "sync_servers",
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
