// Tests of the HTML page in a real browser: nothing runs, nothing is loaded, it fits a telephone, it follows the
// dark colour scheme, it prints.

package account

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	chromepage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testbrowser"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// browser returns a tab of a real browser for the duration of the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	return testbrowser.Start(t, 2*time.Minute)
}

func TestBrowser(t *testing.T) {
	testrepo.Thorough(t)
	ctx := browser(t)
	report := Build(loaded(t, newFixture(t).artifact(t)), "x.json", Options{Now: now})
	bad := poisoned(report, func(s string) any {
		if s == "pass" || s == KindRun || s == KindCoordinator {
			return s
		}
		return s + poison
	}).(*ojson.Object)
	long := poisoned(report, func(s string) any {
		if s == "pass" || s == KindRun {
			return s
		}
		return s + strings.Repeat("W", 500)
	}).(*ojson.Object)
	for name, r := range map[string]*ojson.Object{"plain": report, "hostile": bad, "long words": long} {
		t.Run(name, func(t *testing.T) { lookAt(ctx, t, Render(r, "html"), name == "plain") })
	}
}

func lookAt(ctx context.Context, t *testing.T, html []byte, plain bool) {
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, html, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var requests, dialogs atomic.Int32
	err := chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			if ev.Request.URL != "file://"+file {
				requests.Add(1)
			}
		case *chromepage.EventJavascriptDialogOpening:
			dialogs.Add(1)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	type sight struct {
		Scripts  int      `json:"scripts"`
		Images   int      `json:"images"`
		Frames   int      `json:"frames"`
		Handlers int      `json:"handlers"`
		Text     string   `json:"text"`
		Links    []string `json:"links"`
	}
	const look = `({scripts: document.scripts.length, images: document.images.length, frames: frames.length, text: document.body.innerText,
		handlers: [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).length,
		links: [...document.links].map(a => a.getAttribute('href')).filter(h => !document.getElementById(h.slice(1)))})`
	enable := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return err
	})
	if err := chromedp.Do(ctx, enable, chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
	seen := ask[sight](ctx, t, look)
	width := func(pixels int64) []int {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(pixels, 800)); err != nil {
			t.Fatal(err)
		}
		return ask[[]int](ctx, t, `[document.documentElement.scrollWidth, innerWidth]`)
	}
	scheme := func(name string) string {
		err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
			})
			return err
		}))
		if err != nil {
			t.Fatal(err)
		}
		return ask[string](ctx, t,
			`getComputedStyle(document.body).backgroundColor + ' ' + getComputedStyle(document.body).color`)
	}
	desk, phone := width(1200), width(360)
	light, dark := scheme("light"), scheme("dark")
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF())
	if err != nil {
		t.Fatal(err)
	}
	if seen.Scripts+seen.Images+seen.Frames+seen.Handlers+int(requests.Load())+int(dialogs.Load()) != 0 {
		t.Errorf("%d scripts, %d images, %d frames, %d handlers, %d requests, %d dialogs", seen.Scripts, seen.Images,
			seen.Frames, seen.Handlers, requests.Load(), dialogs.Load())
	}
	if len(seen.Links) > 0 {
		t.Errorf("links that lead nowhere on the page: %v", seen.Links)
	}
	for _, want := range []string{"The run is blocked", "Grace", "Plain text only.", "who asked for this?", "$0.30"} {
		if !strings.Contains(seen.Text, want) {
			t.Errorf("one cannot read %q", want)
		}
	}
	for _, w := range [][]int{desk, phone} {
		if w[0] > w[1] {
			t.Errorf("the page is %d wide in a window of %d", w[0], w[1])
		}
	}
	if luminance(t, light) == luminance(t, dark) {
		t.Errorf("light is %s, dark is %s", light, dark)
	}
	if !strings.HasPrefix(string(pdf), "%PDF") || len(pdf) < 5000 {
		t.Errorf("printed: %d bytes", len(pdf))
	}
	if plain && strings.Contains(seen.Text, "undefined") {
		t.Error("the page says undefined")
	}
}

// ask evaluates an expression on the page.
func ask[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// luminance reports whether the background is lighter than the text.
func luminance(t *testing.T, colours string) bool {
	t.Helper()
	var a, b [3]int
	if _, err := fmt.Sscanf(colours, "rgb(%d, %d, %d) rgb(%d, %d, %d)", &a[0], &a[1], &a[2], &b[0], &b[1],
		&b[2]); err != nil {
		t.Fatalf("%q: %v", colours, err)
	}
	return a[0]+a[1]+a[2] > b[0]+b[1]+b[2]
}
