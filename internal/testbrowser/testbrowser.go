// Package testbrowser starts a real browser for tests that look at pages.
package testbrowser

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Long reports whether to test every page, not only representative ones.
func Long() bool { return os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" }

// Start starts Chromium for the duration of the test, at most limit, and returns the context of a tab. If there is
// none the test is skipped; a long one fails.
func Start(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if Long() {
			t.Fatal("there is no chromium to look at the pages with: install Debian's package chromium")
		}
		t.Skip("there is no chromium to look at the pages with: install Debian's package chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(60*time.Second))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	return ctx
}
