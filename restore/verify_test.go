// Tests of tampered artifacts, and of input that is not an artifact.

package restore

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// handmade returns an artifact with everything that a summary is checked against.
func handmade(t testing.TB) *ojson.Object {
	files := &ojson.Object{}
	add := func(name, format, content string) {
		e := ojson.NewObject("format", format, "bytes", len(content),
			"sha256", fmt.Sprintf("%x", sha([]byte(content))),
			"content_base64", base64.StdEncoding.EncodeToString([]byte(content)))
		switch format {
		case formatJSON:
			v, err := ojson.Decode([]byte(content))
			if err != nil {
				t.Fatal(err)
			}
			e.Set("data", v)
		case formatJSONL:
			list := []any{}
			for line := range strings.Lines(content) {
				v, err := ojson.Decode([]byte(line))
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, v)
			}
			e.Set("data", list)
		default:
			e.Set("data", toText([]byte(content)))
		}
		files.Set(name, e)
	}
	config := `{"schema_version":"1.0","template":"lib","project":{"id":"p","name":"P"},"roles":{"pm":{"decision_authority":50},"dev":{}},"routing":{"plan":{},"build":{}}}`
	state := `{"run_id":"run_1","status":"active","phase":"plan","active_turns":{"turn_b":{},"turn_a":{}},"retained_turns":{}}`
	add("agentxchain.json", formatJSON, config)
	add(".agentxchain/state.json", formatJSON, state)
	add(".agentxchain/history.jsonl", formatJSONL,
		`{"turn_id":"t_p","role":"pm","delegations_issued":[{"id":"d1","to_role":"dev","charter":"c"},{"id":"d2","to_role":"qa","charter":"c"}]}`+
			"\n"+`{"turn_id":"t_c","role":"dev","delegation_context":{"delegation_id":"d1"}}`+"\n"+
			`{"turn_id":"t_r","role":"pm","delegation_review":{"parent_turn_id":"t_p","results":[{"delegation_id":"d1","status":"completed"},{"delegation_id":"d2","status":"failed"}]}}`+
			"\n")
	add(".agentxchain/repo-decisions.jsonl", formatJSONL,
		`{"id":"DEC-1","category":"arch","statement":"s","role":"pm","run_id":"r","status":"active"}`+"\n"+
			`{"id":"DEC-2","statement":"s","role":"human","status":"overridden","overridden_by":"DEC-1"}`+"\n")
	add("TALK.md", formatText, "# Talk\xff\n")
	add(".agentxchain/dispatch/index.json", formatJSON, `{}`)
	add(".agentxchain/intake/a.json", formatJSON, `{}`)
	decode := func(s string) ojson.Value { v, _ := ojson.Decode([]byte(s)); return v }
	return ojson.NewObject("schema_version", "0.3", "export_kind", KindRun, "exported_at", "2026-01-02T03:04:05.678Z",
		"project_root", ".",
		"project", decode(`{"id":"p","name":"P","template":"lib","protocol_mode":"governed"}`),
		"summary", decode(`{"run_id":"run_1","status":"active","phase":"plan","workflow_phase_order":["plan","build"],"active_turn_ids":["turn_a","turn_b"],"retained_turn_ids":[],
		"history_entries":3,"decision_entries":0,"hook_audit_entries":0,"notification_audit_entries":0,"dispatch_artifact_files":1,"staging_artifact_files":0,"intake_present":true,"coordinator_present":false,
		"dashboard_session":{"status":"running","pid":7,"url":null,"started_at":"2026-01-01"},
		"delegation_summary":{"total_delegations_issued":2,"delegation_chains":[{"parent_turn_id":"t_p","parent_role":"pm","delegations":[
		{"delegation_id":"d1","to_role":"dev","charter":"c","required_decision_ids":[],"satisfied_decision_ids":[],"missing_decision_ids":[],"status":"completed","child_turn_id":"t_c"},
		{"delegation_id":"d2","to_role":"qa","charter":"c","required_decision_ids":[],"satisfied_decision_ids":[],"missing_decision_ids":[],"status":"failed","child_turn_id":null}],"review_turn_id":"t_r","outcome":"mixed"}]},
		"repo_decisions":{"total":2,"active_count":1,"overridden_count":1,
		"active":[{"id":"DEC-1","category":"arch","statement":"s","role":"pm","run_id":"r","overrides":null,"durability":"repo","authority_level":50,"authority_source":"configured"}],
		"overridden":[{"id":"DEC-2","overridden_by":"DEC-1","statement":"s","overrides":null,"durability":"repo","role":"human","authority_level":100,"authority_source":"human_default"}],
		"operator_summary":{"active_categories":["arch"],"highest_active_authority_level":50,"highest_active_authority_role":"pm","highest_active_authority_source":"configured","superseding_active_count":0,"overridden_with_successor_count":1}}}`),
		"workspace", decode(
			`{"git":{"is_repo":true,"head_sha":null,"dirty_paths":["a"],"restore_supported":false,"restore_blockers":["x"]}}`),
		"files", files, "config", decode(config), "state", decode(state))
}

