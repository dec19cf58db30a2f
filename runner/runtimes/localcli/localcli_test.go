//go:build unix

package localcli_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/localcli"
)

// log is a concurrent buffer.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() < 1<<20 {
		l.b.Write(p)
	}
	return len(p), nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type turn struct {
	*runtimes.Request
	log  *log
	mu   sync.Mutex
	seen []runtimes.Activity
}

// dispatchable returns a turn of a runtime configured with the given members.
func dispatchable(t *testing.T, members ...any) *turn {
	t.Helper()
	out := &turn{log: &log{}}
	cfg := &config.Config{}
	cfg.RunLoop.StartupWatchdogMS = 180_000
	out.Request = &runtimes.Request{
		Root:        t.TempDir(),
		RunID:       "run_1",
		TurnID:      "turn_1",
		Role:        "dev",
		Phase:       "implementation",
		Attempt:     1,
		Runtime:     &config.Runtime{ID: "agent", Type: "local_cli", Raw: ojson.NewObject(members...)},
		Config:      cfg,
		BundleDir:   wire.BundleDir("turn_1"),
		StagingPath: wire.StagingPath("turn_1"),
		Prompt:      []byte("do it\n"),
		Context:     []byte("the context\n"),
		Deadline: time.Now().Add(
			30 * time.Second),
		Log:     out.log,
		Getenv:  os.Getenv,
		Environ: append(os.Environ(), "AGENTXCHAIN_TURN_ID=turn_1"),
		Activity: func(a runtimes.Activity) {
			out.mu.Lock()
			defer out.mu.Unlock()
			out.seen = append(out.seen, a)
		},
	}
	return out
}

func (d *turn) run() *runtimes.Outcome {
	return localcli.Quick().Dispatch(context.Background(), d.Request)
}

func sh(script string) []any { return []any{"command", []string{"/bin/sh", "-c", script}} }

const stage = `echo '{"schema_version":"1.0","turn_id":"turn_1"}' > .agentxchain/staging/turn_1/turn-result.json; `

