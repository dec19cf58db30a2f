// The checks of a run artifact (docs/export.md#what-verification-proves).

package restore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (a *artifact) checkRun() {
	if !isText(a.projectRoot) {
		a.add("project_root", "the project's place is missing or empty")
	}
	config, state := objectOf(a.config), objectOf(a.state)
	if p := objectOf(a.project); p == nil {
		a.add("project", "the project is missing or not an object")
	} else {
		declared := objectOf(get(config, "project"))
		a.same("project.id", get(p, "id"), get(declared, "id"), "the configuration's project.id")
		a.same("project.name", get(p, "name"), get(declared, "name"), "the configuration's project.name")
		if goal := orNull(get(declared, "goal")); p.Has("goal") && !deepEqual(get(p, "goal"), goal) {
			a.add("project.goal", "this is not the goal in the configuration")
		}
		a.same("project.template", get(p, "template"), or(get(config, "template"), "generic"),
			"the configuration's template, or generic without one")
		a.same("project.protocol_mode", get(p, "protocol_mode"),
			or(get(config, "protocol_mode"), or(get(state, "protocol_mode"), "governed")), "the exported mode")
	}
	summary := objectOf(a.summary)
	if summary == nil {
		a.add("summary", "the summary is missing or not an object")
		return
	}
	if state == nil {
		a.add("state", "the state is missing or not an object")
		return
	}
	a.sameDocument("config", a.config, wire.ConfigPath)
	a.sameDocument("state", a.state, statePath)
	a.checkWorkspace()
	a.list = append(a.list, a.badWork...)
	if a.record != nil {
		a.list = append(a.list, a.record.judge(get(summary, "run_id"))...)
	}
	a.turnIDs("active_turn_ids", get(summary, "active_turn_ids"), get(state, "active_turns"), "active_turns")
	a.turnIDs("retained_turn_ids", get(summary, "retained_turn_ids"), get(state, "retained_turns"), "retained_turns")
	for _, k := range [...]string{"run_id", "status", "phase"} {
		a.same("summary."+k, get(summary, k), orNull(get(state, k)), "the state's "+k)
	}
	a.checkPhaseOrder(summary)
	for _, c := range [...]struct {
		key  string
		want int
		of   string
	}{
		{"history_entries", a.rows[wire.LedgerHistory.Path()], "entries of history.jsonl"},
		{"decision_entries", a.rows[wire.LedgerDecisions.Path()], "entries of decision-ledger.jsonl"},
		{"hook_audit_entries", a.rows[wire.LedgerHookAudit.Path()], "entries of hook-audit.jsonl"},
		{"notification_audit_entries", a.rows[wire.LedgerNotifications.Path()], "entries of notification-audit.jsonl"},
		{"dispatch_artifact_files", a.dispatch, "files below .agentxchain/dispatch"},
		{"staging_artifact_files", a.staging, "files below .agentxchain/staging"},
	} {
		a.count("summary."+c.key, get(summary, c.key), c.want, c.of)
	}
	if get(summary, "intake_present") != any(a.intake) {
		a.add("summary.intake_present", "this does not say whether there are files below .agentxchain/intake")
	}
	if get(summary, "coordinator_present") != any(a.multi) {
		a.add("summary.coordinator_present", "this does not say whether there are files below .agentxchain/multirepo")
	}
	a.checkDelegations(get(summary, "delegation_summary"))
	a.checkDecisions(get(summary, "repo_decisions"), config)
	a.checkDashboard(get(summary, "dashboard_session"))
	a.checkOrigin(summary, config, state)
	a.checkFileCounts(summary)
}

// checkFileCounts checks the summary's claims about the files themselves. Only the exporter knows how many files
// were left out, but not whether some were. Artifacts of older versions leave these members out.
func (a *artifact) checkFileCounts(summary *ojson.Object) {
	const truncated, total, included = "export_files_truncated", "total_collected_files", "included_files"
	if summary.Has(included) {
		a.count("summary."+included, get(summary, included), a.fileCount, "entries of files")
	}
	cut := get(summary, truncated)
	if _, ok := cut.(bool); !ok && summary.Has(truncated) {
		a.add("summary."+truncated, "this must be true or false and is %s", show(cut))
		return
	}
	if !summary.Has(total) {
		return
	}
	n, ok := integer(get(summary, total))
	switch {
	case !ok || n < int64(a.fileCount):
		a.add("summary."+total, "this must be a count of at least %d, the number of entries of files, and is %s",
			a.fileCount, show(get(summary, total)))
	case cut == any(true) && n == int64(a.fileCount):
		a.add("summary."+truncated, "this is true, but files has as many entries as were collected")
	case cut == any(true):
		a.cut = append(a.cut, fmt.Sprintf("%d of %d files", n-int64(a.fileCount), n))
	case cut == any(false) && n > int64(a.fileCount):
		a.add("summary."+total, "this must be %d, the number of entries of files, where none was left out, and is %d",
			a.fileCount, n)
	}
}

