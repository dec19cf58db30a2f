// Run rules, run-loop settings, coverage modes and prompts (docs/spec/configuration.md#members).

package config

import (
	"math"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Coverage modes; absent means strict for gates (docs/spec/gates.md#before-an-acceptance).
const (
	CoverageStrict  = "strict"
	CoverageLenient = "lenient"
)

// Values of rules.result_repair: what happens to a turn result that omits something required
// (docs/spec/results.md#strict-and-reference).
const (
	RepairStrict    = "strict"    // it is refused, and each missing member is named
	RepairReference = "reference" // it is repaired as the reference does, and the repairs are shown
)

// StrictResults reports whether turn results are taken without repairs.
func (c *Config) StrictResults() bool { return c.Rules.ResultRepair == RepairStrict }

func (d *decoder) rules() {
	s := d.section(d.top("rules", ProblemRules), "rules", ProblemRules, "challenge_required", "max_turn_retries",
		"max_deadlock_cycles")
	r := &d.cfg.Rules
	r.ChallengeRequired = s.boolean("challenge_required", true)
	r.MaxTurnRetries = orInt(s.integer("max_turn_retries", 0, math.MaxInt32), 2)
	r.MaxDeadlockCycles = orInt(s.integer("max_deadlock_cycles", 0, math.MaxInt32), 2)
	r.EnforceRouting = s.boolean("enforce_routing", false)
	r.StrictVerify = s.boolean("strict_verification", false)
	r.ObjectionsBlock = s.boolean("objections_block", false)
	// An unreadable word must not turn the repairs back on.
	r.ResultRepair = RepairReference
	if s.o.Has("result_repair") {
		r.ResultRepair = s.enum("result_repair", true, RepairStrict, RepairStrict, RepairReference)
	}
}

func (d *decoder) runLoop() {
	r := &d.cfg.RunLoop
	root := d.section(d.cfg.Raw, "", ProblemRunLoop)
	s := root.object("run_loop", "startup_watchdog_ms", "startup_heartbeat_ms", "liveness_heartbeat_ms",
		"stale_turn_threshold_ms",
		"non_progress_threshold", "max_turns", "continuous")
	r.Raw = s.o
	r.StartupWatchdogMS = orInt(s.integer("startup_watchdog_ms", 1, math.MaxInt), 180_000)
	r.StartupHeartbeatMS = orInt(s.integer("startup_heartbeat_ms", 1, math.MaxInt), 30_000)
	r.LivenessHeartbeatMS = s.integer("liveness_heartbeat_ms", 1, math.MaxInt)
	r.StaleThresholdMS = s.integer("stale_turn_threshold_ms", 1, math.MaxInt)
	r.NonProgressThreshold = orInt(s.integer("non_progress_threshold", 1, math.MaxInt32), 3)
	r.MaxTurns = orInt(s.integer("max_turns", 1, math.MaxInt32), 50)
	c := s.object("continuous", "auto_retry_on_ghost", "reconcile_operator_commits", "on_idle", "idle_expansion")
	g := c.object("auto_retry_on_ghost", "max_retries_per_run", "cooldown_seconds")
	g.boolean("enabled", false)
	g.integer("max_retries_per_run", 1, math.MaxInt)
	g.integer("cooldown_seconds", 1, math.MaxInt)
	c.enum("reconcile_operator_commits", false, "", "manual", "auto_safe_only", "disabled")
	c.idle()
}

// coverageModes reads the two coverage switches. A misspelt mode would silently switch a check off, so only the two
// known words are accepted; until it is corrected the strict one applies.
func (d *decoder) coverageModes() {
	mode := func(key string) string {
		s := d.section(d.cfg.Raw, "", ProblemCoverageMode, key)
		return s.enum(key, false, "", CoverageStrict, CoverageLenient)
	}
	d.cfg.GateCoverageMode = mode("gate_semantic_coverage_mode")
	d.cfg.IntentCoverageMode = mode("intent_coverage_mode")
}

func (d *decoder) prompts() {
	s := d.section(d.top("prompts", ProblemPrompts), "prompts", ProblemPrompts)
	for role, v := range s.o.All() {
		if wire.Blank(role) {
			d.add(s.code, s.at(role), role, "%s: a prompt needs the id of its role", s.at(role))
			continue
		}
		p, ok := v.(string)
		if !ok {
			s.fail(role, "a project-relative path", v)
			continue
		}
		if clean, ok := s.contained(role, p); ok {
			d.cfg.Prompts.Set(role, clean)
		}
	}
}