func TestOutcomes(t *testing.T) {
	for name, tc := range map[string]struct {
		members []any
		kind    string
		class   string
		failure string
		reason  string
	}{
		"staged":             {sh("echo working; " + stage), runtimes.Staged, "", "", ""},
		"staged, bad status": {sh(stage + "exit 7"), runtimes.Staged, "", "", ""},
		"staged, no word":    {sh(stage), runtimes.Staged, "", "", ""},
		"placeholder is nothing": {sh("echo hi; echo ' {} ' > .agentxchain/staging/turn_1/turn-result.json"),
			runtimes.Rejected, "", "", "status 0"},
		"words but no result": {sh("echo hi; exit 3"), runtimes.Rejected, "", "", "status 3"},
		"says why": {sh("echo hi; echo 'no such model' >&2; exit 1"), runtimes.Rejected, "", "",
			"(no such model)"},
		"no word at all": {sh("exit 0"), runtimes.Blocked, "no_subprocess_output", "no_subprocess_output",
			"without any output"},
		"only stderr": {sh("echo oops >&2; exit 1"), runtimes.Blocked, "no_subprocess_output",
			"no_subprocess_output", "(oops)"},
		"says why in a record": {sh(`echo '{"type":"result","status":"error","error":{"message":"no such model"}}'; ` +
			`echo 'Error: at fetch {' >&2; echo '}' >&2; exit 1`), runtimes.Rejected, "", "", "(no such model)"},
		"ended from outside": {sh("echo hi; kill -TERM $$"), runtimes.Blocked, "agent_killed", "", "SIGTERM"},
		"killed":             {sh("echo hi; kill -KILL $$"), runtimes.Blocked, "agent_killed", "", "SIGKILL"},
		"no such program": {[]any{"command", []string{"no-such-program-anywhere"}}, runtimes.Blocked,
			"runtime_spawn_failed", "runtime_spawn_failed", "not found"},
		"no command": {nil, runtimes.Blocked, "local_cli_command_invalid", "", "names no command"},
		"blank command": {[]any{"command", "  "}, runtimes.Blocked, "local_cli_command_invalid", "",
			"names no command"},
		"a string is one name": {[]any{"command", "sh -c true"}, runtimes.Blocked, "runtime_spawn_failed",
			"runtime_spawn_failed", ""},
		"string and args": {[]any{"command", "sh", "args", []string{"-c", "echo hi;" + stage}},
			runtimes.Staged, "", "", ""},
		"first element split": {[]any{"command", []string{"/bin/sh -c", "echo hi;" + stage}}, runtimes.Staged, "",
			"", ""},
		"cwd outside": {append(sh("true"), "cwd", "../.."), runtimes.Blocked, "local_cli_command_invalid",
			"", "leads out"},
		"cwd absolute": {append(sh("true"), "cwd", "/tmp"), runtimes.Blocked, "local_cli_command_invalid",
			"", "relative"},
		"cwd missing": {append(sh("true"), "cwd", "nowhere"), runtimes.Blocked,
			"local_cli_command_invalid", "", "no such directory"},
		"codex without exec": {[]any{"command", []string{"codex", "{prompt}"}}, runtimes.Blocked,
			"local_cli_command_incompatible", "", "exec"},
		"codex without json": {[]any{"command", []string{"/usr/local/bin/codex", "exec", "{prompt}"}},
			runtimes.Blocked, "local_cli_command_incompatible", "", "--json"},
		"claude without verbose": {[]any{"command", []string{"claude", "-p", "--output-format=stream-json"}},
			runtimes.Blocked, "local_cli_command_incompatible", "", "--verbose"},
		"rate limit record": {sh(
			`echo '{"type":"error","error":{"type":"rate_limit_error","message":"resets in 42s"}}'; exit 1`),
			runtimes.Blocked, "rate_limited", "", "limits how much"},
		"rate limit line": {sh(`echo 'Error: 429 Too Many Requests, retry-after: 7' >&2; exit 1`),
			runtimes.Blocked, "rate_limited", "", "limits how much"},
		"rate limit in prose": {sh(
			`echo 'I made the API answer with too many requests when rate limited.'; exit 1`), runtimes.Rejected, "",
			"", ""},
		"rate limit, yet staged": {sh(`echo '{"type":"error","error":"rate_limit"}';` + stage), runtimes.Staged, "",
			"", ""},
		"prose in an agent's json": {sh(
			`echo '{"type":"assistant","message":{"content":"unauthorized, rate limited, usage limit"}}'; exit 1`),
			runtimes.Rejected, "", "", ""},
		"binary": {sh("head -c 100000 /dev/urandom; " + stage), runtimes.Staged, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dispatchable(t, tc.members...)
			out := d.run()
			if out.Kind != tc.kind || out.Class != tc.class || out.Failure != tc.failure ||
				!strings.Contains(out.Reason, tc.reason) {
				t.Errorf("%+v\n%s", out, d.log)
			}
			if (out.Kind == runtimes.Blocked || out.Kind == runtimes.Rejected || out.Kind == runtimes.TimedOut) &&
				out.Reason == "" || out.Kind == runtimes.Blocked && out.Recovery == "" {
				t.Errorf("nothing is said: %+v", out)
			}
		})
	}
}

func TestRateLimitSaysWhen(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`{"type":"error","error":{"type":"rate_limit_error","message":"resets in 42s"}}`: 42 * time.Second,
		"Error: rate limited, retry-after: 7":                                            7 * time.Second,
		"Error: usage limit, try again in 2 minutes":                                     2 * time.Minute,
		"Error: too many requests, wait 99999 s":                                         time.Hour,
		"Error: rate limit reached, try again in 250ms":                                  time.Second,
		"Error: rate limit reached":                                                      0,
	} {
		d := dispatchable(t, sh("cat <<'E'\n"+text+"\nE\nexit 1")...)
		if out := d.run(); out.Class != runtimes.ClassRateLimited || !out.Retryable || out.RetryAfter != want {
			t.Errorf("%s: %+v", text, out)
		}
	}
}

