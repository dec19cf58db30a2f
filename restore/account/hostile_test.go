// Tests with artifacts made to break a rendering: markup, controls, wrong types, huge texts.

package account

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

const poison = "<script>alert(1)</script><img src=x onerror=alert(2)>\" style=\"x' --></style></title>|`*_[a](http://evil)\x1b[31m\x07\u202egnp\u2066\x00\r\n::error::x\ufeff\u0085"

// poisoned replaces every text in a value; member names stay, except in maps keyed by names from a run.
func poisoned(v any, with func(string) any) any {
	switch v := v.(type) {
	case string:
		return with(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = poisoned(x, with)
		}
		return out
	case *ojson.Object:
		out := &ojson.Object{}
		for k, x := range v.All() {
			out.Set(k, poisoned(x, with))
		}
		return out
	}
	return v
}

// reportOf builds the report of bytes that need not verify.
func reportOf(data []byte) (*ojson.Object, error) {
	a, err := read(context.Background(), bytes.NewReader(data), false)
	if err != nil {
		return nil, err
	}
	a.Verification = &restore.Report{SchemaVersion: "0.3", ExportKind: a.Kind}
	return Build(a, "x", Options{Now: now}), nil
}

// checkPages renders a report in every format and fails when a page is not valid, whatever the report holds.
func checkPages(t *testing.T, report *ojson.Object) {
	t.Helper()
	if _, err := ojson.DecodeLimited(Render(report, "json"), ojson.Limits{Bytes: 1 << 30, Depth: 1000}); err != nil {
		t.Fatalf("json: %v", err)
	}
	for _, format := range []string{"text", "markdown", "html"} {
		page := string(Render(report, format))
		if !utf8.ValidString(page) {
			t.Fatalf("the %s is not UTF-8", format)
		}
		if i := strings.IndexFunc(page, func(r rune) bool { return r != '\n' && text.Hostile(r) }); i >= 0 {
			t.Fatalf("the %s has a character that drives terminals or reorders text at %d: %q", format, i,
				page[max(i-20, 0):i+4])
		}
	}
	checkHTML(t, Render(report, "html"))
	checkMarkdown(t, string(Render(report, "markdown")))
}

// checkHTML parses a page and allows only the elements and attributes that the writer makes.
func checkHTML(t *testing.T, page []byte) {
	t.Helper()
	elements := strings.Fields(
		"html head meta title style body header p h1 h2 h3 h4 h5 h6 strong ul li span code i nav a main section dl div dt dd table thead tbody tr th td footer details summary")
	drawn := strings.Fields("svg title desc defs pattern marker g rect line circle path text tspan")
	attributes := strings.Fields(
		"lang charset http-equiv content name dir class id href scope data-label style aria-label aria-hidden",
	)
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode {
			t.Fatalf("a comment: %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if n.Namespace == "svg" {
			for _, a := range n.Attr {
				if !slices.Contains(drawn, n.Data) || a.Key == "href" || strings.HasPrefix(a.Key, "on") ||
					strings.Contains(a.Val, "url(") && !strings.HasPrefix(a.Val, "url(#s") {
					t.Fatalf("a foreign part of the drawing: %s=%q of %s", a.Key, a.Val, n.Data)
				}
			}
			continue
		}
		if !slices.Contains(elements, n.Data) {
			t.Fatalf("a foreign element: %s", n.Data)
		}
		for _, a := range n.Attr {
			width := a.Key == "style" && strings.HasPrefix(a.Val, "width:") &&
				strings.Trim(a.Val[6:], "0123456789.") == "%"
			if !slices.Contains(attributes, a.Key) || a.Key == "style" && !width ||
				a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
				t.Fatalf("a foreign attribute: %s=%q of %s", a.Key, a.Val, n.Data)
			}
		}
	}
}

