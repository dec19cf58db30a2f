// Using the pages in the browser: watching while the run goes on, by keyboard, without scripts, as
// a replay of an artifact.

package dashboard

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shows waits until the open page says something, without reloading it.
func shows(ctx context.Context, t testing.TB, text string) {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the page saying "+text, func() bool {
		return holdsTrue(ctx,
			`document.readyState === 'complete' && document.body.innerText.includes(`+string(quoted)+`)`)
	})
}

// holdsTrue evaluates a condition on a page that may be changing to another.
func holdsTrue(ctx context.Context, expression string) bool {
	ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
	return err == nil && ok
}

// What other processes do appears on every open page, without a reload.
func TestBrowserFollows(t *testing.T) {
	ctx := browser(t)
	window(ctx, t, 1280, 900)
	dir, turn := fresh(t)
	v := serve(t, Options{Dir: dir, Every: 200 * time.Millisecond})
	heard := overhear(ctx, t, v.base)
	v.enter(ctx, t)
	stay := func(path string) {
		open(ctx, t, v.base+path)
		ask1[bool](ctx, t, `window.stays = true`)
		shows(ctx, t, "Live.")
	}
	stayed := func(what string, begun time.Time) {
		t.Logf("%s was seen %v after the process had ended", what, time.Since(begun).Round(time.Millisecond))
		if !ask1[bool](ctx, t, `window.stays === true`) {
			t.Errorf("%s: the page was loaded anew", what)
		}
	}
	stay("/")
	stage(t, dir, run(t, dir, "turn", "show", turn.TurnID, "--template"), "The plan is written.")
	begun := time.Now()
	shows(ctx, t, "result staged")
	stayed("a staged result", begun)
	run(t, dir, "accept")
	begun = time.Now()
	shows(ctx, t, "The plan is written.")
	shows(ctx, t, "No turn is under way.")
	stayed("an acceptance", begun)
	for _, c := range []struct{ path, text string }{
		{"/timeline", "4 operations are recorded"},
		{"/turns", "pm"},
		{"/event-log", "turn assigned"},
	} {
		if c.path != "/timeline" {
			stay(c.path)
			continue
		}
		stay(c.path)
		run(t, dir, "assign", "pm")
		begun = time.Now()
		shows(ctx, t, c.text)
		stayed("an assignment", begun)
	}
	stay("/event-log")
	run(t, dir, "escalate", "--reason", "who pays?")
	begun = time.Now()
	shows(ctx, t, "who pays?")
	stayed("an escalation", begun)

	// Two pages at a time are both updated.
	second, cancel := chromedp.NewContext(ctx)
	defer cancel()
	open(second, t, v.base+"/")
	shows(second, t, "The run is blocked")
	if c := heard.take(); len(c) > 0 {
		t.Errorf("the browser objects: %q", c)
	}
	v.stop()
	shows(ctx, t, "The dashboard does not answer")
}

// The board follows repositories that are worked on elsewhere.
func TestBrowserFollowsAnInitiative(t *testing.T) {
	ctx := browser(t)
	workspace := initiative(t)
	v := serve(t, Options{Dir: workspace, Every: 200 * time.Millisecond})
	v.enter(ctx, t)
	for _, text := range []string{"Workstreams", "all repos accepted", "workstream contract", "working"} {
		shows(ctx, t, text)
	}
	run(t, filepath.Join(filepath.Dir(workspace), "api"), "escalate", "--reason", "which way?")
	begun := time.Now()
	shows(ctx, t, "blocked")
	t.Logf("a repository that is blocked was seen after %v", time.Since(begun).Round(time.Millisecond))
}

// An artifact in the browser, through the command that people use; the workspace is gone when it
// has ended.
func TestBrowserReplaysAnArtifact(t *testing.T) {
	ctx := browser(t)
	window(ctx, t, 1280, 900)
	dir, _ := played(t)
	artifact := filepath.Join(t.TempDir(), "run.json")
	run(t, dir, "export", "-o", artifact)
	session, cmd := begin(t, t.TempDir(), "replay", "export", artifact, "--port", "0", "--no-open")
	base := strings.Replace(session["url"].(string), "localhost", "127.0.0.1", 1)
	heard := overhear(ctx, t, base)
	open(ctx, t, session["open_url"].(string))
	for path, texts := range map[string][]string{
		"/":               {"The run is completed.", "A replay of", "replay", "This is a replay"},
		"/timeline":       {"an artifact has no record of operations", "run completed"},
		"/turns":          {"Wrote greet.sh and its test."},
		"/decisions":      {"DEC-001"},
		"/event-log":      {"gate approved"},
		"/hooks":          {"No hook has run."},
		"/delegations":    {"No work has been delegated."},
		"/integrity":      {"verified when it was opened", "history.jsonl"},
		"/search?q=greet": {"greet.sh"},
	} {
		open(ctx, t, base+path)
		page := ask1[walked](ctx, t, lookRound)
		for _, text := range texts {
			if !strings.Contains(page.Text, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, page.Text)
			}
		}
		for _, wrong := range page.check() {
			t.Errorf("%s: %s", path, wrong)
		}
	}
	open(ctx, t, base+"/turns")
	ask1[bool](ctx, t, `(document.querySelector('main td a').click(), true)`)
	shows(ctx, t, "Verification")
	if c := heard.take(); len(c) > 0 {
		t.Errorf("the browser objects: %q", c)
	}
	workspace := session["temp_dir"].(string)
	if _, err := os.Stat(workspace); err != nil {
		t.Errorf("the workspace: %v", err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the workspace's removal", func() bool { _, err := os.Stat(workspace); return os.IsNotExist(err) })
}

// press sends the page a key, as a keyboard does.
func press(ctx context.Context, t testing.TB, keys string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.KeyEvent(keys)); err != nil {
		t.Fatal(err)
	}
}

