// A real MCP server in a process of its own: this test binary, started again.

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/git-agentxchain/git-agentxchain/internal/testleak"
)

const modeVariable = "MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		serveMode(mode)
		return
	}
	// The SDK's server in these tests keeps state for a client that went away; that is not ours.
	testleak.Main(m,
		goleak.IgnoreAnyFunction("github.com/modelcontextprotocol/go-sdk/mcp.(*streamableServerConn).Read"))
}

func serveMode(mode string) {
	switch mode {
	case "mute": // answers nothing and ignores requests to end
		_ = exec.Command("sleep", "600").Start()
		select {}
	case "dead":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case "flood":
		junk := []byte(strings.Repeat("all work and no play ", 4000) + "\n")
		for {
			_, _ = os.Stdout.Write(junk)
		}
	case "long": // one line without an end
		junk := make([]byte, 1<<20)
		for i := range junk {
			junk[i] = 'x'
		}
		for {
			_, _ = os.Stdout.Write(junk)
		}
	case "asks": // asks more than it reads answers to
		for n := 1; ; n++ {
			_, _ = fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n", n)
		}
	case "raw":
		rawServer()
		return
	}
	if mode == "banner" {
		fmt.Println("Welcome to the server! {not json}")
		fmt.Fprintln(os.Stderr, "listening on stdio")
	}
	_ = newServer(mode).Run(context.Background(), &mcp.StdioTransport{})
}

// newServer returns a server made with the SDK.
func newServer(mode string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test-agent", Version: "1"}, nil)
	name := DefaultTool
	if mode == "other-tool" {
		name = "something_else"
	}
	if mode == "no-tool" {
		return s
	}
	s.AddTool(&mcp.Tool{
		Name:        name,
		InputSchema: map[string]any{"type": "object"},
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var args map[string]any
		if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
			return nil, err
		}
		return answer(ctx, mode, args, req)
	})
	return s
}

func answer(ctx context.Context, mode string, args map[string]any, req *mcp.CallToolRequest) (*mcp.CallToolResult,
	error) {
	result := map[string]any{
		"schema_version": "1.0",
		"run_id":         args["run_id"],
		"turn_id":        args["turn_id"],
		"role":           args["role"],
		"runtime_id":     args["runtime_id"],
		"status":         "completed",
		"summary":        "done",
		"zz_unknown":     12345678901234567,
		"arguments":      args,
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	switch mode {
	case "text":
		data, _ := json.Marshal(result)
		r := text("Here you are:")
		r.Content = append(r.Content, &mcp.TextContent{Text: string(data)})
		return r, nil
	case "prose":
		return text("I have finished my work."), nil
	case "nothing":
		return &mcp.CallToolResult{}, nil
	case "error":
		r := text("the model is on holiday")
		r.IsError = true
		return r, nil
	case "error-mute":
		return &mcp.CallToolResult{IsError: true}, nil
	case "poor": // structured, but not a turn result
		return &mcp.CallToolResult{StructuredContent: map[string]any{"status": "completed"}}, nil
	case "crash":
		fmt.Fprintln(os.Stderr, "segmentation fault, politely")
		os.Exit(139)
	case "protocol":
		return nil, fmt.Errorf("refused by the handler")
	case "slow":
		for i := range 600 {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(),
				Progress:      float64(i),
				Message:       fmt.Sprintf("step %d\x1b[31m", i),
			})
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(20 * time.Millisecond):
			}
			if i == 40 && args["role"] == "patient" { // after more than lastWords
				return &mcp.CallToolResult{StructuredContent: result}, nil
			}
		}
	case "worker": // edits a real file; its first attempt forgets to declare it
		path := filepath.Join(args["project_root"].(string), "work.txt")
		before, _ := os.ReadFile(path)
		if err := os.WriteFile(path, append(before, args["turn_id"].(string)+"\n"...), 0o644); err != nil {
			return nil, err
		}
		files := []string{"work.txt"}
		if !strings.Contains(args["prompt"].(string), "Previous Attempt Failed") {
			files = []string{}
		}
		delete(result, "arguments")
		maps.Copy(result, map[string]any{
			"decisions":         []any{},
			"objections":        []any{},
			"files_changed":     files,
			"artifacts_created": []any{},
			"artifact":          map[string]any{"type": "workspace", "ref": "git:dirty"},
			"verification": map[string]any{
				"status":           "pass",
				"commands":         []string{"true"},
				"evidence_summary": "ran",
				"machine_evidence": []any{map[string]any{"command": "true", "exit_code": 0}},
			},
			"proposed_next_role":       "dev",
			"phase_transition_request": nil,
			"run_completion_request":   false,
			"needs_human_reason":       nil,
		})
	case "env":
		result["environment"] = os.Environ()
		wd, _ := os.Getwd()
		result["directory"] = wd
	}
	return &mcp.CallToolResult{StructuredContent: result}, nil
}

// rawServer speaks the protocol by hand, in an old version and in an odd order.
func rawServer() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			continue
		}
		reply := func(result string) {
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", m.ID, result)
		}
		switch m.Method {
		case "initialize":
			reply(`{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}`)
		case "tools/list":
			reply(`{"tools":[{"name":"agentxchain_turn","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			fmt.Println(`{"jsonrpc":"2.0","id":"nobody asked","result":{}}`)
			fmt.Println(`{"jsonrpc":"2.0","id":99999,"result":{"structuredContent":{"schema_version":"1.0","turn_id":"wrong","status":"completed"}}}`)
			fmt.Println(`{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{}}`)
			reply(`{"toolResult":{"schema_version":"1.0","turn_id":"turn_1","status":"completed","b":1,"a":12345678901234567890}}`)
		}
	}
}
