// The session files: written while it runs, gone after it, never believed alone.

package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func exportedSession(t *testing.T, dir string) *ojson.Object {
	t.Helper()
	e, err := restore.Prepare(t.Context(), dir, restore.ExportOptions{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var b strings.Builder
	if _, err := e.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	doc, err := ojson.DecodeObject([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Object("summary").Object("dashboard_session")
}

func TestSessionFiles(t *testing.T) {
	dir, _ := fresh(t)
	v := serve(t, Options{Dir: dir})
	if Running(t.Context(), dir) != nil {
		t.Error("one runs before it says so")
	}
	if _, err := v.s.WriteSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(filepath.Join(dir, PIDFile))
	if err != nil || string(pid) != strconv.Itoa(os.Getpid())+"\n" {
		t.Errorf("the pid file holds %q, %v", pid, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, SessionFile))
	if err != nil || strings.Contains(string(data), v.s.Token()) {
		t.Errorf("the session file holds %q, %v", data, err)
	}
	var doc struct {
		PID, Port int
		URL       string
		Started   string `json:"started_at"`
	}
	if err := json.Unmarshal(data, &doc); err != nil || doc.PID != os.Getpid() || doc.Port != v.s.Port() ||
		doc.URL != fmt.Sprintf("http://localhost:%d", v.s.Port()) || instant(doc.Started).IsZero() {
		t.Errorf("%s: %v", data, err)
	}
	if got := Running(t.Context(), dir); got == nil || got.PID != os.Getpid() {
		t.Errorf("running: %+v", got)
	}
	if got := exportedSession(t, dir); got.String("status") != "running" || got.String("url") != doc.URL ||
		got.String("started_at") != doc.Started {
		t.Errorf("an export says %s", ojson.Compact(got))
	}
	// A turn is not blamed for the files.
	if status := wire.Operational(PIDFile) && wire.Operational(SessionFile); !status {
		t.Error("the files count as changes of a turn")
	}
	v.s.RemoveSession()
	for _, name := range []string{PIDFile, SessionFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if got := exportedSession(t, dir); got.String("status") != "not_running" {
		t.Errorf("after it, an export says %s", ojson.Compact(got))
	}
}

// After a crash the file names a process id that another process has now: the file is not believed,
// the process is not signalled, and the file is replaced.
func TestLeftSession(t *testing.T) {
	dir, _ := fresh(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w,
			`{"program":"git-agentxchain dashboard","pid":%d,"started_at":"2020-01-01T00:00:00.000Z"}`, os.Getpid())
	}), ReadHeaderTimeout: time.Second}
	go func() { _ = web.Serve(other) }()
	defer func() { _ = web.Close() }()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	port := other.Addr().(*net.TCPAddr).Port
	for name, text := range map[string]string{
		"another start": fmt.Sprintf(
			`{"pid":%d,"port":%d,"url":"http://localhost:%d","started_at":"2026-01-01T00:00:00.000Z"}`,
			os.Getpid(), port, port),
		"another process": fmt.Sprintf(`{"pid":1,"port":%d,"url":"x","started_at":"2020-01-01T00:00:00.000Z"}`,
			port),
		"no listener": fmt.Sprintf(`{"pid":%d,"port":1,"url":"x","started_at":"2020-01-01T00:00:00.000Z"}`,
			os.Getpid()),
		"no port":            fmt.Sprintf(`{"pid":%d,"url":"x"}`, os.Getpid()),
		"an impossible one":  `{"pid":-1,"port":99999999}`,
		"not JSON":           `{"pid":`,
		"larger than it is":  strings.Repeat(" ", 70<<10) + `{}`,
		"something else":     `[]`,
		"an empty file":      ``,
		"a number that lies": `{"pid":1e99,"port":1e99}`,
	} {
		write(PIDFile, strconv.Itoa(os.Getpid())+"\n")
		write(SessionFile, text)
		if got := Running(t.Context(), dir); got != nil {
			t.Errorf("%s: believed: %+v", name, got)
		}
		// This test process would get the signal.
		if got, err := Stop(t.Context(), dir, time.Second); got != nil || err != nil {
			t.Errorf("%s: stop: %+v, %v", name, got, err)
		}
		if _, err := os.Stat(filepath.Join(dir, SessionFile)); err == nil {
			t.Errorf("%s: the file is still there", name)
		}
	}
	// A pipe in place of a file does not block.
	v := serve(t, Options{Dir: dir})
	write(PIDFile, "0\n")
	write(SessionFile, "{}")
	if _, err := v.s.WriteSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := Running(t.Context(), dir); got == nil {
		t.Error("what was left is not replaced")
	}
	v.s.RemoveSession()
}

func TestPortBusy(t *testing.T) {
	dir, _ := fresh(t)
	v := serve(t, Options{Dir: dir})
	s, err := New(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	_, err = s.Listen(v.s.Port())
	var refused *wire.Error
	if e := err; e == nil || !asError(e, &refused) || refused.Code != CodePortBusy ||
		!strings.Contains(refused.Message,
			fmt.Sprintf("Port %d is already in use. Try --port <number>.", v.s.Port())) {
		t.Errorf("%v", err)
	}
}

func asError(err error, to **wire.Error) bool {
	e, ok := err.(*wire.Error) //nolint:errorlint // the very error is meant
	*to = e
	return ok
}

func TestNothingGoverned(t *testing.T) {
	for dir, code := range map[string]string{
		t.TempDir():                             "not_a_git_repository",
		testrepo.New(t, testrepo.Options{}).Dir: "not_a_project",
	} {
		_, err := New(context.Background(), Options{Dir: dir})
		if got := runner.ErrorCode(err); got != code {
			t.Errorf("%q, not %q: %v", got, code, err)
		}
	}
}
