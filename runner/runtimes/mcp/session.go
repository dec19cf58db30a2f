// A connection to an MCP server, over either transport.

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// link is what a connection needs from the dispatch it is made for.
type link struct {
	root     string
	argv     []string // of the server to start, as the dispatch confines it
	env      []string
	inherit  []*os.File
	log      io.Writer
	activity func(runtimes.Activity)
}

// session is one connection. err says why there is none.
type session struct {
	client *mcp.ClientSession
	tap    *tap
	err    error
	wire   wire
	stop   context.CancelCauseFunc // ends the wait
	gone   context.Context
}

// wire is one way to reach a server.
type wire interface {
	transport() mcp.Transport
	initialized(version string) // the handshake has agreed on a protocol
	end(ctx context.Context)    // the conversation is over
	explain(err error) *failure // why it failed, nil when unknown
	process() (pid int, exit *int, signal string)
}

// failure says what went wrong with a conversation.
type failure struct {
	class, message, recovery string
	retryable                bool
	retryAfter               time.Duration
}

// connect starts or reaches the server and performs the handshake.
func (r *Runtime) connect(ctx context.Context, l link) *session {
	s := &session{}
	s.gone, s.stop = context.WithCancelCause(context.Background())
	l.activity(runtimes.Activity{Type: "starting", Summary: "connecting to the MCP server", Stream: "request"})
	if len(r.cfg.argv) > 0 {
		server := startStdio(r.cfg, l, s.stop)
		// A write to a server that reads nothing blocks, and no context ends it.
		context.AfterFunc(ctx, server.hush)
		s.wire = server
	} else {
		s.wire = newHTTP(r.cfg, s.stop)
	}
	s.tap = &tap{inner: s.wire.transport(), initialized: s.wire.initialized, stop: s.stop, open: make(map[any]*asked)}
	client := mcp.NewClient(&mcp.Implementation{
		Name:    "agentxchain-mcp-adapter",
		Version: clientVersion,
	}, &mcp.ClientOptions{
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ClientCapabilities{}, // no sampling, no roots, no questions to a person
		ProgressNotificationHandler: func(_ context.Context, p *mcp.ProgressNotificationClientRequest) {
			pid, _, _ := s.wire.process()
			said := runtimes.OneLine(r.cfg.redact(p.Params.Message))
			l.activity(runtimes.Activity{
				Type:    "heartbeat",
				Summary: "progress " + said,
				Line:    said,
				Stream:  "request",
				PID:     pid,
			})
		},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	s.client, s.err = client.Connect(s.watched(ctx), s.tap, &mcp.ClientSessionOptions{ProtocolVersion: handshake})
	return s
}

// watched returns ctx that also ends when the server is gone.
func (s *session) watched(ctx context.Context) context.Context {
	own, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(s.gone, func() { cancel(context.Cause(s.gone)) })
	return own
}

// close ends the conversation and the server.
func (s *session) close(ctx context.Context) {
	if s.client != nil {
		done := make(chan struct{})
		go func() { defer close(done); _ = s.client.Close() }()
		select {
		case <-done:
		case <-time.After(closeWait):
		case <-ctx.Done():
		}
	}
	s.wire.end(ctx)
	s.stop(errClosed)
}

// closeWait is how long a server may take to end the conversation.
const closeWait = 2 * time.Second

var errClosed = errors.New("the connection is closed")

func (s *session) pid() int { pid, _, _ := s.wire.process(); return pid }

func (s *session) exit() (*int, string) { _, exit, signal := s.wire.process(); return exit, signal }

// failure explains an error by what is known about the server, else by itself.
func (s *session) failure(err error) *failure {
	if cause := context.Cause(s.gone); cause != nil && !errors.Is(cause, errClosed) {
		err = cause
	}
	if f, ok := errors.AsType[flood](err); ok {
		return &failure{class: ClassFlood, message: f.Error()}
	}
	if f := s.wire.explain(err); f != nil {
		return f
	}
	if answered, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &failure{class: ClassProtocol, message: answered.Message}
	}
	message := "no answer"
	if err != nil {
		message = err.Error()
	}
	return &failure{class: ClassConnection, message: message, retryable: true}
}

// tap is a transport that keeps the answer to tools/call as it came: decoded and encoded again it
// would lose the order of its members, long numbers, and the members that the SDK does not know.
type tap struct {
	inner       mcp.Transport
	initialized func(version string)
	stop        context.CancelCauseFunc

	mu        sync.Mutex
	init      any // ids of the requests whose answers are watched
	call      any
	result    []byte
	open      map[any]*asked // requests of ours without an answer, by id
	questions int            // requests of the server
}

// asked is one request of ours. The context of its message carries it to the wire.
type asked struct{ answered atomic.Bool }

type askedKey struct{}

func (t *tap) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tapped{Connection: c, t: t}, nil
}

// answer returns the result of tools/call, nil when none has come.
func (t *tap) answer() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.result
}

type tapped struct {
	mcp.Connection
	t *tap
}

func (c *tapped) Write(ctx context.Context, m jsonrpc.Message) error {
	if req, ok := m.(*jsonrpc.Request); ok {
		c.t.mu.Lock()
		switch req.Method {
		case "initialize":
			c.t.init = req.ID.Raw()
		case "tools/call":
			c.t.call = req.ID.Raw()
		}
		if req.IsCall() {
			a := new(asked)
			c.t.open[req.ID.Raw()] = a
			ctx = context.WithValue(ctx, askedKey{}, a)
		}
		c.t.mu.Unlock()
	}
	return c.Connection.Write(ctx, m)
}

func (c *tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if req, ok := m.(*jsonrpc.Request); ok && req.ID.IsValid() {
		c.t.mu.Lock()
		c.t.questions++
		over := c.t.questions > maxQuestions
		c.t.mu.Unlock()
		if over {
			c.t.stop(errQuestions)
			return nil, errQuestions
		}
	}
	resp, ok := m.(*jsonrpc.Response)
	if err != nil || !ok {
		return m, err
	}
	c.t.mu.Lock()
	id := resp.ID.Raw()
	if a := c.t.open[id]; a != nil {
		a.answered.Store(true)
		delete(c.t.open, id)
	}
	if resp.Error != nil {
		c.t.mu.Unlock()
		return m, nil
	}
	first := c.t.init != nil && id == c.t.init
	if first {
		c.t.init = nil
	}
	if c.t.call != nil && id == c.t.call {
		c.t.result = append([]byte{}, resp.Result...)
	}
	c.t.mu.Unlock()
	if first {
		var agreed struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		if json.Unmarshal(resp.Result, &agreed) == nil && !strings.ContainsAny(agreed.ProtocolVersion, "\r\n") {
			c.t.initialized(agreed.ProtocolVersion)
		}
	}
	return m, err
}
