// Phases and exit gates (docs/spec/configuration.md#phases, docs/spec/configuration.md#gates).

package config

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// MaxConcurrentTurns is the largest number of turns that a phase may run side by side.
const MaxConcurrentTurns = 4

// DefaultGateActionTimeoutMS is how long a gate action may run.
const DefaultGateActionTimeoutMS = 900_000

func (d *decoder) routing() {
	gates := d.cfg.Raw.Object("gates")
	s := d.section(d.top("routing", ProblemRouting), "routing", ProblemRouting)
	for e := range s.entries("entry_role", "allowed_next_roles", "exit_gate") {
		r := &Route{Phase: e.key, MaxConcurrentTurns: 1, Raw: e.o}
		d.cfg.Routing.Set(e.key, r)
		if !isName(e.key) {
			d.add(e.code, e.path, e.key,
				"phase name %s must start with a lowercase letter and consist of lowercase letters, digits, - and _",
				ojson.Shown(e.key))
		}
		if !e.valid() {
			continue
		}
		if r.EntryRole = e.text("entry_role", false); r.EntryRole != "" && !d.cfg.Roles.Has(r.EntryRole) {
			e.undeclaredRole("entry_role", r.EntryRole)
		}
		next, _ := e.array("allowed_next_roles")
		for i, v := range next {
			item := fmt.Sprintf("allowed_next_roles[%d]", i)
			role, ok := v.(string)
			if !ok || wire.Trim(role) == "" {
				e.fail(item, `a role id or "human"`, v)
				continue
			}
			r.AllowedNextRoles = append(r.AllowedNextRoles, role)
			if role != "human" && !d.cfg.Roles.Has(role) {
				e.undeclaredRole(item, role)
			}
		}
		// A gate that is not defined would be an open gate, so it is refused whether or not the document has a
		// gates member (docs/compatibility.md#where-we-differ-on-purpose row 20).
		if r.ExitGate = e.text("exit_gate", false); r.ExitGate != "" && !gates.Has(r.ExitGate) {
			d.add(ProblemUndeclaredGate, e.at("exit_gate"), r.ExitGate, "%s names %s, which is not declared in gates",
				e.at("exit_gate"), ojson.Shown(r.ExitGate))
		}
		e.concurrency(r)
		r.TimeoutMinutes = e.minutes("timeout_minutes")
		r.TimeoutAction = e.enum("timeout_action", false, "", "escalate", "warn", "skip_phase")
	}
}

func (s section) undeclaredRole(key, role string) {
	s.d.add(ProblemUndeclaredRole, s.at(key), role, "%s names %s, which is not declared in roles", s.at(key),
		ojson.Shown(role))
}

// concurrency reads max_concurrent_turns. A number above the limit counts as the limit for a caller that goes on
// despite the finding (docs/runner.md).
func (s section) concurrency(r *Route) {
	s.code = ProblemMaxConcurrentTurns
	if n := s.integer("max_concurrent_turns", 1, MaxConcurrentTurns); n != nil {
		r.MaxConcurrentTurns = *n
	} else if n, ok := s.o.Int("max_concurrent_turns"); ok && n > MaxConcurrentTurns {
		r.MaxConcurrentTurns = MaxConcurrentTurns
	}
}

func (s section) minutes(key string) *float64 {
	return s.number(key, "a number of minutes of at least 1", func(f float64) bool { return f >= 1 })
}

func (d *decoder) gates() {
	s := d.section(d.top("gates", ProblemGate), "gates", ProblemGate)
	for e := range s.entries("requires_files", "requires_verification_pass", "requires_human_approval") {
		g := &Gate{ID: e.key, Raw: e.o}
		d.cfg.Gates.Set(e.key, g)
		e.named("a gate")
		if !e.valid() {
			continue
		}
		g.RequiresFiles = e.paths("requires_files")
		g.RequiresVerify = e.boolean("requires_verification_pass", false)
		g.RequiresHuman = e.boolean("requires_human_approval", false)
		g.Credentialed = e.boolean("credentialed", false)
		e.gateActions(g)
	}
}

// named refuses a blank name: a reference to it would look like a missing reference.
func (e configEntry) named(what string) {
	if wire.Blank(e.key) {
		e.d.add(e.code, e.path, e.key, "%s: %s needs a name that is not blank", e.path, what)
	}
}

// paths reads an array of project-relative paths and returns them cleaned.
func (s section) paths(key string) []string {
	items, _ := s.array(key)
	var out []string
	for i, v := range items {
		item := fmt.Sprintf("%s[%d]", key, i)
		p, ok := v.(string)
		if !ok {
			s.fail(item, "a project-relative path", v)
			continue
		}
		if clean, ok := s.contained(item, p); ok {
			out = append(out, clean)
		}
	}
	return out
}

// contained cleans p or reports why it may not be used: a gate or a prompt
// must never read outside the project (docs/compatibility.md#where-we-differ-on-purpose row 20).
func (s section) contained(key, p string) (string, bool) {
	clean, problem := wire.CleanPath(p)
	if problem != "" {
		s.d.add(ProblemConfigPath, s.at(key), p, "%s must be a path inside the project: %s %s", s.at(key),
			ojson.Shown(p), wire.PathProblemText(problem))
	}
	return clean, problem == ""
}

func (s section) gateActions(g *Gate) {
	if !s.o.Has("gate_actions") {
		return
	}
	list, ok := s.array("gate_actions")
	if ok && len(list) == 0 {
		s.d.add(s.code, s.at("gate_actions"), "", "%s must not be empty", s.at("gate_actions"))
	}
	if !g.RequiresHuman {
		s.d.add(s.code, s.at("gate_actions"), "",
			"%s need requires_human_approval: true, because a person's approval runs them", s.at("gate_actions"))
	}
	for a := range s.items("gate_actions", list) {
		action := GateAction{
			Run:       a.text("run", true),
			Label:     a.text("label", false),
			TimeoutMS: DefaultGateActionTimeoutMS,
		}
		if ms := a.integer("timeout_ms", 1000, 3_600_000); ms != nil {
			action.TimeoutMS = *ms
		}
		if action.Run != "" {
			g.Actions = append(g.Actions, action)
		}
	}
}
