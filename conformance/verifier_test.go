// The verifier: selection, precedence, the report's shape, capabilities, the corpus.

package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// scripted answers by fixture id.
func scripted(answers map[string]Outcome) stub {
	return func(f *Fixture) Outcome {
		if o, ok := answers[f.ID]; ok {
			return o
		}
		return Outcome{Status: StatusPass, Message: "m", Actual: ojson.NewObject()}
	}
}

// testCorpus writes one fixture per "ID tier surface" and opens them.
func testCorpus(t *testing.T, rows ...string) *Corpus {
	t.Helper()
	dir := t.TempDir()
	for i, row := range rows {
		var id, surface string
		var tier int
		if _, err := fmt.Sscan(row, &id, &tier, &surface); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(
			`{"fixture_id":%q,"tier":%d,"surface":%q,"description":"d","type":"validate","setup":{},"input":{"operation":"validate_event"},"expected":{}}`,
			id, tier, surface)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := OpenCorpus(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func caps(tiers ...int) *Capabilities { return &Capabilities{Implementation: "x", Tiers: tiers} }

func TestOverallPrecedence(t *testing.T) {
	fail, broken := Outcome{Status: StatusFail, Message: "f"}, Outcome{Status: StatusError, Message: "e"}
	later := Outcome{Status: StatusNotImplemented, Message: "n"}
	c := testCorpus(t, "A 1 s", "B 1 s", "C 2 s")
	for _, x := range []struct {
		name        string
		answers     map[string]Outcome
		tiers       []int
		want        Status
		first, both string // status of tiers 1 and 2
	}{
		{"all pass", nil, []int{1, 2}, StatusPass, "pass", "pass"},
		{"a failure", map[string]Outcome{"A": fail}, []int{1, 2}, StatusFail, "fail", "pass"},
		{"error then failure", map[string]Outcome{"A": broken, "B": fail}, []int{1, 2}, StatusError, "error", "pass"},
		{"failure then error", map[string]Outcome{"A": fail, "B": broken}, []int{1, 2}, StatusError, "error", "pass"},
		{"error in one tier, failure in the next", map[string]Outcome{"B": broken, "C": fail}, []int{1, 2},
			StatusError, "error", "fail"},
		{"not implemented", map[string]Outcome{
			"A": later,
			"B": later,
			"C": later,
		}, []int{1, 2}, StatusPass, "pass", "pass"},
		{"a tier not claimed", map[string]Outcome{"C": fail}, []int{1}, StatusPass, "pass", "skipped"},
		{"no tier claimed", nil, []int{3}, StatusError, "skipped", "skipped"},
	} {
		r, err := (&Verifier{
			Capabilities: caps(x.tiers...),
			Target:       scripted(x.answers),
			Corpus:       c,
			Tier:         2,
		}).Run(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if r.Overall != x.want || r.Tiers[0].Status != x.first || r.Tiers[1].Status != x.both {
			t.Errorf("%s: %s, %s, %s", x.name, r.Overall, r.Tiers[0].Status, r.Tiers[1].Status)
		}
		if want := map[Status]int{StatusPass: 0, StatusFail: 1, StatusError: 2}[x.want]; r.ExitCode() != want {
			t.Errorf("%s: exit %d", x.name, r.ExitCode())
		}
	}
}

func TestReportShape(t *testing.T) {
	c := testCorpus(t, "A 1 s", "B 1 s", "C 1 u", "D 2 u", "E 3 u")
	r, err := (&Verifier{
		Capabilities: caps(1, 3),
		Corpus:       c,
		Tier:         2,
		TargetRoot:   "/t",
		Now:          testClock,
		Target: scripted(map[string]Outcome{
			"A": {Status: StatusFail, Message: "f", Actual: ojson.NewObject("k", "v")},
			"B": {Status: StatusNotImplemented, Message: "later"},
			"C": {Status: StatusError, Message: "e"},
		}),
	}).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"implementation":"x","protocol_version":null,"tier_requested":2,"timestamp":"2026-05-04T12:00:00.000Z","target_root":"/t","remote":null,` +
		`"fixture_root":` + string(ojson.Compact(c.Root)) + `,"results":{` +
		`"tier_1":{"status":"error","fixtures_run":3,"fixtures_passed":0,"fixtures_failed":1,"fixtures_errored":1,"fixtures_not_implemented":1,` +
		`"surfaces":{"s":{"passed":0,"failed":1,"errored":0,"not_implemented":1},"u":{"passed":0,"failed":0,"errored":1,"not_implemented":0}},` +
		`"failures":[{"fixture_id":"A","surface":"s","message":"f","actual":{"k":"v"}}],` +
		`"errors":[{"fixture_id":"C","surface":"u","message":"e","actual":null}],` +
		`"not_implemented":[{"fixture_id":"B","surface":"s","message":"later"}]},` +
		`"tier_2":{"status":"skipped","fixtures_run":0,"fixtures_passed":0,"fixtures_failed":0,"fixtures_errored":0,"fixtures_not_implemented":0,` +
		`"surfaces":{},"failures":[],"errors":[],"not_implemented":[],"note":"Target does not claim Tier 2"}},` +
		`"overall":"error","corpus_digest":"` + c.Digest() + `","warnings":[],"profile":"core","known_deviations":0}`
	if diff := cmp.Diff(want, string(ojson.Compact(r.Object()))); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	same := func(s string) string { return s }
	if err := r.WriteText(&b, Ink{Bold: same, Good: same, Bad: same, Faint: same, Safe: same}); err != nil {
		t.Fatal(err)
	}
	text := "\n  AgentXchain Protocol Conformance\n  " + strings.Repeat("─",
		44) + "\n  Target: /t\n  Implementation: x\n  Tier requested: 2\n  Profile: core\n\n" +
		"  Overall: ERROR\n  tier_1: error (0/3 passed, 1 not implemented)\n    ○ B: later\n    ✗ A: f\n    ✗ C: e\n  tier_2: skipped (0/0 passed)\n\n"
	if diff := cmp.Diff(text, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestOrderIsThatOfTheCorpus(t *testing.T) {
	var rows []string
	for i := range 40 {
		rows = append(rows, fmt.Sprintf("F%02d 1 s", i))
	}
	c := testCorpus(t, rows...)
	slow := stub(func(f *Fixture) Outcome {
		time.Sleep(time.Duration(len(f.ID)+int(f.ID[2])) % 7 * time.Millisecond) // any order is acceptable
		return Outcome{Status: StatusFail, Message: f.ID}
	})
	r, err := (&Verifier{Capabilities: caps(1), Target: slow, Corpus: c, Tier: 1, Jobs: 8}).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range r.Tiers[0].Failures {
		if want := fmt.Sprintf("F%02d", i); f.ID != want {
			t.Fatalf("failure %d is %v", i, f.ID)
		}
	}
}

func TestVerifierStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := testCorpus(t, "A 1 s", "B 1 s", "C 1 s")
	ran := 0
	target := stub(func(*Fixture) Outcome { ran++; cancel(); return Outcome{Status: StatusPass} })
	_, err := (&Verifier{Capabilities: caps(1), Target: target, Corpus: c, Tier: 1, Jobs: 1}).Run(ctx)
	if !errors.Is(err, context.Canceled) || ran != 1 {
		t.Errorf("%v after %d fixtures", err, ran)
	}
}

func TestCapabilities(t *testing.T) {
	const adapter = `"adapter":{"protocol":"stdio-fixture-v1","command":["a"]}`
	for _, x := range []struct{ doc, want string }{
		{`{"implementation":"x","tiers":[1,2.0],` + adapter + `}`, ""},
		{`{"implementation":" ","tiers":[1],` + adapter + `}`,
			"capabilities.implementation must be a non-empty string"},
		{`{"implementation":7,"tiers":[1],` + adapter + `}`, "capabilities.implementation must be a non-empty string"},
		{`{"implementation":"x","tiers":[],` + adapter + `}`, "capabilities.tiers must be a non-empty array"},
		{`{"implementation":"x","tiers":{},` + adapter + `}`, "capabilities.tiers must be a non-empty array"},
		{`{"implementation":"x","tiers":["1",0,1.5,null],` + adapter + `}`,
			`capabilities.tiers contains invalid tier "1"; capabilities.tiers contains invalid tier "0"; ` +
				`capabilities.tiers contains invalid tier "1.5"; capabilities.tiers contains invalid tier "null"`},
		{`{"implementation":"x","tiers":[1],"adapter":[]}`, "capabilities.adapter must be an object"},
		{`{"implementation":"x","tiers":[1],"adapter":null}`, "capabilities.adapter must be an object"},
		{`{"implementation":"x","tiers":[1],"adapter":{}}`,
			`capabilities.adapter.protocol must be "stdio-fixture-v1"; capabilities.adapter.command must be a non-empty array`},
		{`{"implementation":"x","tiers":[1],"adapter":{"protocol":"stdio-fixture-v1","command":["a",1]}}`,
			"capabilities.adapter.command[1] must be text a program can be started with"},
		{`{"implementation":"x","tiers":[1],"adapter":{"protocol":"stdio-fixture-v1","command":[""]}}`,
			"capabilities.adapter.command[0] must be text a program can be started with"},
		{`{"implementation":"x","tiers":[1],"adapter":{"protocol":"stdio-fixture-v1","command":["a\u0000b"]}}`,
			"capabilities.adapter.command[0] must be text a program can be started with"},
		{`null`, "capabilities must be an object, not null"},
		{`"x"`, "capabilities must be an object, not a string"},
	} {
		v, err := ojson.Decode([]byte(x.doc))
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewCapabilities(v, ProtocolStdio)
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "Invalid capabilities.json: ")
		}
		if got != x.want {
			t.Errorf("%s\n got %s\nwant %s", x.doc, got, x.want)
		}
	}
}

func TestSurfaceClaims(t *testing.T) {
	for _, x := range []struct{ surfaces, ask, want string }{
		{`null`, "anything", ""},
		{`{"a":true,"b":false,"c":1,"d":0,"e":"yes","f":"","g":null}`, "a", ""},
		{`{"a":true,"b":false,"c":1,"d":0,"e":"yes","f":"","g":null}`, "b",
			`Surface "b" is not claimed in capabilities.json. Claimed surfaces: a, c, e`},
		{`{}`, "a", `Surface "a" is not claimed in capabilities.json. Claimed surfaces: none`},
		{`["a"]`, "a", `Surface "a" is not claimed in capabilities.json. Claimed surfaces: none`},
		{`{}`, "", ""},
	} {
		v, err := ojson.Decode([]byte(
			`{"implementation":"x","tiers":[1],"adapter":{"protocol":"http-fixture-v1"},"surfaces":` +
				x.surfaces + `}`))
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewCapabilities(v, ProtocolHTTP)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := c.CheckSurface(x.ask); err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%s of %s: %s", x.ask, x.surfaces, got)
		}
	}
}

func TestOwnCapabilitiesAreValid(t *testing.T) {
	for _, protocol := range []string{ProtocolStdio, ProtocolHTTP} {
		doc := ojson.Of(OwnCapabilities("1", "v7", protocol, []string{"git-agentxchain", "conformance", "adapter"}))
		c, err := NewCapabilities(doc, protocol)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.claimed()) != 13 || !c.claims(1) || !c.claims(2) || !c.claims(3) {
			t.Errorf("%s: %v %v", protocol, c.claimed(), c.Tiers)
		}
	}
}

func TestEmbeddedCorpus(t *testing.T) {
	c, err := EmbeddedCorpus()
	if err != nil {
		t.Fatal(err)
	}
	if c.Root != EmbeddedRoot || len(c.Warnings) > 0 {
		t.Errorf("%s, %v", c.Root, c.Warnings)
	}
	from, err := OpenCorpus(filepath.Join("..", "fixtures"))
	if err != nil {
		t.Fatal(err)
	}
	if len(from.Fixtures) != len(c.Fixtures) || from.Digest() != c.Digest() {
		t.Errorf("%d fixtures in the directory, %d in the program", len(from.Fixtures), len(c.Fixtures))
	}
}

func TestOpenCorpus(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = `{"fixture_id":"A","tier":1,"surface":"s","description":"d","type":"validate","setup":null,"input":{"operation":"o"},"expected":null}`
	root := ".agentxchain-conformance/fixtures/"
	write(root+"1/a.json", good)
	write(root+"1/notes.md", "no fixture")
	write(root+"2/deep/er/b.json", strings.Replace(good, `"A"`, `"B"`, 1))
	write("outside.json", "not JSON")
	if err := os.Symlink(filepath.Join(dir, "outside.json"),
		filepath.Join(dir, filepath.FromSlash(root), "link.json")); err != nil {
		t.Skip("no symbolic links here")
	}
	c, err := OpenCorpus(dir)
	if err != nil || len(c.Fixtures) != 2 || c.Fixtures[1].Path != "2/deep/er/b.json" {
		t.Fatalf("%+v %v", c, err)
	}
	// What was not read is reported, what cannot be a fixture is not.
	for link, to := range map[string]string{
		"more":      "..",
		"notes":     "1/notes.md",
		"gone":      "nowhere",
		"1/in.json": "a.json",
	} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, filepath.FromSlash(root+link))); err != nil {
			t.Fatal(err)
		}
	}
	c, err = OpenCorpus(dir)
	if err != nil || len(c.Fixtures) != 2 {
		t.Fatalf("%+v %v", c, err)
	}
	const passed = " is a symbolic link and was passed over"
	if diff := cmp.Diff([]string{`"1/in.json"` + passed, `"link.json"` + passed,
		`"more"` + passed}, c.Warnings); diff != "" {
		t.Error(diff)
	}
	// Every file is checked, even of another tier.
	write(root+"3/c.json", `{"fixture_id":"C","tier":"3","surface":"s"}`)
	_, err = OpenCorpus(dir)
	file := filepath.Join(dir, filepath.FromSlash(root), "3", "c.json") + ": "
	want := ""
	for i, s := range []string{`missing required field "description"`, `missing required field "type"`,
		`missing required field "setup"`, `missing required field "input"`, `missing required field "expected"`,
		"tier must be 1, 2, or 3"} {
		if i > 0 {
			want += "; "
		}
		want += file + s
	}
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func FuzzCapabilities(f *testing.F) {
	f.Add([]byte(`{"implementation":"x","tiers":[1],"adapter":{"protocol":"stdio-fixture-v1","command":["a"]},"surfaces":{"a":true}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: maxCapabilities, LastWins: true})
		if err != nil {
			return
		}
		c, err := NewCapabilities(v, ProtocolStdio)
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		if blank(c.Implementation) || len(c.Command) == 0 || len(c.Tiers) == 0 {
			t.Errorf("%s was accepted", data)
		}
		_ = c.CheckSurface("a")
	})
}

// FuzzChallenge: an engine that passes a fixture also passes its challenges, whatever the fixture contains.
func FuzzChallenge(f *testing.F) {
	own, err := EmbeddedCorpus()
	if err != nil {
		f.Fatal(err)
	}
	for i, x := range own.Fixtures {
		if i%10 == 0 && !startsPrograms(x.Fixture) {
			f.Add(ojson.Compact(x.Raw), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		fixture, err := ReadFixture(data)
		if err != nil || startsPrograms(fixture) {
			return
		}
		first := faithful().Execute(context.Background(), fixture)
		if first.Status != StatusPass {
			return
		}
		c := &Corpus{Fixtures: []CorpusFixture{{"f.json", fixture}}}
		_, failed := NewChallenger(c, seed).challenge(context.Background(), faithful(), c.Fixtures[0], first)
		for _, x := range failed {
			t.Errorf("[%s] %s", x.Kind, x.Message)
		}
	})
}
