// What people see: colour, pager, prompts, progress, tables, times, suggestions.

package term

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestColorDecision(t *testing.T) {
	tests := []struct {
		name     string
		flag     string
		vars     map[string]string
		git      map[string]string
		terminal bool
		want     bool
		asksGit  bool
	}{
		{"pipe", "auto", nil, nil, false, false, false},
		{"terminal", "auto", nil, nil, true, true, true},
		{"forced in a pipe", "auto", map[string]string{"CLICOLOR_FORCE": "1"}, nil, false, true, false},
		{"NO_COLOR beats force", "auto", map[string]string{
			"CLICOLOR_FORCE": "1",
			"NO_COLOR":       "x",
		}, nil, true, false, false},
		{"CLICOLOR=0", "auto", map[string]string{"CLICOLOR": "0"}, nil, true, false, false},
		{"dumb", "auto", map[string]string{"TERM": "dumb"}, nil, true, false, false},
		{"flag always", "always", map[string]string{"NO_COLOR": "1"}, nil, false, true, false},
		{"flag never", "never", map[string]string{"CLICOLOR_FORCE": "1"}, nil, true, false, false},
		{"git says never", "auto", nil, map[string]string{"color.ui": "never"}, true, false, true},
		{"ours beats ui", "auto", nil, map[string]string{
			"color.ui":          "false",
			"color.agentxchain": "auto",
		}, true, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, _, _ := testEnv(tt.terminal, tt.vars)
			asked := 0
			env.GitConfig = func(context.Context, string, ...string) map[string]string { asked++; return tt.git }
			env.Dir = t.TempDir()
			f := &Factory{}
			f.Open(context.Background(), env, GlobalOptions{Color: tt.flag})
			if got := f.useColor(env.Stdout); got != tt.want {
				t.Errorf("got %v", got)
			}
			f.useColor(env.Stdout)
			if want := map[bool]int{false: 0, true: 1}[tt.asksGit]; asked != want {
				t.Errorf("git asked %d times, want %d", asked, want)
			}
		})
	}
}

func TestPagerChoice(t *testing.T) {
	for _, tt := range []struct {
		vars, git map[string]string
		want      string
	}{
		{nil, nil, "less"},
		{map[string]string{"TERM": "dumb"}, nil, ""},
		{map[string]string{"TERM": "dumb", "PAGER": "more"}, nil, "more"},
		{map[string]string{"PAGER": "more"}, nil, "more"},
		{map[string]string{"PAGER": "more"}, map[string]string{"core.pager": "most"}, "most"},
		{map[string]string{"GIT_PAGER": "x"}, map[string]string{"core.pager": "most"}, "x"},
		{nil, map[string]string{"core.pager": "most", "pager.agentxchain": "false"}, ""},
		{nil, map[string]string{"core.pager": "most", "pager.agentxchain": "true"}, "most"},
		{nil, map[string]string{"core.pager": "most", "pager.agentxchain": "bat -p"}, "bat -p"},
	} {
		env, _, _ := testEnv(true, tt.vars)
		env.Dir = t.TempDir()
		env.GitConfig = func(context.Context, string, ...string) map[string]string { return tt.git }
		if got := newTestFactory(env, false).pagerCommand(); got != tt.want {
			t.Errorf("%v %v: %q, want %q", tt.vars, tt.git, got, tt.want)
		}
	}
}

