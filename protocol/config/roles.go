// Roles and their bindings to runtimes (docs/spec/configuration.md#roles).

package config

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RuntimeManual is the runtime type of people.
const RuntimeManual = "manual"

func (d *decoder) roles() {
	root := d.section(d.cfg.Raw, "", ProblemRole)
	if !root.o.Has("roles") {
		root.missing("roles", "an object of role definitions")
	}
	runtimes := d.cfg.Raw.Object("runtimes")
	for e := range root.object("roles").entries("decision_authority") {
		id, r := e.key, &Role{ID: e.key, RuntimeType: RuntimeManual, Raw: e.o}
		d.cfg.Roles.Set(id, r)
		if !IsID(id) {
			d.add(e.code, e.path, id, "role id %s must consist of lowercase letters, digits, - and _", ojson.Shown(id))
		}
		if !e.valid() {
			continue
		}
		r.Title = e.text("title", true)
		r.Mandate = e.text("mandate", true)
		r.WriteAuthority = e.enum("write_authority", true, "", wire.Authoritative, wire.Proposed, wire.ReviewOnly)
		r.DecisionAuthority = e.integer("decision_authority", 0, 99)
		r.RuntimeID = e.text("runtime", true)
		if r.RuntimeID == "" {
			continue
		}
		if !runtimes.Has(r.RuntimeID) {
			d.add(ProblemUndeclaredRuntime, e.at("runtime"), r.RuntimeID,
				"%s names %s, which is not declared in runtimes",
				e.at("runtime"), ojson.Shown(r.RuntimeID))
		} else if t := runtimes.Object(r.RuntimeID).String("type"); t != "" {
			r.RuntimeType = t
		}
	}
}

// bindings refuses the two combinations of authority and runtime in which a turn could never deliver what its role
// is for (docs/spec/configuration.md#admission).
func (d *decoder) bindings() {
	for id, r := range d.cfg.Roles.All() {
		field := "roles." + id + ".write_authority"
		switch WriteContract(d.cfg, id).Path {
		case PathInvalidAuthoritative:
			d.add(ProblemAuthoritativeBinding, field, r.RuntimeID,
				"role %s is authoritative, but its runtime %s (%s) can only propose changes: make the role proposed or review_only, or give it a runtime that writes files",
				ojson.Shown(id), ojson.Shown(r.RuntimeID), r.RuntimeType)
		case PathInvalidReviewOnly:
			d.add(ProblemReviewOnlyBinding, field, r.RuntimeID,
				"role %s is review_only, but its runtime %s (%s) writes files directly: make the role authoritative, or use a runtime of type %s",
				ojson.Shown(id), ojson.Shown(r.RuntimeID), r.RuntimeType,
				strings.Join([]string{RuntimeManual, "api_proxy", "mcp", "remote_agent"}, ", "))
		}
	}
}

// BindingWarnings lists roles whose work would be lost: they may not write files, and a proposal is only made from
// what a remote runtime returns (docs/spec/observation.md#derived-reviews-and-proposals).
func BindingWarnings(c *Config) wire.Problems {
	var out wire.Problems
	for id, r := range c.Roles.All() {
		if WriteContract(c, id).Path == PathPatchAuthoring {
			out = append(out, wire.Problem{
				Code:  ProblemRole,
				Field: "roles." + id + ".write_authority",
				Message: fmt.Sprintf("role %s proposes, but no proposal is made of what its runtime %s (%s) hands over, and it may "+
					"not write: make the role authoritative, or give it a runtime of type api_proxy or remote_agent",
					ojson.Shown(id), ojson.Shown(r.RuntimeID), r.RuntimeType),
			})
		}
	}
	return out
}
