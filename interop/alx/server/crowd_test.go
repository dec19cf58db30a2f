package server_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Clients that send a body slowly, more of them than requests are answered at a time, and as many silent
// connections as are allowed: proper requests are still answered.
func TestSlowClientsKeepOutNone(t *testing.T) {
	testrepo.Serving(t)
	v := start(t, project(t, testrepo.Options{}, []string{"ship"}, nil).Dir, nil)
	addr := strings.TrimPrefix(v.url, "http://")
	dial := func(text string) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
	}
	for range 400 {
		dial(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", alx.PathSolve, addr))
	}
	time.Sleep(200 * time.Millisecond) // they are being read
	for range 4608 {
		dial("")
	}
	if a := ask(t, "GET", v.url+alx.PathSessions, ""); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"ship it"}`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
