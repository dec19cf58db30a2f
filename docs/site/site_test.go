// The site as it is made from this repository: every link leads somewhere, pages are small, and in a real browser
// search, versions and dark mode work and nothing is wider than a telephone.

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/git-agentxchain/git-agentxchain/internal/testbrowser"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// made makes the site of two versions, main and 0.1.0.
func made(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	program, err := testrepo.Program(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"main", "0.1.0"} {
		if err := build("../..", out, version, program); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	named     = regexp.MustCompile(` id="([^"]+)"`)
)

func TestSite(t *testing.T) {
	testrepo.Thorough(t)
	out := made(t)
	pages := make(map[string]string) // below out
	err := filepath.WalkDir(out, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".html" {
			return err
		}
		data, err := os.ReadFile(file)
		name, _ := filepath.Rel(out, file)
		pages[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"index.html", "main/index.html", "main/spec/index.html", "main/ci.html",
		"0.1.0/man/git-agentxchain-verify.html"} {
		if pages[want] == "" {
			t.Errorf("there is no page %s", want)
		}
	}
	for name, text := range pages {
		// With its style and script a page loads within a second at 2 Mbit/s.
		if len(text) > 180<<10 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			checkReference(t, out, pages, name, m[1])
		}
	}
	if !strings.Contains(pages["index.html"], `href="0.1.0/index.html"`) {
		t.Errorf("the entrance does not lead to the release:\n%s", pages["index.html"])
	}

	data, err := os.ReadFile(filepath.Join(out, "main", "search.json"))
	var entries []entry
	if err == nil {
		err = json.Unmarshal(data, &entries)
	}
	if err != nil {
		t.Fatal(err)
	}
	found := func(page, anchor, word string) bool {
		return slices.ContainsFunc(entries, func(e entry) bool {
			return e.Page == page && e.Anchor == anchor && strings.Contains(e.Text, word)
		})
	}
	if !found("ci.html", "the-policy", "schema_version") ||
		!found("man/git-agentxchain-accept.html", "synopsis", "accept") {
		t.Errorf("the search does not know what stands in pages: %d entries", len(entries))
	}
}

// checkReference finds a link that leads nowhere, and what a page would load from elsewhere.
func checkReference(t *testing.T, out string, pages map[string]string, name, to string) {
	t.Helper()
	if strings.HasPrefix(to, "mailto:") {
		return
	}
	if strings.Contains(to, "://") {
		rest, ours := strings.CutPrefix(to, repository+"/blob/main/")
		if !ours {
			return // TestLinks of docs checks these links; nothing is loaded from there
		}
		file, _, _ := strings.Cut(rest, "#")
		if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(file))); err != nil {
			t.Errorf("%s links to %s: %v", name, to, err)
		}
		return
	}
	file, fragment, _ := strings.Cut(to, "#")
	there := name
	if file != "" {
		there = path.Join(path.Dir(name), file)
	}
	if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(there))); err != nil {
		t.Errorf("%s links to %s, which is not made", name, to)
		return
	}
	if text, isPage := pages[there]; fragment != "" && isPage &&
		!slices.ContainsFunc(named.FindAllStringSubmatch(text, -1), func(m []string) bool {
			return m[1] == fragment
		}) {
		t.Errorf("%s links to %s, but %s has no such place", name, to, there)
	}
}

// A page loads its own style and script and nothing else.
func TestPagesLoadNothingFromElsewhere(t *testing.T) {
	for _, name := range []string{"page.html", "style.css", "site.js"} {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "://") || strings.Contains(string(data), "url(") ||
			strings.Contains(string(data), "@import") {
			t.Errorf("%s loads something from elsewhere", name)
		}
	}
}

func TestVersions(t *testing.T) {
	out := t.TempDir()
	for _, v := range []string{"main", "0.2.0", "0.10.0", "0.1.0", "0.10.0"} {
		if err := addVersion(out, v); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(out, "versions.json"))
	if want := `["0.10.0","0.2.0","0.1.0","main"]` + "\n"; err != nil || string(data) != want {
		t.Errorf("expected %s got %s (%v)", want, data, err)
	}
	for _, bad := range []string{"", "../x", "a/b", ".."} {
		if _, err := newSite("../..", bad); err == nil {
			t.Errorf("the version %q was taken", bad)
		}
	}
}