func TestPager(t *testing.T) {
	env, stdout, _ := testEnv(true, map[string]string{"GIT_PAGER": "sed s/^/paged:/"})
	env.Dir = t.TempDir()
	f := newTestFactory(env, false)
	f.Out.Page(context.Background())
	f.Out.Emit(nil, func(p *Printer) { p.Println("line") })
	if status := f.Out.finish(nil); status != 0 || stdout.String() != "paged:line\n" {
		t.Errorf("%d %q", status, stdout)
	}

	// The listing is shown when the pager does not exist.
	env, stdout, stderr := testEnv(true, map[string]string{"GIT_PAGER": "no-such-pager -x"})
	env.Dir = t.TempDir()
	f = newTestFactory(env, false)
	f.Out.Page(context.Background())
	f.Out.Emit(nil, func(p *Printer) { p.Println("line") })
	if status := f.Out.finish(nil); status != 0 || stdout.String() != "line\n" ||
		!strings.Contains(stderr.String(), "the pager no-such-pager is not there") {
		t.Errorf("%d %q %q", status, stdout, stderr)
	}

	// A pager that leaves early is the reader's choice, not a failure.
	env, _, stderr = testEnv(true, map[string]string{"GIT_PAGER": "true"})
	env.Dir = t.TempDir()
	f = newTestFactory(env, false)
	f.Out.Page(context.Background())
	f.Out.Emit(nil, func(p *Printer) { p.Printf("%s", strings.Repeat("x\n", 1<<20)) })
	if status := f.Out.finish(nil); status != 0 || stderr.Len() > 0 {
		t.Errorf("%d %q", status, stderr)
	}
}

