// Watching a running program: its output, its first sign of life, its time (docs/runtimes.md#local_cli).

package localcli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Why a program was ended.
const (
	endedAbort   = "abort"
	endedLimit   = "limit"
	endedIdle    = "idle"
	endedStartup = "startup"
)

// ending is the cause for which a program is ended, with the time it gets to exit.
type ending struct {
	why   string
	grace time.Duration
}

func (e ending) Error() string        { return "ended: " + e.why }
func (e ending) Grace() time.Duration { return e.grace }

// watch follows one program.
type watch struct {
	rt   *Runtime
	req  *runtimes.Request
	root *os.Root
	done chan struct{}
	told chan struct{} // closed once the start was reported: the program's output is reported after it

	startup, heartbeat, idle time.Duration // idle 0: no limit

	mu        sync.Mutex
	start     time.Time
	last      time.Time // of the last output on either stream
	first     time.Time // of the first proof of life, zero for none
	pid       int
	stdout    int64
	lines     int
	midLine   bool // stderr: the next byte continues a line
	why       string
	lastBeat  time.Time
	lastStage os.FileInfo
}

func newWatch(rt *Runtime, req *runtimes.Request, root *os.Root) *watch {
	raw, loop := req.Runtime.Raw, req.Config.RunLoop
	ms := func(key string, otherwise time.Duration) time.Duration {
		if n, ok := raw.Int(key); ok && n > 0 {
			return milliseconds(n)
		}
		return otherwise
	}
	liveness := time.Minute
	if loop.LivenessHeartbeatMS != nil {
		liveness = milliseconds(*loop.LivenessHeartbeatMS)
	}
	now := time.Now()
	return &watch{
		rt:        rt,
		req:       req,
		root:      root,
		done:      make(chan struct{}),
		told:      make(chan struct{}),
		start:     now,
		last:      now,
		lastBeat:  now,
		startup:   ms("startup_watchdog_ms", milliseconds(loop.StartupWatchdogMS)),
		heartbeat: ms("liveness_heartbeat_ms", liveness),
		idle:      ms("idle_timeout_ms", 0),
	}
}

func milliseconds(n int) time.Duration {
	return time.Duration(min(int64(n), int64(1<<53))) * time.Millisecond
}

// attached records that the program runs. Its output may be read before that.
func (w *watch) attached(pid int) {
	defer close(w.told)
	_ = turnmark.Brand(pid) // if it fails the other marks have to suffice
	w.mu.Lock()
	w.pid = pid
	w.mu.Unlock()
	w.diag("spawn_attached", "pid", pid)
	w.req.Activity(runtimes.Activity{Type: "starting", Summary: fmt.Sprintf("process %d started", pid), PID: pid})
}

// watch ends the program when its time is up, when it does not begin, when it falls silent for too
// long or when the caller gives up. It looks at the staging file now and then: a result is a sign
// of life too.
func (w *watch) watch(caller, own context.Context, end context.CancelCauseFunc) {
	defer close(w.done)
	tick := time.NewTicker(w.pace())
	defer tick.Stop()
	var limit <-chan time.Time
	if !w.req.Deadline.IsZero() {
		t := time.NewTimer(time.Until(w.req.Deadline)) // already past: at once
		defer t.Stop()
		limit = t.C
	}
	finish := func(why string, grace time.Duration) {
		w.mu.Lock()
		w.why = why
		w.mu.Unlock()
		end(ending{why, grace})
	}
	for {
		select {
		case <-own.Done():
			return
		case <-caller.Done():
			finish(endedAbort, w.rt.abortGrace)
			return
		case <-limit:
			finish(endedLimit, w.rt.limitGrace)
			return
		case now := <-tick.C:
			if why := w.overdue(now); why != "" {
				finish(why, w.rt.limitGrace)
				return
			}
		}
	}
}

// pace returns how often the watch looks.
func (w *watch) pace() time.Duration {
	p := time.Second
	for _, d := range []time.Duration{w.startup, w.heartbeat, w.idle} {
		if d > 0 {
			p = min(p, d/4)
		}
	}
	return max(p, 10*time.Millisecond)
}

