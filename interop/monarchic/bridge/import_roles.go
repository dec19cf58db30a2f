// The roles of a plan, and the agentxchain.json of a project made for it.

package bridge

import (
	"errors"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const defaultRole = "dev"

// newRoleID returns the role of a task in a project of its own.
func (im *Import) newRoleID(t *Task, opt FitOptions) string {
	switch {
	case t.RoleID != "":
		return t.RoleID
	case t.Role != "":
		return t.Role
	case opt.Role != "":
		return opt.Role
	}
	return defaultRole
}

// newRole refuses what cannot be a role of a new project.
func (im *Import) newRole(t *Task, opt FitOptions, bad *faults) {
	id := im.newRoleID(t, opt)
	switch {
	case id == "human" || !roleID(id):
		bad.add(wire.CodeUnknownRole, pointer(t.Pointer, "role_id"), id,
			"%s cannot be the id of a role: it takes lowercase letters, digits, - and _, and is not human.",
			ojson.Shown(id))
	case t.RoleID == "" && t.Role != "" && !slices.Contains(agentRoles(), id):
		bad.add(wire.CodeUnknownRole, pointer(t.Pointer, "role"), id,
			"role %s is not one of %s; name your own role with role_id.", ojson.Shown(id),
			strings.Join(agentRoles(), ", "))
	case t.RoleID == "" && t.Role == "":
		im.Plan.note(pointer(t.Pointer, "role"), "the plan names no role, so role "+id+" does the task")
	}
}

// roleID reports the ids that agentxchain.json accepts.
func roleID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

// configuredRole resolves a task's role in a project: role_id, a role with the token's name, or the
// one role that the token means (docs/monarchic-export.md#kinds).
func configuredRole(p *Plan, t *Task, cfg *config.Config, opt FitOptions, bad *faults) string {
	known := func(id string) bool { return id != "human" && cfg.Role(id) != nil }
	have := strings.Join(cfg.Roles.Keys(), ", ")
	if t.RoleID != "" {
		if known(t.RoleID) {
			return t.RoleID
		}
		bad.add(wire.CodeUnknownRole, pointer(t.Pointer, "role_id"), t.RoleID,
			"agentxchain.json has no role %s (roles: %s); add it, or name one of them.", ojson.Shown(t.RoleID), have)
		return ""
	}
	token, key := t.Role, "role"
	if token == "" {
		if token = opt.Role; token == "" {
			token = defaultRole
		}
	}
	if known(token) {
		return token
	}
	for _, id := range cfg.Roles.Keys() {
		if known(id) && string(AgentRole(id, cfg.Role(id).WriteAuthority)) == token {
			p.note(pointer(t.Pointer, key), "role "+token+" of the plan is role "+id+" of agentxchain.json")
			return id
		}
	}
	naming := "name one of them with role_id."
	if p.Kind == KindStrictPlan {
		key, naming = "policy_tags", "name one of them with a policy tag role:ID."
	}
	what := "role " + ojson.Shown(token) + " is not in agentxchain.json (roles: " + have + "); " + naming
	if t.Role == "" {
		what = "the task names no role, and agentxchain.json has no " + token + " (roles: " + have +
			"); say who does such tasks with --role."
	}
	bad.add(wire.CodeUnknownRole, pointer(t.Pointer, key), token, "%s", what)
	return ""
}

// reviews reports the roles whose work is to judge that of others.
func reviews(id string) bool {
	switch AgentRole(id, wire.Authoritative) {
	case portable.RoleQA, portable.RoleReviewer, portable.RoleSecurity, portable.RoleVerification:
		return true
	}
	return false
}

const personRuntime = "person"

// propose writes the agentxchain.json of the plan and reads it back: a refusal of the engine comes
// here, before anything is written.
func (im *Import) propose(opt FitOptions) (*config.Config, *wire.Error) {
	obj := ojson.NewObject
	p := im.Plan
	name := oneLine(p.ProjectKey)
	if name == "" {
		name = p.ID
	}
	project := obj("id", scaffold.ProjectID(name), "name", name)
	if goal := strings.TrimSpace(text.CutUnits(strings.TrimSpace(p.Objective), 500)); goal != "" {
		project.Set("goal", goal)
		if goal != strings.TrimSpace(p.Objective) {
			p.note("/objective",
				"the goal of a project has 500 characters, so the objective is cut there; the run keeps all of it")
		}
	}
	runtime, rt := personRuntime, obj("type", config.RuntimeManual)
	if opt.Agent != "" {
		agent, err := scaffold.FindAgent(opt.Agent)
		if bad, ok := errors.AsType[*scaffold.Error](err); ok {
			return nil, &wire.Error{Code: bad.Code, Message: bad.Message, Hint: bad.Hint}
		}
		runtime, rt = agent.ID, agent.Runtime()
	}
	roles := &ojson.Object{}
	for _, r := range im.Roles {
		r.Title, r.Runtime, r.Authority = title(r.ID), runtime, wire.Authoritative
		if opt.Agent == "" && reviews(r.ID) {
			r.Authority = wire.ReviewOnly
		}
		roles.Set(r.ID, obj("title", r.Title,
			"mandate", "Carry out the tasks the plan gives to this role, one at a time, and show that each is done.",
			"write_authority", r.Authority, "runtime", runtime))
	}
	routing, gates := &ojson.Object{}, &ojson.Object{}
	for _, ph := range im.Phases {
		route := obj("entry_role", ph.Roles[0], "allowed_next_roles", append(slices.Clone(ph.Roles), "human"),
			"max_concurrent_turns", ph.Concurrent)
		if ph.Gate != "" {
			route.Set("exit_gate", ph.Gate)
			gates.Set(ph.Gate,
				obj("requires_verification_pass", im.asksVerification(ph), "requires_human_approval", ph.Human))
		}
		routing.Set(ph.Name, route)
	}
	doc := obj("schema_version", "1.0", "project", project, "roles", roles, "runtimes", obj(runtime, rt),
		"routing", routing, "gates", gates,
		"rules", obj("max_turn_retries", 2),
		// A plan has no documents of its own; without this member, other readers would demand the usual ones.
		"workflow_kit", obj())
	if n := len(p.Tasks); n > 25 {
		doc.Set("run_loop", obj("max_turns", 2*n)) // every task once, and as many turns for corrections
	}
	data := ojson.Pretty(doc)
	cfg, problems, err := config.Decode(data)
	if err != nil {
		return nil, &wire.Error{
			Code:    CodeUnrepresentable,
			Message: "The plan leads to an agentxchain.json that cannot be read: " + err.Error() + ".",
		}
	}
	if len(problems) > 0 {
		return nil, &wire.Error{
			Code:     CodeUnrepresentable,
			Problems: problems,
			Message:  "The plan leads to an agentxchain.json that is not valid: " + problems.Join() + ".",
		}
	}
	im.Config = data
	return cfg, nil
}

// asksVerification reports whether a task of the phase names a gate; a gate that only waits for a
// person requires nothing else.
func (im *Import) asksVerification(ph *Phase) bool {
	return slices.ContainsFunc(im.Charters, func(c *run.Charter) bool {
		return c.Phase == ph.Name && len(c.GatesRequired) > 0
	})
}

func title(id string) string {
	words := strings.FieldsFunc(id, func(c rune) bool { return c == '-' || c == '_' })
	for i, w := range words {
		if words[i] = strings.ToUpper(w[:1]) + w[1:]; w == "qa" {
			words[i] = "QA"
		}
	}
	if len(words) == 0 {
		return id
	}
	return strings.Join(words, " ")
}

// oneLine returns text on one line of at most 200 characters.
func oneLine(s string) string {
	return strings.TrimSpace(text.CutUnits(strings.Join(strings.Fields(s), " "), 200))
}