// checkOrigin checks the summary's copy of the run's purpose and origin. Artifacts of older versions leave these
// members out.
func (a *artifact) checkOrigin(summary, config, state *ojson.Object) {
	for _, c := range [...]struct {
		key  string
		want any
		of   string
	}{
		{"project_goal", orNull(get(objectOf(get(config, "project")), "goal")), "the goal in the configuration"},
		{"provenance", provenanceOf(get(state, "provenance")), "the provenance in the state"},
		{"inherited_context", orNull(get(state, "inherited_context")), "the inherited context in the state"},
	} {
		if summary.Has(c.key) && !deepEqual(get(summary, c.key), c.want) {
			a.add("summary."+c.key, "this is not %s", c.of)
		}
	}
}

// same compares a scalar with its original.
func (a *artifact) same(path string, have, want any, of string) {
	if !identical(have, want) {
		a.add(path, "this must be %s, %s, and is %s", of, show(want), show(have))
	}
}

func (a *artifact) count(path string, have any, want int, of string) {
	if !counts(have, want) {
		a.add(path, "this must be %d, the number of %s, and is %s", want, of, show(have))
	}
}

// sameDocument compares a member with the file that it repeats.
func (a *artifact) sameDocument(path string, have any, file string) {
	want, ok := a.sums[file]
	_, missing := have.(absent)
	switch {
	case missing && !ok:
		return
	case !missing && ok:
		if d, err := sum(ojson.Compact(have)); err == nil && d == want {
			return
		}
	}
	a.add(path, "this is not what files.%s holds", file)
}

func (a *artifact) checkWorkspace() {
	if _, missing := a.workspace.(absent); missing {
		return
	}
	w := objectOf(a.workspace)
	if w == nil {
		a.add("workspace", "not an object")
		return
	}
	git := objectOf(get(w, "git"))
	if git == nil {
		a.add("workspace.git", "this is missing or not an object")
		return
	}
	truth := func(key string) {
		if _, ok := get(git, key).(bool); !ok {
			a.add("workspace.git."+key, "this must be true or false and is %s", show(get(git, key)))
		}
	}
	list := func(key string) {
		if !texts(get(git, key)) {
			a.add("workspace.git."+key, "this must be an array of texts that are not empty")
		}
	}
	truth("is_repo")
	if h := get(git, "head_sha"); h != nil && !isText(h) {
		a.add("workspace.git.head_sha", "this must be the id of a commit, or null, and is %s", show(h))
	}
	list("dirty_paths")
	truth("restore_supported")
	list("restore_blockers")
}

// turnIDs compares a list of turns with the state's, in order.
func (a *artifact) turnIDs(key string, have, turns any, of string) {
	want := slices.Clone(objectOf(turns).Keys())
	slices.SortStableFunc(want, collate)
	list, ok := have.([]any)
	ok = ok && len(list) == len(want)
	given := make([]string, len(list))
	for i := range list {
		s, isString := list[i].(string)
		given[i], ok = s, ok && isString
	}
	if ok && slices.ContainsFunc(want, func(s string) bool { return !isASCII(s) }) {
		// Another tool's collation may order such ids differently.
		slices.Sort(want)
		slices.Sort(given)
	}
	if !ok || !slices.Equal(given, want) {
		a.add("summary."+key, "these must be the turns of the state's %s, sorted", of)
	}
}

// checkPhaseOrder checks summary.workflow_phase_order (docs/export.md#what-verification-proves).
func (a *artifact) checkPhaseOrder(summary *ojson.Object) {
	const path = "summary.workflow_phase_order"
	order := get(summary, "workflow_phase_order")
	if none(order) {
		if _, missing := order.(absent); !missing && phaseOrder(objectOf(a.config), get(summary, "phase")) != nil {
			a.add(path, "this is null, but the configuration has phases")
		}
		return
	}
	found := len(a.list)
	list, ok := order.([]any)
	if !ok {
		a.add(path, "this must be an array of phases, or null")
		return
	}
	if len(list) == 0 {
		a.add(path, "an order without phases must be null")
		return
	}
	seen := make(map[string]bool)
	for i, item := range list {
		at := path + "[" + string(ojson.Int(i)) + "]"
		s, ok := item.(string)
		trimmed := strings.TrimFunc(s, isSpace)
		switch {
		case !ok:
			a.add(at, "a phase must be text")
		case trimmed == "":
			a.add(at, "a phase has no name")
		case trimmed != s:
			a.add(at, "there is white space around the name of a phase")
		case seen[s]:
			a.add(path, "the phase %s is there twice", show(s))
		default:
			seen[s] = true
		}
	}
	phase := get(summary, "phase")
	if s, ok := phase.(string); !none(phase) && (!ok || !seen[s]) {
		a.add("summary.phase", "the phase is not in workflow_phase_order")
	}
	config := objectOf(a.config)
	if config == nil || len(a.list) > found {
		return
	}
	declared := objectOf(get(config, "routing")).Keys()
	if !slices.EqualFunc(list, declared, func(have any, want string) bool { return have == any(want) }) &&
		!deepEqual(list, numbersFirst(declared)) {
		a.add(path, "these are not the phases of the configuration's routing, in their order")
	}
}

