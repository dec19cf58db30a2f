// The pages in a real browser: every view exists, nothing is loaded from elsewhere, it fits a
// telephone, and it follows the run without being reloaded.

package dashboard

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/git-agentxchain/git-agentxchain/internal/testbrowser"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// browser opens a tab of a real browser, for as long as the test runs.
func browser(t *testing.T) context.Context {
	t.Helper()
	testrepo.Thorough(t)
	return testbrowser.Start(t, 3*time.Minute)
}

// everyPage opens a browser for tests that look at everything; they take minutes.
func everyPage(t *testing.T) context.Context {
	t.Helper()
	takesMinutes(t)
	return browser(t)
}

func takesMinutes(t *testing.T) {
	t.Helper()
	if !testbrowser.Long() {
		t.Skip("AGENTXCHAIN_LONG_TESTS=1 looks at every page; .ci/run does")
	}
}

// complaints gathers what the browser objects to: policies, scripts, foreign requests.
type complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *complaints) add(s string) { c.mu.Lock(); c.list = append(c.list, s); c.mu.Unlock() }

func (c *complaints) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.list
	c.list = nil
	return out
}

func overhear(ctx context.Context, t *testing.T, base string) *complaints {
	t.Helper()
	c := &complaints{}
	err := chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.EntryLevelError || ev.Entry.Level == log.EntryLevelWarning {
				c.add(string(ev.Entry.Source) + ": " + ev.Entry.Text)
			}
		case *cdpruntime.EventExceptionThrown:
			c.add("script: " + ev.ExceptionDetails.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(ev.Request.URL, base+"/") {
				c.add("asked for " + ev.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	enable := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, f := range []func() error{
			func() error { _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); return err },
			func() error { _, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{}); return err },
			func() error { _, err := cdp.Call(ctx, t, cdpruntime.Enable, cdp.Empty{}); return err },
		} {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
	if err := chromedp.Do(ctx, enable); err != nil {
		t.Fatal(err)
	}
	return c
}

func ask1[T any](ctx context.Context, t testing.TB, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func TestBrowser(t *testing.T) {
	ctx := browser(t)
	dir, turn := fresh(t)
	v := serve(t, Options{Dir: dir})
	heard := overhear(ctx, t, v.base)
	if err := chromedp.Do(ctx, chromedp.Navigate(v.s.TicketURL())); err != nil {
		t.Fatal(err)
	}
	if at := ask1[string](ctx, t, `location.href`); at != v.base+"/" {
		t.Errorf("the ticket leads to %s", at)
	}
	for _, path := range []string{"/", "/timeline", "/turns", "/turns/" + turn.TurnID,
		"/ops/" + string(v.s.model.now().Ops[0].Op), "/decisions", "/event-log", "/hooks", "/delegations",
		"/integrity", "/search?q=pm"} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(360, 800), chromedp.Navigate(v.base+path)); err != nil {
			t.Fatal(err)
		}
		type sight struct {
			Title  string   `json:"title"`
			Heads  int      `json:"heads"`
			Marks  string   `json:"marks"`
			Wide   []int    `json:"wide"`
			Double []string `json:"double"`
			Empty  []string `json:"empty"`
			Styled string   `json:"styled"`
		}
		s := ask1[sight](ctx, t, `({title: document.title, heads: document.querySelectorAll('h1').length,
			marks: ['header','nav','main','footer'].filter(e => document.querySelectorAll('body > ' + e).length === 1).join(' '),
			wide: [document.documentElement.scrollWidth, innerWidth], styled: getComputedStyle(document.body).maxWidth,
			double: [...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i),
			empty: [...document.querySelectorAll('a,button,summary')].filter(e => !e.textContent.trim()).map(e => e.outerHTML)})`)
		if s.Heads != 1 || s.Marks != "header nav main footer" || s.Wide[0] > s.Wide[1] || len(s.Double) > 0 ||
			len(s.Empty) > 0 || s.Title == "" || s.Styled == "none" {
			t.Errorf("%s: %+v", path, s)
		}
		if c := heard.take(); len(c) > 0 {
			t.Errorf("%s: %q", path, c)
		}
	}
	// It follows the run: what another process does appears without a reload.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate(v.base+"/")); err != nil {
		t.Fatal(err)
	}
	ask1[bool](ctx, t, `window.stays = true`)
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Escalate(t.Context(), runner.Escalation{Reason: "who pays?"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the live update", func() bool {
		return strings.Contains(ask1[string](ctx, t, `document.querySelector('main').innerText`), "The run is blocked")
	})
	if !ask1[bool](ctx, t, `window.stays === true`) {
		t.Error("the page was reloaded")
	}
	// That is what is read out, even when less is new right after it.
	version := func() string { return ask1[string](ctx, t, `document.body.dataset.version`) }
	blocked := version()
	appendFile(t, dir, ".agentxchain/events.jsonl", `{"event_type":"of_another_program"}`+"\n")
	eventually(t, "the next live update", func() bool { return version() != blocked })
	if said := ask1[string](ctx, t,
		`document.getElementById('live').innerText`); !strings.Contains(said, "The run is blocked") {
		t.Errorf("what is read out: %q", said)
	}
	// Keys: to the search field, and from link to link.
	ask1[bool](ctx, t, `document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))`)
	if at := ask1[string](ctx, t, `document.activeElement.id`); at != "q" {
		t.Errorf("/ leads to %q", at)
	}
	ask1[bool](ctx, t,
		`(document.activeElement.blur(), document.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true})))`)
	if at := ask1[string](ctx, t, `document.activeElement.tagName.toUpperCase()`); at != "A" {
		t.Errorf("j leads to %q", at)
	}
	if c := heard.take(); len(c) > 0 {
		t.Errorf("the browser objects: %q", c)
	}
}