func TestPrompt(t *testing.T) {
	for input, want := range map[string]bool{
		"y\n":       true,
		"Yes\n":     true,
		"n\n":       false,
		"\n":        true,
		"what\ny\n": true,
		"no":        false,
	} {
		env, _, stderr := testEnv(true, nil)
		env.Stdin = strings.NewReader(input)
		got, err := newTestFactory(env, false).Prompt.Confirm(context.Background(), "Go on?", "--yes", true)
		if err != nil || got != want || !strings.HasPrefix(stderr.String(), "Go on? [Y/n] ") {
			t.Errorf("%q: %v %v %q", input, got, err, stderr)
		}
		if told := strings.Contains(stderr.String(), "Answer y"); told != strings.HasPrefix(input, "what") {
			t.Errorf("%q: %q", input, stderr)
		}
	}
	// No person there: no terminal, end of input, --json, or git's switch.
	env, _, _ := testEnv(false, nil)
	_, err := newTestFactory(env, false).Prompt.Confirm(context.Background(), "Go on?", "--yes", true)
	if r := Describe(err); r.Code != "prompt_unavailable" || r.Exit != ExitUsage ||
		!strings.Contains(r.hint, "--yes") {
		t.Errorf("%+v", r)
	}
	env, _, _ = testEnv(true, nil)
	if _, err := newTestFactory(env, false).Prompt.Line(context.Background(), "Name?",
		"--name"); Describe(err).Code != "prompt_unavailable" {
		t.Errorf("end of input: %v", err)
	}
	if newTestFactory(env, true).Interactive() {
		t.Error("--json asked")
	}
	env, _, _ = testEnv(true, map[string]string{"GIT_TERMINAL_PROMPT": "0"})
	if newTestFactory(env, false).Interactive() {
		t.Error("GIT_TERMINAL_PROMPT=0 asked")
	}
	// ^C while waiting for an answer.
	env, _, _ = testEnv(true, nil)
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	env.Stdin = r
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newTestFactory(env, false).Prompt.Line(ctx, "Name?", "--name"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestProgress(t *testing.T) {
	env, _, stderr := testEnv(true, nil)
	now := time.Unix(0, 0)
	env.Now = func() time.Time { return now }
	p := newTestFactory(env, false).Out.Progress("replaying", 200)
	p.Step(1)
	if stderr.Len() != 0 {
		t.Errorf("shown too early: %q", stderr)
	}
	now = now.Add(1500 * time.Millisecond)
	p.Step(100)
	p.Step(101) // too soon after the last one
	p.Done()
	if got := stderr.String(); got != "\rreplaying:  50% (100/200)\x1b[K\r\x1b[K" {
		t.Errorf("%q", got)
	}
	env, _, stderr = testEnv(false, map[string]string{"GIT_PROGRESS_DELAY": "0"})
	newTestFactory(env, false).Out.Progress("x", 0).Step(1)
	if stderr.Len() != 0 {
		t.Errorf("no terminal: %q", stderr)
	}
}

func TestTable(t *testing.T) {
	render := func(width int) string {
		var b bytes.Buffer
		p := &Printer{w: &b, width: width, Style: Style{on: true}}
		tab := NewTable("ID", "WHAT")
		tab.Row("漢字", "wide")
		tab.Row("e\u0301x", "combining mark, and rather long\nin two lines")
		tab.Emphasise(0, p.Red)
		p.Table(tab)
		return b.String()
	}
	want := "\x1b[1mID\x1b[0m    \x1b[1mWHAT\x1b[0m\n漢字  wide\n\x1b[31me\u0301x\x1b[0m    combining mark, and rather long in two lines\n"
	if got := render(0); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for line := range strings.Lines(render(24)) {
		plain := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "", "\x1b[31m",
			"").Replace(strings.TrimSuffix(line, "\n"))
		if DisplayWidth(plain) > 24 {
			t.Errorf("%q is wider than the terminal", plain)
		}
	}
	if got := Truncate("abcdef", 4); got != "abc…" {
		t.Errorf("%q", got)
	}
	if got := Truncate("漢字漢字", 4); got != "漢…" {
		t.Errorf("%q", got)
	}
}

func TestTimes(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0:                          "just now",
		45 * time.Second:           "45s ago",
		3 * time.Minute:            "3m ago",
		5 * time.Hour:              "5h ago",
		72 * time.Hour:             "3d ago",
		100 * 24 * time.Hour:       "14w ago",
		900 * 24 * time.Hour:       "2y ago",
		-2 * time.Hour:             "in 2h",
		-2*time.Hour + time.Second: "in 2h",
		-3 * time.Second:           "in 3s",
		4 * time.Second:            "just now",
	} {
		if got := RelativeTime(now, now.Add(-d)); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	for year, want := range map[int]string{1026: "1000y ago", 9999: "in 7973y"} { // further than a Duration
		if got := RelativeTime(now, time.Date(year, 3, 1, 12, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("the year %d: %q, want %q", year, got, want)
		}
	}
	if got := RelativeTime(now, time.Time{}); got != "never" {
		t.Errorf("%q", got)
	}
	at := time.Date(2026, 3, 1, 13, 0, 0, 5_999_999, time.FixedZone("", 3600))
	if got := Timestamp(at); got != "2026-03-01T12:00:00.005Z" {
		t.Errorf("%q", got)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"accept", "assign", "approve", "status", "events", "decisions", "exit-codes"}
	for word, want := range map[string]string{
		"acept":  "accept",
		"stauts": "status",
		"STATUS": "status",
		"event":  "events",
		"dec":    "decisions",
		"exit":   "exit-codes",
		"a":      "",
		"xyzzy":  "",
		"":       "",
		"approv": "approve",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if editDistance("ab", "ba") != 1 || editDistance("", "abc") != 3 || editDistance("kitten", "sitting") != 3 {
		t.Error("distance")
	}
}

func TestMeant(t *testing.T) {
	known := []string{"list", "show", "archive", "run", "step", "resume", "approve-gate"}
	for word, want := range map[string]string{"delete": "archive", "RM": "archive", "start": "run", "push": "", "lst": "list",
		"ls": "list", "view": "show", "assign": "step", "unblock": "resume", "gate": "approve-gate"} {
		if got := meant(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestMeantFlag(t *testing.T) {
	known := []string{"limit", "n", "op", "version", "V"}
	for name, want := range map[string]string{"v": "-V", "p": "", "5": "-n 5", "limt": "--limit", "oneline": "", "": ""} {
		if got := meantFlag(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestTopicsFitATerminal keeps topics readable without wrapping.
func TestTopicsFitATerminal(t *testing.T) {
	for _, tp := range topics() {
		if tp.name == "exit-codes" {
			continue // a table
		}
		for line := range strings.Lines(tp.text()) {
			if DisplayWidth(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s: %q", tp.name, line)
			}
		}
	}
	if !slices.Equal(topicNames(), []string{"environment", "exit-codes", "formats", "storage", "hooks", "security"}) {
		t.Error(topicNames())
	}
}
