// Schedules of unattended runs (docs/spec/configuration.md#workflow-kit).

package config

import (
	"math"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func (d *decoder) schedules() {
	root := d.section(d.cfg.Raw, "", ProblemSchedule)
	s := root.object("schedules")
	d.cfg.Schedules = s.o
	for e := range s.entries() {
		if !IsID(e.key) {
			d.add(e.code, e.path, e.key, "schedule id %s must consist of lowercase letters, digits, - and _",
				ojson.Shown(e.key))
		}
		if !e.valid() {
			continue
		}
		e.nullable = []string{"continuous"}
		if !e.o.Has("every_minutes") {
			e.missing("every_minutes", wantInteger(1, math.MaxInt))
		}
		e.integer("every_minutes", 1, math.MaxInt)
		e.boolean("enabled", true)
		e.boolean("auto_approve", true)
		e.integer("max_turns", 1, math.MaxInt)
		e.text("trigger_reason", false)
		if role := e.text("initial_role", false); role != "" && !d.cfg.Roles.Has(role) {
			e.undeclaredRole("initial_role", role)
		}
		e.continuous()
	}
}

func (s section) continuous() {
	c := s.object("continuous", "vision_path", "per_session_max_usd", "auto_checkpoint", "on_idle", "idle_expansion")
	if c.o == nil {
		return
	}
	enabled := c.boolean("enabled", false)
	if _, ok := c.value("vision_path"); enabled && !ok {
		c.missing("vision_path", "the path of a document, because continuous.enabled is true")
	}
	c.text("vision_path", false)
	c.integer("max_runs", 1, math.MaxInt)
	c.integer("max_idle_cycles", 1, math.MaxInt)
	c.enum("triage_approval", false, "auto", "auto", "human")
	c.dollars("per_session_max_usd")
	c.boolean("auto_checkpoint", true)
	c.idle()
}

// idle checks what a continuous session does when the queue is empty.
func (s section) idle() {
	s.enum("on_idle", false, "exit", "exit", "perpetual", "human_review")
	x := s.object("idle_expansion", "sources", "max_expansions", "malformed_retry_limit", "role", "pm_prompt_path",
		"output")
	x.texts("sources")
	x.integer("max_expansions", 1, math.MaxInt)
	x.integer("malformed_retry_limit", 0, math.MaxInt)
	if role := x.text("role", false); role != "" && !s.d.cfg.Roles.Has(role) {
		x.undeclaredRole("role", role)
	}
	for _, k := range []string{"pm_prompt_path", "output"} {
		x.text(k, false)
	}
}

// dollars reads an amount greater than zero; nil when absent or wrong.
func (s section) dollars(key string) *float64 {
	return s.number(key, "a number greater than 0 (US dollars)", func(f float64) bool { return f > 0 })
}
