// The MCP server under load: requests of broken or hostile agents, and agents that do not listen.

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// mcpPipe is one end of the pipes of an MCP server, shared by all its users.
type mcpPipe struct {
	l  *underLoad
	mu sync.Mutex // of the writer
	n  int

	waiting sync.Map // id -> chan json.RawMessage
}

const mcpHello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func (p *mcpPipe) read() {
	r := bufio.NewReaderSize(p.l.out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     any
			Result json.RawMessage
			Error  json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil {
			p.l.t.Errorf("no JSON: %.200s", line)
			continue
		}
		if to, ok := p.waiting.LoadAndDelete(m.ID); ok {
			to.(chan json.RawMessage) <- m.Result
		}
	}
}

// send writes one line, which need not be a message.
func (p *mcpPipe) send(text []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.l.in.Write(text)
	return err
}

// call sends a request and waits for the answer.
func (p *mcpPipe) call(method, params string) (json.RawMessage, error) {
	p.mu.Lock()
	p.n++
	id := fmt.Sprintf("good-%d", p.n)
	p.mu.Unlock()
	answer := make(chan json.RawMessage, 1)
	p.waiting.Store(id, answer)
	if err := p.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`+"\n", id, method,
		params)); err != nil {
		return nil, err
	}
	select {
	case got := <-answer:
		return got, nil
	case <-time.After(2 * time.Minute):
		return nil, errors.New("no answer")
	}
}

// TestSurviveLoadAgents puts the MCP server under load.
func TestSurviveLoadAgents(t *testing.T) {
	testrepo.Serving(t)
	dir := mcpProject(t)
	mustAt(t, dir, "git-agentxchain", "assign", "dev")
	l := startLoaded(t, dir, "mcp")
	p := &mcpPipe{l: l}
	go p.read()
	if err := p.send([]byte(mcpHello)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ method, params, want string }{
		"status": {"tools/call", `{"name":"agentxchain_status","arguments":{}}`, "run_id"},
		"tools":  {"tools/list", `{}`, "agentxchain_stage_result"},
		"ping":   {"ping", `{}`, "{}"},
	} {
		l.asks[name] = func() error {
			got, err := p.call(c.method, c.params)
			if err == nil && !bytes.Contains(got, []byte(c.want)) {
				err = fmt.Errorf("%.300s", got)
			}
			return err
		}
	}
	bad := func(name string, every time.Duration, text func() []byte) {
		l.sorts[name] = &sort{at: 1, do: func(ctx context.Context, _ *sort) {
			_ = p.send(append(text(), '\n'))
			select {
			case <-ctx.Done():
			case <-time.After(every):
			}
		}}
	}
	long := []byte(`{"jsonrpc":"2.0","id":"long","method":"` + strings.Repeat("a", 64<<20) + `"}`)
	tool := func(arguments string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":"bad","method":"tools/call","params":{"name":"agentxchain_stage_result","arguments":` + arguments + `}}`)
	}
	bad("garbage", 0, func() []byte { return bytes.ReplaceAll(noise(rand.IntN(5000)), []byte("\n"), []byte("x")) })
	bad("line of 64 MB", time.Second, func() []byte { return long })
	bad("line of 11 MB", time.Second, func() []byte {
		return tool(`{"result":"` + strings.Repeat("a", 11<<20) + `"}`)
	})
	bad("deep", time.Second, func() []byte { return []byte(strings.Repeat("[", 1<<20)) })
	bad("deep arguments", time.Second, func() []byte {
		return tool(strings.Repeat(`{"result":[`, 100_000) + strings.Repeat(`]}`, 100_000))
	})
	bad("many members", time.Second, func() []byte {
		return tool("{" + strings.Repeat(`"result":1,`, 200_000) + `"a":1}`)
	})
	bad("no such method", 10*time.Millisecond, func() []byte {
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"none"}`)
	})
	bad("one id for all", 10*time.Millisecond, func() []byte {
		return []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"agentxchain_turns","arguments":{}}}`)
	})
	bad("cancelled", 10*time.Millisecond, func() []byte {
		n := rand.Uint32()
		return fmt.Appendf(nil,
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"agentxchain_events","arguments":{}}}`+
				"\n"+
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n, n)
	})
	bad("answers to nothing", 10*time.Millisecond, func() []byte {
		return []byte(`{"jsonrpc":"2.0","id":99,"result":{}}`)
	})
	bad("no id, no method", 10*time.Millisecond, func() []byte { return []byte(`{"jsonrpc":"2.0"}`) })
	bad("a list", 100*time.Millisecond, func() []byte { return []byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`) })
	l.bear(30 * time.Second)
}

// TestSurviveDeafAgents runs agents that never read an answer, or leave in the middle of a message: the server ends
// with its input, or with a signal.
func TestSurviveDeafAgents(t *testing.T) {
	testrepo.Serving(t)
	dir := mcpProject(t)
	listTools := `{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{}}` + "\n"
	t.Run("never reading", func(t *testing.T) {
		l := startLoaded(t, dir, "mcp")
		sent := make(chan struct{})
		go func() { // until the server, which cannot answer, stops reading
			defer close(sent)
			_, err := io.WriteString(l.in, mcpHello)
			for i := 0; err == nil; i++ {
				_, err = fmt.Fprintf(l.in, listTools, i)
			}
		}()
		before := -1
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
			u := l.usage()
			if u.memory == before {
				break
			}
			before = u.memory
		}
		t.Logf("holding what is not read: %v", l.usage())
		if u := l.usage(); u.peak > 256<<20 {
			t.Errorf("it takes %d MiB for one that does not read", u.peak>>20)
		}
		l.terminate(30 * time.Second)
		_ = l.in.Close()
		<-sent
	})
	for name, text := range map[string]string{
		"gone at once":           "",
		"gone after hello":       mcpHello,
		"gone in a message":      mcpHello + `{"jsonrpc":"2.0","id":1,"meth`,
		"gone in a long message": mcpHello + strings.Repeat("a", 13<<20),
		"gone with a question":   mcpHello + fmt.Sprintf(listTools, 1),
	} {
		t.Run(name, func(t *testing.T) {
			l := startLoaded(t, dir, "mcp")
			go func() { _, _ = io.Copy(io.Discard, l.out) }()
			if _, err := io.WriteString(l.in, text); err != nil {
				t.Fatal(err)
			}
			_ = l.in.Close()
			l.ends(30 * time.Second)
		})
	}
	t.Run("output closed", func(t *testing.T) {
		cmd := exec.Command("git-agentxchain", "mcp")
		cmd.Dir = dir
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = out.Close()
		over := make(chan error, 1)
		go func() { _, _ = cmd.Process.Wait(); over <- nil }()
		_, _ = io.WriteString(in, mcpHello+fmt.Sprintf(listTools, 1))
		select {
		case <-over: // its agent is gone
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			t.Error("it goes on without anybody to answer")
		}
	})
}
