package crowd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// ended waits for the server to close a connection and reports whether it did.
func ended(t *testing.T, c net.Conn) bool {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err := c.Read(make([]byte, 1))
	var late net.Error
	return err != nil && (!errors.As(err, &late) || !late.Timeout())
}

// An idle connection makes room for a new one, the longest idle first; those being served stay.
func TestTheQuietMakeRoom(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Limit(inner, 3)
	hold, held := make(chan struct{}), make(chan struct{}, 10)
	quiet := make(chan struct{}, 10)
	state := func(c net.Conn, s http.ConnState) {
		l.State(c, s)
		if s == http.StateIdle {
			quiet <- struct{}{}
		}
	}
	srv := &http.Server{
		ReadHeaderTimeout: time.Minute,
		ConnState:         state,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hold" {
				held <- struct{}{}
				<-hold
			}
		}),
	}
	go func() { _ = srv.Serve(l) }()
	defer func() { _ = srv.Close() }()
	dial := func(request string) net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if request == "" {
			return c
		}
		if _, err := io.WriteString(c, "GET "+request+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		return c
	}
	answered := func(c net.Conn) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	busy := dial("/hold")
	<-held
	idle := dial("/")
	answered(idle)
	<-quiet // the answer arrives before the server calls the connection idle
	silent := dial("")
	third := dial("/")
	answered(third)
	<-quiet
	if !ended(t, idle) {
		t.Error("the connection that was idle longest is still there")
	}
	answered(dial("/"))
	<-quiet
	if !ended(t, silent) {
		t.Error("the silent connection is still there")
	}
	// All are being served: the next one waits for one of them.
	others := []net.Conn{dial("/hold")}
	<-held
	others = append(others, dial("/hold"))
	<-held
	waiting := dial("/")
	close(hold)
	answered(waiting)
	for _, c := range append(others, busy) {
		answered(c)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("a closed listener accepts")
	}
}

// A listener that waits for room ends with Close.
func TestCloseEndsAWait(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Limit(inner, 1)
	dial := func() {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	dial()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	l.State(c, http.StateActive)
	dial()
	got := make(chan error)
	go func() { _, err := l.Accept(); got <- err }()
	time.Sleep(10 * time.Millisecond)
	_ = l.Close()
	if err := <-got; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	_ = c.Close()
	_ = c.Close()
	l.State(c, http.StateIdle) // called late
	if l.open != 0 || l.quiet.Len() != 0 {
		t.Errorf("%d are open, %d quiet", l.open, l.quiet.Len())
	}
}

func TestBodies(t *testing.T) {
	full := errors.New("full")
	b := NewBodies(100, full)
	read := func(n int, most int64) (func(), error) {
		body, done := b.Read(httptest.NewRecorder(), io.NopCloser(bytes.NewReader(make([]byte, n))), most)
		_, err := io.Copy(io.Discard, body)
		return done, err
	}
	first, err := read(free+60, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := read(free+60, 1<<20); !errors.Is(err, full) {
		t.Error(err)
	} else {
		done()
	}
	if done, err := read(free, 1<<20); err != nil {
		t.Error("a small body is refused: ", err)
	} else {
		done()
	}
	first()
	first()
	if b.left != 100 {
		t.Errorf("%d bytes are left", b.left)
	}
	done, err := read(free+60, 1<<20)
	if err != nil {
		t.Error(err)
	}
	done()
	var large *http.MaxBytesError
	if _, err := read(50, 49); !errors.As(err, &large) || !strings.Contains(err.Error(), "large") {
		t.Error(err)
	}
}
