// Mutated artifacts: by rule at every member, and by hand.

package restore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// mutant is a changed artifact. Its name says which artifact, where and how.
type mutant struct {
	name string
	data []byte
}

// mutateAll changes every member of doc by every rule that fits its value. Names start with base; nothing is
// changed below members that enter refuses.
func mutateAll(t testing.TB, base string, doc []byte, enter func(path string) bool) []mutant {
	t.Helper()
	var out []mutant
	var walk func(at []string, o *ojson.Object)
	change := func(at []string, rule string, f func(parent *ojson.Object, key string)) {
		root := parsed(t, doc)
		parent := root
		for _, k := range at[:len(at)-1] {
			parent = parent.Object(k)
		}
		f(parent, at[len(at)-1])
		out = append(out, mutant{base + " " + strings.Join(at, "/") + " " + rule, ojson.Compact(root)})
	}
	walk = func(at []string, o *ojson.Object) {
		for key, v := range o.All() {
			here := append(slices.Clip(at), key)
			change(here, "removed", func(p *ojson.Object, k string) { p.Delete(k) })
			for rule, to := range rules(v) {
				change(here, rule, func(p *ojson.Object, k string) { p.Set(k, to) })
			}
			if child, ok := v.(*ojson.Object); ok && enter(strings.Join(here, "/")) {
				walk(here, child)
			}
		}
	}
	walk(nil, parsed(t, doc))
	return out
}

func parsed(t testing.TB, doc []byte) *ojson.Object {
	t.Helper()
	o, err := ojson.DecodeObject(doc)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// rules yields changed versions of a value, by the name of the change.
func rules(v any) func(func(string, any) bool) {
	return func(yield func(string, any) bool) {
		var list []struct {
			name string
			to   any
		}
		add := func(name string, to any) {
			list = append(list, struct {
				name string
				to   any
			}{name, to})
		}
		if v != nil {
			add("null", nil)
		}
		switch v := v.(type) {
		case string:
			add("longer", v+"x")
			add("emptied", "")
			add("number", ojson.Number("7"))
			if flipped := flip(v); flipped != v {
				add("flipped", flipped)
			}
		case ojson.Number:
			add("grown", ojson.Number("1"+string(v)))
			add("negative", ojson.Number("-1"))
			add("broken", ojson.Number("0.5"))
			add("text", string(v))
		case bool:
			add("flipped", !v)
			add("text", fmt.Sprint(v))
		case []any:
			add("object", &ojson.Object{})
			add("more", append(slices.Clip(v), "more"))
			if len(v) > 0 {
				add("fewer", v[:len(v)-1])
			}
			if len(v) > 1 {
				back := make([]any, len(v))
				for i := range v {
					back[len(v)-1-i] = v[i]
				}
				add("turned", back)
			}
		case *ojson.Object:
			add("array", []any{})
			add("text", "x")
			grown := v.Clone()
			grown.Set("more", true)
			add("more", grown)
		default:
			add("text", "was null")
		}
		for _, r := range list {
			if !yield(r.name, r.to) {
				return
			}
		}
	}
}

// flip changes a letter or a digit in the middle.
func flip(s string) string {
	b := []byte(s)
	for i := len(b) / 2; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '8', c >= 'a' && c <= 'e', c >= 'A' && c <= 'Y':
			b[i]++
			return string(b)
		}
	}
	return s
}

