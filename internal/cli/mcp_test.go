// The MCP server as an agent sees it: the built program behind a pipe, the SDK's client in front of it.

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// mcpProject makes a project with one role that writes and a gate for a person.
func mcpProject(t *testing.T) string {
	t.Helper()
	asAda(t)
	dir := filepath.Join(t.TempDir(), "p")
	if err := scriptProject([]string{dir,
		`roles={"dev":{"title":"Dev","mandate":"Build it.","write_authority":"authoritative","runtime":"manual"}}`,
		`runtimes={"manual":{"type":"manual"}}`,
		`routing={"build":{"entry_role":"dev","allowed_next_roles":["dev","human"],"exit_gate":"done"}}`,
		`gates={"done":{"requires_human_approval":true}}`, `prompts={}`, `workflow_kit=`, `approval_policy=`,
		`rules.challenge_required=false`,
	}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// foreground returns a file of settings that holds testrepo.UpkeepNow.
func foreground(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(name, []byte(testrepo.UpkeepNow), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// asAda gives the programs of the test an identity, and hides the machine's settings.
func asAda(t *testing.T) {
	t.Helper()
	for _, kv := range [][2]string{{"GIT_CONFIG_GLOBAL", foreground(t)}, {"GIT_CONFIG_SYSTEM", os.DevNull},
		{"AGENTXCHAIN_TURN_ID", ""},
		{"GIT_AUTHOR_NAME", "Ada"}, {"GIT_AUTHOR_EMAIL", "ada@example.org"}, {"GIT_COMMITTER_NAME", "Ada"},
		{"GIT_COMMITTER_EMAIL", "ada@example.org"}} {
		t.Setenv(kv[0], kv[1])
	}
}

// agent is a client of a server process.
type agent struct {
	t    *testing.T
	s    *mcp.ClientSession
	diag *bytes.Buffer
}

func newAgent(t *testing.T, dir string, env ...string) *agent {
	t.Helper()
	cmd := exec.Command("git-agentxchain", "-C", dir, "mcp")
	cmd.Env = append(os.Environ(), env...)
	a := &agent{t: t, diag: &bytes.Buffer{}}
	cmd.Stderr = a.diag
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	s, err := mcp.NewClient(&mcp.Implementation{
		Name:    "test",
		Version: "1",
	}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("connect: %v: %s", err, a.diag)
	}
	a.s = s
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("the server did not end well: %v: %s", err, a.diag)
		}
	})
	return a
}

// call calls a tool and returns its answer.
func (a *agent) call(tool string, args map[string]any) *ojson.Object {
	a.t.Helper()
	res, err := a.s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %v: %s", tool, err, a.diag)
	}
	if len(res.Content) != 1 {
		a.t.Fatalf("%s: %d blocks", tool, len(res.Content))
	}
	o, err := ojson.DecodeObject([]byte(res.Content[0].(*mcp.TextContent).Text))
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	if res.IsError && o.Bool("ok") {
		a.t.Errorf("%s: an error that is ok", tool)
	}
	return o
}

// ok makes a call that must succeed.
func (a *agent) ok(tool string, args map[string]any) *ojson.Object {
	a.t.Helper()
	o := a.call(tool, args)
	if !o.Bool("ok") {
		a.t.Fatalf("%s: %s", tool, ojson.Compact(o))
	}
	return o
}

func (a *agent) refused(tool string, args map[string]any, says string) *ojson.Object {
	a.t.Helper()
	o := a.call(tool, args)
	if o.Bool("ok") || !strings.Contains(o.String("error"), says) {
		a.t.Fatalf("%s: %s, want %q", tool, ojson.Compact(o), says)
	}
	return o
}

func (a *agent) resource(uri string) string {
	a.t.Helper()
	res, err := a.s.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: uri})
	if err != nil || len(res.Contents) != 1 {
		a.t.Fatalf("%s: %v", uri, err)
	}
	return res.Contents[0].Text
}

