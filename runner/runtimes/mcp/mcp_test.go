// Turns carried out by real servers, over both transports, and by faulty ones.

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// world is one dispatch.
type world struct {
	t    *testing.T
	req  *runtimes.Request
	log  *syncBuffer
	mu   sync.Mutex
	acts []runtimes.Activity
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newWorld(t *testing.T, options ...any) *world {
	t.Helper()
	w := &world{t: t, log: &syncBuffer{}}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	raw := ojson.NewObject(append([]any{"type", "mcp"}, options...)...)
	w.req = &runtimes.Request{Root: root, RunID: "run_1", TurnID: "turn_1", Role: "dev", Phase: "build", Attempt: 1,
		Runtime:   &config.Runtime{ID: "agent", Type: "mcp", Raw: raw},
		BundleDir: ".agentxchain/dispatch/turns/turn_1", StagingPath: ".agentxchain/staging/turn_1/turn-result.json",
		Prompt: []byte("# Do it"), Context: []byte("ctx"), Deadline: time.Now().Add(
			time.Minute), Log: w.log, Getenv: os.Getenv, Environ: os.Environ(),
		Activity: func(a runtimes.Activity) { w.mu.Lock(); w.acts = append(w.acts, a); w.mu.Unlock() }}
	return w
}

// local returns a world whose server is this binary in the given mode.
func local(t *testing.T, mode string, options ...any) *world {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, append([]any{"command", []any{exe}}, options...)...)
	w.req.Environ = append(os.Environ(), modeVariable+"="+mode)
	return w
}

func (w *world) dispatch(ctx context.Context) *runtimes.Outcome {
	w.t.Helper()
	r, err := New(w.req.Runtime)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Dispatch(ctx, w.req)
}

