// The promises of the output: one JSON object, prose apart, the right exit status.

package term

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets/secretstest"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// testEnv returns an Env over buffers; terminal says whether the streams pretend to be one.
func testEnv(terminal bool, vars map[string]string) (Env, *bytes.Buffer, *bytes.Buffer) {
	var stdout, stderr bytes.Buffer
	return Env{
		Stdout: &stdout, Stderr: &stderr, Stdin: strings.NewReader(""),
		Getenv:     func(k string) string { return vars[k] },
		IsTerminal: func(any) bool { return terminal },
		Now:        func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
	}, &stdout, &stderr
}

// finishWith runs body the way a command runs and returns the output.
func finishWith(t *testing.T, json bool, body func(*Factory) error) (stdout, stderr string, status int) {
	t.Helper()
	env, out, errs := testEnv(false, map[string]string{"AGENTXCHAIN_CORRELATION_ID": "c-1"})
	f := newTestFactory(env, json)
	status = f.Out.finish(body(f))
	return out.String(), errs.String(), status
}

const head = `{"ok":%t,"correlationId":"c-1","protocol":{"protocol_version":"1.1","capabilities":["governed-runs","stable-error-codes","correlation-ids","knowledge-blocks","run-events","session-inspection","idempotency-keys"]}`

func TestEnvelope(t *testing.T) {
	good, bad := fmt.Sprintf(head, true), fmt.Sprintf(head, false)
	tests := []struct {
		name   string
		body   func(*Factory) error
		want   string
		status int
	}{
		{"nothing emitted", func(*Factory) error { return nil }, good + "}\n", 0},
		{"payload in order", func(f *Factory) error {
			f.Out.Emit(ojson.NewObject("b", 1, "a", "x"), func(p *Printer) { p.Printf("prose") })
			return nil
		}, good + `,"b":1,"a":"x"}` + "\n", 0},
		{"prose goes nowhere", func(f *Factory) error {
			f.Out.Printer().Printf("prose")
			f.Out.Notice("notice")
			f.Out.Warn("warning")
			return nil
		}, good + "}\n", 0},
		{"payload cannot say ok", func(f *Factory) error {
			f.Out.Emit(ojson.NewObject("ok", true, "correlationId", "evil"), nil)
			return Errorf("gate_failed", "no").WithHint("do it").WithDetails(ojson.NewObject("gate", "g"))
		},
			bad +
				`,"error":{"code":"gate_failed","message":"no","hint":"do it","details":{"gate":"g"},"explain":"git agentxchain explain gate_failed"}}` + "\n", 3},
		{"partial payload with error", func(f *Factory) error {
			f.Out.Emit(ojson.NewObject("turn", "t1", "error", "mine"), nil)
			return Errorf("ref_moved", "moved")
		}, bad + `,"turn":"t1","error":{"code":"ref_moved","message":"moved"}}` + "\n", 4},
		{"findings", func(f *Factory) error {
			f.Out.Emit(ojson.NewObject("problems", 2), nil)
			return ErrFindings()
		}, bad + `,"problems":2,"error":{"code":"findings","message":"finished with findings"}}` + "\n", 1},
		{"stream replaces the envelope", func(f *Factory) error {
			return f.Out.Stream(ojson.NewObject("event", "e"))
		}, `{"event":"e"}` + "\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, status := finishWith(t, true, tt.body)
			if stdout != tt.want || status != tt.status {
				t.Errorf("status %d\ngot  %s\nwant %s", status, stdout, tt.want)
			}
			if stderr != "" {
				t.Errorf("stderr %q", stderr)
			}
		})
	}
}

func TestTextErrors(t *testing.T) {
	stdout, stderr, status := finishWith(t, false, func(f *Factory) error {
		f.Out.Emit(nil, func(p *Printer) { p.Println("half done") })
		return fmt.Errorf("accept: %w",
			Errorf("run_blocked", "the run is\x1b[2J blocked").WithHint("git agentxchain unblock"))
	})
	if stdout != "half done\n" || status != 5 ||
		stderr != "error: accept: the run is^[[2J blocked\nhint: git agentxchain unblock\n"+
			"why: git agentxchain explain run_blocked\n" {
		t.Errorf("%q %q %d", stdout, stderr, status)
	}
	stdout, stderr, status = finishWith(t, false, func(*Factory) error { return ExitSilently(7) })
	if stdout != "" || stderr != "" || status != 7 {
		t.Errorf("%q %q %d", stdout, stderr, status)
	}
}