func TestFindings(t *testing.T) {
	passes(t, ojson.Pretty(handmade(t)))
	for _, c := range []struct {
		member string // dotted, with / for a dot in a name
		value  string // JSON; "" removes it
		paths  string
	}{
		{"schema_version", `"0.4"`, "schema_version"},
		{"schema_version", `"0.2"`, ""},
		{"export_kind", `7`, "export_kind export_kind"},
		{"export_kind", `"other"`, "export_kind"},
		{"exported_at", `"yesterday"`, "exported_at"},
		{"config", `[]`,
			"config project.id project.name project.template config summary.repo_decisions.active summary.repo_decisions.overridden summary.repo_decisions.operator_summary"},
		{"files", `null`,
			"files config state summary.history_entries summary.dispatch_artifact_files summary.intake_present summary.delegation_summary summary.repo_decisions"},
		{"project_root", `""`, "project_root"},
		{"project", `1`, "project"},
		{"project.template", `"generic"`, "project.template"},
		{"summary", `null`, "summary"},
		{"state", `null`, "state"},
		{"state.status", `"done"`, "state summary.status"},
		{"workspace", "", ""},
		{"workspace", `[]`, "workspace"},
		{"workspace.git", `[]`, "workspace.git"},
		{"workspace.git.head_sha", `""`, "workspace.git.head_sha"},
		{"workspace.git.dirty_paths", `[""]`, "workspace.git.dirty_paths"},
		{"summary.active_turn_ids", `["turn_b","turn_a"]`, "summary.active_turn_ids"},
		{"summary.run_id", "", "summary.run_id"},
		{"summary.phase", `"ship"`, "summary.phase summary.phase"},
		{"summary.workflow_phase_order", `null`, "summary.workflow_phase_order"},
		{"summary.workflow_phase_order", `[]`, "summary.workflow_phase_order"},
		{"summary.workflow_phase_order", `["plan",1," "," a","plan"]`,
			"summary.workflow_phase_order[1] summary.workflow_phase_order[2] summary.workflow_phase_order[3] summary.workflow_phase_order"},
		{"summary.history_entries", `3.0`, ""},
		{"summary.history_entries", `"3"`, "summary.history_entries"},
		{"summary.delegation_summary", `null`, "summary.delegation_summary"},
		{"summary.delegation_summary.total_delegations_issued", `1`,
			"summary.delegation_summary.total_delegations_issued"},
		{"summary.repo_decisions", "", "summary.repo_decisions"},
		{"summary.repo_decisions.operator_summary", `{}`, "summary.repo_decisions.operator_summary"},
		{"summary.dashboard_session", "", ""},
		{"summary.dashboard_session", `null`, "summary.dashboard_session"},
		{"summary.dashboard_session.status", `"asleep"`, "summary.dashboard_session.status"},
		{"summary.dashboard_session.status", `"not_running"`,
			"summary.dashboard_session.pid summary.dashboard_session.started_at"},
		{"summary.dashboard_session.pid", `null`, "summary.dashboard_session.pid"},
		{"summary.project_goal", `null`, ""},
		{"summary.project_goal", `"another"`, "summary.project_goal"},
		{"summary.provenance", `{"trigger":"intake"}`, "summary.provenance"},
		{"summary.inherited_context", `{"parent":"run_0"}`, "summary.inherited_context"},
		{"files.TALK/md", `[]`, "files.TALK.md"},
		{"files.TALK/md.format", `"yaml"`, "files.TALK.md"},
		{"files.TALK/md.bytes", `9007199254740993`, "files.TALK.md files.TALK.md"},
		{"files.TALK/md.sha256", `"ABC"`, "files.TALK.md files.TALK.md"},
		{"files.TALK/md.content_base64", `null`, "files.TALK.md"},
		{"files.TALK/md.content_base64", `7`, "files.TALK.md"},
		{"files.TALK/md.content_base64", `"IyBUYWxr/wo"`, "files.TALK.md"},
		{"files.TALK/md.content_base64", `"IyBU\nYWxr/wo="`, "files.TALK.md"},
		{"files.TALK/md.content_base64", `"IyBUYWxr_wo="`, "files.TALK.md"},
		{"files.TALK/md.content_base64", `"IyBUYWxr/wp="`, "files.TALK.md"},
		{"files.TALK/md.content_base64", `"IyBUYWxr/wo=IyBU"`, "files.TALK.md"},
		{"files.TALK/md.data", `"# Talk?\n"`, "files.TALK.md"},
		{"files.TALK/md.data", "", "files.TALK.md"},
		{"files.TALK/md.extra", `1`, ""},
	} {
		o := handmade(t)
		at := o
		path := strings.Split(c.member, ".")
		for i := range path {
			path[i] = strings.ReplaceAll(path[i], "/", ".")
		}
		for _, k := range path[:len(path)-1] {
			at = at.Object(k)
		}
		if c.value == "" {
			at.Delete(path[len(path)-1])
		} else {
			v, err := ojson.Decode([]byte(c.value))
			if err != nil {
				t.Fatal(err)
			}
			at.Set(path[len(path)-1], v)
		}
		var have []string
		for _, f := range verified(t, ojson.Compact(o)).Findings {
			have = append(have, f.Path)
		}
		if got := strings.Join(have, " "); got != c.paths {
			t.Errorf("%s = %s:\n  %s, not\n  %s", c.member, c.value, got, c.paths)
		}
	}
}

