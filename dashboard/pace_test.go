package dashboard

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// An answer that takes the server long is still sent; a client that does not take it is disconnected.
func TestPieces(t *testing.T) {
	testrepo.Serving(t)
	large := strings.Repeat("a", 1<<20)
	stalled := make(chan error, 1)
	srv := httptest.NewServer(pace(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(1500 * time.Millisecond)
			_, _ = io.WriteString(w, "made")
			return
		}
		for {
			if _, err := io.WriteString(w, large); err != nil {
				stalled <- err
				return
			}
		}
	}), time.Second))
	defer srv.Close()
	resp, err := http.Get(srv.URL + "/slow")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "made" {
		t.Errorf("the answer is %q, %v", body, err)
	}

	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if err := <-stalled; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the client that does not read ended with %v", err)
	}
}