func TestMCPWholeTurn(t *testing.T) {
	dir := mcpProject(t)
	a := newAgent(t, dir)
	if st := a.ok("agentxchain_status", nil); st.String("status") != "idle" || len(st.Array("active_turns")) != 0 {
		t.Errorf("status %s", ojson.Compact(st))
	}
	a.refused("agentxchain_turn_instructions", nil, "")
	a.refused("agentxchain_approve_gate", map[string]any{"gate_id": "done"}, "No governed state found.")
	given := a.ok("agentxchain_assign_turn", map[string]any{"role": "dev"})
	turn := given.String("turn_id")
	if !given.Bool("started_run") || !strings.Contains(given.String("prompt"), turn) ||
		!strings.HasPrefix(given.String("context"), "# Execution Context") {
		t.Errorf("assigned %s", ojson.Compact(given))
	}
	again := a.ok("agentxchain_turn_instructions", map[string]any{"turn_id": turn})
	if again.String("prompt") != given.String("prompt") ||
		a.resource("agentxchain://turn/PROMPT.md") != given.String("prompt") {
		t.Error("the instructions differ")
	}
	st := a.ok("agentxchain_status", nil)
	if turns := st.Objects("active_turns"); len(turns) != 1 || turns[0].String("turn_id") != turn ||
		turns[0].String("role") != "dev" || turns[0].String("phase") != "build" {
		t.Errorf("active turns %s", ojson.Compact(st))
	}

	a.refused("agentxchain_accept_turn", nil, "no staged result")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	result := given.Object("result_template").Clone()
	for _, kv := range []any{[]any{"summary", "wrote it"}, []any{"decisions", []any{}}, []any{"objections", []any{}},
		[]any{"artifact", ojson.NewObject("type", "workspace", "ref", "git:dirty")},
		[]any{"phase_transition_request", nil}, []any{"run_completion_request", true},
		[]any{"proposed_next_role", "human"},
		[]any{"verification", ojson.NewObject("status", "pass", "commands", []any{"true"}, "evidence_summary", "ran",
			"machine_evidence", []any{ojson.NewObject("command", "true", "exit_code", 0)})}} {
		pair := kv.([]any)
		result.Set(pair[0].(string), pair[1])
	}
	result.Set("files_changed", []any{})
	stage := func() {
		t.Helper()
		var m map[string]any
		if err := json.Unmarshal(ojson.Compact(result), &m); err != nil {
			t.Fatal(err)
		}
		if got := a.ok("agentxchain_stage_result",
			map[string]any{"result": m}); got.String("staging_path") != wire.StagingPath(turn) {
			t.Errorf("staged %s", ojson.Compact(got))
		}
	}
	stage()
	// The file is not declared: the result is refused, with the reason.
	if no := a.call("agentxchain_accept_turn", nil); no.Bool("ok") ||
		!strings.Contains(no.String("error"), "no changed file is declared") {
		t.Errorf("accepted %s", ojson.Compact(no))
	}
	result.Set("files_changed", []any{"main.go"})
	stage()
	if v := a.ok("agentxchain_verify_turn", nil); !v.Bool("valid") {
		t.Errorf("verified %s", ojson.Compact(v))
	}
	done := a.ok("agentxchain_accept_turn", map[string]any{"turn_id": turn, "checkpoint": true})
	if done.Object("accepted").String("summary") != "wrote it" || done.String("checkpoint") == "" ||
		done.String("status") != "paused" {
		t.Errorf("accepted %s", ojson.Compact(done))
	}
	gates := a.ok("agentxchain_status", nil).Objects("pending_gates")
	if len(gates) != 1 || gates[0].String("gate_id") != "done" || gates[0].String("type") != "run_completion" {
		t.Errorf("pending gates %v", gates)
	}
	// A person is informed; nothing is approved, however it is asked for.
	how := a.ok("agentxchain_approve_gate", map[string]any{"gate_id": "done", "reason": "$(touch pwned)"})
	if !strings.Contains(how.String("instruction"), "git agentxchain approve") ||
		strings.Contains(string(ojson.Compact(how)), "pwned") {
		t.Errorf("approve_gate %s", ojson.Compact(how))
	}
	if s := a.ok("agentxchain_status", nil).String("status"); s != "paused" {
		t.Errorf("status %s after approve_gate", s)
	}
	for tool, member := range map[string]string{
		"agentxchain_turns":     "turns",
		"agentxchain_events":    "events",
		"agentxchain_decisions": "decisions",
		"agentxchain_history":   "entries",
		"agentxchain_gates":     "gates",
	} {
		if o := a.ok(tool, nil); !o.Has(member) {
			t.Errorf("%s: %s", tool, ojson.Compact(o))
		}
	}
	if n, _ := a.ok("agentxchain_events", map[string]any{"limit": 2}).Int("count"); n != 2 {
		t.Errorf("%d events", n)
	}
	state, err := os.ReadFile(filepath.Join(dir, ".agentxchain/state.json"))
	if err != nil || a.resource("agentxchain://state") != string(state) {
		t.Errorf("the state resource: %v", err)
	}
	if !strings.Contains(a.resource("agentxchain://events"), "turn_accepted") ||
		a.resource("agentxchain://session") == "" {
		t.Error("resources")
	}
	// What was done through the server is recorded as done by an agent.
	out, err := exec.Command("git-agentxchain", "-C", dir, "log", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	ops, err := ojson.DecodeObject(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range ops.Objects("operations") {
		one, err := exec.Command("git-agentxchain", "-C", dir, "show", op.String("op"), "--json").Output()
		if err != nil || !bytes.Contains(one, []byte(`"inside_turn":"mcp-client"`)) {
			t.Errorf("%s was done by whom? %v", op.String("kind"), err)
		}
	}
	person := exec.Command("git-agentxchain", "-C", dir, "approve")
	if out, err := person.CombinedOutput(); err != nil {
		t.Errorf("a person approves: %v %s", err, out)
	}
	if s := a.ok("agentxchain_status", nil).String("status"); s != "completed" {
		t.Errorf("status %s after the approval", s)
	}
	if out, err := exec.Command("git-agentxchain", "-C", dir, "fsck", "--replay").CombinedOutput(); err != nil {
		t.Errorf("fsck: %v %s", err, out)
	}
}

func TestMCPEscalateAndReject(t *testing.T) {
	dir := mcpProject(t)
	a := newAgent(t, dir)
	a.refused("agentxchain_reject_turn", nil, "reason is required")
	turn := a.ok("agentxchain_assign_turn", nil).String("turn_id")
	if got := a.ok("agentxchain_reject_turn",
		map[string]any{"reason": "not good enough"}); got.String("turn_id") != turn {
		t.Errorf("rejected %s", ojson.Compact(got))
	} else if n, _ := got.Int("attempt"); n != 2 {
		t.Errorf("attempt %d", n)
	}
	a.refused("agentxchain_approve_gate", map[string]any{"gate_id": "hesc_1"},
		`Run is not blocked (status: "active"). Nothing to approve.`)
	id := a.ok("agentxchain_escalate", map[string]any{
		"reason": "which database?",
		"detail": "both are fine",
	}).String("escalation_id")
	if st := a.ok("agentxchain_status", nil); !st.Bool("blocked") || st.String("blocked_on") == "" {
		t.Errorf("status %s", ojson.Compact(st))
	}
	a.refused("agentxchain_approve_gate", map[string]any{"gate_id": "hesc_nobody"},
		"No open escalation found for hesc_nobody.")
	a.refused("agentxchain_approve_gate", nil, "gate_id is required.")
	if how := a.ok("agentxchain_approve_gate",
		map[string]any{"gate_id": id}); !strings.Contains(how.String("instruction"), "git agentxchain unblock "+id) {
		t.Errorf("approve_gate %s", ojson.Compact(how))
	}
	if in := a.ok("agentxchain_intake_record", map[string]any{
		"source": "me",
		"title":  `"; rm -rf / #`,
	}); strings.Contains(in.String("instruction"), "rm -rf") ||
		!strings.Contains(in.String("instruction"), "git agentxchain inject") {
		t.Errorf("intake %s", ojson.Compact(in))
	}
	a.refused("agentxchain_intake_record", map[string]any{
		"source": "me",
		"title":  " ",
	}, "Both source and title are required.")
}

func TestMCPWithoutAProject(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	dir := t.TempDir()
	a := newAgent(t, dir)
	o := a.refused("agentxchain_status", nil, "No governed project found at "+dir+": ")
	if !strings.Contains(o.String("hint"), "git-agentxchain -C DIRECTORY mcp") {
		t.Errorf("%s", ojson.Compact(o))
	}
	if _, err := a.s.ReadResource(context.Background(),
		&mcp.ReadResourceParams{URI: "agentxchain://state"}); err == nil {
		t.Error("a state of nothing")
	}
}

// Inside and outside a dispatched turn, a client can do no more than an agent may.
func TestMCPOffersNoApproval(t *testing.T) {
	a := newAgent(t, mcpProject(t))
	for tool, err := range a.s.Tools(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"unblock", "trust", "restore", "approve_transition", "approve_completion"} {
			if strings.Contains(tool.Name, word) {
				t.Errorf("%s is offered", tool.Name)
			}
		}
		if tool.Name == "agentxchain_approve_gate" && !tool.Annotations.ReadOnlyHint {
			t.Error("approve_gate writes")
		}
		schema, _ := json.Marshal(tool.InputSchema)
		if !bytes.Contains(schema, []byte(`"additionalProperties":false`)) {
			t.Errorf("%s takes anything: %s", tool.Name, schema)
		}
	}
}

// TestMCPHostileClient sends what no client should. The server answers the next requests normally.
func TestMCPHostileClient(t *testing.T) {
	testrepo.Serving(t)
	dir := mcpProject(t)
	cmd := exec.Command("git-agentxchain", "-C", dir, "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	send := func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatalf("%.80s: %v: %s", line, err, out.Bytes())
		}
	}
	send(`{"jsonrpc":"2.0","id":"early","method":"tools/call","params":{"name":"agentxchain_status"}}`)
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"evil","version":"0"}}}`)
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	call := func(id int, name, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id,
			name, args)
	}
	for _, line := range []string{
		"", "   ", "null", "[]", "{", "}", `"text"`, "12", "{}", `{"jsonrpc":"1.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		"\x00\x01\xff\xfe", strings.Repeat("[", 1<<20), strings.Repeat("x", 1<<20), strings.Repeat("y", 13<<20),
		`{"jsonrpc":"2.0","id":999,"result":{}}`,
		`[{"jsonrpc":"2.0","id":50,"method":"ping"},{"jsonrpc":"2.0","id":51,"method":"ping"}]`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`,
		`{"jsonrpc":"2.0","id":60,"method":"no/such/method"}`,
		`{"jsonrpc":"2.0","id":61,"method":"tools/call","params":[]}`,
		`{"jsonrpc":"2.0","id":62,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":63,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`,
		`{"jsonrpc":"2.0","id":64,"method":"resources/read","params":{"uri":"agentxchain://../../etc/passwd"}}`,
		call(70, "nope", "{}"), call(71, "agentxchain_events", `{"limit":"all"}`),
		call(72, "agentxchain_events", `{"limit":1e99}`), call(73, "agentxchain_events", `{"limit":-1}`),
		call(74, "agentxchain_status", `{"verbose":true}`), call(75, "agentxchain_status", `[1]`),
		call(76, "agentxchain_stage_result", `{"result":[1]}`),
		call(77, "agentxchain_stage_result", `{"result":"not json"}`),
		call(78, "agentxchain_verify_turn", `{"turn_id":"../../../etc"}`),
		call(79, "agentxchain_turn_instructions", `{"turn_id":"`+strings.Repeat("a", 300)+`"}`),
		call(80, "agentxchain_reject_turn", `{"reason":"`+strings.Repeat("b", 70000)+`"}`),
		call(81, "agentxchain_stage_result", `{"result":{"a":"`+strings.Repeat("c", 9<<20)+`"}}`),
		call(82, "agentxchain_stage_result", `{"result":`+strings.Repeat(`{"a":`, 500)+"1"+strings.Repeat("}", 500)+
			`}`), call(83, "agentxchain_status", `{"a":1,"a":2}`),
	} {
		send(line)
	}
	for id := 1000; id < 1200; id++ { // many at once, and some with the same number
		send(call(id/2, "agentxchain_status", "{}"))
	}
	send(call(9999, "agentxchain_status", "{}"))
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("the server ended with %v: %.2000s", err, out.Bytes())
		}
	case <-time.After(60 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("the server does not end")
	}
	var last string
	answers := make(map[string]string)
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("the server printed %.200s", line)
		}
		answers[string(m.ID)] = line
		last = line
	}
	if !strings.Contains(answers["9999"], `\"ok\": true`) {
		t.Errorf("the last call: %.300s (last line %.300s)", answers["9999"], last)
	}
	for id, wants := range map[string]string{
		"60": "-32601",
		"63": `"error"`,
		"64": `"error"`,
		"70": "-32602",
		"71": "whole number",
		"72": "whole number",
		"73": "whole number",
		"74": "takes no argument",
		"75": "JSON object",
		"76": "must be a JSON object",
		"77": `\"ok\": false`,
		"78": `\"ok\": false`,
		"79": "longer than",
		"80": "longer than",
		"81": `\"ok\": false`,
		"82": `cannot be read`,
		"83": "cannot be read",
	} {
		if !strings.Contains(answers[id], wants) {
			t.Errorf("%s: %.300s, want %s", id, answers[id], wants)
		}
	}
}