// mutants changes every scalar of an artifact's evidence in turn: none may pass.
func mutants(t *testing.T, data []byte) {
	t.Helper()
	for i := range 150 {
		o, err := ojson.DecodeObject(data)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		where := mutate(rng, o, "")
		if where == "" || strings.HasPrefix(where, ".summary.") && !checked(where) ||
			strings.HasPrefix(where, ".workspace") || unchecked(where) {
			continue
		}
		if r := verified(t, ojson.Compact(o)); r.Passed() {
			t.Errorf("a change of %s is not found", where)
		}
	}
}

func checked(where string) bool {
	for _, k := range []string{"_entries", "_ids", "delegation", "decisions", "aggregated", "run_id", "status",
		".phase"} {
		if strings.Contains(where, k) && !strings.Contains(where, "dashboard") &&
			!strings.Contains(where, "provenance") {
			return true
		}
	}
	return false
}

// unchecked reports whether nothing in an artifact proves a member.
func unchecked(where string) bool {
	for _, k := range []string{"exported_at", "project_root", "project.schema_version", "workspace", ".path",
		".error", "dashboard", "coordinator.schema_version", "export.summary", "export.project."} {
		if strings.Contains(where, k) && !strings.Contains(where, ".files") {
			return true
		}
	}
	return strings.Count(where, ".") < 2
}

// mutate changes one scalar somewhere below o and returns its location.
func mutate(rng *rand.Rand, o *ojson.Object, at string) string {
	if o.Len() == 0 {
		return ""
	}
	key := o.Keys()[rng.IntN(o.Len())]
	at += "." + key
	v, _ := o.Get(key)
	switch v := v.(type) {
	case *ojson.Object:
		return mutate(rng, v, at)
	case []any:
		o.Set(key, append(v, "more"))
	case string:
		o.Set(key, v+"x")
	case bool:
		o.Set(key, !v)
	case ojson.Number:
		o.Set(key, ojson.Number("1"+string(v)))
	default:
		o.Set(key, "was null")
	}
	return at
}

func TestEveryChangeOfEvidenceIsFound(t *testing.T) {
	mutants(t, ojson.Compact(handmade(t)))
	repo := testrepo.New(t, testrepo.Options{})
	project(t, repo.Dir)
	_, data := exported(t, repo.Dir, ExportOptions{})
	mutants(t, data)
}