// agentNamed installs a shell script under the name of a known agent.
func agentNamed(t *testing.T, name, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestKnownAgents(t *testing.T) {
	for name, tc := range map[string]struct{ agent, script, class string }{
		"claude refused": {"claude",
			`echo '{"type":"result","is_error":true,"result":"API Error: 401 {\"type\":\"error\"}"}'; exit 1`,
			"claude_auth_failed"},
		"claude text": {"claude", `echo 'Invalid API key · Please run /login'; exit 1`, "claude_auth_failed"},
		"claude node": {"claude", `echo x; echo 'error: claude requires Node version 18' >&2; exit 1`,
			"claude_node_incompatible"},
		"claude speaks of it": {"claude", `echo 'The endpoint now answers unauthorized without a token.'; exit 1`,
			""},
		"codex refused": {"codex",
			`echo '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}'; exit 1`,
			"codex_auth_failed"},
		"codex speaks of it": {"codex",
			`echo '{"type":"item.completed","item":{"type":"agent_message","text":"It is not logged in."}}'; exit 1`, ""},
		"gemini without a login": {"gemini", `echo 'YOLO mode is enabled.' >&2
			echo 'Please set an Auth method in your settings.json or specify GEMINI_API_KEY' >&2; exit 41`,
			"gemini_auth_failed"},
		"gemini refused": {"gemini", `echo '{"type":"result","status":"error","error":{"type":"unknown",` +
			`"message":"[API Error: {\"error\":{\"code\":400,\"message\":\"API key not valid.\"}}]"}}'; exit 144`,
			"gemini_auth_failed"},
		"qwen without a login": {"qwen", `echo '{"type":"result","is_error":true,"error":{"message":` +
			`"No auth type is selected. Please configure an auth type."}}'; exit 1`, "qwen_auth_failed"},
		"qwen refused": {"qwen", `echo '{"type":"result","subtype":"success","is_error":false,` +
			`"result":"[API Error: 401 Incorrect API key provided]"}'`, "qwen_auth_failed"},
		"copilot without a login": {"copilot", `echo 'Error: No authentication information found.

Copilot can be authenticated with GitHub.' >&2; exit 1`, "copilot_auth_failed"},
		"copilot refused": {"copilot", `echo '{"type":"session.error","data":{"errorType":"authentication",` +
			`"message":"Authentication failed with provider (HTTP 401)."}}'; exit 1`, "copilot_auth_failed"},
		"opencode refused": {"opencode", `echo '{"type":"error","error":{"name":"APIError","data":{"message":` +
			`"Incorrect API key provided.","statusCode":401}}}'; exit 1`, "opencode_auth_failed"},
		"other agent, no rule":  {"agent", `echo 'Error: unauthorized'; exit 1`, ""},
		"other agent, no model": {"agent", `echo 'Error: model_not_found'; exit 1`, ""},
		"claude ended while it repeats": {"claude", `echo '{"type":"system","subtype":"api_retry","error_status":401,` +
			`"error":"authentication_failed"}'; exit 1`, "claude_auth_failed"},
		"claude repeated and worked": {"claude", `echo '{"type":"system","subtype":"api_retry","error_status":401,` +
			`"error":"authentication_failed"}'; echo '{"type":"assistant","message":{"content":[]}}'; exit 1`, ""},
		"claude without credit": {"claude", `echo '{"type":"result","is_error":true,` +
			`"result":"Credit balance is too low"}'; exit 1`, "rate_limited"},
		"claude without its model": {"claude", `echo '{"type":"result","is_error":true,"result":"There'"'"'s an issue ` +
			`with the selected model (claude-x). It may not exist or you may not have access to it."}'; exit 1`,
			"model_not_found"},
		"codex without quota": {"codex", `echo '{"type":"turn.failed","error":{"message":` +
			`"Quota exceeded. Check your plan and billing details."}}'; exit 1`, "rate_limited"},
		"codex without its model": {"codex", "echo '{\"type\":\"turn.failed\",\"error\":{\"message\":" +
			"\"The model `x` does not exist or you do not have access to it.\"}}'; exit 1", "model_not_found"},
		"codex, no room": {"codex", `echo '{"type":"turn.failed","error":{"message":` +
			`"unexpected status 529 <unknown status code>: The server is busy"}}'; exit 1`, "provider_overloaded"},
		"copilot limited": {"copilot", `echo '{"type":"session.error","data":{"errorType":"rate_limit",` +
			`"message":"retried 5 times Last error: 429 slow down","statusCode":429}}'; exit 1`, "rate_limited"},
		"copilot, no room": {"copilot", `echo '{"type":"session.error","data":{"errorType":"query",` +
			`"message":"retried 5 times Last error: 529 The server is busy","statusCode":529}}'; exit 1`,
			"provider_overloaded"},
		"copilot without its model": {"copilot", `echo '{"type":"session.error","data":{"errorType":"query",` +
			`"message":"Model '"'"'x'"'"' not found on provider (HTTP 404)."}}'; exit 1`, "model_not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{agentNamed(t, tc.agent, tc.script)}
			switch tc.agent {
			case "codex":
				args = append(args, "exec", "--json")
			case "opencode":
				args = append(args, "run")
			}
			d := dispatchable(t, "command", args)
			if out := d.run(); out.Class != tc.class {
				t.Errorf("%+v", out)
			}
		})
	}
}

