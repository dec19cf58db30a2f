// Every view in the browser, of a live run, a replayed artifact, a run of 10,000 turns and an
// initiative: bounded, readable, fitting a telephone, without scripts.

package dashboard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Limits of any page: elements, and bytes with everything it loads. Lists of a project with texts
// of ordinary length are no taller than that on a telephone.
const (
	maxNodes  = 3000
	maxWeight = 250 << 10
	maxTall   = 4000
)

// walked holds what can be said about any page.
type walked struct {
	Title  string   `json:"title"`
	Marks  string   `json:"marks"`
	Heads  []int    `json:"heads"`
	Nodes  int      `json:"nodes"`
	Wide   []int    `json:"wide"`
	Double []string `json:"double"`
	Bare   []string `json:"bare"`
	Astray []string `json:"astray"`
	Inline int      `json:"inline"`
	Weight int      `json:"weight"`
	Tall   int      `json:"tall"`
	Text   string   `json:"text"`
}

const lookRound = `({title: document.title, text: document.body.innerText, nodes: document.querySelectorAll('*').length,
	marks: ['header', 'nav', 'main', 'footer', 'h1'].filter(e => document.querySelectorAll(e).length === 1).join(' '),
	heads: [...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1]),
	weight: ['navigation', 'resource'].flatMap(k => performance.getEntriesByType(k)).reduce((n, e) => n + e.decodedBodySize, 0),
	tall: document.documentElement.scrollHeight,
	wide: [document.documentElement.scrollWidth, innerWidth],
	double: [...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i),
	bare: [...document.querySelectorAll('a,button,summary,input,select,th')].filter(e => !(e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML),
	astray: [...document.links].filter(a => a.hash && a.pathname === location.pathname && !document.getElementById(a.hash.slice(1))).map(a => a.href),
	inline: [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on') || a.name === 'style')).length})`

// check examines the open page.
func (w *walked) check() (wrong []string) {
	add := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	add(w.Title == "" || w.Marks != "header nav main footer h1", "title %q, landmarks %q", w.Title, w.Marks)
	add(w.Nodes > maxNodes, "%d elements", w.Nodes)
	add(w.Weight > maxWeight || w.Weight < 10<<10, "%d bytes", w.Weight)
	add(w.Wide[0] > w.Wide[1], "%d wide in a window of %d", w.Wide[0], w.Wide[1])
	add(len(w.Double) > 0, "ids that occur twice: %v", w.Double)
	add(len(w.Bare) > 0, "controls without a name: %v", w.Bare)
	add(len(w.Astray) > 0, "links that lead nowhere on the page: %v", w.Astray)
	add(w.Inline > 0, "%d elements with handlers or styles", w.Inline)
	for i, h := range w.Heads {
		add(i == 0 && h != 1 || i > 0 && h > w.Heads[i-1]+1, "the headings are %v", w.Heads)
	}
	for _, never := range []string{"undefined", "[object", "<no value>", "%!", "0001-01-01", "NaN", "<nil>"} {
		add(strings.Contains(w.Text, never), "it says %q", never)
	}
	return wrong
}

// open goes to a page.
func open(ctx context.Context, t testing.TB, address string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
}

// window sets the size of the window.
func window(ctx context.Context, t testing.TB, width, height int64) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height)); err != nil {
		t.Fatal(err)
	}
}

// prefer sets the preference for light or dark.
func prefer(ctx context.Context, t testing.TB, scheme string) {
	t.Helper()
	tell(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
	}})
}