// foreign is the error type of another package.
type foreign struct{ code string }

func (f foreign) Error() string     { return "foreign " + f.code }
func (f foreign) ErrorCode() string { return f.code }
func (f foreign) ErrorHint() string { return "" }

func TestExitStatus(t *testing.T) {
	want := map[string]int{
		"usage":                    2,
		"invalid_json":             2,
		"invalid_config":           2,
		"invalid_state":            2,
		"validation_failed":        3,
		"gate_failed":              3,
		"policy_violation":         3,
		"hook_blocked":             3,
		"invalid_state_transition": 3,
		"turn_not_active":          3,
		"budget_exhausted":         3,
		"dirty_tree":               3,
		"checkpoint_required":      3,
		"conflict":                 3,
		"inside_dispatched_turn":   3,
		"ref_moved":                4,
		"turn_already_accepted":    4,
		"state_moved":              4,
		"run_blocked":              5,
		"awaiting_approval":        5,
		"human_required":           5,
		"not_a_project":            10,
		"not_a_git_repository":     10,
		"no_run":                   10,
		"locked":                   11,
		"ledger_tampered":          12,
		"state_tampered":           12,
		"object_corrupt":           12,
		"object_missing":           12,
		"chain_broken":             12,
		"git_failed":               128,
		"interrupted":              130,
		"findings":                 1,
		"never heard of":           1,
	}
	for code, status := range want {
		if got := Describe(fmt.Errorf("wrapped: %w", foreign{code})).Exit; got != status {
			t.Errorf("%s exits %d, want %d", code, got, status)
		}
	}
	for _, tt := range []struct {
		err    error
		code   string
		status int
	}{
		{errors.New("plain"), "failed", 1},
		{fmt.Errorf("step: %w", context.Canceled), "interrupted", 130},
		{Errorf("git_failed", "git: %w", context.Canceled), "interrupted", 130},
		{context.DeadlineExceeded, "timeout", 1},
	} {
		if r := Describe(tt.err); r.Code != tt.code || r.Exit != tt.status {
			t.Errorf("%v: %s %d", tt.err, r.Code, r.Exit)
		}
	}
}