// checkMarkdown checks that nothing in a page could be HTML, an image or a link.
func checkMarkdown(t *testing.T, page string) {
	t.Helper()
	page = strings.ReplaceAll(page, "<!---->", "")
	for line := range strings.Lines(page) {
		code := false
		for i, r := range line {
			escaped := i > 0 && line[i-1] == '\\' && (i < 2 || line[i-2] != '\\' || strings.HasSuffix(line[:i], `\\\`))
			switch {
			case r == '`' && !escaped:
				code = !code
			case !code && !escaped && (r == '<' || r == '[' || r == '&'):
				t.Fatalf("%q is not escaped in %q", r, line)
			}
		}
	}
}

func TestHostileTexts(t *testing.T) {
	data := newFixture(t).artifact(t)
	doc, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: 1 << 30, Depth: 200})
	if err != nil {
		t.Fatal(err)
	}
	keep := []string{restore.KindRun, run}
	for name, with := range map[string]func(string) any{
		"markup":  func(s string) any { return s + poison },
		"nothing": func(string) any { return "" },
		"number":  func(string) any { return ojson.Number("1e999") },
		"negative": func(string) any {
			return ojson.Number("-0")
		},
		"array":     func(s string) any { return []any{s, nil, []any{poison}} },
		"object":    func(s string) any { return ojson.NewObject(poison, s) },
		"truth":     func(string) any { return true },
		"surrogate": func(s string) any { return s + "\xed\xa0\x80" },
	} {
		t.Run(name, func(t *testing.T) {
			bad := poisoned(doc, func(s string) any {
				if slices.Contains(keep, s) {
					return s
				}
				return with(s)
			}).(*ojson.Object)
			report, err := reportOf(ojson.Compact(bad))
			if err != nil {
				t.Fatal(err)
			}
			checkPages(t, report)
		})
	}
}

// TestHostileReport renders reports in which every text is poisoned after the model was made: nothing may rely on
// the model's filtering.
func TestHostileReport(t *testing.T) {
	report := Build(loaded(t, newFixture(t).artifact(t)), poison, Options{Now: now})
	bad := poisoned(report, func(s string) any {
		if s == "pass" || s == KindRun {
			return s
		}
		return s + poison
	}).(*ojson.Object)
	checkPages(t, bad)
	page := string(Render(bad, "html"))
	if !strings.Contains(page, "&lt;script&gt;alert(1)") {
		t.Error("the text is not shown as text")
	}
}

func TestHugeTexts(t *testing.T) {
	testrepo.Thorough(t)
	f := newFixture(t)
	huge := strings.Repeat("<b>ä\u202e", 10<<20/8)
	f.files[pathHistory] = strings.Join(f.history, "\n") + "\n" +
		string(ojson.Compact(ojson.NewObject("turn_id", "turn_h", "run_id", run, "role", huge[:3000],
			"status", "completed", "summary", huge, "accepted_sequence", 9,
			"accepted_at", "2026-03-04T11:51:00.000Z"))) + "\n"
	report := Build(loaded(t, f.artifact(t)), "x", Options{Now: now})
	checkPages(t, report)
	for _, format := range []string{"text", "markdown", "html"} {
		page := Render(report, format)
		if len(page) > 200<<10 ||
			!bytes.Contains(page, []byte("more bytes)")) && !bytes.Contains(page, []byte(`more bytes\)`)) {
			t.Errorf("the %s has %d bytes", format, len(page))
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"export_kind":"agentxchain_run_export","summary":{"run_id":"r","status":"blocked"},"state":{"blocked_reason":{"recovery":{}},"phase_gate_status":{"g":1}},"files":{".agentxchain/history.jsonl":{"data":[{"turn_id":"t","role":"r","cost":{"usd":1}}]}}}`))
	f.Add([]byte(`{"export_kind":"agentxchain_coordinator_export","summary":{"aggregated_events":{"events":[{"repo_id":"a"}]}},"repos":{"a":{"ok":true,"export":{"summary":{},"files":null}},"b":{"ok":false,"error":"<x>"}},"files":{".agentxchain/multirepo/state.json":{"data":{"status":"blocked","pending_gate":{"gate":"g","gate_type":"t"}}}}}`))
	f.Add([]byte(`{"files":{".agentxchain/events.jsonl":{"data":[{"event_type":"session_continuation","payload":{"previous_run_id":"a"}}]}}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := reportOf(data)
		if err != nil {
			return
		}
		checkPages(t, report)
	})
}

// FuzzRender renders any object as a report.
func FuzzRender(f *testing.F) {
	f.Add([]byte(`{"overall":"pass","subject":{"kind":"governed_run","run":{"turns":[{"cost_usd":-1}],"cost_summary":{"total_usd":1e300,"by_role":[{"usd":1e308}]},"phases":[{}]}}}`))
	f.Add([]byte(`{"overall":"fail","verification":{"errors":["<",1,null]}}`))
	f.Add([]byte(`{"overall":"pass","subject":{"kind":"coordinator_workspace","repos":[{"ok":true,"repo_id":"<"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := ojson.DecodeObject(data)
		if err != nil {
			return
		}
		checkPages(t, report)
	})
}
