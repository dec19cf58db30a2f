// The sections of the configuration except workstreams: project, repos, routing, gates, hooks
// (docs/coordinator.md#the-configuration).

package initiative

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

func (d *decoder) version() {
	if v, _ := d.cfg.Raw.Get("schema_version"); v != Schema {
		d.wrong("schema_version_invalid", "schema_version", `"`+Schema+`"`, v)
	}
}

func (d *decoder) project() {
	v, _ := d.cfg.Raw.Get("project")
	o, ok := v.(*ojson.Object)
	if !ok {
		d.wrong("project_invalid", "project", "an object with an id and a name", v)
		return
	}
	for _, m := range []struct {
		key string
		dst *string
	}{{"id", &d.cfg.ProjectID}, {"name", &d.cfg.ProjectName}} {
		v, _ := o.Get(m.key)
		s, ok := textOf(v)
		if !ok {
			d.wrong("project_"+m.key+"_invalid", "project."+m.key, wantText, v)
			continue
		}
		*m.dst = strings.TrimSpace(s)
	}
}

func (d *decoder) repos() {
	v, _ := d.cfg.Raw.Get("repos")
	repos, ok := v.(*ojson.Object)
	if !ok || repos.Len() == 0 {
		d.wrongSet("repos_invalid", "repos", v)
		return
	}
	for id, v := range repos.All() {
		d.id("repo_id_invalid", "repo", id)
		// A badly declared repository is still declared: references to it are not reported a second time.
		r := &Repo{ID: id, DefaultBranch: "main", Required: true}
		d.cfg.Repos.Set(id, r)
		at := "repos." + id
		o, ok := v.(*ojson.Object)
		if !ok {
			d.wrong("repo_invalid", at, "an object", v)
			continue
		}
		p, _ := o.Get("path")
		if s, ok := textOf(p); ok {
			r.Path = strings.TrimSpace(s)
		} else {
			d.wrong("repo_path_invalid", at+".path", wantText, p)
		}
		if v, has := o.Get("remote"); has {
			// Only an address: refuse what git would read as the name of a program to start, or as an option.
			if s, ok := textOf(v); ok && !strings.HasPrefix(s, "-") && !strings.Contains(s, "::") {
				r.Remote = strings.TrimSpace(s)
			} else {
				d.wrong("repo_remote_invalid", at+".remote", "the address of a git repository", v)
			}
		}
		if v, has := o.Get("default_branch"); has {
			if s, ok := textOf(v); ok {
				r.DefaultBranch = strings.TrimSpace(s)
			} else {
				d.wrong("repo_default_branch_invalid", at+".default_branch", wantText, v)
			}
		}
		if v, has := o.Get("required"); has {
			if r.Required, ok = v.(bool); !ok {
				r.Required = true
				d.wrong("repo_required_invalid", at+".required", "true or false", v)
			}
		}
	}
}

// wrongSet reports a section that must be an object with members.
func (d *decoder) wrongSet(code, key string, v ojson.Value) {
	if o, ok := v.(*ojson.Object); ok && o.Len() == 0 {
		d.add(code, key, "", "%s must be an object with at least one member; it is empty", key)
		return
	}
	d.wrong(code, key, "an object with at least one member", v)
}

func (d *decoder) routing() {
	for phase, v := range d.section("routing", "routing_invalid").All() {
		at := "routing." + phase
		if !isPhase(phase) {
			d.add("routing_phase_invalid", at, phase,
				"the phase name %s must start with a lowercase letter and consist of lowercase letters, digits, - and _", ojson.Shown(phase))
		}
		r := &Route{}
		d.cfg.Routing.Set(phase, r)
		o, ok := v.(*ojson.Object)
		if !ok {
			d.wrong("routing_entry_invalid", at, "an object", v)
			continue
		}
		v, has := o.Get("entry_workstream")
		if !has {
			continue
		}
		id, ok := textOf(v)
		w := d.cfg.Workstream(id)
		switch {
		case !ok:
			d.wrong("routing_entry_workstream_invalid", at+".entry_workstream", wantText, v)
		case w == nil:
			d.add("routing_entry_workstream_unknown", at+".entry_workstream", id,
				"%s.entry_workstream names %s, which is not a declared workstream", at, ojson.Shown(id))
		case w.Phase != phase:
			d.add("routing_phase_mismatch", at+".entry_workstream", id,
				"%s.entry_workstream names %s, which is in phase %s", at, ojson.Shown(id), ojson.Shown(w.Phase))
		default:
			r.EntryWorkstream = id
		}
	}
}

func (d *decoder) gates() {
	for id, v := range d.section("gates", "gates_invalid").All() {
		d.id("gate_id_invalid", "gate", id)
		g := &Gate{}
		d.cfg.Gates.Set(id, g)
		at := "gates." + id
		o, ok := v.(*ojson.Object)
		if !ok {
			d.wrong("gate_invalid", at, "an object", v)
			continue
		}
		if v, has := o.Get("requires_human_approval"); has {
			if g.RequiresHumanApproval, ok = v.(bool); !ok {
				d.wrong("gate_requires_human_approval_invalid", at+".requires_human_approval", "true or false", v)
			}
		}
		v, has := o.Get("requires_repos")
		if !has {
			continue
		}
		list, ok := v.([]any)
		if !ok {
			d.wrong("gate_requires_repos_invalid", at+".requires_repos", "an array", v)
			continue
		}
		g.Declared = true
		g.RequiresRepos = d.names(at+".requires_repos", list, d.cfg.Repos.Has, "repository",
			listCodes{"gate_requires_repo_invalid", "gate_requires_repo_duplicate", "gate_requires_repo_unknown"})
	}
}

// HookPhases returns the phases a coordinator runs hooks in (docs/coordinator.md#hooks).
func HookPhases() []string {
	return []string{"before_assignment", "after_acceptance", "before_gate", "on_escalation"}
}

// hooks checks the coordinator's hooks as a repository's hooks are checked (docs/siblings.md).
func (d *decoder) hooks() {
	d.cfg.Hooks = d.section("hooks", "hooks_invalid")
	for _, p := range config.CheckHooks(d.cfg.Hooks, HookPhases()) {
		d.add("hooks_invalid", p.Field, p.Value, "%s", p.Message)
	}
}