func TestManualMacros(t *testing.T) {
	p := &page{Path: "man/x.html", Title: "x(1)"}
	r := &roff{page: p}
	err := r.read(".TH \"X\"\n.SH \"NAME\"\n.PP\nx \\- does <this>\n.TP\n\\fB\\-\\-all\\fR\nall of \\(dqit\\(dq\n.TP\n\\fBy\\fR\nz\n.PP\n.nf\n a\n.fi\n.nf\n b\n.fi\n\\&.dot\n")
	want := "<h1>x(1)</h1>\n<h2 id=\"name\">NAME</h2>\n<p>x - does &lt;this&gt;\n</p>\n<dl>\n<dt><strong>--all</strong></dt>\n" +
		"<dd>all of &#34;it&#34;\n</dd>\n<dt><strong>y</strong></dt>\n<dd>z\n</dd>\n</dl>\n<pre> a\n b\n</pre>\n<p>.dot\n</p>\n"
	if err != nil || string(p.Body) != want || r.what != "does <this>" {
		t.Errorf("expected\n%s\ngot\n%s\n%q %v", want, p.Body, r.what, err)
	}
	if err := (&roff{page: p}).read(".XX\n"); err == nil {
		t.Error("an unknown macro was taken")
	}
}

// value returns the value of an expression on the page.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to hold, also on a page that is still loading.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	for {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", expression, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestBrowserShowsTheSite(t *testing.T) {
	testrepo.Thorough(t)
	ctx := testbrowser.Start(t, 2*time.Minute)
	server := httptest.NewServer(http.FileServer(http.Dir(made(t))))
	t.Cleanup(server.Close)
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	open := func(page string) {
		t.Helper()
		do(chromedp.Navigate(server.URL+page), chromedp.WaitVisible("#theme"))
	}
	for _, width := range []int64{390, 1280} {
		do(chromedp.EmulateViewport(width, 844))
		for _, name := range []string{
			"index.html", "ci.html", "commands.html", "errors.html", "runner-errors.html", "spec/gates.html",
			"man/git-agentxchain.html",
		} {
			open("/main/" + name)
			if value[bool](t, ctx, "document.documentElement.scrollWidth > innerWidth") {
				t.Errorf("%s is wider than a window of %d pixels", name, width)
			}
		}
	}

	const background = "getComputedStyle(document.body).backgroundColor"
	open("/0.1.0/index.html")
	do(chromedp.SendKeys("#words", "pre-receive server"), chromedp.WaitVisible("#hits a"))
	if got := value[string](t, ctx, `document.querySelector("#hits").textContent`); !strings.Contains(got,
		"On a server") {
		t.Errorf("the search found %q", got)
	}
	do(chromedp.SendKeys("#words", " nothing-has-this-word"))
	until(t, ctx, `document.querySelector("#hits").textContent === "Nothing found."`)
	light := value[string](t, ctx, background)
	do(chromedp.Click("#theme"))
	dark := value[string](t, ctx, background)
	if light == dark {
		t.Errorf("the page is %s in both modes", light)
	}

	// The same page in another version, and the chosen mode.
	open("/0.1.0/ci.html")
	do(chromedp.WaitVisible("#versions"))
	value[bool](t, ctx,
		`(() => { const s = document.querySelector("#versions select"); s.value = "main"; return s.dispatchEvent(new Event("change")) })()`)
	until(t, ctx, `location.pathname === "/main/ci.html" && document.readyState === "complete"`)
	if got := value[string](t, ctx, "document.title"); !strings.HasPrefix(got, "In CI") {
		t.Errorf("the page is %q", got)
	}
	if got := value[string](t, ctx, background); got != dark {
		t.Errorf("the page is %s, expected %s as it was chosen", got, dark)
	}
}
