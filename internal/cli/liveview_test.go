// The live view without a terminal: heartbeats, the description of a turn, the use of space.

package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// bufferedEnv returns an Env over buffers; terminal says whether the streams pretend to be one.
func bufferedEnv(terminal bool) (env term.Env, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return term.Env{
		Stdout: stdout, Stderr: stderr, Stdin: strings.NewReader(""),
		IsTerminal: func(any) bool { return terminal },
		Now:        func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
	}, stdout, stderr
}

// factoryOver returns a Factory for tests of runX functions: no global flag is set except --json,
// which asks for the envelope.
func factoryOver(env term.Env, json bool) *term.Factory {
	f := &term.Factory{}
	f.Open(context.Background(), env, term.GlobalOptions{JSON: json, Color: "auto"})
	return f
}

// pictureOf returns a view with one turn that has worked for that long.
func pictureOf(t *testing.T, terminal, json bool, worked time.Duration, deadline time.Time) (*liveView, *time.Time,
	func() string) {
	t.Helper()
	env, _, stderr := bufferedEnv(terminal)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	env.Now = func() time.Time { return now }
	v := newLiveView(factoryOver(env, json))
	v.lastSay = now
	turn := &run.Turn{TurnID: "turn_0123456789abcdef", AssignedRole: "dev", Attempt: 2}
	if !deadline.IsZero() {
		turn.DeadlineAt = wire.FormatTime(deadline)
	}
	v.turn(turn)
	now = now.Add(worked)
	return v, &now, stderr.String
}

func TestHeartbeat(t *testing.T) {
	v, now, said := pictureOf(t, false, false, heartbeatEach-time.Second, time.Time{})
	v.heartbeat()
	if said() != "" {
		t.Errorf("too early: %q", said())
	}
	v.activity("turn_0123456789abcdef", runtimes.Activity{Type: "output", Line: "compiling"})
	*now = now.Add(5 * time.Second)
	v.heartbeat()
	v.heartbeat() // not again at once
	if want := "dev  turn_0123456789abcdef  working for 0:34, last heard of 0:05 ago\n"; said() != want {
		t.Errorf("%q, want %q", said(), want)
	}
	// A failure that the agent reports is shown too.
	v.activity("turn_0123456789abcdef", runtimes.Activity{
		Type: "output",
		Line: `{"type":"error","message":"Reconnecting... waiting for network"}`,
	})
	*now = now.Add(heartbeatEach)
	v.heartbeat()
	if !strings.HasSuffix(said(), "ago, error: Reconnecting... waiting for network\n") {
		t.Errorf("%q", said())
	}
	v.gone("turn_0123456789abcdef")
	*now = now.Add(time.Hour)
	v.heartbeat()
	if n := strings.Count(said(), "\n"); n != 2 {
		t.Errorf("a turn that is over is reported: %q", said())
	}
}

// TestLastWordsStay: a sign of life without words does not replace what an agent said.
func TestLastWordsStay(t *testing.T) {
	v, _, _ := pictureOf(t, true, false, time.Second, time.Time{})
	id := v.turns[0].id
	for _, a := range []struct {
		told runtimes.Activity
		want string
	}{{runtimes.Activity{Type: "heartbeat"}, "heartbeat"},
		{runtimes.Activity{Type: "output", Line: "compiling"}, "compiling"},
		{runtimes.Activity{Type: "heartbeat"}, "compiling"},
		{runtimes.Activity{Type: "heartbeat", Summary: "waiting for the model"}, "waiting for the model"}} {
		if v.activity(id, a.told); v.turns[0].activity != a.want {
			t.Errorf("after %+v the picture says %q, want %q", a.told, v.turns[0].activity, a.want)
		}
	}
}

func TestPicture(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	v, now, _ := pictureOf(t, true, false, 65*time.Second, start.Add(20*time.Minute))
	v.where = "run_1, phase build"
	v.activity("turn_0123456789abcdef",
		runtimes.Activity{Line: "tests \x1b[31mpass\x1b[0m\u202e\n\xff漢字 " + strings.Repeat("x", 9000)})
	for _, width := range []int{200, 79, 40, 12, 1} {
		for _, line := range v.picture(width) {
			if term.DisplayWidth(line) > width || strings.ContainsAny(line, "\x1b\n\r\u202e") ||
				!utf8.ValidString(line) {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
	if line := v.picture(200)[0]; !strings.HasPrefix(line,
		"  dev  turn_0123456789abcdef  1:05  attempt 2  18:55 left  tests ") {
		t.Errorf("%q", line)
	}
	if line := v.picture(60)[0]; !strings.HasPrefix(line, "  dev  1:05  attempt 2  18:55 left  tests ") {
		t.Errorf("%q", line)
	}
	*now = start.Add(21 * time.Minute)
	if line := v.picture(100)[0]; !strings.Contains(line, "  overdue  ") {
		t.Errorf("%q", line)
	}
	v.run(&run.State{Phase: "ship"})
	if lines := v.picture(100); len(lines) != 0 {
		t.Errorf("a turn that the run no longer has is shown: %q", lines)
	}
}

// TestLiveViewStops leaves nothing behind, in whatever order it is called.
func TestLiveViewStops(t *testing.T) {
	v, _, written := pictureOf(t, true, false, time.Second, time.Time{})
	v.stop()
	v.start()
	v.start()
	v.line("kept")
	v.stop()
	v.stop()
	if raw := written(); !strings.Contains(raw, "turn_") || !strings.HasSuffix(raw, "\r\x1b[2A\x1b[J") {
		t.Errorf("not drawn, or not taken away: %q", raw)
	}
	silent, _, said := pictureOf(t, true, true, time.Hour, time.Time{})
	silent.start()
	silent.line("no prose beside --json")
	silent.stop()
	if said() != "" {
		t.Errorf("%q", said())
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:       "0:00",
		7 * time.Second:    "0:07",
		765 * time.Second:  "12:45",
		3723 * time.Second: "1:02:03",
	} {
		if got := clock(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":    0,
		"90":  90 * time.Second,
		"1.5": 1500 * time.Millisecond,
		"20m": 20 * time.Minute,
		"2h":  2 * time.Hour,
	} {
		if got, err := term.Seconds("timeout", text); err != nil || got != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, bad := range []string{"0", "-3", "soon", "1e999", "5x", "NaN", " "} {
		if d, err := term.Seconds("timeout", bad); err == nil || term.Describe(err).Exit != term.ExitUsage {
			t.Errorf("%q passed as %v: %v", bad, d, err)
		}
	}
}
