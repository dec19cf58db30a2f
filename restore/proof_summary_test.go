// Each claim of a summary is forged in turn: a forgery that can be detected is found, with its place, and one that
// cannot is listed here with the reason (docs/export.md#what-verification-proves).

package restore

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// incomputable lists the claims that nothing in an artifact proves: member and forged value, with the reason. A
// test finds unneeded rows.
var incomputable = map[string]string{
	"initiative aggregated_events=null":     "the format lets the events be left out, and null says no more",
	"run dashboard_session/status=pid_only": "whether the session file was readable then is known to the exporting machine alone",
	"run dashboard_session/status=stale":    "whether the process lived is known to the exporting machine alone",
}

// everyMember are files of a project in which every member of the summary has a value.
var everyMember = map[string]string{
	"agentxchain.json": `{"schema_version":"1.0","template":"lib","project":{"id":"p","name":"P","goal":"Ship it"},
		"roles":{"pm":{"decision_authority":50},"dev":{}},"routing":{"plan":{},"build":{},"ship":{}}}`,
	".agentxchain/state.json": `{"run_id":"run_1","status":"active","phase":"plan",
		"active_turns":{"turn_b":{},"turn_a":{}},"retained_turns":{"turn_c":{}},
		"provenance":{"trigger":"manual","parent_run_id":"run_0","trigger_reason":"again","intake_intent_id":"int_1","created_by":"operator"},
		"inherited_context":{"parent_run_id":"run_0","recent_decisions":[{"id":"DEC-1"}]}}`,
	".agentxchain/history.jsonl": `{"turn_id":"t_p","role":"pm","delegations_issued":[{"id":"d1","to_role":"dev","charter":"c"},{"id":"d2","to_role":"qa","charter":"c"}]}
{"turn_id":"t_c","role":"dev","delegation_context":{"delegation_id":"d1"}}
{"turn_id":"t_r","role":"pm","delegation_review":{"parent_turn_id":"t_p","results":[{"delegation_id":"d1","status":"completed"},{"delegation_id":"d2","status":"failed"}]}}
`,
	".agentxchain/decision-ledger.jsonl":    `{"id":"DEC-1"}` + "\n" + `{"id":"DEC-2"}` + "\n",
	".agentxchain/hook-audit.jsonl":         `{"hook_phase":"after_acceptance"}` + "\n",
	".agentxchain/notification-audit.jsonl": `{"event":"run_completed"}` + "\n",
	".agentxchain/repo-decisions.jsonl": `{"id":"DEC-1","category":"arch","statement":"s","role":"pm","run_id":"r","status":"active"}
{"id":"DEC-2","statement":"s","role":"human","status":"overridden","overridden_by":"DEC-1"}
`,
	".agentxchain/dispatch/index.json":  `{}`,
	".agentxchain/staging/t/notes.md":   "notes\n",
	".agentxchain/intake/a.json":        `{}`,
	".agentxchain/multirepo/notes.json": `{}`,
	".agentxchain/events.jsonl":         `{"event_id":"evt_1","timestamp":"2026-01-01T00:00:00Z","event_type":"run_started"}` + "\n",
	pidFile:                             "7\n",
	dashboardFile:                       `{"pid":7,"url":"http://localhost:1","started_at":"2026-01-01T00:00:00.000Z"}`,
	".planning/ROADMAP.md":              "# Roadmap\n",
}

