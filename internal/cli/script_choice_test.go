// Which scripts run: those of every day, all of them, or a part.

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// serving are the scripts whose programs do several things at a time: .ci/run has them
// run with the race detector. What the others start does its work in one go, or serves
// what tests of its own package ask at a time, and each of their hundreds of processes
// would only be slower.
var serving = []string{
	"claim_run", "dashboard", "mcp", "multi_concurrent", "notify_webhooks", "run_agents", "run_parallel",
	"run_watchdog", "serve", "sync_servers",
}

// thorough are the scripts that take seconds each: together as long as all the others. Every command
// has a shorter one as well. They run where testrepo.Thorough does.
var thorough = []string{
	"badinput", "checkpoint_away", "claim_run", "conformance_hostile", "dashboard", "dashboard_initiative",
	"doctor_locks", "durable", "examples", "fsck_against", "fsck_bare", "githooks_canary", "githooks_config",
	"githooks_framework", "githooks_guards", "githooks_moved", "githooks_names", "githooks_shapes", "hooks_accept",
	"hooks_escalation", "hooks_gate", "monarchic_export", "monarchic_import_diamond", "multi_auto",
	"multi_initiative", "multi_recover", "multi_remote", "multi_travel", "notify_webhooks", "pulled",
	"result_strict", "run_agents", "run_badinput", "run_init", "run_unblock", "runs_archive",
	"runs_archive_server", "sync_many", "sync_ssh", "sync_trust", "verify_range", "verify_range_shallow",
}

func chosenScripts(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	name := func(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }
	for _, s := range slices.Concat(serving, thorough) {
		if !slices.ContainsFunc(files, func(file string) bool { return name(file) == s }) {
			t.Fatalf("there is no script %s", s)
		}
	}
	return slices.DeleteFunc(files, func(file string) bool {
		if os.Getenv("AGENTXCHAIN_TESTS") == "serving" {
			return !slices.Contains(serving, name(file))
		}
		return slices.Contains(thorough, name(file)) && !testrepo.All(name(file))
	})
}
