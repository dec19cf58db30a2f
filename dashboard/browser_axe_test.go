// Accessibility as axe-core judges it, for every view, light and dark. axe-core is not part of this
// repository: AGENTXCHAIN_TEST_AXE names its axe.min.js.

package dashboard

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// violation is a fault that axe-core finds.
type violation struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// judge lets axe-core examine the open page; rules limits it to some.
func judge(ctx context.Context, t testing.TB, axe, rules string) (serious []violation) {
	t.Helper()
	if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](axe+";true")); err != nil || !ok {
		t.Fatalf("axe-core does not run: %v", err)
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]violation](`axe.run(document, {resultTypes: ['violations'] `+
		rules+`}).then(r => r.violations.map(v =>
		({id: v.id, impact: v.impact || '', help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + ' ' + n.failureSummary.slice(0, 300))})))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("axe-core does not run: %v", err)
	}
	for _, f := range found {
		if f.Impact == "serious" || f.Impact == "critical" {
			serious = append(serious, f)
		} else {
			t.Logf("axe-core remarks: %s (%s): %s %q", f.ID, f.Impact, f.Help, f.Nodes)
		}
	}
	return serious
}

func TestBrowserAxe(t *testing.T) {
	path := os.Getenv("AGENTXCHAIN_TEST_AXE")
	if path == "" {
		t.Skip("there is no axe-core to judge the pages with: npm install axe-core, and set AGENTXCHAIN_TEST_AXE to its axe.min.js")
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := browser(t)
	// It has to find an existing fault: a page with one.
	open(ctx, t, `data:text/html,<html><body><img src=x><p style="color:%23999;background:white">faint`)
	if got := judge(ctx, t, string(source), ""); len(got) < 2 {
		t.Fatalf("of a page with faults it says %v", got)
	}
	window(ctx, t, 1280, 900)
	live, _ := fresh(t)
	broken, _ := fresh(t)
	writeFile(t, broken, ".agentxchain/state.json", "{")
	halved, _ := fresh(t)
	appendFile(t, halved, ".agentxchain/history.jsonl", "{\"half\":\n")
	for name, v := range map[string]*served{
		"an artifact":     replayOf(t, ""),
		"an initiative":   serve(t, Options{Dir: initiative(t)}),
		"a run under way": serve(t, Options{Dir: live}),
		"a broken state":  serve(t, Options{Dir: broken}),
		"half a line":     serve(t, Options{Dir: halved}),
		"a gate":          serve(t, Options{Dir: atGate(t), AllowApprove: true}),
	} {
		t.Run(name, func(t *testing.T) {
			paths := []string{"/", "/integrity"}
			switch s := v.s.model.now(); name {
			case "an artifact": // it has something to show in every view
				paths = v.views()
			case "a gate":
				paths = []string{"/", "/approve"}
			case "an initiative":
				paths = []string{"/board"}
			case "a run under way":
				paths = []string{"/", "/timeline", "/ops/" + string(s.Ops[0].Op),
					"/turns/" + s.Sight.Turns[0].Turn.TurnID}
			}
			if name == "an artifact" {
				paths = append([]string{"closed"}, paths...) // there is also a page before login
			}
			for i, path := range paths {
				switch {
				case path == "closed":
					open(ctx, t, v.base+"/")
				case i == 0 || paths[i-1] == "closed":
					v.enter(ctx, t)
					fallthrough
				default:
					open(ctx, t, v.base+path)
				}
				ask1[bool](ctx, t, `(document.querySelectorAll('details').forEach(d => d.open = true), true)`)
				for _, scheme := range []string{"light", "dark"} {
					prefer(ctx, t, scheme)
					rules := ""
					if scheme == "dark" {
						rules = ", runOnly: ['color-contrast']" // the rest is the same page
					}
					for _, f := range judge(ctx, t, string(source), rules) {
						t.Errorf("%q, %s: %s (%s): %s\n%s", path, scheme, f.ID, f.Impact, f.Help,
							strings.Join(f.Nodes, "\n"))
					}
				}
			}
		})
	}
}