// Everything can be reached and used without a mouse.
func TestBrowserByKeyboard(t *testing.T) {
	ctx := browser(t)
	window(ctx, t, 1280, 900)
	dir, _ := played(t)
	v := serve(t, Options{Dir: dir})
	v.enter(ctx, t)
	at := func() string {
		return ask1[string](ctx, t,
			`(e => e.className === 'skip' ? 'skip' : e.id || (e.textContent.trim() || e.name || e.tagName))(document.activeElement)`)
	}
	const tab, enter = "\t", "\r"
	press(ctx, t, tab)
	if got := at(); got != "skip" {
		t.Fatalf("the first stop is %q", got)
	}
	if x := ask1[float64](ctx, t, `document.activeElement.getBoundingClientRect().left`); x < 0 {
		t.Error("the skip link is not seen when it is reached")
	}
	press(ctx, t, enter)
	eventually(t, "skipping to the content", func() bool { return at() == "main" })
	// Tab stops are in the order of the page, and each is visible.
	open(ctx, t, v.base+"/")
	var order []string
	for range 14 {
		press(ctx, t, tab)
		order = append(order, at())
		if !ask1[bool](ctx, t,
			`getComputedStyle(document.activeElement).outlineStyle !== 'none' || document.activeElement.className === 'skip'`) {
			t.Errorf("%s: where one is cannot be seen", at())
		}
	}
	if got, want := strings.Join(order, ", "),
		"skip, q, Find, Overview, Timeline, Turns, Decisions, Events, Hooks, Delegations, Integrity"; !strings.HasPrefix(got,
		want) {
		t.Errorf("the order is %s", got)
	}
	// A view by its number, a turn by j and Enter, a search by / and Enter.
	press(ctx, t, "3")
	shows(ctx, t, "turns in the history")
	for range 40 {
		press(ctx, t, "j")
		if strings.HasPrefix(at(), "turn_") {
			break
		}
	}
	press(ctx, t, enter)
	shows(ctx, t, "Verification")
	press(ctx, t, "/")
	if got := at(); got != "q" {
		t.Errorf("/ leads to %q", got)
	}
	// The protocol sends the character although the page handled the key; a keyboard does not.
	ask1[string](ctx, t, `document.activeElement.value = ''`)
	press(ctx, t, "greet")
	press(ctx, t, enter)
	eventually(t, "the search", func() bool {
		return holdsTrue(ctx, `location.pathname === '/search' && document.readyState === 'complete'`)
	})
	if got := ask1[string](ctx, t,
		`document.body.innerText + location.href`); !strings.Contains(got, "what you are looking for") {
		t.Errorf("found:\n%s", got)
	}
	// A filter, by keyboard alone.
	open(ctx, t, v.base+"/timeline")
	ask1[bool](ctx, t, `(document.querySelector('form.filter input[name=text]').focus(), true)`)
	press(ctx, t, "accept")
	press(ctx, t, enter)
	eventually(t, "the filter", func() bool {
		return holdsTrue(ctx, `location.search !== '' && document.readyState === 'complete'`)
	})
	if got := ask1[string](ctx, t, `document.querySelector('main').innerText`); !strings.Contains(got, "accept") ||
		strings.Contains(got, "init run") {
		t.Errorf("filtered:\n%s", got)
	}
}

// click clicks with the mouse in the middle of what selector names.
func click(ctx context.Context, t testing.TB, selector string) {
	t.Helper()
	at := ask1[[]float64](ctx, t,
		`(e => { e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })(document.querySelector('`+
			selector+`'))`)
	if err := chromedp.Do(ctx, chromedp.MouseClickXY(at[0], at[1])); err != nil {
		t.Fatal(err)
	}
}

// Without scripts everything is there, and a page that can change reloads itself.
func TestBrowserWithoutScripts(t *testing.T) {
	ctx := everyPage(t)
	dir, turn := fresh(t)
	finished, _ := played(t)
	tell(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	defer tell(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	for _, v := range []*served{serve(t,
		Options{Dir: dir}), serve(t, Options{Dir: finished}), serve(t, Options{Dir: initiative(t)})} {
		v.enter(ctx, t)
		for _, path := range v.views() {
			open(ctx, t, v.base+path)
			page := ask1[walked](ctx, t, lookRound)
			for _, wrong := range page.check() {
				t.Errorf("%s: %s", path, wrong)
			}
			if got := ask1[int](ctx, t, `document.querySelectorAll('meta[http-equiv=refresh]').length`); got != 1 {
				t.Errorf("%s: reloads itself %d times", path, got)
			}
		}
	}
	v := serve(t, Options{Dir: dir})
	v.enter(ctx, t)
	shows(ctx, t, "1 turn is under way in phase planning: pm.")
	open(ctx, t, v.base+"/turns/"+turn.TurnID)
	shows(ctx, t, "What it was given")
	// A folded part opens, a form is sent.
	click(ctx, t, "summary")
	if got := ask1[int](ctx, t, `document.querySelectorAll('details[open]').length`); got != 1 {
		t.Errorf("%d parts are open", got)
	}
	open(ctx, t, v.base+"/")
	click(ctx, t, "#q")
	press(ctx, t, "pm")
	click(ctx, t, "form.find button")
	shows(ctx, t, "what you are looking for")
}