// handmadeInitiative returns a coordinator artifact with a repository that has events, one without and one that
// failed.
func handmadeInitiative(t testing.TB) *ojson.Object {
	api, web := handmade(t), handmade(t)
	event := func(id, at, kind string) string {
		return `{"event_id":"` + id + `","timestamp":"` + at + `","event_type":"` + kind + `"}`
	}
	early, late := event("evt_1", "2026-01-01T00:00:00Z",
		"run_started"), event("evt_0", "2026-01-02T00:00:00Z", "turn_dispatched")
	setFile(api, ".agentxchain/events.jsonl", formatJSONL, late+"\n"+early+"\n",
		[]any{parsed(t, []byte(late)), parsed(t, []byte(early))})
	files := ojson.NewObject("files", &ojson.Object{})
	document := func(name, content string) *ojson.Object {
		o := parsed(t, []byte(content))
		setFile(files, name, formatJSON, content, o)
		return o
	}
	config := document(coordinatorFile,
		`{"schema_version":"0.1","project":{"id":"co","name":"Co"},"repos":{"api":{"path":"api"},"web":{"path":"web"},"gone":{"path":"gone"}},"workstreams":{"core":{}},"routing":{"planning":{}}}`)
	document(multiDir+"/state.json",
		`{"super_run_id":"srun_1","status":"active","phase":"planning","repo_runs":{"api":{"status":"linked"},"web":{}}}`)
	document(multiDir+"/barriers.json", `{"b":{"status":"pending"}}`)
	setFile(files, multiDir+"/history.jsonl", formatJSONL, "{\"n\":1}\n", []any{ojson.NewObject("n", 1)})
	tagged := func(s string) *ojson.Object {
		o := parsed(t, []byte(s))
		o.Set("repo_id", "api")
		return o
	}
	return ojson.NewObject("schema_version", "0.3", "export_kind", KindCoordinator,
		"exported_at", "2026-01-02T03:04:05.678Z", "workspace_root", ".",
		"coordinator", ojson.NewObject("project_id", "co", "project_name", "Co", "schema_version", "0.1",
			"repo_count", 3, "workstream_count", 1),
		"summary", ojson.NewObject("super_run_id", "srun_1", "status", "active", "phase", "planning",
			"workflow_phase_order", []any{"planning"},
			"repo_run_statuses", ojson.NewObject("api", "linked", "web", "unknown"), "barrier_count", 1,
			"history_entries", 1, "decision_entries", 0,
			"aggregated_events", ojson.NewObject("total_events", 2, "repos_with_events", []any{"api"},
				"event_type_counts", ojson.NewObject("run_started", 1, "turn_dispatched", 1),
				"events", []any{tagged(early), tagged(late)})),
		"files", files.Object("files"), "config", config,
		"repos", ojson.NewObject("api", ojson.NewObject("ok", true, "path", "api", "export", api),
			"web", ojson.NewObject("ok", true, "path", "web", "export", web),
			"gone", ojson.NewObject("ok", false, "path", "gone", "error", "there is nothing")))
}

// setFile adds a file to an artifact like an exporter.
func setFile(artifact *ojson.Object, name, format, content string, data any) {
	e := textEntry(content)
	e.Set("format", format)
	e.Set("data", data)
	artifact.Object("files").Set(name, e)
}

// allMutants returns mutants of two artifacts by rule, and those that no rule makes.
func allMutants(t testing.TB) []mutant {
	run, initiative := ojson.Compact(handmade(t)), ojson.Compact(handmadeInitiative(t))
	list := []mutant{{"run unchanged", run}, {"initiative unchanged", initiative}}
	list = append(list, mutateAll(t, "run", run, func(path string) bool {
		// The members of all files are alike; three formats cover everything.
		in, ok := strings.CutPrefix(path, "files/")
		return !ok || in == "TALK.md" || in == ".agentxchain/state.json" || in == ".agentxchain/history.jsonl"
	})...)
	list = append(list, mutateAll(t, "initiative", initiative, func(path string) bool {
		in, ok := strings.CutPrefix(path, "repos/")
		return !strings.HasPrefix(path, "config/") &&
			(!strings.HasPrefix(path, "files/") || strings.HasSuffix(path, "/state.json")) &&
			(!ok || in == "api" || in == "gone" || in == "api/export" || in == "api/export/files")
	})...)
	return append(list, byHand(t, run, initiative)...)
}

