// Pictures of every view, for docs/dashboard.md: make screenshots takes them.

package dashboard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/git-agentxchain/git-agentxchain/internal/demo"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

var takePictures = flag.Bool("screenshots", false, "take the pictures of docs/images/dashboard again")

// saidFile has a digest of each picture's page text.
const saidFile = pictureDir + "/said.txt"

const (
	pictureDir = "../docs/images/dashboard"
	maxPicture = 180 << 10
)

// pictures lists the views that have one.
var pictures = []string{"overview", "overview-dark", "overview-phone", "timeline", "turn", "operation", "decisions",
	"events", "hooks", "delegations", "integrity", "board", "search", "replay", "runs", "approve"}

// TestPictures checks that the documentation has a picture of each view, and no other.
func TestPictures(t *testing.T) {
	text, err := os.ReadFile("../docs/dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pictures {
		path := filepath.Join(pictureDir, name+".png")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v: make screenshots", err)
			continue
		}
		if c, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || c.Width < 300 || len(data) > maxPicture {
			t.Errorf("%s: %d bytes, %d wide, %v", path, len(data), c.Width, err)
		}
		if !strings.Contains(string(text), "(images/dashboard/"+name+".png)") {
			t.Errorf("docs/dashboard.md does not show %s", path)
		}
	}
	files, err := filepath.Glob(filepath.Join(pictureDir, "*.png"))
	if err != nil || len(files) != len(pictures) {
		t.Errorf("%d pictures of %d views, %v", len(files), len(pictures), err)
	}
}

// clockwork returns a clock that advances by the same step each time it is read, and ids that
// count, so that a project is the same each time it is made.
func clockwork(step time.Duration) (now func() time.Time, seed func() string) {
	at, n := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), 0
	now = func() time.Time { at = at.Add(step); return at }
	seed = func() string {
		n++
		return fmt.Sprintf("%016x%016x", n*0x9e3779b97f4a7c1&0xffffffffffffff, n*0x2545f4914f6cdd1&0xffffffffffffff)
	}
	return now, seed
}

func still(at time.Time) func() time.Time { return func() time.Time { return at } }

