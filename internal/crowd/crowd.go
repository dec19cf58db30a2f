// Limits on what all clients of a server hold: connections, and bytes of unread bodies.

// Package crowd bounds what all clients of a server hold together, so that idle connections and large bodies
// neither keep other clients out nor exhaust memory.
package crowd

import (
	"container/list"
	"io"
	"net"
	"net/http"
	"sync"
)

// Listener is a listener with a maximum number of open connections. When one more arrives, it closes the one that
// has been idle longest; when all are being served, the new one waits.
type Listener struct {
	net.Listener
	most int

	mu    sync.Mutex
	room  *sync.Cond // a connection has ended, or become idle, or the listener has closed
	open  int
	quiet *list.List // of *conn that are idle, the longest first
	over  bool
}

// Limit makes a Listener. Its State must be the server's ConnState.
func Limit(l net.Listener, most int) *Listener {
	out := &Listener{Listener: l, most: most, quiet: list.New()}
	out.room = sync.NewCond(&out.mu)
	return out
}

// Accept returns the next connection once there is room for it.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	for l.open >= l.most && !l.over {
		if first := l.quiet.Front(); first != nil {
			l.leave(first.Value.(*conn))
			_ = first.Value.(*conn).Conn.Close()
			continue
		}
		l.room.Wait()
	}
	if l.over {
		l.mu.Unlock()
		_ = c.Close()
		return nil, net.ErrClosed
	}
	x := &conn{Conn: c, l: l, here: true}
	l.open++
	x.place = l.quiet.PushBack(x)
	l.mu.Unlock()
	return x, nil
}

// Close also ends an Accept that waits for room.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.over = true
	l.room.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

// State is called with the state of a connection by an http.Server.
func (l *Listener) State(c net.Conn, s http.ConnState) {
	var x *conn
	for x == nil {
		switch v := c.(type) {
		case *conn:
			x = v
		case interface{ NetConn() net.Conn }: // of TLS, and of wrappers
			c = v.NetConn()
		default:
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !x.here {
		return
	}
	switch s {
	case http.StateActive:
		if x.place != nil {
			l.quiet.Remove(x.place)
			x.place = nil
		}
	case http.StateIdle:
		if x.place == nil {
			x.place = l.quiet.PushBack(x)
		} else {
			l.quiet.MoveToBack(x.place)
		}
		l.room.Signal()
	}
}

// leave forgets a connection. The caller holds mu.
func (l *Listener) leave(x *conn) {
	if !x.here {
		return
	}
	x.here = false
	if x.place != nil {
		l.quiet.Remove(x.place)
		x.place = nil
	}
	l.open--
	l.room.Signal()
}

type conn struct {
	net.Conn
	l     *Listener
	here  bool          // it counts
	place *list.Element // position among the idle ones
}

// Close closes the connection and makes room for another.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.leave(c)
	return err
}

// free is how many bytes of each body do not count: small requests are read however much the large ones take.
const free = 16 << 10

// Bodies bounds how much has been read of the bodies of unanswered requests.
type Bodies struct {
	mu   sync.Mutex
	left int64
	full error
}

// NewBodies limits the total to n bytes, plus a little for each; full is the read error when nothing is left.
func NewBodies(n int64, full error) *Bodies { return &Bodies{left: n, full: full} }

// Read counts what is read of a body from now on, of which at most most bytes are allowed. The request returns its
// share with done.
func (b *Bodies) Read(w http.ResponseWriter, body io.ReadCloser, most int64) (counted io.ReadCloser, done func()) {
	c := &counting{ReadCloser: http.MaxBytesReader(w, body, most), b: b}
	return c, c.done
}

type counting struct {
	io.ReadCloser
	b     *Bodies
	mu    sync.Mutex // a body may be read after its request, if only to be discarded
	over  bool
	read  int64
	taken int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read += int64(n)
	want := c.read - free - c.taken
	if c.over || want <= 0 {
		return n, err
	}
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	if want > c.b.left {
		return 0, c.b.full
	}
	c.b.left -= want
	c.taken += want
	return n, err
}

func (c *counting) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.over = true
	c.b.left += c.taken
	c.taken = 0
}
