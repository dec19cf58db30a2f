// Running one program within limits on time, output and everything it starts.

package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// DefaultGrace is the time between SIGTERM and SIGKILL when none is given.
const DefaultGrace = 2 * time.Second

// pipeDelay is how long Run waits for output after the program and all its known processes are gone.
const pipeDelay = time.Second

// Spec says what to run and within which limits.
type Spec struct {
	Argv    []string      // the program and its arguments, without a shell
	Dir     string        // working directory
	Env     []string      // the whole environment, "NAME=value"; nil inherits ours
	Stdin   []byte        // standard input, empty by default
	Input   io.Reader     // instead of Stdin; an *os.File is passed directly
	Files   []*os.File    // open in the program as descriptors from 3 on
	Timeout time.Duration // since the start; 0 means no limit
	Grace   time.Duration // between SIGTERM and SIGKILL, 2 s when 0; a cause of ctx with a method Grace overrides it

	Limit          int  // bytes kept of each output stream
	KeepTail       bool // keep the last Limit bytes instead of the first
	KillOnOverflow bool // end the program once a stream exceeds Limit

	// Stdout and Stderr receive the program's output as it arrives, regardless of Limit, each from its own
	// goroutine. Their errors are ignored.
	Stdout, Stderr io.Writer

	// Started is called with the process number before Run waits for it.
	Started func(pid int)

	// Session gives the program its own session: it has no terminal to prompt on or to be stopped by, and no
	// descendant can return to ours.
	Session bool

	// Terminal is a terminal on which the program may prompt: while it runs its group is in the foreground there,
	// if ours was. Unix only; a program with a Session has none.
	Terminal *os.File

	// KeepDetached spares processes that left the program's group: daemons that were started on purpose. Only the
	// group is ended.
	KeepDetached bool
}

// Result describes how the program ended. Exit is nil when the program did not start or a signal ended it. The
// causes Overflow, TimedOut and Canceled exclude each other: the first that occurs ends the program.
type Result struct {
	Exit           *int
	Signal         string // SIGTERM and the like, "" when it ended by itself
	Stdout, Stderr []byte
	Overflow       bool // KillOnOverflow was set and a stream exceeded Limit
	StartErr       error
	TimedOut       bool
	Canceled       bool          // ctx ended first
	Survivors      int           // processes that could not be ended, 0 as a rule
	Duration       time.Duration // until the program itself ended
}

// OK reports whether the program ended by itself, in time, with status 0.
func (r *Result) OK() bool {
	return r.Exit != nil && *r.Exit == 0 && r.StartErr == nil && !r.Overflow && !r.TimedOut && !r.Canceled
}

// Run runs a program to its end. It returns when the program and all its known processes are gone. It is not a
// failure if the program closes its standard input early.
func Run(ctx context.Context, s Spec) *Result {
	res := &Result{}
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		res.StartErr = errors.New("no program is named")
		return res
	}
	if ctx.Err() != nil {
		res.Canceled = true
		return res
	}
	overflow := make(chan struct{}, 1)
	stdout, stderr := newCapture(s, overflow), newCapture(s, overflow)
	cmd, g := command(s)
	cmd.Stdout, cmd.Stderr = stdout.tee(s.Stdout), stderr.tee(s.Stderr)
	switch {
	case s.Input != nil:
		cmd.Stdin = s.Input
	case len(s.Stdin) > 0:
		cmd.Stdin = bytes.NewReader(s.Stdin)
	}
	start := time.Now()
	if err := g.start(cmd); err != nil {
		res.StartErr = err
		return res
	}
	if s.Started != nil {
		s.Started(cmd.Process.Pid)
	}
	done := make(chan struct{})
	clean := false // nothing was left behind; no need to look again
	go func() {
		defer close(done)
		// Leftover processes hold the pipes open; they are ended before waiting for the pipes.
		if g.awaitExit() {
			res.Duration = time.Since(start)
			beside := g.beside()
			clean = g.kill() == 0 && !beside && !g.beside()
		}
		_ = cmd.Wait() // the state is more informative than the error
		if res.Duration == 0 {
			res.Duration = time.Since(start)
		}
	}()
	watch(ctx, s, g, res, overflow, done)
	g.background()
	g.forget()
	// An unmarked leftover of a session belongs to the last program that ends, which may be this one only now.
	if !clean {
		res.Survivors = g.end()
	}
	g.reap() // also processes that died a moment after an earlier program ended
	res.Stdout, res.Stderr = stdout.bytes(), stderr.bytes()
	// Even if it ended by itself just then: the result must not depend on a race.
	res.Overflow = s.KillOnOverflow && (stdout.over() || stderr.over()) && !res.TimedOut && !res.Canceled
	res.take(cmd.ProcessState)
	return res
}

// watch waits for the end of the program and ends it when a limit is reached.
func watch(ctx context.Context, s Spec, g *group, res *Result, overflow, done <-chan struct{}) {
	var deadline <-chan time.Time
	if s.Timeout > 0 {
		t := time.NewTimer(s.Timeout)
		defer t.Stop()
		deadline = t.C
	}
	tidy := g.tidy()
	defer tidy.Stop()
wait:
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			res.Canceled = true
			break wait
		case <-deadline:
			res.TimedOut = true
			break wait
		case <-overflow:
			break wait
		case <-tidy.C:
			g.reap()
		}
	}
	select {
	case <-done: // both at once: it ended in time
		res.Canceled, res.TimedOut = false, false
		return
	default:
	}
	g.terminate()
	grace := s.Grace
	if c, ok := context.Cause(ctx).(interface{ Grace() time.Duration }); ok && res.Canceled {
		grace = c.Grace()
	}
	if grace <= 0 {
		grace = DefaultGrace
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		g.kill()
		<-done
	}
}

// take reads the exit status and signal.
func (r *Result) take(ps *os.ProcessState) {
	if ps == nil {
		return
	}
	if r.Signal = signalName(ps); r.Signal == "" {
		if code := ps.ExitCode(); code >= 0 {
			r.Exit = &code
		}
	}
}

// command prepares the program: its path, environment and group.
func command(s Spec) (*exec.Cmd, *group) {
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	g := newGroup(s.KeepDetached, s.Session)
	if s.Terminal != nil && !s.Session {
		g.foreground(s.Terminal)
	}
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	if p, own := lookup(s.Argv[0], env); own {
		if cmd.Path, cmd.Err = p, nil; p == "" {
			cmd.Err = &exec.Error{Name: s.Argv[0], Err: exec.ErrNotFound}
		}
	}
	cmd.Dir, cmd.ExtraFiles = s.Dir, s.Files
	cmd.Env = g.mark(env)
	cmd.WaitDelay = pipeDelay
	g.prepare(cmd)
	return cmd, g
}
