package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testleak"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// TestMain is also the server of the tests that kill it.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		os.Exit(serve(os.Args[2]))
	}
	testrepo.Isolate()
	_ = os.Unsetenv(runner.TurnMarker)
	testleak.Main(m) // no test leaves a goroutine
}

func serve(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := server.New(ctx, dir, options(func(o *server.Options) {
		o.Log = slog.New(slog.NewJSONHandler(os.Stderr, nil))
	}))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = s.Close() }()
	l, err := server.Listen(ctx, "0", "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("http://" + l.Addr().String())
	if err := s.Serve(ctx, l); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func options(edit func(*server.Options)) server.Options {
	o := server.Options{
		Service:   alx.Service{Name: "test", Version: "0"},
		Heartbeat: 50 * time.Millisecond,
		Grace:     2 * time.Second,
		Runner:    runner.Options{Trust: true},
	}
	if edit != nil {
		edit(&o)
	}
	return o
}

// agent is a program that carries out turns: it notes its turn in a file of the phase and moves the
// run on. A phase named in WAIT_<phase> waits for that file first.
const agent = `#!/bin/sh
set -eu
turn=$AGENTXCHAIN_TURN_ID
field() { sed -n "s/^  \"$1\": \"\(.*\)\",*$/\1/p" ".agentxchain/dispatch/turns/$turn/ASSIGNMENT.json" | head -n 1; }
now=$(field phase) next=null done=null
echo "at work in $now for ${AGENTXCHAIN_CORRELATION_ID:-none}"
while [ -n "${ALX_GATE:-}" ] && [ ! -e "$ALX_GATE/$now" ]; do sleep 0.02; done
case $now in
plan) next='"build"' ;;
build) next='"ship"' ;;
ship) done=true ;;
esac
mkdir -p notes
echo "$turn" >>"notes/$now.txt"
sed -n '/^## Project Goal/,/^## /p' ".agentxchain/dispatch/turns/$turn/CONTEXT.md" >notes/goal.txt
cat >".agentxchain/staging/$turn/turn-result.json" <<JSON
{"schema_version": "1.0", "run_id": "$(field run_id)", "turn_id": "$turn", "role": "$(field role)", "runtime_id": "$(field runtime_id)",
 "status": "completed", "summary": "did $now", "decisions": [], "objections": [], "files_changed": ["notes/$now.txt", "notes/goal.txt"], "artifacts_created": [],
 "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "It was run.", "machine_evidence": [{"command": "true", "exit_code": 0}]},
 "artifact": {"type": "workspace", "ref": null}, "proposed_next_role": "dev", "phase_transition_request": $next, "run_completion_request": $done,
 "needs_human_reason": null, "cost": {"input_tokens": 10, "output_tokens": 5, "usd": 0.25}}
JSON
echo "done"
`

// project makes a governed repository of the given phases (of plan, build, ship, in that order)
// whose only role is carried out by a shell script.
func project(t testing.TB, o testrepo.Options, phases []string, edit func(cfg *ojson.Object)) *testrepo.Repo {
	t.Helper()
	repo := testrepo.New(t, o)
	if _, err := testproject.Init(context.Background(), repo.Dir,
		runner.ProjectOptions{ID: "proj", Goal: "The project's own goal"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(repo.Path(wire.ConfigPath))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"approval_policy", "budget", "workflow_kit", "prompts", "policies"} {
		cfg.Delete(k)
	}
	routing, gates := &ojson.Object{}, &ojson.Object{}
	for _, p := range phases {
		routing.Set(p, ojson.NewObject("entry_role", "dev", "allowed_next_roles", []string{"dev", "human"},
			"exit_gate", p+"_done"))
		gates.Set(p+"_done", &ojson.Object{})
	}
	cfg.Set("roles", ojson.NewObject("dev", ojson.NewObject("title", "Developer", "mandate", "Build.",
		"write_authority", "authoritative", "runtime", "sh")))
	cfg.Set("runtimes",
		ojson.NewObject("sh", ojson.NewObject("type", "local_cli", "command", []string{"sh", "agent.sh"})))
	cfg.Set("routing", routing)
	cfg.Set("gates", gates)
	cfg.Set("rules", ojson.NewObject("challenge_required", false, "max_turn_retries", 3))
	if edit != nil {
		edit(cfg)
	}
	repo.Write("agent.sh", agent)
	repo.Write(wire.ConfigPath, string(ojson.Pretty(cfg)))
	repo.Remove(string(wire.DocState))
	repo.CommitAll("governed project")
	return repo
}

// service is a server in this process.
type service struct {
	t    testing.TB
	url  string
	stop func()
	s    *server.Server
}

func start(t testing.TB, dir string, edit func(*server.Options)) *service {
	t.Helper()
	s, err := server.New(context.Background(), dir, options(edit))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	v := &service{t: t, url: "http://" + l.Addr().String(), s: s}
	v.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		v.stop = func() {}
	}
	t.Cleanup(func() { v.stop() })
	return v
}

// child is a server in a process of its own.
type child struct {
	t   testing.TB
	cmd *exec.Cmd
	url string
	log *bytes.Buffer
}

func spawn(t testing.TB, dir string, env ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], "serve", dir), log: &bytes.Buffer{}}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = c.log
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = c.cmd.Wait()
		t.Fatalf("the server did not come up: %v\n%s", err, c.log)
	}
	c.url = strings.TrimSpace(line)
	return c
}

