// The metrics as a scraper reads them.

package prom

import (
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
)

var record = flag.Bool("record", false, "write testdata/exposition.txt anew")

// measured returns a meter that has counted something of everything.
func measured() *Meter {
	m := New()
	m.Watch(server.Gauges{
		Running:  func() int { return 2 },
		Waiting:  func() int { return 1 },
		Sessions: func() map[alx.SessionStatus]int { return map[alx.SessionStatus]int{alx.SessionStatuses()[0]: 3} },
	})
	m.Answered("sessions", "GET", 200, 400*time.Microsecond, true)
	m.Answered("sessions", "GET", 200, 2*time.Millisecond, true)
	m.Answered("sessions", "GET", 404, 2500*time.Microsecond, true)
	m.Answered("solve", "POST", 202, 7*time.Second, true)
	m.Answered("events", "GET", 200, time.Hour, false)
	m.Answered("hostile \"quoted\" \\ and\nbroken", "GET", 200, time.Millisecond, true)
	m.Session()
	m.Drove(alx.SessionStatuses()[1], 90*time.Second)
	m.Drove(alx.SessionStatuses()[1], 20*time.Hour)
	m.Turn("accepted")
	m.Turn("accepted")
	m.Turn("rejected")
	m.Stream(1)
	m.Stream(1)
	m.Stream(-1)
	m.Sent(1234567)
	m.Dropped()
	return m
}

// scrape reads a meter as a scraper does.
func scrape(t *testing.T, m *Meter) (header http.Header, text string) {
	t.Helper()
	s := httptest.NewServer(m.Handler())
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v", r.StatusCode, err)
	}
	return r.Header, string(body)
}

// The recording is what Prometheus's own client (client_golang 1.25.0) wrote for the same measurements.
func TestExposition(t *testing.T) {
	file := filepath.Join("testdata", "exposition.txt")
	header, got := scrape(t, measured())
	if kind := header.Get("Content-Type"); kind != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("Content-Type %q, want the text form of version 0.0.4", kind)
	}
	if *record {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error("metrics differ from the recording (-recorded +written):\n" + d)
	}
}
