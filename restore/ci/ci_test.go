// Tests of JUnit and annotations: counts, failures, texts that look like commands.

package ci

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func object(t testing.TB, text string) *ojson.Object {
	t.Helper()
	o, err := ojson.DecodeObject([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

const blockedRun = `{"overall":"pass","subject":{"kind":"governed_run","run":{"run_id":"run_1","status":"blocked","phase":"qa","blocked_on":"x","blocked_reason":{"recovery":{"detail":"no key"}},
	"gate_summary":[{"gate_id":"a","status":"passed"},{"gate_id":"b","status":"pending"},{"gate_id":"c","status":"failed"}],
	"gate_failures":[{"gate_id":"c","reasons":["no test"],"missing_files":["docs/a,b:c.md"]}],
	"turns":[{"turn_id":"t1","role":"dev","status":"completed","duration_ms":1500},{"turn_id":"t2","role":"qa","status":"failed","summary":"broke"}],
	"decisions":[{"id":"DEC-1","statement":"s"}]}}}`

// document is what a JUnit reader sees.
type document struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     float64  `xml:"time,attr"`
	Suites   []struct {
		Name  string `xml:"name,attr"`
		Tests int    `xml:"tests,attr"`
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Class   string    `xml:"classname,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// junit reads a document and checks that its counts are right.
func junit(t *testing.T, data []byte) document {
	t.Helper()
	var d document
	if err := xml.Unmarshal(data, &d); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	tests, failures, errors, skipped := 0, 0, 0, 0
	for _, s := range d.Suites {
		if s.Tests != len(s.Cases) {
			t.Errorf("suite %s says %d tests and has %d", s.Name, s.Tests, len(s.Cases))
		}
		for _, c := range s.Cases {
			tests++
			if c.Failure != nil {
				failures++
			}
			if c.Error != nil {
				errors++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
	}
	if d.Tests != tests || d.Failures != failures || d.Errors != errors || d.Skipped != skipped {
		t.Errorf("it says %d %d %d %d and has %d %d %d %d", d.Tests, d.Failures, d.Errors, d.Skipped, tests, failures,
			errors, skipped)
	}
	return d
}

func TestJUnit(t *testing.T) {
	suites := Suites(object(t, blockedRun))
	d := junit(t, JUnit(suites))
	if d.Tests != 7 || d.Failures != 3 || d.Skipped != 1 || d.Time != 1.5 {
		t.Errorf("%+v", d)
	}
	if InOrder(suites) {
		t.Error("a blocked run is in order")
	}
	for _, c := range []struct {
		report           string
		failures, errors int
	}{
		{`{"overall":"pass","subject":{"kind":"governed_run","run":{"status":"active","gate_summary":[{"gate_id":"a","status":"pending"}]}}}`,
			0, 0},
		{`{"overall":"fail","message":"m","verification":{"errors":["state: is not so","files.x: is not so"]}}`, 2, 0},
		{`{"overall":"fail","message":"m"}`, 1, 0},
		{`{"overall":"error","message":"m"}`, 0, 1},
		{`{}`, 0, 1},
		{`{"overall":"pass","subject":{"kind":"coordinator_workspace","run":{"status":"blocked","blocked_reason":"r"},"barrier_summary":[{"barrier_id":"b","status":"pending"}],
			"repos":[{"repo_id":"a","ok":true,"status":"active","turns":[{"turn_id":"t","role":"r","status":"failed"}]},{"repo_id":"b","ok":false,"error":"e"}]}}`, 2, 1},
	} {
		suites := Suites(object(t, c.report))
		d := junit(t, JUnit(suites))
		if d.Failures != c.failures || d.Errors != c.errors || d.Tests == 0 ||
			InOrder(suites) != (c.failures+c.errors == 0) {
			t.Errorf("%s: %d failures, %d errors of %d", c.report, d.Failures, d.Errors, d.Tests)
		}
	}
}

func TestGitHub(t *testing.T) {
	text := string(GitHub(object(t, blockedRun)))
	for _, want := range []string{
		"::notice title=AgentXchain Governance::Run run_1 — PASS (qa phase)\n",
		"::error title=Blocked::x\n",
		"::notice title=Gate a::satisfied\n",
		"::warning title=Gate b::pending\n",
		"::error file=docs/a%2Cb%3Ac.md,title=Gate c::failed: no test\n",
		"::warning title=Turn t2 (qa)::failed: broke\n",
		"::notice title=Decision DEC-1::s\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if out := string(Outputs(object(t,
		blockedRun))); out != "run_status=blocked\nrun_id=run_1\nphase=qa\nblocked=true\nturn_count=2\ndecision_count=1\n" {
		t.Errorf("outputs %q", out)
	}
}

// TestHostile puts commands, markup and controls into every text: each line must be one of our commands, and the
// XML must keep its structure.
func TestHostile(t *testing.T) {
	const poison = "x\n::error title=y::forged\r\n%0A::stop-commands::t]]>\"'<&\x00\x1b[31m\u202e,a:b"
	var poisoned func(v any) any
	poisoned = func(v any) any {
		switch v := v.(type) {
		case string:
			if v == "pass" || v == "governed_run" {
				return v
			}
			return v + poison
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = poisoned(v[i])
			}
			return out
		case *ojson.Object:
			out := &ojson.Object{}
			for k, x := range v.All() {
				out.Set(k, poisoned(x))
			}
			return out
		}
		return v
	}
	report := poisoned(object(t, blockedRun)).(*ojson.Object)
	junit(t, JUnit(Suites(report)))
	checkLines(t, GitHub(report))
	if n := bytes.Count(Outputs(report), []byte("\n")); n != 6 {
		t.Errorf("the outputs have %d lines", n)
	}
	bad := object(t, `{"overall":"fail","verification":{"errors":[]}}`)
	bad.Object("verification").Set("errors", []any{"place: " + poison, poison})
	checkLines(t, GitHub(bad))
	junit(t, JUnit(Suites(bad)))
}

// checkLines checks that every line is one command with the properties we write.
func checkLines(t *testing.T, data []byte) {
	t.Helper()
	for line := range strings.Lines(string(data)) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "::")
		head, _, found := strings.Cut(rest, "::")
		level, props, _ := strings.Cut(head, " ")
		if !ok || !found || level != "notice" && level != "warning" && level != "error" ||
			strings.ContainsAny(line, "\r\x00\x1b") {
			t.Fatalf("no command of ours: %q", line)
		}
		for p := range strings.SplitSeq(props, ",") {
			if !strings.HasPrefix(p, "title=") && !strings.HasPrefix(p, "file=") || strings.Contains(p, ":") {
				t.Fatalf("a foreign property: %q", p)
			}
		}
	}
}

func FuzzCI(f *testing.F) {
	f.Add([]byte(blockedRun))
	f.Add([]byte(`{"overall":"pass","subject":{"kind":"coordinator_workspace","repos":[{"ok":true,"turns":[null,{"duration_ms":1e308}]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := ojson.DecodeObject(data)
		if err != nil {
			return
		}
		checkLines(t, GitHub(report))
		d := xml.NewDecoder(bytes.NewReader(JUnit(Suites(report))))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(Outputs(report), []byte("\n")); n != 6 {
			t.Fatalf("the outputs have %d lines", n)
		}
	})
}
