//go:build linux

// Fixtures whose hooks do not end: none of their processes outlives the answer.

package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// sleepers is a fixture whose hook starts a child in its group, one in a session of its own, and waits; their
// arguments identify them.
const sleepers = `{"fixture_id":"X","tier":2,"surface":"hook_audit","description":"d","type":"validate","setup":{` +
	`"state":{"status":"active","phase":"implementation","run_id":"r"},"config":{"roles":{"dev":{"runtime":"manual"}},` +
	`"hooks":{"after_acceptance":[{"name":"h","type":"process","mode":"advisory","timeout_ms":60000,` +
	`"command":["sh","-c","sleep 70707 & setsid sleep 70707 & touch \"$TMPDIR/started\"; sleep 70707"]}]}}},` +
	`"input":{"operation":"run_hooks","args":{"phase":"after_acceptance","payload":{"run_id":"r","role":"dev"}}},"expected":{"result":"success"}}`

func asleep(t *testing.T) (n int) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lines {
		if data, err := os.ReadFile(p); err == nil && bytes.Equal(data, []byte("sleep\x0070707\x00")) {
			n++
		}
	}
	return n
}

func TestServeEndsHooks(t *testing.T) {
	testrepo.Serving(t)
	v := serveFor(t, "1", func(s *Server) { s.Timeout = 1500 * time.Millisecond })
	status, o, _ := v.ask(t, "POST", "/conform/execute", sleepers)
	if status != 200 || o.String("status") != "error" || asleep(t) != 0 {
		t.Errorf("deadline: %d %s, %d still asleep", status, ojson.Compact(o), asleep(t))
	}
	v = serveFor(t, "1", nil)
	answered := make(chan int, 1)
	go func() {
		status, _, _ := v.ask(t, "POST", "/conform/execute", sleepers)
		answered <- status
	}()
	waitFor(t, func() bool { return asleep(t) == 3 })
	if err := v.stop(); err != nil {
		t.Error(err)
	}
	if status := <-answered; status != 503 || asleep(t) != 0 {
		t.Errorf("stopped: %d, %d still asleep", status, asleep(t))
	}
}

func TestProcessTargetEndsHooks(t *testing.T) {
	testrepo.Serving(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	look := surroundings(t)
	t.Setenv(adapterVariable, "1")
	target := &ProcessTarget{Root: root, Command: []string{self}, Timeout: 1500 * time.Millisecond}
	if out := target.Execute(t.Context(), mustFixture(t, sleepers)); out.Status != StatusError || asleep(t) != 0 {
		t.Errorf("%+v, %d still asleep", out, asleep(t))
	}
	look(t)
}
