package dashboard

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// TestRuns shows a completed run, one that was abandoned, and one that goes on: all of them small,
// one in full, two compared.
func TestRuns(t *testing.T) {
	dir, first := played(t)
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	begin := func() string {
		t.Helper()
		if _, err := r.AssignTurn(t.Context(), runner.AssignOptions{NewRun: true}); err != nil {
			t.Fatal(err)
		}
		w, err := r.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return w.Run
	}
	second := begin()
	if _, err := r.Abandon(t.Context(), "the goal is <another>"); err != nil {
		t.Fatal(err)
	}
	third := begin()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	v := serve(t, Options{Dir: dir})
	compare := func(left, right string) string {
		return "/runs/compare?left=" + url.QueryEscape(left) + "&right=" + url.QueryEscape(right)
	}
	for path, want := range map[string][]string{
		"/runs": {"3 runs; the history has 1 completed, 1 failed.", first, second, third, "4 turns", "2 retries",
			"Both requirements hold", "the goal is &lt;another&gt;", "gates opened by Ann Author, the rules",
			`<option value="` + second + `" selected>`},
		"/runs/" + first: {"Both requirements hold", "completed", "4 turns, 2 retries", "Ann Author",
			"The run in time", "Gate planning_signoff"},
		"/runs/" + second: {"failed", "the goal is &lt;another&gt;", "given up"},
		"/runs/" + third:  {"active", "at work"},
		compare(first, second): {"The second run did worse.", "REG-STATUS", "Became worse", "Phases",
			"Gate planning_signoff"},
		compare(second, first):  {"Nothing became worse."},
		compare(first, first):   {"alike in everything"},
		compare(first[:8], ""):  {"Choose two runs."},
		compare(third, second):  {third, second},
		"/runs?before=nonsense": {third},
	} {
		got := mainOf(v.page(path))
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q:\n%s", path, w, got)
			}
		}
		if n := strings.Count(got, `role="img"`); path == "/runs" && n != 3 {
			t.Errorf("%d small pictures of 3 runs", n)
		}
	}
	got := v.page("/")
	if !strings.Contains(got, `href="/runs"`) {
		t.Error("the overview does not lead to the runs")
	}
	if strings.Contains(got, "DEC-002") {
		t.Error("a decision of an earlier run, whose row names none, is shown as one of this run")
	}
	for _, path := range []string{"/runs/run_x", "/runs/%3Cb%3E", compare(first, "run_x"), compare("<b>", first),
		compare("run_", "run_")} {
		if code, _, body := v.fetch("GET", path); code != 404 || strings.Contains(body, "<b>") {
			t.Errorf("%s: status %d", path, code)
		}
	}
}

// TestManyRuns keeps a page short, whatever the number of runs.
func TestManyRuns(t *testing.T) {
	dir := laid(t, "")
	var rows strings.Builder
	for i := range 5000 {
		id := "run_" + strings.Repeat("0", 3) + time.Duration(i).String()
		rows.WriteString(`{"run_id":"` + id +
			`","status":"completed","total_turns":3,"total_cost_usd":1.5,"recorded_at":"2026-01-01T00:00:00.000Z"}` +
			"\n")
	}
	writeFile(t, dir, ".agentxchain/run-history.jsonl", rows.String())
	v := serve(t, Options{Dir: dir, Replay: &Replay{Artifact: "run.json"}})
	got := mainOf(v.page("/runs"))
	if n := strings.Count(got, `class="part"`); n != runsOnPage {
		t.Errorf("%d runs on the page", n)
	}
	if !strings.Contains(got, "Older") || strings.Count(got, "<option") > 2*(pageSize+2) || len(got) > 250<<10 {
		t.Errorf("%d options, %d bytes", strings.Count(got, "<option"), len(got))
	}
}
