package check

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

	published "github.com/git-agentxchain/git-agentxchain/docs/schemas"
)

// TestSchemasAreTheTypes: each published file is a type and each type a file, all of them compile
// and have the right id.
func TestSchemasAreTheTypes(t *testing.T) {
	var files []string
	err := fs.WalkDir(published.Monarchic, schemaRoot, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, schemaRoot+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		typ := Type(strings.TrimSuffix(file, ".json"))
		if file != "schema.json" && !slices.Contains(Types(), typ) {
			t.Errorf("%s is no type", file)
		}
		p, err := schemas().root(typ)
		if err != nil {
			t.Fatal(err)
		}
		if p.ID != baseURI+file || p.Title == "" || p.Description == "" ||
			p.Schema.Schema != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: $id %s, title %q", file, p.ID, p.Title)
		}
		if _, err := schemas().compiled(p); err != nil {
			t.Error(err)
		}
		if typ.Strict() && p.Properties != nil && typ != "client_boundary/map_operation_bundle" {
			if a := p.AdditionalProperties; a == nil || a.Not == nil {
				t.Errorf("%s is strict and not closed", file)
			}
		}
	}
	if want := len(Types()) + 1; len(files) != want {
		t.Errorf("%d files for %d types and the index", len(files), want-1)
	}
}

// TestDanglingReference: a dangling reference of a schema is found, whether to a file, to a part or
// to a foreign address.
func TestDanglingReference(t *testing.T) {
	for _, ref := range []string{"missing.json", "plan.json#/$defs/none", "https://example.org/plan.json",
		"../../../secret.json"} {
		p := place{&jsonschema.Schema{ID: baseURI + "broken.json", Ref: ref}, "broken.json"}
		if _, err := schemas().compiled(p); err == nil {
			t.Errorf("%s resolves", ref)
		}
	}
}

// TestIndex: schema.json is the oneOf of the index types, in their order.
func TestIndex(t *testing.T) {
	p, err := schemas().root("schema")
	if err != nil {
		t.Fatal(err)
	}
	var got []Type
	for _, s := range p.OneOf {
		got = append(got, Type(strings.TrimSuffix(s.Ref, ".json")))
	}
	if !slices.Equal(got, indexTypes()) {
		t.Errorf("index %v", got)
	}
}

