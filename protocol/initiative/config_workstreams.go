// The workstreams of the configuration: their repositories, barriers and dependencies
// (docs/coordinator.md#the-configuration).

package initiative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// phaseNames returns the phases a workstream may be in: those of routing as it
// is written, or the three of an initiative without routing.
func (d *decoder) phaseNames() *ojson.Object {
	if o, ok := d.cfg.Raw.Value("routing").(*ojson.Object); ok {
		return o
	}
	return ojson.NewObject("planning", nil, "implementation", nil, "qa", nil)
}

func (d *decoder) workstreams() {
	v, _ := d.cfg.Raw.Get("workstreams")
	streams, ok := v.(*ojson.Object)
	if !ok || streams.Len() == 0 {
		d.wrongSet("workstreams_invalid", "workstreams", v)
		return
	}
	phases := d.phaseNames()
	for id, v := range streams.All() {
		d.id("workstream_id_invalid", "workstream", id)
		w := &Workstream{ID: id}
		d.cfg.Workstreams.Set(id, w)
		o, ok := v.(*ojson.Object)
		if !ok {
			d.wrong("workstream_invalid", "workstreams."+id, "an object", v)
			continue
		}
		d.workstream(w, o, "workstreams."+id, phases, streams)
	}
	d.cycles()
}

func (d *decoder) workstream(w *Workstream, o *ojson.Object, at string, phases, declared *ojson.Object) {
	v, _ := o.Get("phase")
	if s, ok := v.(string); ok && phases.Has(s) {
		w.Phase = s
	} else {
		d.wrong("workstream_phase_invalid", at+".phase", orList(phases.Keys()), v)
	}

	v, _ = o.Get("repos")
	list, _ := v.([]any)
	if len(list) == 0 {
		d.wrongList("workstream_repos_invalid", at+".repos", v)
	}
	w.Repos = d.names(at+".repos", list, d.cfg.Repos.Has, "repository",
		listCodes{"workstream_repo_invalid", "workstream_repo_duplicate", "workstream_repo_unknown"})

	v, _ = o.Get("entry_repo")
	entry, ok := textOf(v)
	switch {
	case !ok:
		d.wrong("workstream_entry_repo_invalid", at+".entry_repo", wantText, v)
	case !slices.Contains(list, any(entry)):
		d.add("workstream_entry_repo_mismatch", at+".entry_repo", entry,
			"%s.entry_repo is %s, which is not one of the workstream's repositories", at, ojson.Shown(entry))
	default:
		w.EntryRepo = entry
	}

	v, _ = o.Get("depends_on")
	if list, ok := v.([]any); ok {
		w.DependsOn = d.names(at+".depends_on", list, declared.Has, "workstream",
			listCodes{"workstream_dependency_invalid", "", "workstream_dependency_unknown"})
	} else {
		d.wrong("workstream_depends_on_invalid", at+".depends_on", "an array", v)
	}

	v, _ = o.Get("completion_barrier")
	if s, ok := v.(string); ok && slices.Contains(barrierTypes(), s) {
		w.Barrier = s
	} else {
		d.wrong("workstream_completion_barrier_invalid", at+".completion_barrier", orList(barrierTypes()), v)
	}
	if w.Barrier == InterfaceAlignment || w.Barrier == NamedDecisions {
		d.decisions(w, o, at, list)
	}
}

// wrongList reports a member that must be an array with items.
func (d *decoder) wrongList(code, field string, v ojson.Value) {
	if a, ok := v.([]any); ok && len(a) == 0 {
		d.add(code, field, "", "%s must name at least one repository", field)
		return
	}
	d.wrong(code, field, "a non-empty array", v)
}

// decisions reads <barrier>.decision_ids_by_repo; repos are the workstream's
// repositories as written.
func (d *decoder) decisions(w *Workstream, o *ojson.Object, at string, repos []any) {
	code := "workstream_" + w.Barrier
	v, _ := o.Get(w.Barrier)
	section, ok := v.(*ojson.Object)
	if !ok {
		d.add(code+"_invalid", at+"."+w.Barrier, "",
			"%s waits at the barrier %s and must declare %s.decision_ids_by_repo", at, w.Barrier, w.Barrier)
		return
	}
	at += "." + w.Barrier + ".decision_ids_by_repo"
	v, _ = section.Get("decision_ids_by_repo")
	byRepo, ok := v.(*ojson.Object)
	if !ok {
		d.wrong(code+"_decisions_invalid", at, "an object", v)
		return
	}
	w.Decisions = &ojson.Map[[]string]{}
	named := make(map[string]bool)
	for _, v := range repos {
		repo, ok := v.(string)
		if !ok || named[repo] {
			continue
		}
		named[repo] = true
		v, has := byRepo.Get(repo)
		if !has {
			d.add(code+"_repo_missing", at, repo, "%s must list the decisions of %s", at, ojson.Shown(repo))
			continue
		}
		ids, _ := v.([]any)
		if len(ids) == 0 {
			d.add(code+"_repo_invalid", at+"."+repo, "", "%s.%s must be an array with at least one decision id", at,
				repo)
			continue
		}
		w.Decisions.Set(repo, d.decisionIDs(code, at+"."+repo, ids))
	}
	for repo := range byRepo.All() {
		if !named[repo] {
			d.add(code+"_repo_unknown", at+"."+repo, repo,
				"%s lists decisions of %s, which is not one of the workstream's repositories", at, ojson.Shown(repo))
		}
	}
}

func (d *decoder) decisionIDs(code, at string, items []any) []string {
	var out []string
	seen := make(map[string]bool)
	for i, v := range items {
		id, ok := v.(string)
		switch {
		case !ok || !isDecisionID(id):
			d.wrong(code+"_decision_invalid", fmt.Sprintf("%s[%d]", at, i), "a decision id such as DEC-001", v)
		case seen[id]:
			d.add(code+"_decision_duplicate", at, id, "%s lists %s more than once", at, id)
		default:
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// maxCycles is how many cycles are reported; one is enough to refuse.
const maxCycles = 10

// cycles reports workstreams that wait for themselves. The wording is wire
// (docs/coordinator.md#the-configuration).
func (d *decoder) cycles() {
	const (
		open = 1 // on the path being followed
		done = 2
	)
	state := make(map[string]int)
	found := 0
	for _, start := range d.cfg.Workstreams.Keys() {
		if state[start] != 0 {
			continue
		}
		// The path is an explicit stack: a long chain of workstreams must not need a deep recursion.
		path, next := []string{start}, []int{0}
		state[start] = open
		for len(path) > 0 {
			top := len(path) - 1
			deps := d.cfg.Workstream(path[top]).DependsOn
			if next[top] == len(deps) {
				state[path[top]] = done
				path, next = path[:top], next[:top]
				continue
			}
			dep := deps[next[top]]
			next[top]++
			switch state[dep] {
			case open:
				if found++; found <= maxCycles {
					cycle := append(slices.Clone(path[slices.Index(path, dep):]), dep)
					d.add(problemCycle, "workstreams."+dep+".depends_on", dep,
						"circular workstream dependency detected: %s", cycleText(cycle))
				}
			case done:
			default:
				state[dep] = open
				path, next = append(path, dep), append(next, 0)
			}
		}
	}
}

// cycleText formats a cycle as a chain of arrows; it leaves out the middle of a very long one.
func cycleText(ids []string) string {
	const most = 40
	if len(ids) > most {
		ids = append(append(slices.Clone(ids[:most/2]), "…"), ids[len(ids)-most/2:]...)
	}
	return strings.Join(ids, " -> ")
}