func TestExitTableIsConsistent(t *testing.T) {
	seen := map[string]bool{}
	last := -1
	for _, row := range ExitTable() {
		if row.Status <= last {
			t.Errorf("status %d out of order", row.Status)
		}
		last = row.Status
		for _, c := range row.Codes {
			if seen[c.Code] || c.Meaning == "" || c.Do == "" {
				t.Errorf("%s: twice, without meaning, or without a way out", c.Code)
			}
			seen[c.Code] = true
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestUndeliveredOutputFails(t *testing.T) {
	for err, want := range map[error]int{syscall.ENOSPC: 1, syscall.EPIPE: 0} {
		env, _, stderr := testEnv(false, nil)
		env.Stdout = failingWriter{err}
		f := newTestFactory(env, false)
		f.Out.Emit(nil, func(p *Printer) { p.Println("result") })
		if got := f.Out.finish(nil); got != want {
			t.Errorf("%v: exit %d, want %d; %s", err, got, want, stderr)
		}
	}
}

func TestPanicBecomesInternalError(t *testing.T) {
	for _, debug := range []string{"", "1"} {
		env, stdout, stderr := testEnv(false, map[string]string{"AGENTXCHAIN_DEBUG": debug})
		status := runBody(env, nil, func(context.Context) error { panic("boom\x1b[2J") })
		if status != ExitFailed || stdout.Len() != 0 {
			t.Errorf("status %d, stdout %q", status, stdout)
		}
		if !strings.Contains(stderr.String(), "error: internal error: boom") ||
			strings.Contains(stderr.String(), "\x1b") {
			t.Errorf("stderr %q", stderr)
		}
		if got := strings.Contains(stderr.String(), "goroutine"); got != (debug == "1") {
			t.Errorf("debug %q: stack shown: %v", debug, got)
		}
	}
	for _, k := range secretstest.Tokens("crash") {
		for _, args := range [][]string{nil, {"--json"}} {
			env, stdout, stderr := testEnv(false, map[string]string{"AGENTXCHAIN_DEBUG": "1"})
			runBody(env, args, func(context.Context) error { panic("cannot use " + k.Text) })
			if said := stdout.String() + stderr.String(); strings.Contains(said, k.Value) ||
				!strings.Contains(said, "cannot use") {
				t.Errorf("%s %v: %q", k.Kind, args, said)
			}
		}
	}
	env, stdout, _ := testEnv(false, nil)
	if status := runBody(env, []string{"--json"}, func(context.Context) error { panic(1) }); status != ExitFailed ||
		!strings.Contains(stdout.String(), `"error":{"code":"internal"`) {
		t.Errorf("%d %s", status, stdout)
	}
}

func TestInterruptedCommandExits130(t *testing.T) {
	env, _, stderr := testEnv(false, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	status := Run(ctx, []string{"x", "probe"}, env, probe(func(ctx context.Context) error { return ctx.Err() }))
	if status != ExitInterrupted || stderr.String() != "error: interrupted\n" {
		t.Errorf("%d %q", status, stderr)
	}
}

// TestFlagValueOfWrongType tests the only usage error that urfave/cli finds by itself.
func TestFlagValueOfWrongType(t *testing.T) {
	env, stdout, stderr := testEnv(false, nil)
	status := runBody(env, []string{"--limit", "x"}, func(context.Context) error { return nil })
	if status != ExitUsage || stdout.Len() != 0 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("%d %q %q", status, stdout, stderr)
	}
}

func TestChoiceFlag(t *testing.T) {
	env, _, stderr := testEnv(false, nil)
	ok := func(context.Context) error { return nil }
	if status := runBody(env, []string{"--format", "jsno"}, ok); status != ExitUsage ||
		stderr.String() != "error: --format takes text, json, not \"jsno\"; did you mean json?\n" {
		t.Errorf("%d %q", status, stderr)
	}
	if status := runBody(env, []string{"--format", "json"}, ok); status != ExitOK {
		t.Errorf("%d", status)
	}
}

func probe(body func(context.Context) error) Program {
	return Program{Commands: func(*Factory) []*ucli.Command {
		return []*ucli.Command{{Name: "probe", Usage: "test", Flags: []ucli.Flag{
			&ucli.IntFlag{Name: "limit"}, NewChoiceFlag("format", "shape", "text", "text", "json"),
		}, Action: func(c *ucli.Context) error { return body(c.Context) }}}
	}}
}

func runBody(env Env, args []string, body func(context.Context) error) int {
	return Run(context.Background(), append([]string{"x", "probe"}, args...), env, probe(body))
}

func TestCleanLeavesNothingThatDrivesATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain ✓ 漢字\n\ttab": "plain ✓ 漢字\n\ttab",
		"a\x1b[2Jb":         "a^[[2Jb",
		"a\rb":              "a^Mb",
		"\x7f":              `\u007f`,
		"\u009b31m":         `\u009b31m`,
		"x\u202ey":          `x\u202ey`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := OneLine(" a\n\n b\t\x1bc "); got != "a b ^[c" {
		t.Errorf("%q", got)
	}
}

func TestCorrelationID(t *testing.T) {
	minted := correlationID(func(string) string { return "" })
	if len(minted) != 36 || minted == correlationID(func(string) string { return "" }) {
		t.Errorf("minted %q", minted)
	}
	for id, ok := range map[string]bool{
		"a": true, "A-1_b.c:d": true, "": false, "a b": false, "a\nb": false, "ü": false,
		strings.Repeat("x", 128): true, strings.Repeat("x", 129): false,
	} {
		if alx.SaneCorrelationID(id) != ok {
			t.Errorf("%q", id)
		}
	}
}

// newTestFactory builds a Factory for tests of runX functions: no global flag is set except --json,
// which asks for the envelope.
func newTestFactory(env Env, json bool) *Factory {
	f := &Factory{}
	f.Open(context.Background(), env, GlobalOptions{JSON: json, Color: "auto"})
	return f
}