// The order of the members and the size of the reads do not change the verdict.
func TestOrderAndPiecesDoNotMatter(t *testing.T) {
	doc := handmade(t)
	doc.Object("files").Set("big.md", bigEntry(300000)) // data first, and too large for memory
	passes(t, ojson.Compact(doc))
	doc.Object("files").Set("big.md", bigEntry(2000))
	whole := ojson.Compact(doc)
	want := verified(t, whole)
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		o, _ := ojson.DecodeObject(whole)
		shuffled := shuffle(rand.New(rand.NewPCG(seed, 2)), o)
		if rapid.Bool().Draw(t, "break") {
			mutate(rand.New(rand.NewPCG(seed, 3)), shuffled, "")
		}
		data := ojson.Compact(shuffled)
		a, err := Verify(context.Background(), bytes.NewReader(data), VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Verify(context.Background(), iotest.HalfReader(bytes.NewReader(ojson.Pretty(shuffled))),
			VerifyOptions{})
		if err != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%v, in other pieces %v (%v)", a, b, err)
		}
		if bytes.Equal(ojson.Compact(want.Object("")), ojson.Compact(a.Object(""))) != a.Passed() {
			t.Fatalf("%v", a.Findings)
		}
	})
}

func bigEntry(lines int) *ojson.Object {
	text := strings.Repeat("line\n", lines)
	return ojson.NewObject("data", text, "format", "text", "bytes", len(text),
		"sha256", fmt.Sprintf("%x", sha([]byte(text))),
		"content_base64", base64.StdEncoding.EncodeToString([]byte(text)))
}

// shuffle shuffles the members of every object.
func shuffle(rng *rand.Rand, o *ojson.Object) *ojson.Object {
	out := &ojson.Object{}
	keys := append([]string(nil), o.Keys()...)
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, k := range keys {
		v, _ := o.Get(k)
		if c, ok := v.(*ojson.Object); ok {
			v = shuffle(rng, c)
		}
		out.Set(k, v)
	}
	return out
}

func TestNoArtifact(t *testing.T) {
	doc := string(ojson.Compact(handmade(t)))
	for name, data := range map[string]string{
		"empty":           "",
		"cut":             doc[:len(doc)/2],
		"tail":            doc + "{}",
		"twice":           strings.Replace(doc, `"project_root":`, `"project_root":".","project_root":`, 1),
		"deep":            `{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
		"bom":             "\ufeff" + doc,
		"not utf-8":       strings.Replace(doc, "run_1", "run_\xff", 1),
		"broken zstd":     "\x28\xb5\x2f\xfdgarbage",
		"endless opening": strings.Repeat(`{"files":`, 100000),
	} {
		_, err := Verify(t.Context(), strings.NewReader(data), VerifyOptions{})
		var input *InputError
		if !errors.As(err, &input) || input.ErrorCode() != CodeInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	lone := strings.Replace(doc, `"TALK.md"`, `"TALK\ud83d.md"`, 1)
	if r := verified(t, []byte(lone)); len(r.Findings) != 1 || !strings.HasPrefix(r.Findings[0].Path, "files.TALK") {
		t.Errorf("half a character in a path: %v", r.Findings)
	}
	if r := verified(t, []byte(`[1]`)); len(r.Findings) != 1 || r.Findings[0].Path != "artifact" {
		t.Errorf("an array: %v", r.Findings)
	}
	if _, err := Verify(t.Context(), strings.NewReader(doc), VerifyOptions{MaxBytes: 100}); err == nil {
		t.Error("the limit of the whole is not kept")
	}
	if _, err := Verify(t.Context(), strings.NewReader(string(ojson.Compact(bigArtifact()))),
		VerifyOptions{MaxFile: 1000}); err == nil {
		t.Error("the limit of a file is not kept")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, strings.NewReader(doc), VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func bigArtifact() *ojson.Object {
	return ojson.NewObject("files", ojson.NewObject("a", bigEntry(2000)))
}

func FuzzVerify(f *testing.F) {
	doc := ojson.Compact(handmade(f))
	f.Add(doc)
	f.Add([]byte(`{"export_kind":"agentxchain_coordinator_export","files":{"agentxchain-multi.json":{}},"repos":{"a":{"ok":true,"export":{"files":null}},"b":null},"summary":{"aggregated_events":{"events":[null]}}}`))
	f.Add([]byte(`{"export_kind":"agentxchain_run_export","files":{".agentxchain/history.jsonl":{"data":[null,1,{"delegations_issued":[null]},{"delegation_review":{"results":[1]}}]}},"summary":{},"state":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Verify(context.Background(), bytes.NewReader(data),
			VerifyOptions{MaxBytes: 1 << 20, MaxFile: 1 << 20})
		if err == nil && r.Passed() && !bytes.Contains(data, []byte("agentxchain")) {
			t.Fatalf("%q passes", data)
		}
	})
}