// byHand returns the mutants that no rule makes, of text rather than of members.
func byHand(t testing.TB, run, initiative []byte) []mutant {
	t.Helper()
	var list []mutant
	from := func(name string, doc []byte, pairs ...string) {
		data := doc
		for i := 0; i < len(pairs); i += 2 {
			next := bytes.Replace(data, []byte(pairs[i]), []byte(pairs[i+1]), 1)
			if bytes.Equal(next, data) {
				t.Fatalf("%s: %q is not in the artifact", name, pairs[i])
			}
			data = next
		}
		list = append(list, mutant{name, data})
	}
	set := func(name string, f func(o *ojson.Object)) {
		o := parsed(t, run)
		f(o)
		list = append(list, mutant{name, ojson.Compact(o)})
	}
	from("run of schema 0.2", run, `"schema_version":"0.3"`, `"schema_version":"0.2"`)
	from("initiative of schema 0.2", initiative, `"schema_version":"0.3"`, `"schema_version":"0.2"`)
	set("run of schema 0.2 without what 0.3 brought", func(o *ojson.Object) {
		o.Set("schema_version", "0.2")
		o.Delete("workspace")
		o.Object("summary").Delete("dashboard_session")
		o.Object("summary").Delete("workflow_phase_order")
	})
	from("run in a repository of an initiative twice", initiative, `"web":{"ok":true,"path":"web","export":{`,
		`"web":{"ok":true,"path":"web","export":null,"export":{`)
	from("path twice, the last counts", run, `"TALK.md":{`, `"TALK.md":{},"TALK.md":{`)
	from("member twice, the last counts", run, `"project_root":"."`, `"project_root":"","project_root":"."`)
	from("member twice, the last is wrong", run, `"project_root":"."`, `"project_root":".","project_root":""`)
	for _, at := range []string{"2026-01-02", "2026-01", "2026", "2026-01-02T03:04Z", "2026-01-02T03:04:05",
		"2026-01-02T03:04:05+02:00", "2026-01-02 03:04:05", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
		"2026-02-30", "2026-01-02T24:00:00Z", "2026-01-02T25:00:00Z", "2026-01-02T03:04:60Z", "2026-01-02t03:04:05z",
		"Fri, 02 Jan 2026 03:04:05 GMT", "2 January 2026", "now", " 2026-01-02", "2026-01-02T03:04:05.123456789Z",
		"+002026-01-02T03:04:05Z", "1", "x 1"} {
		from("exported at "+at, run, "2026-01-02T03:04:05.678Z", at)
	}
	for _, n := range []string{"3.0", "3e0", "0.3e1", "30e-1", "3.0000000000000001", "-0", "1e400", "3.5"} {
		from("history_entries "+n, run, `"history_entries":3`, `"history_entries":`+n)
		from("decision_entries "+n, run, `"decision_entries":0`, `"decision_entries":`+n)
	}
	for _, b := range []string{"IyBUYWxr_wo=", "IyBUYWxr/wo", "IyBU YWxr/wo=", "IyBUYWxr/wp=", "IyBUYWxr/wo==",
		"IyBUYWxr/wo=====", "IyBUYWxr/wo=AAAA", "!!!!", "I", "IyBUYWxr\\n/wo=", "\\u0049yBUYWxr/wo="} {
		from("TALK.md in base64 "+b, run, "IyBUYWxr/wo=", b)
	}
	text := `"data":"# Talk` + "\ufffd" + `\n"`
	for _, d := range []string{`"data":"# Talk\ufffd\u000a"`, `"data":"\u0023 Talk\uFFFD\n"`,
		`"data":"# Talk\ud83d\n"`, `"data":"# Talk\n"`, `"data":["# Talk"]`, `"data":{}`} {
		from("TALK.md with "+d, run, text, d)
	}
	for _, x := range []struct{ name, content, data, format string }{
		{"integers past 2^53", `{"n":9007199254740993}`, `{"n":9007199254740993}`, formatJSON},
		{"integer rounded as JavaScript does", `{"n":9007199254740993}`, `{"n":9007199254740992}`, formatJSON},
		{"integer past 2^53 changed", `{"n":9007199254740993}`, `{"n":9007199254740995}`, formatJSON},
		{"minus zero kept", `{"n":-0}`, `{"n":-0}`, formatJSON},
		{"minus zero lost", `{"n":-0}`, `{"n":0}`, formatJSON},
		{"same number otherwise written", `{"n":1e2}`, `{"n":100}`, formatJSON},
		{"fraction in short", `{"n":0.1000000000000000055}`, `{"n":0.1}`, formatJSON},
		{"number past all", `{"n":1e400}`, `{"n":1e400}`, formatJSON},
		{"member twice in the content", `{"a":1,"a":2}`, `{"a":2}`, formatJSON},
		{"member twice in the content, first taken", `{"a":1,"a":2}`, `{"a":1}`, formatJSON},
		{"byte order mark before JSON", "\ufeff{}", `{}`, formatJSON},
		{"no JSON", `{`, `{}`, formatJSON},
		{"empty JSON", ``, `null`, formatJSON},
		{"null as JSON", `null`, `null`, formatJSON},
		{"JSON without data", `null`, ``, formatJSON},
		{"JSON as text", `{"a":1}`, `"{\"a\":1}"`, formatText},
		{"text with a byte order mark", "\ufeffx", `"` + "\ufeff" + `x"`, formatText},
		{"text without its byte order mark", "\ufeffx", `"x"`, formatText},
		{"empty text", ``, `""`, formatText},
		{"half of a pair in JSON", `{"a":"\ud83d"}`, `{"a":"\ud83d"}`, formatJSON},
		{"half of a pair replaced", `{"a":"\ud83d"}`, `{"a":"` + "\ufffd" + `"}`, formatJSON},
		{"not UTF-8 in JSON", "{\"a\":\"\xff\"}", `{"a":"` + "\ufffd" + `"}`, formatJSON},
		{"members in another order", `{"a":1,"b":[{"c":1,"d":2}]}`, `{"b":[{"d":2,"c":1}],"a":1}`, formatJSON},
		{"items in another order", `[1,2]`, `[2,1]`, formatJSON},
		{"no lines", ``, `[]`, formatJSONL},
		{"blank lines only", "\n \t\n\u00a0\n", `[]`, formatJSONL},
		{"lines", "1\n\nnull\r\n{\"a\":1}", `[1,null,{"a":1}]`, formatJSONL},
		{"lines without the last", "1\n2\n", `[1]`, formatJSONL},
		{"lines with one more", "1\n2\n", `[1,2,3]`, formatJSONL},
		{"lines in another order", "1\n2\n", `[2,1]`, formatJSONL},
		{"a line that is no JSON", "1\n{\n", `[1,{}]`, formatJSONL},
		{"two documents on a line", "1 2\n", `[1,2]`, formatJSONL},
		{"lines as one document", "1\n", `1`, formatJSONL},
		{"lines as an object", "1\n", `{"0":1}`, formatJSONL},
	} {
		set("a file: "+x.name, func(o *ojson.Object) {
			setFile(o, "x."+x.format, x.format, x.content, nil)
			e := o.Object("files").Object("x." + x.format)
			if e.Delete("data"); x.data != "" {
				e.Set("data", "DATA")
			}
		})
		last := &list[len(list)-1]
		last.data = bytes.Replace(last.data, []byte(`"DATA"`), []byte(x.data), 1)
	}
	left := func(name, format, members string) {
		set("left out: "+name, func(o *ojson.Object) {
			o.Object("files").Set("x", "ENTRY")
		})
		last := &list[len(list)-1]
		last.data = bytes.Replace(last.data, []byte(`"ENTRY"`), []byte(`{"format":"`+format+
			`","bytes":9,"sha256":"`+strings.Repeat("0", 64)+`","content_base64":null`+members+`}`), 1)
	}
	for _, f := range []string{formatJSON, formatJSONL, formatText} {
		left(f+" without a word", f, `,"data":null`)
		left(f+" truncated false", f, `,"data":null,"truncated":false`)
		left(f+" truncated as a number", f, `,"data":null,"truncated":1`)
		for _, why := range []string{"truncated", "content_base64_skipped"} {
			for _, d := range []string{`null`, `"t"`, `[1]`, `{}`, ``} {
				if d != "" {
					d = `,"data":` + d
				}
				left(f+" "+why+d, f, d+`,"`+why+`":true`)
				left(f+" "+why+d+" counted", f, d+`,"`+why+`":true,"total_entries":3,"retained_entries":1`)
			}
		}
	}
	for _, n := range []string{`"total_entries":1,"retained_entries":2`, `"total_entries":"3","retained_entries":1`,
		`"total_entries":3,"retained_entries":1.0`, `"total_entries":-1,"retained_entries":-1`, `"retained_entries":1`,
		`"total_entries":0.5,"retained_entries":1`, `"total_entries":1e400,"retained_entries":1`} {
		left("lines counted "+n, formatJSONL, `,"data":[1],"truncated":true,`+n)
	}
	history := func(name, content string, data ...any) {
		set("history: "+name, func(o *ojson.Object) {
			setFile(o, ".agentxchain/history.jsonl", formatJSONL, content, data)
			o.Object("summary").Set("history_entries", len(data))
		})
	}
	history("nothing", "", []any{}...)
	history("an entry that is null", "null\n", nil)
	history("entries that are no objects", "1\n\"x\"\n", 1, "x")
	for _, line := range []string{`{"turn_id":"t","role":"pm","delegations_issued":[]}`,
		`{"turn_id":"t","role":"pm","delegations_issued":{}}`,
		`{"turn_id":"t","role":"pm","delegations_issued":[null]}`, `{"turn_id":"t","delegations_issued":[{"id":"d"}]}`,
		`{"delegation_review":{"parent_turn_id":"t","results":null}}`, `{"delegation_context":"d1"}`} {
		history(line, line+"\n", parsed(t, []byte(line)))
	}
	for _, line := range []string{`null`, `1`, `{}`,
		`{"id":"D","category":"c","statement":"s","role":"x","run_id":"r","status":"active"}`,
		`{"id":"D","category":7,"statement":"s","role":"dev","run_id":"r","status":"odd"}`} {
		set("decisions: "+line, func(o *ojson.Object) {
			v, err := ojson.Decode([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			setFile(o, ".agentxchain/repo-decisions.jsonl", formatJSONL, line+"\n", []any{v})
		})
	}
	set("decisions: none left, claimed", func(o *ojson.Object) {
		setFile(o, ".agentxchain/repo-decisions.jsonl", formatJSONL, "", []any{})
	})
	set("turns: ids in the order of the alphabet", func(o *ojson.Object) {
		state := `{"run_id":"run_1","status":"active","phase":"plan","active_turns":{"turn_9":{},"turn_10":{},"turn_B":{},"turn_a":{},"turn-1":{}},"retained_turns":[]}`
		setFile(o, ".agentxchain/state.json", formatJSON, state, parsed(t, []byte(state)))
		o.Set("state", parsed(t, []byte(state)))
		o.Object("summary").Set("active_turn_ids", []any{"turn_10", "turn_9", "turn_a", "turn_B", "turn-1"})
	})
	set("turns: the same, as the reference collates", func(o *ojson.Object) {
		state := `{"run_id":"run_1","status":"active","phase":"plan","active_turns":{"turn_9":{},"turn_10":{},"turn_B":{},"turn_a":{},"turn-1":{}},"retained_turns":[]}`
		setFile(o, ".agentxchain/state.json", formatJSON, state, parsed(t, []byte(state)))
		o.Set("state", parsed(t, []byte(state)))
		o.Object("summary").Set("active_turn_ids", []any{"turn_10", "turn_9", "turn_a", "turn_B", "turn-1"})
		ids := []any{}
		for _, id := range turnList(parsed(t, []byte(state)).Object("active_turns")) {
			ids = append(ids, id)
		}
		o.Object("summary").Set("active_turn_ids", ids)
	})
	from("initiative inside an initiative", initiative,
		`"export":{"schema_version":"0.3","export_kind":"agentxchain_run_export"`,
		`"export":{"schema_version":"0.3","export_kind":"agentxchain_coordinator_export"`)
	from("initiative with an artifact of no kind", initiative,
		`"export":{"schema_version":"0.3","export_kind":"agentxchain_run_export"`,
		`"export":{"schema_version":"0.3","export_kind":"other"`)
	from("initiative with a flipped content in a repository", initiative, `"content_base64":"IyBUYWxr/wo="`,
		`"content_base64":"IyBUYWxq/wo="`)
	from("initiative with a failed repository that has events", initiative, `"api":{"ok":true`,
		`"api":{"ok":false,"error":"x"`)
	from("initiative that lists a failed repository", initiative, `"repos_with_events":["api"]`,
		`"repos_with_events":["api","gone"]`)
	from("initiative with an unknown repository", initiative, `"repos":{"api":{"ok":true`,
		`"repos":{"other":{"ok":false,"path":"o","error":"e"},"api":{"ok":true`)
	from("initiative with a truthy ok", initiative, `"api":{"ok":true`, `"api":{"ok":1`)
	from("initiative with an event that has one member more", initiative, `"repo_id":"api"}`,
		`"repo_id":"api","more":1}`)
	for _, doc := range []string{`null`, `[]`, `"x"`, `7`, `{}`, `{"export_kind":"agentxchain_run_export"}`,
		`{"export_kind":"agentxchain_coordinator_export"}`, `{"export_kind":null}`, `{"files":{"":{}}}`,
		`{"files":[1]}`, `{"export_kind":"agentxchain_run_export","files":null,"summary":{},"state":{}}`,
		`{"export_kind":"agentxchain_run_export","files":{},"summary":{},"state":{}}`,
		`{"export_kind":"agentxchain_run_export","files":{},"summary":{"workflow_phase_order":[[]],"phase":7},"state":{"phase":7}}`,
		`{"export_kind":"agentxchain_coordinator_export","files":{},"summary":{},"repos":[]}`,
		`{"export_kind":"agentxchain_coordinator_export","files":null,"summary":{},"repos":{"a":1,"b":null,"c":{},"d":{"ok":true},"e":{"ok":false}}}`} {
		list = append(list, mutant{"document " + doc, []byte(doc)})
	}
	return list
}