// A rejected turn includes what the agent reported, also when that was not on standard error.
func TestReportedFailureIsTheReason(t *testing.T) {
	d := dispatchable(t, "command", []string{agentNamed(t, "opencode", `echo '{"type":"text","part":{"text":"I try."}}'
echo '{"type":"error","error":{"name":"APIError","data":{"message":"Unable to connect."}}}'; exit 1`), "run"})
	if out := d.run(); out.Kind != runtimes.Rejected || !strings.HasSuffix(out.Reason, "(Unable to connect.).") {
		t.Errorf("%+v", out)
	}
}

func TestClaudeCost(t *testing.T) {
	d := dispatchable(t, "command", []string{agentNamed(t, "claude", `
echo '{"type":"system","model":"m-1"}'
echo '{"type":"result","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":20,"cache_read_input_tokens":5}}'
`+stage)})
	out := d.run()
	if out.Kind != runtimes.Staged || out.CostUSD == nil || *out.CostUSD != 0.25 {
		t.Fatalf("%+v", out)
	}
	want := `{"input_tokens":10,"output_tokens":20,"cache_read_input_tokens":5,"usd":0.25,"source":"stream_json","model":"m-1"}`
	if got := string(ojson.Compact(out.Usage)); got != want {
		t.Errorf("usage %s", got)
	}
}

func TestPromptTransports(t *testing.T) {
	const text = "do it\n\n---\n\nthe context\n"
	for name, tc := range map[string]struct {
		members []any
		want    string
	}{
		"whole argument": {[]any{"command",
			[]string{"/bin/sh", "-c", `printf %s "$1"; ` + stage, "x", "{prompt}"}}, text},
		"inside an argument": {[]any{"command",
			[]string{"/bin/sh", "-c", `printf %s "$1"; ` + stage, "x", "--ask={prompt}!"}}, "--ask=" + text + "!"},
		"stdin": {append(sh("cat; "+stage), "prompt_transport", "stdin"), text},
		"stdin drops it": {[]any{"command", []string{"/bin/sh", "-c", "echo $#; " + stage, "x", "{prompt}"},
			"prompt_transport", "stdin"}, "0\n"},
		"bundle only":        {sh("cat; echo end; " + stage), "end\n"},
		"invalid is guessed": {append(sh("cat; echo end; "+stage), "prompt_transport", "telepathy"), "end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := dispatchable(t, tc.members...)
			if out := d.run(); out.Kind != runtimes.Staged {
				t.Fatalf("%+v", out)
			}
			var said []string
			for line := range strings.Lines(d.log.String()) {
				if !strings.HasPrefix(line, "[adapter:diag]") {
					said = append(said, line)
				}
			}
			if got := strings.Join(said, ""); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(tc.want, "\n") &&
				!strings.HasPrefix(got, tc.want) {
				t.Errorf("agent got %q, want %q", got, tc.want)
			}
			if name == "whole argument" && strings.Count(d.log.String(), "the context") != 1 {
				t.Errorf("the prompt is in the diagnostics:\n%s", d.log)
			}
		})
	}
	d := dispatchable(t, "command", []string{"/bin/sh", "-c", "true", "{prompt}"})
	d.Prompt = bytes.Repeat([]byte("x"), 4<<20)
	if out := d.run(); out.Failure != "runtime_spawn_failed" || !strings.Contains(out.Recovery, "stdin") {
		t.Errorf("a prompt that fits no argument: %+v", out)
	}
}

func TestLimits(t *testing.T) {
	quick := func(d *turn) { d.Deadline = time.Now().Add(300 * time.Millisecond) }
	for name, tc := range map[string]struct {
		members []any
		edit    func(*turn)
		kind    string
		class   string
	}{
		"time is up": {sh("echo hi; sleep 60"), quick, runtimes.TimedOut, ""},
		"time was up before": {sh("echo hi; sleep 60"), func(d *turn) { d.Deadline = time.Now().Add(-time.Hour) },
			runtimes.TimedOut, ""},
		"deaf to SIGTERM": {sh("trap '' TERM; echo hi; while :; do sleep 1; done"), quick, runtimes.TimedOut,
			""},
		"staged before the end": {sh(stage + "sleep 60"), quick, runtimes.Staged, ""},
		"never begins": {append(sh("sleep 60"), "startup_watchdog_ms", 200), nil, runtimes.Blocked,
			"no_subprocess_output"},
		"stderr is no life": {append(sh("while :; do echo x >&2; sleep 0.05; done"), "startup_watchdog_ms", 200),
			nil, runtimes.Blocked, "no_subprocess_output"},
		"a result is life": {append(sh(stage+"sleep 0.6"), "startup_watchdog_ms", 300), nil, runtimes.Staged, ""},
		"falls silent":     {append(sh("echo hi; sleep 60"), "idle_timeout_ms", 200), nil, runtimes.TimedOut, ""},
		"keeps talking": {append(sh("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done;"+stage),
			"idle_timeout_ms", 400), nil, runtimes.Staged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dispatchable(t, tc.members...)
			if tc.edit != nil {
				tc.edit(d)
			}
			if out := d.run(); out.Kind != tc.kind || out.Class != tc.class {
				t.Errorf("%+v\n%s", out, d.log)
			}
		})
	}
}

