// The checks of a coordinator artifact and its embedded artifacts (docs/export.md#what-verification-proves).

package restore

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// repoEntry is one repository of a coordinator artifact.
type repoEntry struct {
	id            string
	isObject      bool
	path, ok, err any
	export        any // an absent{}, true for an object, or something else
	nested        *artifact
}

// repos reads the repositories of an artifact.
func (v *verifier) repos(a *artifact) error {
	var err error
	a.reposOK, err = v.r.Members(func(id string) error {
		e := &repoEntry{id: id, path: absent{}, ok: absent{}, err: absent{}, export: absent{}}
		a.repos = append(a.repos, e)
		if err := v.repo(e); err != nil {
			return err
		}
		// What a failed repository has besides its error proves nothing.
		if e.nested != nil && e.ok == any(true) {
			for _, p := range e.nested.unproven {
				if len(a.unproven) < maxFindings {
					a.unproven = append(a.unproven, "repos."+e.id+".export."+p)
				}
			}
		}
		return nil
	})
	return err
}

func (v *verifier) repo(e *repoEntry) (err error) {
	e.isObject, err = v.r.Members(func(key string) (err error) {
		switch key {
		case "path":
			e.path, err = v.r.Value(1 << 20)
		case "ok":
			e.ok, err = v.r.Value(1 << 20)
		case "error":
			e.err, err = v.r.Value(1 << 20)
		case "export":
			v.depth++
			if e.nested, err = v.artifact(e.id, true); err == nil {
				e.export = e.nested.isObject
			}
			v.depth--
		default:
			err = v.r.Skip()
		}
		return err
	})
	return err
}

func (a *artifact) checkCoordinator() {
	if !isText(a.workspaceRoot) {
		a.add("workspace_root", "the workspace's place is missing or empty")
	}
	config := objectOf(a.config)
	if c := objectOf(a.coordinator); c == nil {
		a.add("coordinator", "the coordinator is missing or not an object")
	} else {
		declared := objectOf(get(config, "project"))
		a.same("coordinator.project_id", get(c, "project_id"), orNull(get(declared, "id")),
			"the configuration's project.id")
		a.same("coordinator.project_name", get(c, "project_name"), orNull(get(declared, "name")),
			"the configuration's project.name")
		a.count("coordinator.repo_count", get(c, "repo_count"), size(get(config, "repos")),
			"repositories in the configuration")
		a.count("coordinator.workstream_count", get(c, "workstream_count"), size(get(config, "workstreams")),
			"workstreams in the configuration")
	}
	if summary := objectOf(a.summary); summary == nil {
		a.add("summary", "the summary is missing or not an object")
	} else {
		a.checkCoordinatorSummary(summary)
	}
	a.sameDocument("config", a.config, coordinatorFile)
	if !a.reposOK {
		a.add("repos", "the repositories are missing or not an object")
		return
	}
	for _, e := range a.repos {
		a.checkRepo(e)
	}
	a.checkEvents()
}

// size returns the number of members of an object, or of items of an array.
func size(v any) int {
	switch v := v.(type) {
	case *ojson.Object:
		return v.Len()
	case []any:
		return len(v)
	}
	return 0
}

func (a *artifact) checkCoordinatorSummary(summary *ojson.Object) {
	state := objectOf(a.documents[multiDir+"/state.json"])
	for _, k := range [...]string{"super_run_id", "status", "phase"} {
		a.same("summary."+k, get(summary, k), orNull(get(state, k)), "the coordinator state's "+k)
	}
	a.checkPhaseOrder(summary)
	if !deepEqual(get(summary, "repo_run_statuses"), repoStatuses(state)) {
		a.add("summary.repo_run_statuses", "these are not the statuses in the coordinator's state")
	}
	barriers := objectOf(a.documents[multiDir+"/barriers.json"])
	a.count("summary.barrier_count", get(summary, "barrier_count"), barriers.Len(), "barriers in barriers.json")
	a.count("summary.history_entries", get(summary, "history_entries"), a.rows[multiDir+"/history.jsonl"],
		"entries of multirepo/history.jsonl")
	a.count("summary.decision_entries", get(summary, "decision_entries"), a.rows[multiDir+"/decision-ledger.jsonl"],
		"entries of multirepo/decision-ledger.jsonl")
}

// repoStatuses returns the statuses of the repositories in a coordinator's state, nil for none.
func repoStatuses(state *ojson.Object) *ojson.Object {
	out := &ojson.Object{}
	for id, run := range objectOf(get(state, "repo_runs")).All() {
		out.Set(id, or(get(objectOf(run), "status"), "unknown"))
	}
	return out
}

func (a *artifact) checkRepo(e *repoEntry) {
	path := "repos." + e.id
	if !e.isObject {
		a.add(path, "not an entry of a repository, which is an object")
		return
	}
	if !isText(e.path) {
		a.add(path+".path", "the repository's place is missing or empty")
	}
	ok, isBool := e.ok.(bool)
	if !isBool {
		a.add(path+".ok", "this must be true or false and is %s", show(e.ok))
		return
	}
	if !ok {
		if !isText(e.err) {
			a.add(path+".error", "a repository that failed must say why")
		}
		return
	}
	if e.export != true {
		a.add(path+".export", "a repository that did not fail must have its artifact here")
		return
	}
	for _, f := range e.nested.findings() {
		if len(a.list) >= maxFindings {
			return
		}
		a.list = append(a.list, Finding{path + ".export", f.String()})
	}
}

// checkEvents compares summary.aggregated_events with the events in the artifacts of the repositories.
func (a *artifact) checkEvents() {
	const path = "summary.aggregated_events"
	if a.aggregated == nil || none(a.aggregated.value) {
		return
	}
	have := objectOf(a.aggregated.value)
	if have == nil {
		a.add(path, "this must be an object where it is given")
		return
	}
	listed, _ := get(have, "repos_with_events").([]any)
	var all []event
	for _, e := range a.repos {
		if e.ok == any(false) && contains(listed, e.id) {
			a.add(path+".repos_with_events", "the repository %s failed, so nothing proves that it has events",
				show(e.id))
		}
		if truthy(e.ok) && e.nested != nil {
			all = append(all, e.nested.events...)
		}
	}
	sortEvents(all)
	repos, types := countEvents(all)
	a.count(path+".total_events", get(have, "total_events"), len(all), "events in the repositories' artifacts")
	if !deepEqual(get(have, "repos_with_events"), repos) {
		a.add(path+".repos_with_events", "these must be the repositories whose artifacts have events, sorted")
	}
	if !deepEqual(get(have, "event_type_counts"), types) {
		a.add(path+".event_type_counts", "these are not the counts of the events in the repositories' artifacts")
	}
	same := a.aggregated.array && len(a.aggregated.events) == len(all)
	for i := 0; same && i < len(all); i++ {
		if same = a.aggregated.events[i] == all[i].digest; !same {
			a.add(path+".events", "%s is not the one that the repositories' artifacts have there",
				fmt.Sprintf("event %d", i+1))
			return
		}
	}
	if !same {
		a.add(path+".events", "these are not the events of the repositories' artifacts in order of time")
	}
}

func contains(list []any, s string) bool {
	return slices.Contains(list, any(s))
}
