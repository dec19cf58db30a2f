// Signs of life of a dispatched turn in a file that other commands can read
// (docs/runtimes.md#what-is-written-while-an-agent-works).

package runtimes

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	progressEvery = time.Second      // at most one write in this time
	silentAfter   = 30 * time.Second // without output an agent counts as silent
	maxProgress   = 64 << 10
)

// ProgressPath returns where the progress of a turn is kept while its agent works, "" for an id
// that cannot name a file.
func ProgressPath(turnID string) string {
	p := ".agentxchain/dispatch-progress-" + turnID + ".json"
	if clean, problem := wire.CleanPath(p); problem != "" || clean != p || strings.ContainsAny(turnID, "/\\") {
		return ""
	}
	return p
}

// Progress is the content of a progress file. Times are RFC 3339, "" for never.
type Progress struct {
	TurnID          string  `json:"turn_id"`
	RuntimeID       string  `json:"runtime_id"`
	AdapterType     string  `json:"adapter_type"`
	StartedAt       string  `json:"started_at"`
	FirstOutputAt   *string `json:"first_output_at"`
	LastActivityAt  string  `json:"last_activity_at"`
	ActivityType    string  `json:"activity_type"`
	ActivitySummary string  `json:"activity_summary"`
	OutputLines     int     `json:"output_lines"`
	StderrLines     int     `json:"stderr_lines"`
	SilentSince     *string `json:"silent_since"`
	PID             *int    `json:"pid"`

	// Members of ours: who carries the turn out, and which attempt of it.
	Attempt   int    `json:"attempt,omitempty"`
	DriverPID int    `json:"driver_pid,omitempty"`
	Host      string `json:"host,omitempty"`
	LastLine  string `json:"last_line,omitempty"`
	Deadline  string `json:"deadline_at,omitempty"`
	Extra     ojson.Extra
}

// ReadProgress reads the progress of a turn below root; nil without error when the turn is not
// being worked on. The error for a damaged file has no code: the file is a hint and never a record.
func ReadProgress(root *os.Root, turnID string) (*Progress, error) {
	name := ProgressPath(turnID)
	if name == "" {
		return nil, nil
	}
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxProgress+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxProgress {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxProgress)
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &Progress{}
	if bad := ojson.Unmarshal(doc, p); len(bad) > 0 {
		return nil, fmt.Errorf("%s: %w", name, bad[0])
	}
	return p, nil
}

// Tracker keeps a progress file up to date. It is safe for concurrent use; a file that cannot be
// written delays nothing.
type Tracker struct {
	root *os.Root
	name string
	now  func() time.Time

	mu     sync.Mutex
	p      Progress
	last   time.Time   // of the last output
	timer  *time.Timer // writes what was held back
	closed bool
}

// Track writes the first progress of a turn. Close removes the file.
func Track(root *os.Root, p Progress, now func() time.Time) *Tracker {
	t := &Tracker{root: root, name: ProgressPath(p.TurnID), now: now, p: p}
	at := now()
	t.p.StartedAt, t.p.LastActivityAt, t.p.ActivityType = wire.FormatTime(at), wire.FormatTime(at), "starting"
	t.last = at
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write()
	t.timer = time.AfterFunc(progressEvery, t.tick)
	return t
}

// Note takes a sign of life.
func (t *Tracker) Note(a Activity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.now()
	stamp := wire.FormatTime(at)
	t.p.LastActivityAt = stamp
	if a.Type != "" {
		t.p.ActivityType = a.Type
	}
	if a.Summary != "" {
		t.p.ActivitySummary = a.Summary
	}
	if a.Line != "" {
		t.p.LastLine = a.Line
	}
	if a.PID != 0 {
		t.p.PID = &a.PID
	}
	switch a.Stream {
	case "stderr":
		t.p.StderrLines += a.Lines
	case "":
		return
	default:
		if a.Stream == "stdout" {
			t.p.OutputLines += a.Lines
		}
		if t.p.FirstOutputAt == nil {
			t.p.FirstOutputAt = &stamp
		}
	}
	t.last, t.p.SilentSince = at, nil
}

// tick writes what has changed; there is one timer, so that output alone never writes.
func (t *Tracker) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	at := t.now()
	if at.Sub(t.last) >= silentAfter && t.p.SilentSince == nil {
		since := wire.FormatTime(t.last)
		t.p.SilentSince, t.p.ActivityType = &since, "silent"
	}
	t.write()
	t.timer.Reset(progressEvery)
}

func (t *Tracker) write() {
	if t.name == "" || t.closed {
		return
	}
	// Replaced as a whole, so that no reader sees half of it, and not synced: it is only about the
	// present.
	tmp := t.name + ".tmp"
	_ = t.root.Remove(tmp)
	f, err := t.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return
	}
	_, err = f.Write(ojson.Pretty(ojson.Marshal(&t.p)))
	if cerr := f.Close(); err == nil && cerr == nil {
		err = t.root.Rename(tmp, t.name)
	}
	if err != nil {
		_ = t.root.Remove(tmp)
	}
}

// Close ends the tracking and removes the file.
func (t *Tracker) Close() { t.end(false) }

// Interrupt ends the tracking and leaves the file, as a kill would: it says that the attempt was
// under way and can be continued.
func (t *Tracker) Interrupt() { t.end(true) }

func (t *Tracker) end(keep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.timer.Stop()
	if keep {
		t.p.LastActivityAt, t.p.ActivityType, t.p.PID = wire.FormatTime(t.now()), "interrupted", nil
		t.write()
	} else if t.name != "" {
		_ = t.root.Remove(t.name)
	}
	t.closed = true
}
