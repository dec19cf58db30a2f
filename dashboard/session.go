// The two files that say that a dashboard is running, and ending the one they name.

package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Names of the session's files in the project's directory (docs/dashboard.md#api).
const (
	PIDFile     = ".agentxchain-dashboard.pid"
	SessionFile = ".agentxchain-dashboard.json"
)

// identityPath says who listens here, without a token: so a reused process id or port is not taken
// for the dashboard that a session file names.
const identityPath = "/api/identity"

// Session is a running dashboard, according to its files.
type Session struct {
	PID     int
	Port    int
	URL     string
	Started string // RFC 3339 UTC, milliseconds
}

// Object returns the session file: {pid, port, url, started_at}.
func (s *Session) Object() *ojson.Object {
	return ojson.NewObject("pid", s.PID, "port", s.Port, "url", s.URL, "started_at", s.Started)
}

// Session returns what the files say about this server, which must already listen.
func (s *Server) Session() *Session {
	return &Session{PID: s.pid, Port: s.port, URL: s.URL(), Started: wire.FormatTime(s.started)}
}

// identity answers GET /api/identity: {program, pid, started_at}. Nothing in it is secret.
func (s *Server) identity(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, ojson.NewObject("program", "git-agentxchain dashboard", "pid", s.pid,
		"started_at", wire.FormatTime(s.started)))
}

// WriteSession notes in the project's directory that this server runs, and replaces the files of a
// crashed one. The server must already listen. When another dashboard of the project runs, it
// writes nothing and returns that one. Error: io_failed.
func (s *Server) WriteSession(ctx context.Context) (other *Session, err error) {
	defer claim(s.Dir())()
	if other := Running(ctx, s.Dir()); other != nil {
		return other, nil
	}
	root, err := os.OpenRoot(s.Dir())
	if err == nil {
		defer func() { _ = root.Close() }()
		me := s.Session()
		if err = durable.WriteFileRoot(root, PIDFile, []byte(strconv.Itoa(me.PID)+"\n"), 0o644); err == nil {
			err = durable.WriteFileRoot(root, SessionFile, ojson.Pretty(me.Object()), 0o644)
		}
	}
	if err != nil {
		s.RemoveSession()
		return nil, &wire.Error{
			Code:    "io_failed",
			Field:   SessionFile,
			Message: "The session of the dashboard cannot be written: " + reason(err) + ".",
		}
	}
	return nil, nil
}

// RemoveSession removes the files, if they are this server's.
func (s *Server) RemoveSession() { removeSession(s.Dir(), s.pid) }

func removeSession(dir string, pid int) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	if have, ok := readPID(root); !ok || have == pid {
		// The most detailed file goes last: when it is gone, both are.
		if ok {
			_ = root.Remove(PIDFile)
		}
		if s := readSession(root); s == nil || s.PID == pid {
			_ = root.Remove(SessionFile)
		}
	}
}

func readPID(root *os.Root) (int, bool) {
	data, err := readSmall(root, PIDFile, 64)
	if err != nil || data == nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return n, err == nil && n > 0
}

func readSession(root *os.Root) *Session {
	data, err := readSmall(root, SessionFile, 64<<10)
	if err != nil || data == nil {
		return nil
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	pid, _ := o.Int("pid")
	port, _ := o.Int("port")
	return &Session{PID: pid, Port: port, URL: o.String("url"), Started: o.String("started_at")}
}

// Running returns the dashboard that shows dir, nil when none does: the files are only believed
// when the process they name answers on its port and confirms it.
func Running(ctx context.Context, dir string) *Session {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	s := readSession(root)
	if s == nil || s.PID <= 0 || s.Port < 1 || s.Port > 65535 || !s.answers(ctx) {
		return nil
	}
	return s
}

// answers reports whether the dashboard answers on its port.
func (s *Session) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	at := "127.0.0.1:" + strconv.Itoa(s.Port)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+identityPath, nil)
	if err != nil {
		return false
	}
	// No proxy and no redirect: only this machine may answer.
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	var who struct {
		Program string `json:"program"`
		PID     int    `json:"pid"`
		Started string `json:"started_at"`
	}
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(data, &who) != nil {
		return false
	}
	return who.Program == "git-agentxchain dashboard" && who.PID == s.PID && who.Started == s.Started
}

// Stop ends the dashboard that shows dir and waits until it is gone. It returns nil without error
// when none runs, and then removes the files of a crashed one. It signals no process that has not
// proven its identity. Error: io_failed.
func Stop(ctx context.Context, dir string, wait time.Duration) (*Session, error) {
	s := Running(ctx, dir)
	if s == nil {
		removeStale(ctx, dir)
		return nil, nil
	}
	p, err := os.FindProcess(s.PID)
	if err == nil {
		err = end(p)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, &wire.Error{
			Code:    "io_failed",
			Message: fmt.Sprintf("The dashboard (process %d) cannot be ended: %s.", s.PID, reason(err)),
		}
	}
	until := time.Now().Add(wait)
	for s.answers(ctx) || has(dir, s) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if time.Now().After(until) {
			return nil, &wire.Error{
				Code: "io_failed",
				Message: fmt.Sprintf("The dashboard (process %d) was asked to end and still runs after %s.", s.PID,
					wait),
				Hint: "look at what it does, and end the process yourself",
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return s, nil
}

// has reports whether the session's files still exist; without the process it removes them, as the
// process may have been killed.
func has(dir string, s *Session) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	have := readSession(root)
	if have == nil || have.PID != s.PID {
		return false
	}
	if !process.Alive(s.PID) {
		removeSession(dir, s.PID)
		return false
	}
	return true
}

// removeStale removes files that name no process, or one that is not a dashboard.
func removeStale(ctx context.Context, dir string) {
	defer claim(dir)()
	if Running(ctx, dir) != nil {
		return // it has started meanwhile
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{PIDFile, SessionFile} {
		if fi, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) || err == nil && fi.IsDir() {
			continue
		}
		_ = root.Remove(name)
	}
}

// claim keeps other processes from the session's files of dir until release is called: a lock on
// the directory itself, which writes nothing and which the kernel releases when its holder dies.
// claim does not wait on systems without such locks, or when another process holds the lock for
// long.
func claim(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for range 500 {
		if !errors.Is(process.TryLock(f), process.ErrLocked) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() { _ = f.Close() }
}
