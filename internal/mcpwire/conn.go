// MCP messages over a byte stream: one bounded JSON-RPC message per line, tolerating other lines.

// Package mcpwire carries the messages of the Model Context Protocol over a pair of streams. It replaces the SDK's
// own stdio connection, which ends at the first line that is not JSON and accepts any number of unanswered
// requests: here such a line is answered or skipped, and the other side must wait when too many of its requests are
// still in progress.
package mcpwire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Default limits of a stream.
const (
	DefaultLine    = 16 << 20 // bytes of one message
	DefaultPending = 64       // unanswered requests of the other side
)

// ErrTooLong is the error for a line beyond the limit.
var ErrTooLong = errors.New("the message is longer than allowed")

// Stream is an mcp.Transport over In and Out. Zero limits mean the defaults.
type Stream struct {
	In  io.Reader
	Out io.Writer
	// End is called once when the connection closes; may be nil. It should unblock a pending read of In.
	End func() error

	Line    int // longest line, in bytes
	Pending int // most concurrent requests of the other side

	// InTurn names a method whose requests are passed on one at a time, in order; other requests overtake them. ""
	// for none.
	InTurn string

	// Drain delays the end of In until earlier requests are answered: a caller that pipes in a few requests expects
	// the answers.
	Drain bool

	// Odd is called with a line that is not a message, and with what is wrong with it; line is nil when it was too
	// long to keep. What it returns is sent back as a line of its own, nil for nothing; an error ends the
	// connection. A nil Odd skips such lines.
	Odd func(line []byte, problem error) (answer []byte, err error)
}

// Connect starts reading.
func (s *Stream) Connect(context.Context) (mcp.Connection, error) {
	if s.Line <= 0 {
		s.Line = DefaultLine
	}
	if s.Pending <= 0 {
		s.Pending = DefaultPending
	}
	c := &conn{
		s:      s,
		in:     make(chan incoming),
		closed: make(chan struct{}),
		slots:  make(chan struct{}, s.Pending),
		open:   make(map[any]chan struct{}),
		turns:  make(chan *jsonrpc.Request, s.Pending),
	}
	if s.InTurn != "" {
		go c.inTurn()
	}
	go c.read()
	return c, nil
}

type incoming struct {
	msg jsonrpc.Message
	err error
}

// conn is the connection. Reading has its own goroutine, because a read of standard input cannot be cancelled.
type conn struct {
	s      *Stream
	in     chan incoming
	closed chan struct{}
	once   sync.Once
	ending error

	write   sync.Mutex
	slots   chan struct{} // one for every unanswered request
	mu      sync.Mutex
	open    map[any]chan struct{} // those requests by id; closed with the answer
	turns   chan *jsonrpc.Request // requests of the method InTurn
	drained chan struct{}         // closed when all are answered; nil unless waited for
}

func (c *conn) SessionID() string { return "" }

func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		if c.s.End != nil {
			c.ending = c.s.End()
		}
	})
	return c.ending
}

func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m.msg, m.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// admit waits for room for one more request of the other side; false when the connection has closed meanwhile.
func (c *conn) admit(m jsonrpc.Message) bool {
	req, ok := m.(*jsonrpc.Request)
	if !ok || !req.ID.IsValid() {
		return true
	}
	c.mu.Lock()
	known := c.open[req.ID.Raw()] != nil
	if !known {
		c.open[req.ID.Raw()] = make(chan struct{})
	}
	c.mu.Unlock()
	if known {
		return true // an id in use is answered without a slot
	}
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.closed:
		return false
	}
}

// pass passes a message on, or queues it for its turn.
func (c *conn) pass(m incoming) bool {
	if req, ok := m.msg.(*jsonrpc.Request); ok && req.ID.IsValid() && c.s.InTurn != "" && req.Method == c.s.InTurn {
		select {
		case c.turns <- req: // never full: there are as many slots
			return true
		case <-c.closed:
			return false
		}
	}
	select {
	case c.in <- m:
		return true
	case <-c.closed:
		return false
	}
}

// inTurn passes queued requests on one at a time.
func (c *conn) inTurn() {
	for {
		select {
		case req := <-c.turns:
			c.mu.Lock()
			done := c.open[req.ID.Raw()]
			c.mu.Unlock()
			select {
			case c.in <- incoming{msg: req}:
			case <-c.closed:
				return
			}
			if done == nil {
				continue
			}
			select {
			case <-done:
			case <-c.closed:
				return
			}
		case <-c.closed:
			return
		}
	}
}

// answered frees the slot of an answered request.
func (c *conn) answered(m jsonrpc.Message) {
	resp, ok := m.(*jsonrpc.Response)
	if !ok || !resp.ID.IsValid() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	done := c.open[resp.ID.Raw()]
	if done == nil {
		return
	}
	close(done)
	delete(c.open, resp.ID.Raw())
	<-c.slots
	if len(c.open) == 0 && c.drained != nil {
		close(c.drained)
		c.drained = nil
	}
}

// drain waits until every request has its answer.
func (c *conn) drain() {
	c.mu.Lock()
	done := make(chan struct{})
	if len(c.open) == 0 {
		close(done)
	} else {
		c.drained = done
	}
	c.mu.Unlock()
	select {
	case <-done:
	case <-c.closed:
	}
}

// Write sends one message as one line.
func (c *conn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := jsonrpc.EncodeMessage(m)
	if resp, ok := m.(*jsonrpc.Response); ok && err != nil {
		data, err = jsonrpc.EncodeMessage(plain(resp))
	}
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	defer c.answered(m)
	return c.line(data)
}

// plain returns an encodable answer in place of one that cannot be encoded, which would end the connection. The SDK
// puts the name of an unknown resource into the data of its error, and control characters make that invalid JSON.
func plain(resp *jsonrpc.Response) *jsonrpc.Response {
	said := jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The answer cannot be written as JSON."}
	if e, ok := errors.AsType[*jsonrpc.Error](resp.Error); ok {
		said.Code, said.Message = e.Code, e.Message
	}
	return &jsonrpc.Response{ID: resp.ID, Error: &said}
}

func (c *conn) line(data []byte) error {
	c.write.Lock()
	defer c.write.Unlock()
	_, err := c.s.Out.Write(append(data, '\n'))
	return err
}

// read passes on every message until the stream ends.
func (c *conn) read() {
	r := bufio.NewReaderSize(c.s.In, 64<<10)
	for {
		line, err := readLine(r, c.s.Line)
		var m incoming
		switch {
		case errors.Is(err, ErrTooLong):
			m.err = c.odd(nil, err)
		case err != nil && len(line) == 0:
			m.err = err
		case blank(line):
			continue
		default:
			if m.msg, err = jsonrpc.DecodeMessage(line); err != nil {
				m.msg, m.err = nil, c.odd(line, err)
			}
		}
		if m.msg == nil && m.err == nil {
			continue
		}
		if m.err != nil && c.s.Drain {
			c.drain()
		}
		if !c.admit(m.msg) {
			return
		}
		if !c.pass(m) {
			return
		}
		if m.err != nil {
			return
		}
	}
}

func (c *conn) odd(line []byte, problem error) error {
	if c.s.Odd == nil {
		return nil
	}
	answer, err := c.s.Odd(line, problem)
	if err != nil || answer == nil {
		return err
	}
	return c.line(answer)
}

// readLine reads up to a newline, at most limit bytes; it discards the rest of a longer line. The last line may
// lack a newline.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit+1 {
			long, line = true, nil
		} else if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, ErrTooLong
		}
		return line, err
	}
}

func blank(line []byte) bool {
	return len(bytes.Trim(line, " \t\r\n")) == 0
}