// TestAmbiguous: an object that matches two members of the index fails it, and both are named.
func TestAmbiguous(t *testing.T) {
	r := New(Options{}).Input("-",
		[]byte(`{"version":"v1","task_id":"t","role":"dev","goal":"g","gate":"qa","status":"pass"}`))
	if r.Valid() || len(r.Findings) != 1 || r.Findings[0].Rule != "type.ambiguous" ||
		!strings.Contains(r.Findings[0].Message, "task, gate_result") {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(r.Matched, []Type{"task", "gate_result"}) {
		t.Errorf("matched %v", r.Matched)
	}
	if r := New(Options{Type: "task"}).Input("-",
		[]byte(`{"version":"v1","task_id":"t","role":"dev","goal":"g","gate":"qa","status":"pass"}`)); !r.Valid() {
		t.Errorf("as a task: %v", r.Findings)
	}
}

func TestNoType(t *testing.T) {
	for _, doc := range []string{`{}`, `{"a":1}`, `3`, `true`, `null`, `"wizardry"`, `{"version":"v1"}`, `[{}]`,
		`[[]]`, `{"id":"x"}`} {
		r := New(Options{}).Input("-", []byte(doc))
		if r.Valid() || r.Unreadable != "" || r.Findings[0].Rule != "type.none" {
			t.Errorf("%s: %+v", doc, r)
		}
	}
}

// TestNearest: a document that matches no type is judged as the one it resembles.
func TestNearest(t *testing.T) {
	r := New(Options{}).Input("-", []byte(`{"version":"v1","task_id":"t","role":"dev"}`))
	if got := words(r.Findings); !slices.Equal(got, []string{" type.none", "/goal required"}) ||
		r.Types[0].Type != "task" {
		t.Errorf("%v %q", r.Types, got)
	}
}

func TestParseType(t *testing.T) {
	for name, want := range map[string]Type{
		"task":                     "task",
		"TaskMessageAck":           "task_message_ack",
		"plan.json":                "plan",
		"client_boundary/plan":     "client_boundary/plan",
		"client_boundary.PlanStep": "client_boundary/plan_step",
		"lease":                    "durable_authority/lease",
		"FencingToken":             "durable_authority/fencing_token",
		"ClientBoundary/Intent":    "client_boundary/intent",
		"nothing":                  "",
		"":                         "",
		"/":                        "",
		"schema":                   "",
	} {
		if got, ok := ParseType(name); got != want || ok != (want != "") {
			t.Errorf("%q is read as %q", name, got)
		}
	}
}

// TestHostileInput: input that is not JSON is distinguished from wrong JSON, and each is named.
func TestHostileInput(t *testing.T) {
	task := `{"version":"v1","task_id":"t","role":"dev","goal":"g"`
	deep := strings.Repeat(`{"a":`, 120) + "1" + strings.Repeat("}", 120)
	for _, c := range []struct {
		name, in, unreadable string
		want                 []string
	}{
		{"bom", "\xef\xbb\xbf" + task + "}", "byte order mark", nil},
		{"utf16", "\xff\xfe{\x00}\x00", "UTF-16", nil},
		{"empty", " \n", "nothing in it", nil},
		{"tail", task + "} {}", "after the end", nil},
		{"cut", task, "unexpected end", nil},
		{"deep", task + `,"inputs":` + deep + "}", "nested deeper than 100", nil},
		{"utf8", task[:len(task)-2] + "\xff\"}", "UTF-8", nil},
		{"nul", task[:len(task)-2] + "\x00\"}", "control character", nil},
		{"long number", task + `,"x":` + strings.Repeat("9", 500) + "}", "400 characters", nil},
		{"crlf", strings.ReplaceAll(task, ",", ",\r\n") + "}\r\n", "", nil},
		{"escaped nul", `{"version":"v1","task_id":"t\u0000","role":"dev","goal":"g"}`, "",
			[]string{"/task_id id.unsafe"}},
		{"double", task + `,"goal":"h","inputs":{"a":[{"b":1,"b":2}]}}`, "",
			[]string{"/goal json.duplicate_member", "/inputs/a/0/b json.duplicate_member"}},
		{"huge", task + `,"inputs":{"n":1e999,"m":-1e999,"k":123456789012345678901234567890}}`, "",
			[]string{"/inputs/m number.range", "/inputs/n number.range"}},
		{"surrogate", task + `,"inputs":{"s":"\ud800x","ok":"\ud83d\ude00"}}`, "",
			[]string{"/inputs/s text.surrogate"}},
		{"surrogate name", task + `,"inputs":{"\udfff":1}}`, "", []string{"/inputs/\xed\xbf\xbf text.surrogate"}},
	} {
		r := New(Options{}).Input("-", []byte(c.in))
		if c.unreadable != "" {
			if !strings.Contains(r.Unreadable, c.unreadable) || r.Valid() {
				t.Errorf("%s: unreadable %q, want %q", c.name, r.Unreadable, c.unreadable)
			}
			continue
		}
		if got := words(r.Findings); r.Unreadable != "" || !slices.Equal(got, append([]string{}, c.want...)) {
			t.Errorf("%s: %s %q, want %q", c.name, r.Unreadable, got, c.want)
		}
	}
	if r := New(Options{}).Input("-",
		bytes.Repeat([]byte(" "), wire.MaxBytes+1)); !strings.Contains(r.Unreadable, "64 MiB") {
		t.Errorf("too long: %q", r.Unreadable)
	}
}

func TestLines(t *testing.T) {
	task := `{"version":"v1","task_id":"t","role":"dev","goal":"g"}`
	r := New(Options{}).Input("-",
		[]byte(task+"\r\n\n"+`{"version":"v1","task_id":"t","role":"dev"}`+"\nnonsense\n"+task))
	if r.Format != "jsonl" || r.Records != 3 || r.Unreadable != "line 4 is not JSON" {
		t.Errorf("%+v", r)
	}
	var lines []int
	for _, f := range r.Findings {
		lines = append(lines, f.Line)
	}
	if !slices.Equal(lines, []int{3, 3, 4}) {
		t.Errorf("lines %v: %v", lines, r.Findings)
	}
	if r := New(Options{}).Input("empty.jsonl", nil); !r.Valid() || r.Records != 0 {
		t.Errorf("an empty log: %+v", r)
	}
	// One document over several lines is JSON.
	if r := New(Options{}).Input("-", []byte(strings.ReplaceAll(task, ",", ",\n"))); r.Format != "json" || !r.Valid() {
		t.Errorf("%+v", r)
	}
}

// TestCollection: documents by kind in one object are judged one by one.
func TestCollection(t *testing.T) {
	task := `{"version":"v1","task_id":"t","role":"dev","goal":"g"}`
	r := New(Options{}).Input("-",
		[]byte(`{"tasks":[`+task+`,{"version":"v1","task_id":"t","role":"dev"}],"events":[],"plan":`+task+`}`))
	if got := words(r.Findings); r.Records != 3 ||
		!slices.Equal(got, []string{"/tasks/1 type.none", "/tasks/1/goal required"}) {
		t.Errorf("%d %q", r.Records, got)
	}
	for _, doc := range []string{`{"tasks":1}`, `{"tasks":[],"a":[]}`, `{}`} {
		if r := New(Options{}).Input("-", []byte(doc)); r.Valid() {
			t.Errorf("%s is valid", doc)
		}
	}
}

// TestFindingsAreBounded: a document with a million faults costs little, and the result says how
// many were left out.
func TestFindingsAreBounded(t *testing.T) {
	testrepo.Thorough(t)
	var b strings.Builder
	b.WriteString(`{"version":"v1","task_id":"t","role":"dev","goal":"g","gates_required":[0`)
	for range 20000 {
		b.WriteString(",1")
	}
	b.WriteString("]}")
	r := New(Options{Type: "task"}).Input("-", []byte(b.String()))
	if r.Valid() || len(r.Findings) != maxFindings {
		t.Errorf("%d findings", len(r.Findings))
	}
	// A long chain and a long cycle need no deep recursion.
	b.Reset()
	b.WriteString(`{"pipeline_id":"p","tasks":[`)
	const n = 20000
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"t%d","task":"x","depends_on":["t%d"]}`, i, (i+1)%n)
	}
	b.WriteString("]}")
	r = New(Options{Type: "pipeline_spec"}).Input("-", []byte(b.String()))
	if got := words(r.Findings); !slices.Equal(got, []string{"/tasks/0/depends_on/0 pipeline.cycle"}) ||
		len(r.Findings[0].Message) > 400 {
		t.Errorf("%v", r.Findings)
	}
}

func TestDateTime(t *testing.T) {
	for s, want := range map[string]bool{
		"2026-03-04T05:06:07Z":                   true,
		"2026-03-04t05:06:07z":                   true,
		"2026-03-04T05:06:07.123456789012+14:00": true,
		"2016-12-31T23:59:60Z":                   true,
		"2017-01-01T00:59:60+01:00":              true,
		"2016-12-31T23:58:60Z":                   false,
		"2024-02-29T00:00:00Z":                   true,
		"2026-02-29T00:00:00Z":                   false,
		"2026-13-01T00:00:00Z":                   false,
		"2026-00-01T00:00:00Z":                   false,
		"2026-01-00T00:00:00Z":                   false,
		"2026-01-01T24:00:00Z":                   false,
		"2026-03-04T05:06:07":                    false,
		"2026-03-04 05:06:07Z":                   false,
		"2026-03-04T05:06Z":                      false,
		"2026-03-04T05:06:07.Z":                  false,
		"2026-03-04T05:06:07+1:00":               false,
		"2026-03-04T05:06:07+24:00":              false,
		"2026-03-04T05:06:07+01:60":              false,
		"":                                       false,
		"now":                                    false,
		"2026-03-04T05:06:07.5":                  false,
		"２026-03-04T05:06:07Z":                   false,
		"2026-03-04T05:06:07Zx":                  false,
		"0000-01-01T00:00:00Z":                   true,
	} {
		if isDateTime(s) != want {
			t.Errorf("%q: want %v", s, want)
		}
	}
}

// TestLenient: the early names of lease times are read on request.
func TestLenient(t *testing.T) {
	early := []byte(`{"token":"f-1","issued_at":1760000000000,"issuer":"orch","scope":"s"}`)
	if r := New(Options{Type: "durable_authority/fencing_token"}).Input("-", early); r.Valid() {
		t.Error("the short name is read without being asked for")
	}
	if r := New(Options{Lenient: true}).Input("-", early); !r.Valid() ||
		r.Types[0].Type != "durable_authority/fencing_token" {
		t.Errorf("%+v", r)
	}
	both := []byte(`{"token":"f-1","issued_at":1,"issued_at_ms":2,"issuer":"orch","scope":"s"}`)
	if got := words(New(Options{Lenient: true, Type: "durable_authority/fencing_token"}).Input("-",
		both).Findings); !slices.Equal(got, []string{"/issued_at alias.conflict"}) {
		t.Errorf("%q", got)
	}
}

// TestNamelessMember: a member with an empty name is like any other.
func TestNamelessMember(t *testing.T) {
	doc := []byte(`{"token":"f-1","issued_at_ms":1,"issuer":"orch","scope":"s","":2}`)
	for _, o := range []Options{{}, {Lenient: true}} {
		o.Type = "durable_authority/fencing_token"
		if got := words(New(o).Input("-", doc).Findings); !slices.Equal(got, []string{"/ additionalProperties"}) {
			t.Errorf("%q", got)
		}
	}
	if r := New(Options{}).Input("-",
		[]byte(`{"version":"v1","task_id":"t","role":"dev","goal":"g","":2}`)); !r.Valid() ||
		r.Types[0].Type != "task" {
		t.Errorf("%+v", r)
	}
}

// TestStrictIntegers: the schema cannot distinguish 1.0 from 1, but the family does.
func TestStrictIntegers(t *testing.T) {
	doc := `{"token":"f-1","issued_at_ms":%s,"issuer":"orch","scope":"s"}`
	for literal, want := range map[string]string{
		"0":                    "",
		"18446744073709551615": "",
		"18446744073709551616": "maximum",
		"1.0":                  "integer.spelling",
		"1e3":                  "integer.spelling",
		"-1":                   "minimum",
		"1.5":                  "type",
		`"5"`:                  "type",
		"null":                 "type",
	} {
		r := New(Options{Type: "durable_authority/fencing_token"}).Input("-", fmt.Appendf(nil, doc, literal))
		var rules []string
		for _, f := range r.Findings {
			rules = append(rules, f.Rule)
		}
		if want == "" && !r.Valid() || want != "" && !slices.Contains(rules, want) {
			t.Errorf("%s: %v", literal, r.Findings)
		}
	}
}

func TestOriginalSpelling(t *testing.T) {
	v, err := ojson.Decode([]byte(
		`{"version":"v1","taskId":"t","role":"dev","goal":"g","objectiveSpec":{"metricKey":"","direction":"target","minDelta":1},"x~/y":1}`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Value("task", v)
	if got := words(f); err != nil || !slices.Equal(got, []string{"/objectiveSpec/metricKey minLength"}) {
		t.Errorf("%v %q", err, got)
	}
	if got := ojson.Member("/a", "x~/y"); got != "/a/x~0~1y" {
		t.Error(got)
	}
}