func TestAbort(t *testing.T) {
	d := dispatchable(t, sh("echo hi; sleep 60 & echo $! > child; wait")...)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for !strings.Contains(d.log.String(), "hi\n") {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if out := localcli.Quick().Dispatch(ctx, d.Request); out.Kind != runtimes.Aborted {
		t.Errorf("%+v", out)
	}
	if n := mine(t, d.Root); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// mine counts living processes whose working directory is dir.
func mine(t *testing.T, dir string) int {
	t.Helper()
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	n := 0
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == dir {
			n++
		}
	}
	return n
}

func TestNothingStaysBehind(t *testing.T) {
	for name, script := range map[string]string{
		"background":      "sleep 60 & " + stage,
		"nohup":           "nohup sleep 60 >/dev/null 2>&1 & " + stage,
		"own session":     "setsid sleep 60 & " + stage,
		"double fork":     "(setsid sh -c 'sleep 60 & sleep 60') & " + stage,
		"holds the pipes": "setsid sleep 60 & sleep 0.1; " + stage,
	} {
		t.Run(name, func(t *testing.T) {
			d := dispatchable(t, sh("echo hi; "+script)...)
			if out := d.run(); out.Kind != runtimes.Staged {
				t.Errorf("%+v", out)
			}
			if n := mine(t, d.Root); n != 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}

func TestFlood(t *testing.T) {
	testrepo.Serving(t)
	size := "256M"
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		size = "1G"
	}
	d := dispatchable(t, sh("head -c "+size+" /dev/zero; yes | head -c "+size+"; "+stage)...)
	if out := d.run(); out.Kind != runtimes.Staged {
		t.Errorf("%+v", out)
	}
}

func TestSignsOfLife(t *testing.T) {
	d := dispatchable(t, append(sh(`printf 'one\n\033[31mtwo\033[0m\n'; echo bad >&2; sleep 0.3; `+stage),
		"liveness_heartbeat_ms", 50)...)
	if out := d.run(); out.Kind != runtimes.Staged {
		t.Fatalf("%+v", out)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	lines, last, beats, pid := 0, "", 0, 0
	for _, a := range d.seen {
		if a.Stream == "stdout" {
			lines += a.Lines
			last = a.Line
		}
		if a.Type == "heartbeat" {
			beats++
		}
		pid = max(pid, a.PID)
	}
	if lines != 2 || last != "two" || beats == 0 || pid == 0 {
		t.Errorf("lines %d, last %q, heartbeats %d, pid %d", lines, last, beats, pid)
	}
	for _, label := range []string{"spawn_prepare", "spawn_attached", "first_output", "liveness_heartbeat",
		"process_exit", "[stderr] bad"} {
		if !strings.Contains(d.log.String(), label) {
			t.Errorf("no %s in the log:\n%s", label, d.log)
		}
	}
}

func TestStagingIsNotFollowed(t *testing.T) {
	d := dispatchable(t, sh("echo hi")...)
	kept := filepath.Join(d.Root, "precious.txt")
	if err := os.WriteFile(kept, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(d.Root, filepath.FromSlash(d.StagingPath))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, full); err != nil {
		t.Fatal(err)
	}
	if out := d.run(); out.Kind != runtimes.Rejected {
		t.Errorf("%+v", out)
	}
	if data, _ := os.ReadFile(kept); string(data) != "precious" {
		t.Errorf("a file behind a link was overwritten: %q", data)
	}
}

func TestProbe(t *testing.T) {
	for name, tc := range map[string]struct {
		members []any
		code    string
	}{
		"there":        {[]any{"command", []string{"sh"}}, "command_found"},
		"not there":    {[]any{"command", []string{"no-such-program-anywhere"}}, "command_missing"},
		"none":         {nil, "command_missing"},
		"incompatible": {[]any{"command", []string{agentNamed(t, "codex", "")}}, "command_incompatible"},
		"cwd":          {[]any{"command", []string{"sh"}, "cwd", ".."}, "cwd_invalid"},
	} {
		got := localcli.New().Probe(context.Background(), &runtimes.ProbeRequest{
			Root:    t.TempDir(),
			Runtime: &config.Runtime{ID: "r", Raw: ojson.NewObject(tc.members...)},
		})
		if len(got) != 1 || got[0].Code != tc.code || got[0].OK != (tc.code == "command_found") ||
			!got[0].OK && got[0].Hint == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestVersion: a known agent is asked for its version, without the person's environment, and only
// where the project could not have put another program in its place.
func TestVersion(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	put := func(dir, name, script string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ask := func(ctx context.Context, trusted bool, path, command string) runtimes.Finding {
		t.Setenv("PATH", path+":/usr/bin:/bin")
		t.Setenv("SECRET_KEY", "x")
		return localcli.New().Probe(ctx, &runtimes.ProbeRequest{Root: root, Environ: os.Environ(), Trusted: trusted,
			Runtime: &config.Runtime{ID: "r", Raw: ojson.NewObject("command", []string{command})}})[0]
	}
	ctx := context.Background()
	claude := put(bin, "claude",
		"test \"$*$SECRET_KEY\" = --version || exit 3\ntest -d \"$HOME\" && test \"$PWD\" = \"$HOME\" || exit 4\nprintf '\\n 2.1 \\033[2J(Claude).\\n'\n")
	got := ask(ctx, false, bin, "claude")
	if !got.OK || got.Path != claude || !strings.HasPrefix(got.Version, "2.1 ") ||
		strings.Contains(got.Version, "\x1b") {
		t.Errorf("%+v", got)
	}
	if got := ask(ctx, false, bin, claude); !got.OK || got.Version != "" {
		t.Errorf("a path of the configuration was started without trust: %+v", got)
	}
	if got := ask(ctx, true, bin, claude); !got.OK || got.Version == "" {
		t.Errorf("trusted: %+v", got)
	}
	put(bin, "some-agent", "echo worked; exit 0\n")
	if got := ask(ctx, true, bin, "some-agent"); !got.OK || got.Version != "" {
		t.Errorf("an unknown program was started: %+v", got)
	}
	put(bin, "aider", "echo 'no python' >&2; exit 127\n")
	if got := ask(ctx, false, bin, "aider"); got.OK || got.Code != "command_fails" ||
		!strings.HasSuffix(got.Message, ": no python") || got.Hint == "" {
		t.Errorf("%+v", got)
	}
	inside := filepath.Join(root, "bin")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	put(inside, "claude", "touch \""+root+"/started\"\n")
	if err := os.Symlink(inside, filepath.Join(bin, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{inside, filepath.Join(bin, "link")} {
		if got := ask(ctx, false, path, "claude"); !got.OK || got.Version != "" {
			t.Errorf("%+v", got)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "started")); err == nil {
		t.Error("a program of the project was started")
	}
	// A program that never ends is gone with its children when the time is up.
	put(bin, "gemini", "sleep 600 &\necho $! >\""+bin+"/child\"\nwait\n")
	short, cancel := context.WithCancel(ctx)
	go func() {
		for {
			if data, err := os.ReadFile(filepath.Join(bin, "child")); err == nil &&
				strings.HasSuffix(string(data), "\n") {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if got := ask(short, false, bin, "gemini"); !got.OK || got.Version != "" {
		t.Errorf("%+v", got)
	}
	data, err := os.ReadFile(filepath.Join(bin, "child"))
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(data))
	stat, _ := os.ReadFile("/proc/" + pid + "/stat") // a dead one stays listed until its new parent reaps it
	if exec.Command("kill", "-0", pid).Run() == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("what the agent started still runs: %s", stat)
	}
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("one\ntwo"), []byte("\x1b[31mred\x1b]0;title\x07\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		lines := 0
		w := &runtimes.LineWriter{Tell: func(n int, last string) {
			lines += n
			if strings.ContainsAny(last, "\x1b\n\r\u202e") || len([]rune(last)) > 200 {
				t.Errorf("unsafe: %q", last)
			}
		}}
		for _, p := range [][]byte{a, b, a} {
			if n, err := w.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		if want := 2*bytes.Count(a, []byte("\n")) + bytes.Count(b, []byte("\n")); lines != want {
			t.Errorf("%d lines, want %d", lines, want)
		}
	})
}