// numbersFirst returns keys in the order in which JavaScript enumerates members: integer names come first, by size.
func numbersFirst(keys []string) []any {
	size := func(key string) int64 {
		n, err := strconv.ParseInt(key, 10, 64)
		if err != nil || n < 0 || n >= 1<<32-1 || strconv.FormatInt(n, 10) != key {
			return math.MaxInt64
		}
		return n
	}
	keys = slices.Clone(keys)
	slices.SortStableFunc(keys, func(x, y string) int { return cmp.Compare(size(x), size(y)) })
	list := make([]any, len(keys))
	for i, k := range keys {
		list[i] = k
	}
	return list
}

func (a *artifact) checkDelegations(have any) {
	const path = "summary.delegation_summary"
	_, history := a.rows[wire.LedgerHistory.Path()]
	if none(have) {
		if _, total := a.history.summary(); total > 0 {
			a.add(path, "this is null, but history.jsonl has delegations")
		}
		return
	}
	if !history {
		a.add(path, "there are delegations here, but no history.jsonl they could come from")
		return
	}
	want, total := a.history.summary()
	o := objectOf(have)
	a.count(path+".total_delegations_issued", get(o, "total_delegations_issued"), total,
		"delegations in history.jsonl")
	if !deepEqual(get(o, "delegation_chains"), get(want, "delegation_chains")) {
		a.add(path+".delegation_chains", "these are not the chains that follow from history.jsonl")
	}
}

func (a *artifact) checkDecisions(have any, config *ojson.Object) {
	const path = "summary.repo_decisions"
	want := summarizeDecisions(a.decisions, config)
	switch {
	case none(have) && want == nil:
		return
	case none(have):
		a.add(path, "this is null, but repo-decisions.jsonl has entries")
		return
	case want == nil && !a.inFiles[wire.LedgerRepoDecisions.Path()]:
		a.add(path, "there are decisions here, but no repo-decisions.jsonl they could come from")
		return
	case want == nil:
		a.add(path, "there are decisions here, but repo-decisions.jsonl has none")
		return
	}
	o := objectOf(have)
	for _, k := range [...]string{"total", "active_count", "overridden_count"} {
		if !identical(get(o, k), get(want, k)) {
			a.add(path+"."+k, "this must be %s by repo-decisions.jsonl and is %s", show(get(want, k)), show(get(o, k)))
		}
	}
	for _, k := range [...]string{"active", "overridden", "operator_summary"} {
		if !deepEqual(get(o, k), get(want, k)) {
			a.add(path+"."+k, "this does not follow from repo-decisions.jsonl")
		}
	}
}

func (a *artifact) checkDashboard(have any) {
	const path = "summary.dashboard_session"
	if _, missing := have.(absent); missing {
		return
	}
	s := objectOf(have)
	if s == nil {
		a.add(path, "this must be an object where it is given")
		return
	}
	status, _ := get(s, "status").(string)
	switch status {
	case "running", "pid_only", "stale", "not_running":
	default:
		a.add(path+".status", "this must be running, pid_only, stale or not_running and is %s", show(get(s, "status")))
		return
	}
	pid, url, started := get(s, "pid"), get(s, "url"), get(s, "started_at")
	n, ok := integer(pid)
	positive := ok && n > 0
	if pid != nil && !positive {
		a.add(path+".pid", "this must be the number of a process, or null, and is %s", show(pid))
	}
	if _, ok := url.(string); url != nil && !ok {
		a.add(path+".url", "this must be text, or null, and is %s", show(url))
	}
	if started != nil && !isTime(started) {
		a.add(path+".started_at", "this must be an ISO 8601 time, or null, and is %s", show(started))
	}
	if status == "not_running" {
		for _, m := range [...]struct {
			key   string
			value any
		}{{"pid", pid}, {"url", url}, {"started_at", started}} {
			if m.value != nil {
				a.add(path+"."+m.key, "this must be null when nothing runs")
			}
		}
	}
	if status == "running" && !positive {
		a.add(path+".pid", "a running dashboard has a process number")
	}
	a.checkDashboardFiles(s, status)
}

// checkDashboardFiles compares the session with the dashboard's own files if the artifact has them. Only the
// exporting machine knows whether its process was alive.
func (a *artifact) checkDashboardFiles(session *ojson.Object, status string) {
	const path = "summary.dashboard_session"
	if status == "not_running" {
		return
	}
	doc := objectOf(a.documents[dashboardFile])
	if status == "pid_only" {
		doc = nil
	}
	same := func(key string, want any, file string) {
		if !none(want) && !identical(get(session, key), want) {
			a.add(path+"."+key, "this must be what files.%s has, %s, and is %s", file, show(want),
				show(get(session, key)))
		}
	}
	text, _ := a.documents[pidFile].(string)
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n > 0 {
		same("pid", ojson.Int(n), pidFile)
	} else {
		same("pid", get(doc, "pid"), dashboardFile)
	}
	same("url", get(doc, "url"), dashboardFile)
	same("started_at", get(doc, "started_at"), dashboardFile)
}

// isSpace reports whether JavaScript trims r.
func isSpace(r rune) bool { return blank([]byte(string(r))) }
