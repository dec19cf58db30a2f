// Tests of the connection with malformed streams.

package mcpwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func connect(t *testing.T, s *Stream) mcp.Connection {
	t.Helper()
	c, err := s.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func ping(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, id, method)
}

func TestOddLines(t *testing.T) {
	var odd []string
	out := &lockedBuffer{}
	// the last line lacks a newline
	in := strings.Join([]string{"garbage", "", "  \t\r", ping(1,
		"a"), strings.Repeat("z", 200), `[1]`, `{"jsonrpc":"2.0","id":2,"method":"b"}`}, "\n")
	c := connect(t, &Stream{
		In:   strings.NewReader(in),
		Out:  out,
		Line: 100,
		Odd: func(line []byte, problem error) ([]byte, error) {
			odd = append(odd, string(line))
			if errors.Is(problem, ErrTooLong) != (line == nil) {
				t.Errorf("%q: %v", line, problem)
			}
			return []byte("no"), nil
		},
	})
	for _, want := range []string{"a", "b"} {
		m, err := c.Read(context.Background())
		if err != nil || m.(*jsonrpc.Request).Method != want {
			t.Fatalf("%v %v, want %s", m, err, want)
		}
	}
	if _, err := c.Read(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	if len(odd) != 3 || out.String() != "no\nno\nno\n" {
		t.Errorf("odd lines %q, answers %q", odd, out.String())
	}
}

func TestOddCanEndIt(t *testing.T) {
	boom := errors.New("boom")
	c := connect(t, &Stream{
		In:  strings.NewReader("x\n" + ping(1, "a")),
		Out: io.Discard,
		Odd: func([]byte, error) ([]byte, error) { return nil, boom },
	})
	if _, err := c.Read(context.Background()); !errors.Is(err, boom) {
		t.Errorf("read: %v", err)
	}
}

// A third request is not read before one of two is answered.
func TestPending(t *testing.T) {
	in, feed := io.Pipe()
	out := &lockedBuffer{}
	c := connect(t, &Stream{In: in, Out: out, Pending: 2, Drain: true})
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		_, _ = io.WriteString(feed, ping(1, "a")+"\n"+ping(2, "a")+"\n"+ping(3, "a")+"\n")
		_ = feed.Close()
	}()
	ids := make(chan jsonrpc.ID)
	ended := make(chan error, 1)
	go func() {
		for {
			m, err := c.Read(context.Background())
			if err != nil {
				ended <- err
				return
			}
			ids <- m.(*jsonrpc.Request).ID
		}
	}()
	first, second := <-ids, <-ids
	select {
	case id := <-ids:
		t.Fatalf("%v came too early", id.Raw())
	default:
	}
	answer := func(id jsonrpc.ID) {
		if err := c.Write(context.Background(), &jsonrpc.Response{ID: id, Result: []byte("{}")}); err != nil {
			t.Error(err)
		}
	}
	answer(second)
	third := <-ids
	<-fed
	select {
	case err := <-ended:
		t.Fatalf("it ended before all had answers: %v", err)
	default:
	}
	answer(third)
	answer(first)
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("ended with %v", err)
	}
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Errorf("%d answers", n)
	}
}

// Requests of one method are handled one at a time, and others overtake them.
func TestInTurn(t *testing.T) {
	var lines []string
	for i := 1; i <= 20; i++ {
		lines = append(lines, ping(i, "call"))
	}
	lines = append(lines, ping(21, "ping"))
	c := connect(t, &Stream{
		In:     strings.NewReader(strings.Join(lines, "\n")),
		Out:    io.Discard,
		InTurn: "call",
		Drain:  true,
	})
	next := int64(1)
	pinged := false
	waiting := 0
	for {
		m, err := c.Read(context.Background())
		if err != nil {
			break
		}
		req := m.(*jsonrpc.Request)
		if req.Method == "ping" {
			pinged = true
		} else {
			if req.ID.Raw() != next || waiting > 0 {
				t.Fatalf("%v came, %d was next, %d wait", req.ID.Raw(), next, waiting)
			}
			next++
			waiting++
		}
		if req.Method == "call" {
			waiting--
		}
		if err := c.Write(context.Background(), &jsonrpc.Response{ID: req.ID, Result: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	if next != 21 || !pinged {
		t.Errorf("next %d, pinged %v", next, pinged)
	}
}

func TestCloseUnblocks(t *testing.T) {
	in, _ := io.Pipe()
	closed := false
	c := connect(t, &Stream{In: in, Out: io.Discard, End: func() error { closed = true; return in.Close() }})
	got := make(chan error, 1)
	go func() { _, err := c.Read(context.Background()); got <- err }()
	_ = c.Close()
	_ = c.Close()
	if err := <-got; !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) || !closed {
		t.Errorf("read: %v, closed %v", err, closed)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{}\n"+ping(1, "a")+"\n\n[["), 50)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		c := connect(t, &Stream{In: bytes.NewReader(in), Out: io.Discard, Line: limit % 1000})
		for range len(in) + 2 {
			m, err := c.Read(context.Background())
			if err != nil {
				return
			}
			if req, ok := m.(*jsonrpc.Request); ok && req.IsCall() {
				_ = c.Write(context.Background(), &jsonrpc.Response{ID: req.ID, Result: []byte("{}")})
			}
		}
		t.Fatal("more messages than bytes")
	})
}

// TestAnswersThatAreNoJSON gives answers that cannot be encoded: the request is answered, and the connection stays
// open.
func TestAnswersThatAreNoJSON(t *testing.T) {
	out := &lockedBuffer{}
	c := connect(t, &Stream{In: strings.NewReader(""), Out: out})
	id, err := jsonrpc.MakeID("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*jsonrpc.Response{
		{ID: id, Error: mcp.ResourceNotFoundError("agentxchain://\x1b[2J")},
		{ID: id, Result: []byte("no JSON")},
	} {
		if err := c.Write(t.Context(), m); err != nil {
			t.Error(err)
		}
	}
	want := `{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"Resource not found"}}
{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"The answer cannot be written as JSON."}}
`
	if got := out.String(); got != want {
		t.Errorf("got %s", got)
	}
}