// TestBrowserTakesPictures compares the pictures with what their pages say today, and with
// -screenshots takes them again. CI_REPORTS names a directory for those of this run.
func TestBrowserTakesPictures(t *testing.T) {
	if !*takePictures {
		takesMinutes(t)
	}
	said := map[string]string{}
	dir := t.TempDir()
	if reports := os.Getenv("CI_REPORTS"); reports != "" {
		dir = filepath.Join(reports, "dashboard")
	}
	if *takePictures {
		dir = pictureDir
	}
	takeAll(t, dir, said)
	var lines strings.Builder
	for _, name := range pictures {
		fmt.Fprintln(&lines, name, said[name])
	}
	if *takePictures {
		if err := os.WriteFile(saidFile, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, err := os.ReadFile(saidFile)
	if err != nil || lines.String() != string(was) {
		t.Errorf("pages say something else than when their pictures were taken: make screenshots (%v)\nnow:\n%s\nthen:\n%s",
			err, &lines, was)
	}
}

// saidOn returns a digest of what a page says, without its numbers, ids and months and the directory of the test: some
// pages are of runs that begin when the test does.
func saidOn(ctx context.Context, t *testing.T) string {
	t.Helper()
	words := strings.Fields(ask1[string](ctx, t, `document.querySelector('main').textContent`))
	text := strings.ReplaceAll(strings.Join(words, " "), filepath.Dir(t.TempDir()), "")
	text = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]*`).ReplaceAllString(text, "#")
	text = regexp.MustCompile(`# (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b`).ReplaceAllString(text, "#")
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func takeAll(t *testing.T, into string, said map[string]string) {
	testrepo.Isolate()
	t.Setenv("GIT_AUTHOR_DATE", "2026-03-02T09:00:00Z")
	t.Setenv("GIT_COMMITTER_DATE", "2026-03-02T09:00:00Z")
	t.Setenv("TZ", "UTC")
	ctx := browser(t)
	if err := os.MkdirAll(into, 0o777); err != nil {
		t.Fatal(err)
	}
	take := func(v *served, name, path string) {
		open(ctx, t, v.base+path)
		ask1[bool](ctx, t,
			`(document.querySelectorAll('#diff').forEach(d => d.open = true), document.getElementById('live').textContent = '', true)`)
		said[name] = saidOn(ctx, t)
		picture(ctx, t, filepath.Join(into, name+".png"))
	}
	window(ctx, t, 1120, 840)
	prefer(ctx, t, "light")

	now, seed := clockwork(time.Second)
	finished := filepath.Join(t.TempDir(), "greeter")
	if err := os.MkdirAll(finished, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Run(t.Context(), demo.Options{Dir: finished, Now: now, Seed: seed}); err != nil {
		t.Fatal(err)
	}
	v := serve(t, Options{Dir: finished, Now: still(now().Add(20 * time.Minute))})
	eventually(t, "the check of the record", func() bool { return v.s.model.check.verdict().Report != nil })
	v.enter(ctx, t)
	rows := v.s.model.history.entries()
	take(v, "timeline", "/timeline")
	take(v, "turn", "/turns/"+rows[len(rows)-2].Turn)
	take(v, "operation", "/ops/"+string(v.s.model.now().Ops[0].Op))
	take(v, "events", "/event-log")
	take(v, "integrity", "/integrity")
	take(v, "search", "/search?q=greet")
	v.stop()
	r, err := runner.Open(t.Context(), finished, runner.Options{Now: now, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	for _, because := range []string{"The goal has changed.", ""} {
		if _, err := r.AssignTurn(t.Context(), runner.AssignOptions{NewRun: true}); err != nil {
			t.Fatal(err)
		}
		if because == "" {
			break
		}
		if _, err := r.Abandon(t.Context(), because); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	v = serve(t, Options{Dir: finished, Now: still(now().Add(20 * time.Minute))})
	v.enter(ctx, t)
	take(v, "runs", "/runs")

	now, seed = clockwork(time.Second)
	dir := testrepo.New(t, testrepo.Options{}).Dir
	if _, err := testproject.Init(t.Context(), dir,
		runner.ProjectOptions{ID: "shop", Name: "Shop", Goal: "Sell things."}); err != nil {
		t.Fatal(err)
	}
	if r, err = runner.Open(t.Context(), dir, runner.Options{Now: now, Seed: seed}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.AssignTurn(t.Context(), runner.AssignOptions{Role: "pm"}); err != nil {
		t.Fatal(err)
	}
	v = serve(t, Options{Dir: dir, Now: still(now().Add(37 * time.Minute))})
	v.enter(ctx, t)
	take(v, "overview", "/")
	prefer(ctx, t, "dark")
	take(v, "overview-dark", "/")
	window(ctx, t, 390, 844)
	take(v, "overview-phone", "/")
	prefer(ctx, t, "light")
	window(ctx, t, 1120, 840)

	v = replayOf(t, "")
	v.enter(ctx, t)
	take(v, "replay", "/")
	take(v, "decisions", "/decisions")
	take(v, "hooks", "/hooks")
	take(v, "delegations", "/delegations")
	v = serve(t, Options{Dir: initiative(t)})
	v.enter(ctx, t)
	take(v, "board", "/board")
	v = serve(t, Options{Dir: atGate(t), AllowApprove: true})
	v.enter(ctx, t)
	take(v, "approve", approvePath)
}

// picture writes the visible page, losslessly and as small as possible.
func picture(ctx context.Context, t *testing.T, file string) {
	t.Helper()
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if b.Len() > len(data) {
		b.Reset()
		b.Write(data)
	}
	if b.Len() > maxPicture {
		t.Errorf("%s has %d bytes", file, b.Len())
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