// overdue returns why the program has to be ended, "" when it may go on.
func (w *watch) overdue(now time.Time) string {
	staged := w.stagedMoved()
	w.mu.Lock()
	if staged {
		w.last = now
		if w.first.IsZero() {
			w.first = now
		}
	}
	first, last, beat, pid := w.first, w.last, now.Sub(w.lastBeat) >= w.heartbeat, w.pid
	if beat {
		w.lastBeat = now
	}
	silent := now.Sub(last)
	w.mu.Unlock()
	switch {
	case staged:
		w.req.Activity(runtimes.Activity{
			Type:    "output",
			Summary: "staged a result",
			Stream:  "staged_result",
			PID:     pid,
		})
	case beat:
		label := "liveness_heartbeat"
		if first.IsZero() {
			label = "startup_heartbeat"
		}
		w.diag(label, "pid", pid, "elapsed_ms", now.Sub(w.start).Milliseconds(), "silent_ms", silent.Milliseconds())
		w.req.Activity(runtimes.Activity{Type: "heartbeat", PID: pid})
	}
	switch {
	case first.IsZero() && now.Sub(w.start) >= w.startup:
		w.diag("startup_watchdog_fired", "pid", pid, "after_ms", w.startup.Milliseconds())
		return endedStartup
	case w.idle > 0 && silent >= w.idle:
		w.diag("idle_limit", "pid", pid, "silent_ms", silent.Milliseconds())
		return endedIdle
	}
	return ""
}

// stagedMoved reports that the staged file has changed and is more than the placeholder.
func (w *watch) stagedMoved() bool {
	info, err := w.root.Lstat(w.req.StagingPath)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= int64(len("{}")) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if was := w.lastStage; was != nil && was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) {
		return false
	}
	w.lastStage = info
	return true
}

// staged reports whether the agent has left a result: a regular file that is
// neither blank nor a bare {}.
func (w *watch) staged() bool {
	info, err := w.root.Lstat(w.req.StagingPath)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Size() > maxStaged {
		return true // acceptance refuses it and says why
	}
	f, err := w.root.Open(w.req.StagingPath)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxStaged))
	return err == nil && protocol.StagedProof(data)
}

// stream returns the writer for one output stream: it logs, counts and reports.
func (w *watch) stream(name string) io.Writer {
	lines := &runtimes.LineWriter{Tell: func(n int, last string) { w.said(name, n, last) }}
	return writerFunc(func(p []byte) (int, error) {
		w.log(name, p)
		return lines.Write(p)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// log writes raw output; lines of stderr are marked as such.
func (w *watch) log(name string, p []byte) {
	if name == "stdout" {
		_, _ = w.req.Log.Write(p)
		return
	}
	var b strings.Builder
	for part := range strings.SplitAfterSeq(string(p), "\n") {
		if part == "" {
			continue
		}
		if !w.midLine {
			b.WriteString("[stderr] ")
		}
		b.WriteString(part)
		w.midLine = !strings.HasSuffix(part, "\n")
	}
	_, _ = w.req.Log.Write([]byte(b.String()))
}

func (w *watch) said(name string, lines int, last string) {
	<-w.told
	now := time.Now()
	w.mu.Lock()
	w.last = now
	pid, begun := w.pid, !w.first.IsZero()
	if name == "stdout" {
		w.lines += lines
		w.stdout++
		if !begun {
			w.first = now
		}
	}
	w.mu.Unlock()
	if name == "stdout" && !begun {
		w.diag("first_output", "pid", pid, "after_ms", now.Sub(w.start).Milliseconds())
	}
	kind := "output"
	if name == "stderr" && !begun {
		kind = "diagnostic_only"
	}
	w.req.Activity(runtimes.Activity{Type: kind, Line: last, PID: pid, Stream: name, Lines: lines})
}

// diag writes one line about what the runtime itself did.
func (w *watch) diag(label string, pairs ...any) {
	_, _ = w.req.Log.Write(fmt.Appendf(nil, "[adapter:diag] %s %s\n", label, ojson.Compact(ojson.NewObject(pairs...))))
}

// shownEnv returns the variables that a log may show.
func shownEnv(env []string) *ojson.Object {
	out := ojson.NewObject()
	for _, name := range []string{"PATH", "HOME", "PWD", "SHELL", "TMPDIR", "AGENTXCHAIN_TURN_ID"} {
		for _, kv := range env { // the last one counts
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				out.Set(name, v)
			}
		}
	}
	return out
}
