// Which scripts run: those of every day, all of them, or a part.

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
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

// thorough are the scripts that take seconds each: together four times as long as all the others. Every command has a
// shorter one as well (TestEveryCommandEveryDay). They run where testrepo.Thorough does.
var thorough = []string{
	"approve_apart", "authority_acts", "authority_overrule", "authority_restored", "authority_signed",
	"authority_signoff", "badinput", "checkpoint_away", "claim_run", "conformance_challenge", "conformance_hostile", "conformance_init",
	"dashboard", "dashboard_initiative", "doctor", "doctor_locks", "doctor_signing", "durable", "env_files",
	"env_heads", "env_shapes", "examples", "export_hostile", "export_initiative", "export_kinds", "fsck_against",
	"fsck_bare", "fsck_missing", "githooks_canary", "githooks_claims", "githooks_config", "githooks_framework",
	"githooks_guards", "githooks_moved", "githooks_names", "githooks_refs", "githooks_shapes",
	"githooks_trailers", "hooks_accept", "hooks_assign", "hooks_escalation", "hooks_gate", "intake",
	"monarchic_export", "monarchic_import", "monarchic_import_diamond", "monarchic_validate", "multi_arrives",
	"multi_authority", "multi_auto", "multi_behind", "multi_counted", "multi_hooks", "multi_initiative", "multi_killed",
	"multi_recover", "multi_remote", "multi_squashed", "multi_travel", "multi_votes", "notify_webhooks", "private_links", "pulled", "pulled_step", "report",
	"restore", "restore_bundle", "restore_record", "restore_work", "result_strict", "run_agents", "run_as_is",
	"run_badinput", "run_beside", "run_clock", "run_demo", "run_init", "run_ledgers", "run_lifecycle", "run_mcp",
	"run_parallel", "run_unblock", "runs_archive", "runs_archive_server", "secrets", "serve", "step_person",
	"store_versions", "sync", "sync_many", "sync_servers", "sync_ssh", "sync_trust", "teams_guide", "trust",
	"turn_commits", "turn_hidden", "verify_approvals", "verify_bundle", "verify_range", "verify_range_server",
	"verify_range_shallow", "version_check", "whatif_guide", "why", "witness",
}

func scripts(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func scriptName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

func chosenScripts(t *testing.T) []string {
	files := scripts(t)
	for _, s := range slices.Concat(serving, thorough) {
		if !slices.ContainsFunc(files, func(file string) bool { return scriptName(file) == s }) {
			t.Fatalf("there is no script %s", s)
		}
	}
	return slices.DeleteFunc(files, func(file string) bool {
		if os.Getenv("AGENTXCHAIN_TESTS") == "serving" {
			return !slices.Contains(serving, scriptName(file))
		}
		return slices.Contains(thorough, scriptName(file)) && !testrepo.All(scriptName(file))
	})
}

// TestEveryCommandEveryDay: a script of every day says each command, by one of its names.
func TestEveryCommandEveryDay(t *testing.T) {
	var said strings.Builder
	for _, file := range scripts(t) {
		if slices.Contains(thorough, scriptName(file)) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(data), "\n-- ")
		said.WriteString(script)
	}
	says := func(words string) bool {
		return regexp.MustCompile(`git( -C \S+)*[ -]agentxchain (-\S+ )*` + words + `\b`).MatchString(said.String())
	}
	var look func(before string, list []*ucli.Command)
	look = func(before string, list []*ucli.Command) {
		for _, c := range list {
			switch {
			case c.Hidden:
			case len(c.Subcommands) > 0:
				look(before+c.Name+" ", c.Subcommands)
			case !slices.ContainsFunc(c.Names(), func(name string) bool { return says(before + name) }):
				t.Errorf("no script of every day says git agentxchain %s%s", before, c.Name)
			}
		}
	}
	look("", newCommands(&term.Factory{}))
}