func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
}

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   *ojson.Object
	raw    []byte
}

func (a *answer) code() string { return a.body.Object("error").String("code") }

func ask(t testing.TB, method, url string, body string, header ...string) *answer {
	t.Helper()
	a, err := try(method, url, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func try(method, url, body string, header ...string) (*answer, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := &answer{status: resp.StatusCode, header: resp.Header}
	if a.raw, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	if len(a.raw) > 0 && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if a.body, err = ojson.DecodeObject(a.raw); err != nil {
			return nil, fmt.Errorf("%s %s: %w in %s", method, url, err, a.raw)
		}
	}
	return a, nil
}

func solveBody(t testing.TB, members ...any) string {
	t.Helper()
	o := map[string]any{}
	for i := 0; i+1 < len(members); i += 2 {
		o[members[i].(string)] = members[i+1]
	}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// until polls a session until it is as wanted.
func until(t testing.TB, url, id string, want func(*alx.SessionResponse) bool) *alx.SessionResponse {
	t.Helper()
	var last *alx.SessionResponse
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		a := ask(t, "GET", url+alx.SessionPath(id), "")
		if a.status != http.StatusOK {
			t.Fatalf("session %s: %d %s", id, a.status, a.raw)
		}
		s, err := alx.Decoder{Strict: true}.SessionResponse(a.raw)
		if err != nil {
			t.Fatalf("%v in %s", err, a.raw)
		}
		if last = s; want(s) {
			return s
		}
	}
	t.Fatalf("session %s stays %+v", id, last.Session)
	return nil
}

// follow reads an event stream until it ends or stop says so, and returns the events and the id of
// the last one.
func follow(t testing.TB, url, run, last string, stop func(*alx.RunEvent) bool) (events []alx.RunEvent, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url+alx.RunEventsPath(run), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", alx.MediaEventStream)
	if last != "" {
		req.Header.Set(alx.HeaderLastEventID, last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, false // the server is gone; a follower reconnects
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != alx.MediaEventStream {
		t.Errorf("events of %s: %s %v", run, resp.Status, resp.Header)
		return nil, true
	}
	lines := bufio.NewReader(resp.Body)
	var id, typ, data string
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		line = strings.TrimSuffix(line, "\n")
		switch key, value, _ := strings.Cut(line, ": "); {
		case key == "id":
			id = value
		case key == "event":
			typ = value
		case key == "data":
			data = value
		case line == "" && data != "":
			e, err := alx.Decoder{Strict: true}.RunEvent([]byte(data))
			if err != nil {
				t.Errorf("%v in %s", err, data)
				return events, true
			}
			if e.ID != id || string(e.Type) != typ {
				t.Errorf("frame %s %s holds %s", id, typ, data)
			}
			data = ""
			events = append(events, *e)
			if e.Type.Ends() {
				ended = true
			} else if stop != nil && stop(e) {
				return events, false
			}
		}
	}
	return events, ended
}

// inOrder checks that events are numbered from 1 without a gap, each with an id of its own, and
// that they begin and end as they must.
func inOrder(t testing.TB, run string, events []alx.RunEvent) {
	t.Helper()
	seen := make(map[string]bool)
	for i, e := range events {
		if e.Sequence != int64(i+1) || seen[e.ID] || e.RunID != run {
			t.Fatalf("run %s: event %d is %+v", run, i+1, e)
		}
		seen[e.ID] = true
	}
	if n := len(events); n == 0 || events[0].Type != alx.RunStarted || events[n-1].Type != alx.RunCompleted ||
		events[n-1].OK == nil || !*events[n-1].OK {
		t.Fatalf("run %s: %d events: %+v", run, n, events)
	}
}

func workspace(repo *testrepo.Repo, id string) string {
	found, _ := filepath.Glob(filepath.Join(repo.Main, ".git", "agentxchain", "serve", "*", "work", id))
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