// tell sends the browser a command.
func tell[P, R any](ctx context.Context, t testing.TB, command cdp.Command[P, R], params P) {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// views returns the addresses of everything that a served run has.
func (v *served) views() []string {
	out := []string{"/", "/timeline", "/turns", "/decisions", "/event-log", "/hooks", "/delegations", "/integrity",
		"/runs", "/runs/compare", "/search", "/search?q=a", "/nothing"}
	s := v.s.model.now()
	if len(s.Ops) > 0 {
		out = append(out, "/ops/"+string(s.Ops[0].Op), "/ops/"+string(s.Ops[len(s.Ops)-1].Op),
			"/timeline?type="+s.Ops[0].Name)
	}
	if rows := v.s.model.history.entries(); len(rows) > 0 {
		out = append(out, "/turns/"+rows[len(rows)-1].Turn, "/turns/"+rows[0].Turn, "/turns?role="+rows[0].Role,
			"/turns?text=nothing+like+this")
	}
	if s.Sight != nil && len(s.Sight.Turns) > 0 {
		out = append(out, "/turns/"+s.Sight.Turns[0].Turn.TurnID)
	}
	if s.Sight != nil && s.Sight.View.Run != "" {
		id := s.Sight.View.Run
		out = append(out, "/runs/"+id, "/runs/compare?left="+id+"&right="+id)
	}
	if s.Initiative {
		out = append(out, "/board")
	}
	return out
}

// enter opens a dashboard as its owner does.
func (v *served) enter(ctx context.Context, t testing.TB) {
	t.Helper()
	open(ctx, t, v.s.TicketURL())
}

// scenes returns what the walks look at.
func scenes(t *testing.T) map[string]*served {
	t.Helper()
	finished, _ := played(t)
	live, _ := fresh(t)
	broken, _ := fresh(t)
	writeFile(t, broken, ".agentxchain/state.json", `{"schema_version":`)
	halved, _ := fresh(t)
	appendFile(t, halved, ".agentxchain/history.jsonl", "{\"half\":\nnull\n\xff\n")
	idle := filepath.Join(t.TempDir(), "idle")
	commit(t, idle, "init", "-q", "-b", "main")
	run(t, idle, "init")
	return map[string]*served{
		"a finished run":             serve(t, Options{Dir: finished}),
		"a run under way":            serve(t, Options{Dir: live}),
		"no run yet":                 serve(t, Options{Dir: idle}),
		"a state that is broken":     serve(t, Options{Dir: broken}),
		"lines that are no rows":     serve(t, Options{Dir: halved}),
		"an artifact":                replayOf(t, ""),
		"hostile text":               replayOf(t, poison),
		"long words":                 replayOf(t, strings.Repeat("W", 300)),
		"much of everything":         crowded(t),
		"an initiative":              serve(t, Options{Dir: initiative(t)}),
		"a run of ten thousand":      serve(t, Options{Dir: longRun(t)}),
		"a chain that is forged":     serve(t, Options{Dir: longChain(t)}),
		"a project that was removed": removed(t),
	}
}

func writeFile(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func appendFile(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	have, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	writeFile(t, dir, name, string(have)+content)
}

// removed serves a dashboard whose project is gone.
func removed(t testing.TB) *served {
	t.Helper()
	dir, _ := fresh(t)
	v := serve(t, Options{Dir: dir})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return v
}

// ordinary reports the scenes with texts of ordinary length.
func ordinary(scene string) bool {
	return scene != "hostile text" && scene != "long words" && scene != "much of everything"
}

// isList reports a page that chooses its own length: that of a turn or an operation depends on what was done.
func isList(path string) bool {
	return !strings.HasPrefix(path, "/turns/") && !strings.HasPrefix(path, "/ops/")
}

// TestBrowserPrints: paper shows what the page says, and no controls.
func TestBrowserPrints(t *testing.T) {
	ctx := browser(t)
	v := replayOf(t, "")
	v.enter(ctx, t)
	open(ctx, t, v.base+"/timeline?text=a")
	tell(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	shown := ask1[[]string](ctx, t, `[...document.querySelectorAll('nav,form,.keys,.pager,.skip,table')]
		.filter(e => getComputedStyle(e).display !== 'none').map(e => e.localName)`)
	if len(shown) != 1 || shown[0] != "table" {
		t.Errorf("on paper there are %v, expected the table alone", shown)
	}
}

// TestBrowserEveryView opens every view of every scene on a telephone and on a desktop, in dark
// mode and without scripts.
func TestBrowserEveryView(t *testing.T) {
	ctx := everyPage(t)
	for name, v := range scenes(t) {
		t.Run(name, func(t *testing.T) {
			heard := overhear(ctx, t, v.base)
			v.enter(ctx, t)
			heard.take()
			for _, path := range v.views() {
				window(ctx, t, 390, 844)
				open(ctx, t, v.base+path)
				page := ask1[walked](ctx, t, lookRound)
				for _, wrong := range page.check() {
					t.Errorf("%s on a telephone: %s", path, wrong)
				}
				if page.Tall > maxTall && ordinary(name) && isList(path) {
					t.Errorf("%s is %d pixels tall on a telephone", path, page.Tall)
				}
				for _, width := range []int64{768, 1280, 1920} {
					window(ctx, t, width, 900)
					if wide := ask1[[]int](ctx, t,
						`[document.documentElement.scrollWidth, innerWidth]`); wide[0] > wide[1] {
						t.Errorf("%s: %d wide in a window of %d", path, wide[0], wide[1])
					}
				}
				for _, c := range heard.take() {
					// One view is missing, and an operation of a removed project cannot be read.
					if !strings.Contains(c, "404") &&
						!(strings.Contains(c, "500") && name == "a project that was removed") {
						t.Errorf("%s: the browser objects: %s", path, c)
					}
				}
			}
		})
	}
}