// artifactOf assembles files like the export.
func artifactOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	repo := testrepo.New(t, testrepo.Options{})
	for name, content := range files {
		write(t, repo.Dir, name, content)
	}
	store, err := gitstore.Open(t.Context(), repo.Dir, gitstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	root, err := os.OpenRoot(repo.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	opt := ExportOptions{Live: func(int) bool { return true }}.filled(repo.Dir)
	e := &Export{Kind: KindRun}
	defer e.Close()
	if e.spool, err = newSpool(t.TempDir(), false); err != nil {
		t.Fatal(err)
	}
	r := &runExport{opt: opt, e: e, store: store, root: root}
	r.w = newEntryWriter(e.spool, 0)
	for _, step := range []func() error{
		func() error { return r.files(t.Context()) },
		func() error { return r.workspace(t.Context()) },
		r.assemble,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := e.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEveryClaimOfARunSummaryIsChecked(t *testing.T) {
	doc := artifactOf(t, everyMember)
	for key, v := range passes(t, doc).Object("summary").All() {
		if !truthy(v) && key != "export_files_truncated" {
			t.Errorf("nothing is said in summary.%s, so that no forgery of it is tried: %v", key, v)
		}
	}
	forgeSummary(t, doc)
}

func TestEveryClaimOfAnInitiativesSummaryIsChecked(t *testing.T) {
	doc := ojson.Compact(handmadeInitiative(t))
	passes(t, doc)
	dir := t.TempDir()
	write(t, dir, coordinatorFile,
		`{"schema_version":"0.1","project":{"id":"co","name":"Co"},"repos":{},"workstreams":{}}`)
	write(t, dir, multiDir+"/state.json", `{}`)
	_, real := exported(t, dir, ExportOptions{})
	have := slices.Sorted(slices.Values(parsed(t, doc).Object("summary").Keys()))
	if want := slices.Sorted(slices.Values(parsed(t, real).Object("summary").Keys())); !slices.Equal(have, want) {
		t.Errorf("the export writes the members %v, the artifact here has %v", want, have)
	}
	forgeSummary(t, doc)
}

// forgeSummary changes every member of the summary, and every member below it, in each way.
func forgeSummary(t *testing.T, doc []byte) {
	t.Helper()
	kind := "run"
	if parsed(t, doc).String("export_kind") == KindCoordinator {
		kind = "initiative"
	}
	used := make(map[string]bool)
	found := make(map[string]int)
	var walk func(at []string, o *ojson.Object)
	forge := func(at []string, name string, to any) {
		root := parsed(t, doc)
		parent := root.Object("summary")
		for _, k := range at[:len(at)-1] {
			parent = parent.Object(k)
		}
		parent.Set(at[len(at)-1], to)
		where := strings.Join(at, "/")
		key := kind + " " + where + "=" + strings.Trim(string(ojson.Compact(to)), `"`)
		r := verified(t, ojson.Compact(root))
		if why := incomputable[key]; why != "" {
			if used[key] = true; !r.Passed() {
				t.Errorf("%s is said to be incomputable, but it is found: %v", key, r.Findings)
			}
			return
		}
		named := slices.ContainsFunc(r.Findings, func(f Finding) bool {
			place, _, _ := strings.Cut(f.String(), ": ")
			return place == "summary."+at[0] || strings.HasPrefix(place, "summary."+at[0]+".") ||
				strings.HasPrefix(place, "summary."+at[0]+"[")
		})
		if !named {
			t.Errorf("summary.%s forged (%s, %s) is not found: %v", strings.Join(at, "."), name, show(to), r.Findings)
		}
		found[at[0]]++
	}
	walk = func(at []string, o *ojson.Object) {
		for key, v := range o.All() {
			here := append(slices.Clip(at), key)
			for name, to := range rules(v) {
				if !spelledAnew(v, to) {
					forge(here, name, to)
				}
			}
			if key == "status" && len(at) == 1 && at[0] == "dashboard_session" {
				for _, s := range [...]string{"pid_only", "stale", "not_running"} {
					forge(here, "word", s)
				}
			}
			if child, ok := v.(*ojson.Object); ok {
				walk(here, child)
			}
		}
	}
	walk(nil, parsed(t, doc).Object("summary"))
	for _, key := range parsed(t, doc).Object("summary").Keys() {
		if found[key] == 0 {
			t.Errorf("no forgery of summary.%s was tried", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(incomputable)) {
		if strings.HasPrefix(key, kind+" ") && !used[key] {
			t.Errorf("nothing is forged as %s has it", key)
		}
	}
}

// spelledAnew reports whether a change is equivalent: an additional member in an object that allows members of
// other versions.
func spelledAnew(from, to any) bool {
	have, ok := from.(*ojson.Object)
	grown, also := to.(*ojson.Object)
	return ok && also && grown.Len() > have.Len()
}

// If files were left out, their number is the exporter's claim, within what the rest allows.
func TestFileCountsOfAnArtifactThatLacksFiles(t *testing.T) {
	for _, tc := range []struct {
		truncated       any
		total, included any
		want            string
	}{
		{false, 0, 0, ""},
		{true, 1, 0, ""},
		{true, 900, 0, ""},
		{true, 0, 0, "summary.export_files_truncated"},
		{true, -1, 0, "summary.total_collected_files"},
		{true, 1.5, 0, "summary.total_collected_files"},
		{true, "9", 0, "summary.total_collected_files"},
		{false, 1, 0, "summary.total_collected_files"},
		{true, 9, 1, "summary.included_files"},
		{false, 0, -1, "summary.included_files"},
		{nil, 0, 0, "summary.export_files_truncated"},
		{"true", 9, 0, "summary.export_files_truncated"},
	} {
		t.Run(fmt.Sprint(tc.truncated, tc.total, tc.included), func(t *testing.T) {
			o := handmade(t)
			n := o.Object("files").Len()
			shift := func(v any) any {
				if i, ok := v.(int); ok && i >= 0 {
					return n + i
				}
				return v
			}
			s := o.Object("summary")
			s.Set("export_files_truncated", tc.truncated)
			s.Set("total_collected_files", shift(tc.total))
			s.Set("included_files", shift(tc.included))
			if have := ourVerdict(t, ojson.Compact(o)); have != tc.want {
				t.Errorf("%q, want %q", have, tc.want)
			}
		})
	}
}

// JavaScript enumerates members whose names are integers first.
func TestPhaseOrderOfNumberedPhases(t *testing.T) {
	for order, want := range map[string]string{
		`["10","plan","2","build"]`: "",
		`["2","10","plan","build"]`: "",
		`["10","2","plan","build"]`: "summary.workflow_phase_order",
		`["2","10","build","plan"]`: "summary.workflow_phase_order",
		`["plan"]`:                  "summary.workflow_phase_order",
		`null`:                      "summary.workflow_phase_order",
	} {
		t.Run(order, func(t *testing.T) {
			files := maps.Clone(everyMember)
			files["agentxchain.json"] = strings.Replace(files["agentxchain.json"],
				`"routing":{"plan":{},"build":{},"ship":{}}`,
				`"routing":{"10":{},"plan":{},"2":{},"build":{}}`, 1)
			o := parsed(t, artifactOf(t, files))
			v, err := ojson.Decode([]byte(order))
			if err != nil {
				t.Fatal(err)
			}
			o.Object("summary").Set("workflow_phase_order", v)
			if have := ourVerdict(t, ojson.Compact(o)); have != want {
				t.Errorf("%q, want %q", have, want)
			}
		})
	}
}
