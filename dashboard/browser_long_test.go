// A run of 10,000 turns in the browser: paging, filters and search that work, and how long they
// take.

package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/git-agentxchain/git-agentxchain/internal/testbrowser"
)

// follow clicks a link and waits for the page it leads to.
func follow(ctx context.Context, t testing.TB, selector string) {
	t.Helper()
	was := ask1[string](ctx, t, `location.href`)
	ask1[bool](ctx, t, `(document.querySelector('`+selector+`').click(), true)`)
	eventually(t, "following "+selector, func() bool {
		return holdsTrue(ctx, fmt.Sprintf(`location.href !== %q && document.readyState === 'complete'`, was))
	})
}

func TestBrowserLongRun(t *testing.T) {
	takesMinutes(t)
	dir, chainDir := longRun(t), longChain(t) // before the browser's time limit starts
	ctx := browser(t)
	window(ctx, t, 1280, 900)
	v := serve(t, Options{Dir: dir, Every: 200 * time.Millisecond})
	v.enter(ctx, t)
	chain := serve(t, Options{Dir: chainDir})
	chain.enter(ctx, t)
	turns, ops := len(v.s.model.history.entries()), len(chain.s.model.now().Ops)
	base := func(path string) string {
		if strings.HasPrefix(path, "/timeline") {
			return chain.base
		}
		return v.base
	}
	if turns < longTurns || ops < 2*longTurns {
		t.Fatalf("%d turns, %d operations", turns, ops)
	}
	firsts := func() []string {
		return ask1[[]string](ctx, t, `[...document.querySelectorAll('tbody tr')].map(r => r.cells[1].innerText)`)
	}
	for path, lead := range map[string]string{
		"/timeline":  fmt.Sprint(ops, " operations are recorded"),
		"/turns":     fmt.Sprint(turns, " turns in the history"),
		"/decisions": " entries in the ledger",
		"/event-log": " events, the newest first",
	} {
		open(ctx, t, base(path)+path)
		shows(ctx, t, lead)
		if path == "/turns" { // the active turn is above the list
			ask1[bool](ctx, t, `(document.getElementById('active').remove(), true)`)
		}
		one := firsts()
		follow(ctx, t, "a[rel=next]")
		if path == "/turns" {
			ask1[bool](ctx, t, `(document.getElementById('active').remove(), true)`)
		}
		two := firsts()
		if len(one) != listSize || len(two) != listSize ||
			path != "/event-log" && slices.ContainsFunc(one, func(s string) bool { return slices.Contains(two, s) }) {
			t.Errorf("%s: the pages %v and %v", path, one, two)
		}
		follow(ctx, t, "a[rel=prev]")
		if path == "/turns" {
			ask1[bool](ctx, t, `(document.getElementById('active').remove(), true)`)
		}
		if back := firsts(); !slices.Equal(back, one) {
			t.Errorf("%s: back on %v, where %v was", path, back, one)
		}
		// The oldest page has no older one.
		open(ctx, t, base(path)+path+"?before=5")
		if n := ask1[int](ctx, t, `document.querySelectorAll('a[rel=next]').length`); n != 0 {
			t.Errorf("%s: something is older than the oldest", path)
		}
	}
	// A filter of operations, and a text in the middle of the run.
	open(ctx, t, chain.base+"/timeline?type=accept_turn")
	if got := ask1[[]string](ctx, t,
		`[...document.querySelectorAll('tbody tr')].map(r => r.cells[2].innerText)`); len(got) != listSize ||
		slices.ContainsFunc(got, func(s string) bool { return !strings.HasPrefix(s, "accept ") }) {
		t.Errorf("of one type: %v", got)
	}
	open(ctx, t, v.base+"/turns?text=Did+step+7001.")
	if got := ask1[string](ctx, t,
		`document.querySelector('#turns tbody').innerText`); strings.Count(got, "Did step") != 1 {
		t.Errorf("filtered: %s", got)
	}
	open(ctx, t, v.base+"/search?q=step+4242+twice")
	shows(ctx, t, "1 place holds")
	follow(ctx, t, "main td a")
	shows(ctx, t, "Nothing checks step 4242 twice.")
	if nodes := ask1[int](ctx, t, `document.querySelectorAll('*').length`); nodes > maxNodes {
		t.Errorf("%d elements", nodes)
	}
	for _, path := range []string{"/", "/timeline", "/turns", "/decisions", "/event-log", "/delegations", "/integrity",
		"/search?q=step+77"} {
		wait(ctx, t, base(path)+path, path)
	}
	// It goes on: an acceptance elsewhere shows in a run of this length too.
	open(ctx, t, v.base+"/")
	shows(ctx, t, "Live.")
	shows(ctx, t, "result staged")
	run(t, dir, "accept")
	begun := time.Now()
	shows(ctx, t, "No turn is under way.")
	t.Logf("an acceptance was seen after %v", time.Since(begun).Round(time.Millisecond))
}

// wait measures how long a page takes, the median of three visits, or of seven in a long test.
func wait(ctx context.Context, t testing.TB, address, name string) {
	t.Helper()
	var answered, painted []float64
	visits := 3
	if testbrowser.Long() {
		visits = 7
	}
	for range visits {
		open(ctx, t, address)
		eventually(t, "painting "+name, func() bool {
			return holdsTrue(ctx, `performance.getEntriesByName('first-contentful-paint').length === 1`)
		})
		times, err := chromedp.Run(ctx,
			chromedp.Evaluate[[]float64](
				`[performance.getEntriesByType('navigation')[0].responseEnd, performance.getEntriesByName('first-contentful-paint')[0].startTime]`))
		if err != nil {
			t.Fatal(err)
		}
		answered, painted = append(answered, times[0]), append(painted, times[1])
	}
	slices.Sort(answered)
	slices.Sort(painted)
	t.Logf("%-18s answered in %4.0f ms, first paint after %4.0f ms (at most %4.0f)", name, answered[visits/2],
		painted[visits/2], painted[visits-1])
}
