// Which scripts run: the everyday ones, all of them, or a part.

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

// serving lists the scripts whose programs do several things at a time: .ci/run runs them with the
// race detector. The programs of the others work sequentially, or serve what tests of their own
// packages request concurrently, and each of their hundreds of processes would only be slower.
var serving = []string{
	"claim_run", "dashboard", "mcp", "multi_concurrent", "notify_webhooks", "run_agents", "run_parallel",
	"run_watchdog", "serve", "sync_servers",
}

// thorough lists the scripts that take a second or more each: together ten times as long as all the others. Every
// command also has a shorter one (TestEveryCommandEveryDay). They run where testrepo.Thorough does.
var thorough = []string{
	"accept_checkpoint", "agents_install", "alx_conformance", "answers_init", "approve_apart", "approve_statement",
	"attest", "authority_acts", "authority_author", "authority_lapsed", "authority_overrule", "authority_restored",
	"authority_signed", "authority_signers", "authority_signoff", "badinput", "bisect", "checkpoint_away", "checkpoint_beside",
	"checkpoint_lost", "ci_report", "claim", "claim_next", "claim_run", "config_adopt", "config_waiting",
	"conflicts_beside", "conformance_challenge", "conformance_check", "conformance_hostile", "conformance_init",
	"dashboard", "dashboard_initiative", "dashboard_places", "diff", "doctor", "doctor_locks", "doctor_signing",
	"door_copied", "door_forged", "durable", "env_files", "env_full", "env_git", "env_heads", "env_shapes",
	"env_worktrees", "examples", "export", "export_hostile", "export_initiative", "export_kinds", "filters_own",
	"fsck_against", "fsck_bare", "fsck_missing", "githooks_authority", "githooks_canary", "githooks_claims",
	"githooks_config", "githooks_framework", "githooks_guards", "githooks_moved", "githooks_names", "githooks_pack",
	"githooks_project_moved", "githooks_projects", "githooks_refs", "githooks_server", "githooks_shapes",
	"githooks_signoff", "githooks_trailers", "githooks_worktrees", "hooks_accept", "hooks_assign",
	"hooks_escalation", "hooks_gate", "hooks_hostile", "hooks_trust", "import_foreign", "init_beside", "intake",
	"join_files", "look", "man", "monarchic_bindings", "monarchic_export", "monarchic_import",
	"monarchic_import_diamond", "monarchic_lease", "monarchic_message", "monarchic_validate", "multi_abandon",
	"multi_ahead", "multi_arrives", "multi_authority", "multi_auto", "multi_badinput", "multi_behind",
	"multi_clash", "multi_concurrent", "multi_config", "multi_counted", "multi_fsck", "multi_full", "multi_hooks",
	"multi_initiative", "multi_joined", "multi_joined_member", "multi_killed", "multi_lapsed", "multi_left", "multi_machines", "multi_new",
	"multi_own", "multi_recover", "multi_reissue", "multi_remote", "multi_signers", "multi_squashed",
	"multi_travel", "multi_votes", "multi_ways", "notify_webhooks", "policy_test", "private_links", "project_moved",
	"projects_copied", "projects_people", "proposal", "proposal_in_turn", "proposal_local", "pulled", "pulled_step",
	"reconcile", "ref_broken", "remote_renamed", "repair_adopt", "report", "restore", "restore_bundle", "restore_joined",
	"restore_record", "restore_repo", "restore_work", "result_strict", "run_abandon", "run_accept", "run_agents",
	"run_approve", "run_as_is", "run_assign", "run_badinput", "run_beside", "run_checkpoint", "run_clock",
	"run_demo", "run_elsewhere", "run_escalate", "run_gate_retry", "run_gates", "run_hints", "run_init",
	"run_init_agent", "run_leave", "run_ledgers", "run_lifecycle", "run_limits", "run_mcp", "run_parallel",
	"run_planted", "run_qa_skipped", "run_reject", "run_show", "run_status", "run_unblock", "run_watchdog",
	"run_withdraw", "run_withdraw_vote", "runs_archive", "runs_archive_projects", "runs_archive_server", "secrets",
	"serve", "serve_clients", "serve_guide", "settings_misspelt", "simulate", "staging_elsewhere",
	"status_dashboard", "step_interrupted", "step_person", "store_versions", "sync", "sync_beside",
	"sync_branch_hook", "sync_branch_refused", "sync_bundles", "sync_checkpoint", "sync_damaged", "sync_declined",
	"sync_hostile", "sync_intents", "sync_many", "sync_meant", "sync_moved", "sync_progress", "sync_revoked",
	"sync_servers", "sync_ssh", "sync_trust", "sync_unforeseen", "sync_withdrawn", "teams_guide", "trust",
	"turn_commits", "turn_encoding", "turn_hidden", "turn_log", "validate_misspelt", "verify_approvals",
	"verify_bundle", "verify_export", "verify_range", "verify_range_filtered", "verify_range_listed",
	"verify_range_place", "verify_range_server", "verify_range_shallow", "version_check", "ways_out", "whatif",
	"whatif_guide", "why", "why_gates", "witness", "witness_archive", "work_away",
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

// TestEveryCommandEveryDay: an everyday script uses each command, by one of its names.
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