func TestStdioOutcomes(t *testing.T) {
	for _, c := range []struct{ mode, kind, class, reason string }{
		{"structured", runtimes.Returned, "", ""},
		{"text", runtimes.Returned, "", ""},
		{"banner", runtimes.Returned, "", ""},
		{"raw", runtimes.Returned, "", ""},
		{"prose", runtimes.Rejected, "",
			"MCP tool returned text content, but none of the text blocks contained valid turn-result JSON."},
		{"nothing", runtimes.Rejected, "",
			"MCP tool returned no structuredContent and no text content blocks containing a turn result."},
		{"poor", runtimes.Rejected, "",
			"MCP tool returned no structuredContent and no text content blocks containing a turn result."},
		{"error", runtimes.Rejected, "", `MCP tool "agentxchain_turn" returned an error: the model is on holiday`},
		{"error-mute", runtimes.Rejected, "",
			`MCP tool "agentxchain_turn" returned an error without diagnostic text.`},
		{"other-tool", runtimes.Blocked, ClassToolMissing,
			`MCP server does not expose required tool "agentxchain_turn". Available tools: something_else`},
		{"no-tool", runtimes.Blocked, "", ""},
		{"crash", runtimes.Blocked, ClassConnection, "segmentation fault, politely"},
		{"dead", runtimes.Blocked, ClassConnection, "no licence found"},
		{"protocol", runtimes.Blocked, ClassProtocol, "refused by the handler"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			w := local(t, c.mode)
			out := w.dispatch(context.Background())
			if out.Kind != c.kind || c.class != "" && out.Class != c.class || !strings.Contains(out.Reason, c.reason) {
				t.Fatalf("outcome %+v, want %s %s %q", out, c.kind, c.class, c.reason)
			}
			if out.Kind != runtimes.Returned {
				if out.Kind == runtimes.Blocked && !strings.HasSuffix(out.Recovery, "git agentxchain unblock") {
					t.Error("nothing says what to do")
				}
				return
			}
			o, err := ojson.DecodeObject(out.Result)
			if err != nil || !runtimes.HasEnvelope(o) || o.String("turn_id") != "turn_1" {
				t.Fatalf("result %s: %v", out.Result, err)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	w := local(t, "structured")
	out := w.dispatch(context.Background())
	o, err := ojson.DecodeObject(out.Result)
	if err != nil {
		t.Fatal(err, out)
	}
	args := o.Object("arguments")
	dir := filepath.Join(w.req.Root, ".agentxchain/dispatch/turns/turn_1")
	want := map[string]string{
		"run_id":          "run_1",
		"turn_id":         "turn_1",
		"role":            "dev",
		"phase":           "build",
		"runtime_id":      "agent",
		"project_root":    w.req.Root,
		"dispatch_dir":    dir,
		"assignment_path": dir + "/ASSIGNMENT.json",
		"prompt_path":     dir + "/PROMPT.md",
		"context_path": dir +
			"/CONTEXT.md",
		"staging_path": filepath.Join(w.req.Root,
			".agentxchain/staging/turn_1/turn-result.json"),
		"prompt":  "# Do it",
		"context": "ctx",
	}
	if args.Len() != len(want) {
		t.Errorf("%d arguments: %v", args.Len(), args.Keys())
	}
	for k, v := range want {
		if args.String(k) != v {
			t.Errorf("%s = %q, want %q", k, args.String(k), v)
		}
	}
	if _, err := os.Stat(filepath.Join(w.req.Root, ".agentxchain/staging")); err == nil {
		t.Error("the runtime has written to the project")
	}
}

// What the SDK's decoding would lose is still there: order, long numbers, toolResult.
func TestResultIsKeptAsItCame(t *testing.T) {
	out := local(t, "raw").dispatch(context.Background())
	if !bytes.Contains(out.Result, []byte("12345678901234567890")) ||
		bytes.Index(out.Result, []byte(`"b"`)) > bytes.Index(out.Result, []byte(`"a"`)) {
		t.Errorf("result %s", out.Result)
	}
}

func TestEnvironmentAndDirectory(t *testing.T) {
	w := local(t, "env", "cwd", "sub dir")
	if err := os.Mkdir(filepath.Join(w.req.Root, "sub dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.req.Environ = append(w.req.Environ, "AGENTXCHAIN_TURN_ID=turn_1")
	out := w.dispatch(context.Background())
	o, _ := ojson.DecodeObject(out.Result)
	if o.String("directory") != filepath.Join(w.req.Root, "sub dir") {
		t.Errorf("directory %q (%+v)", o.String("directory"), out)
	}
	if !strings.Contains(fmt.Sprint(o.Strings("environment")), "AGENTXCHAIN_TURN_ID=turn_1") {
		t.Error("the server does not know that it works on a turn")
	}
}

func TestProgramMissing(t *testing.T) {
	w := newWorld(t, "command", "no-such-program-anywhere", "args", []any{"x"})
	out := w.dispatch(context.Background())
	if out.Kind != runtimes.Blocked || out.Class != ClassStart || out.Failure != "runtime_spawn_failed" {
		t.Errorf("outcome %+v", out)
	}
	r, _ := New(w.req.Runtime)
	f := r.Probe(context.Background(), &runtimes.ProbeRequest{
		Root:    w.req.Root,
		Environ: os.Environ(),
		Getenv:  os.Getenv,
	})
	if len(f) != 1 || f[0].OK || f[0].Code != "command_missing" {
		t.Errorf("findings %+v", f)
	}
}

func TestProbe(t *testing.T) {
	for mode, want := range map[string]string{
		"structured": "reachable",
		"other-tool": "tool_missing",
		"dead":       "unreachable",
	} {
		w := local(t, mode)
		r, _ := New(w.req.Runtime)
		f := r.Probe(context.Background(), &runtimes.ProbeRequest{
			Root:    w.req.Root,
			Environ: w.req.Environ,
			Getenv:  os.Getenv,
			Online:  true,
		})
		if len(f) != 1 || f[0].Code != want || f[0].OK != (want == "reachable") {
			t.Errorf("%s: %+v", mode, f)
		}
	}
}

func TestProbeEnds(t *testing.T) {
	testrepo.Serving(t)
	probeLimit = 300 * time.Millisecond
	t.Cleanup(func() { probeLimit = 15 * time.Second })
	for _, mode := range []string{"mute", "asks"} {
		w := local(t, mode)
		r, _ := New(w.req.Runtime)
		f := r.Probe(t.Context(), &runtimes.ProbeRequest{Root: w.req.Root, Environ: w.req.Environ, Online: true})
		if len(f) != 1 || f[0].OK || f[0].Message != "The MCP server had not answered after 300ms." {
			t.Errorf("%s: %+v", mode, f)
		}
		w.gone()
	}
}

func TestDeadlineEndsTheServerAndItsChildren(t *testing.T) {
	testrepo.Serving(t)
	for _, mode := range []string{"mute", "asks"} {
		t.Run(mode, func(t *testing.T) {
			w := local(t, mode)
			w.req.Deadline = time.Now().Add(400 * time.Millisecond)
			out := w.dispatch(context.Background())
			if out.Kind != runtimes.TimedOut || out.Signal == "" && out.Exit == nil {
				t.Fatalf("outcome %+v", out)
			}
			w.gone()
		})
	}
}

// gone checks that no process works in the project any more.
func (w *world) gone() {
	w.t.Helper()
	names, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, n := range names {
		if dir, err := os.Readlink(n); err == nil && dir == w.req.Root {
			w.t.Errorf("%s still works in %s", n, dir)
		}
	}
}

func TestGivenUp(t *testing.T) {
	w := local(t, "slow")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	if out := w.dispatch(ctx); out.Kind != runtimes.Aborted {
		t.Fatalf("outcome %+v", out)
	}
	w.gone()
}

func TestProgressIsActivity(t *testing.T) {
	testrepo.Serving(t)
	w := local(t, "slow")
	w.req.Role = "patient"
	out := w.dispatch(context.Background())
	if out.Kind != runtimes.Returned {
		t.Fatalf("outcome %+v", out)
	}
	seen, pid := false, 0
	for _, a := range w.acts {
		seen = seen || a.Type == "heartbeat" && strings.HasPrefix(a.Line, "step ") && !strings.Contains(a.Line, "\x1b")
		pid = max(pid, a.PID)
	}
	if !seen || pid == 0 {
		t.Errorf("activities %+v", w.acts)
	}
}

func TestFloods(t *testing.T) {
	testrepo.Serving(t)
	for _, mode := range []string{"flood", "long"} {
		t.Run(mode, func(t *testing.T) {
			w := local(t, mode)
			w.req.Log = io.Discard
			out := w.dispatch(context.Background())
			if out.Kind != runtimes.Blocked {
				t.Fatalf("outcome %+v", out)
			}
			w.gone()
		})
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		raw string
		ok  bool
	}{
		{`{"command": "x"}`, true}, {`{"command": ["x", "y"], "args": ["z"]}`, true}, {`{}`, false},
		{`{"command": ""}`, false},
		{`{"transport": "carrier_pigeon", "command": "x"}`, false},
		{`{"transport": "streamable_http", "url": "ftp://x"}`, false}, {`{"transport": "streamable_http"}`, false},
		{`{"transport": "streamable_http", "url": "https://x/y"}`, true},
	} {
		o, err := ojson.DecodeObject([]byte(c.raw))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(&config.Runtime{ID: "r", Raw: o}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.raw, err)
		}
	}
}

func FuzzInterpret(f *testing.F) {
	f.Add([]byte(`{"structuredContent":{"schema_version":"1.0","turn_id":"t","status":"completed"}}`))
	f.Add([]byte(`{"toolResult":{"content":[{"type":"text","text":"{}"}]},"isError":true}`))
	f.Add([]byte(`{"content":[{"type":"text","text":"{\"schema_version\":\"1\",\"run_id\":\"r\",\"role\":\"d\"}"},7,null]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		result, problem := interpret("tool", raw)
		if (result == nil) == (problem == "") {
			t.Fatalf("result %q, problem %q", result, problem)
		}
		if result != nil {
			v, err := ojson.Decode(result)
			if err != nil || !runtimes.HasEnvelope(v) {
				t.Fatalf("%s is no turn result", result)
			}
		}
		if !json.Valid([]byte(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(problem) + `"`)) {
			t.Fatalf("problem %q is no single line", problem)
		}
	})
}
