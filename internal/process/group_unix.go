//go:build unix

// Process groups on Unix.

package process

import (
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWait is how long killed processes are given to be gone.
const endWait = 2 * time.Second

// household is every program of this process that has not been waited for.
var household = struct {
	sync.Mutex
	programs map[int]*group // by process number
	since    uint64         // when the first of the sessions began that have been at work without a break
	spared   []string       // marks of programs whose detached children are to live on
}{programs: make(map[int]*group)}

// group is a program, the process group it leads, and what left that group.
type group struct {
	pid          int
	keepDetached bool
	session      bool
	trace        trace    // how processes outside the group are found
	terminal     *os.File // that the group has the foreground of, nil for none
}

func newGroup(keepDetached, session bool) *group {
	return &group{keepDetached: keepDetached, session: session}
}

// prepare makes the program the leader of a new group, or of a new session.
func (g *group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !g.session, Setsid: g.session}
	if g.terminal != nil {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(g.terminal.Fd())
	}
}

// foreground lets the group have a terminal, if that is ours to give.
func (g *group) foreground(terminal *os.File) {
	front, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	if err == nil && front == unix.Getpgrp() {
		g.terminal = terminal
	}
}

// background takes the terminal back. We are no longer in its foreground then, and
// who is not would be stopped for taking it.
func (g *group) background() {
	if g.terminal == nil {
		return
	}
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(g.terminal.Fd()), unix.TIOCSPGRP, unix.Getpgrp())
}

// start starts the program and takes note of it in one step: what is not noted
// could be taken for an orphan.
func (g *group) start(cmd *exec.Cmd) error {
	household.Lock()
	defer household.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	g.pid = cmd.Process.Pid
	g.trace.started(g)
	household.programs[g.pid] = g
	return nil
}

// forget is for a program that has been waited for.
func (g *group) forget() {
	household.Lock()
	defer household.Unlock()
	delete(household.programs, g.pid)
}

// beside reports whether other sessions are at work beside that of g.
func (g *group) beside() bool { return g.session && othersAtWork(g.pid) }

// othersAtWork reports whether programs with a session run beside that of pid.
func othersAtWork(pid int) bool {
	household.Lock()
	defer household.Unlock()
	for p, other := range household.programs {
		if other.session && p != pid {
			return true
		}
	}
	return false
}

// tidyEvery is how often dead orphans are collected while a program runs.
const tidyEvery = 5 * time.Second

func (g *group) tidy() *time.Ticker { return time.NewTicker(tidyEvery) }

// terminate asks the group to end. A stopped process must run to hear it.
func (g *group) terminate() {
	_ = syscall.Kill(-g.pid, syscall.SIGTERM)
	_ = syscall.Kill(-g.pid, syscall.SIGCONT)
}

// kill ends the group, and what left it, without asking. It is called while the leader
// is not yet waited for, so no other process has its number. It returns how many
// processes besides the leader were found.
func (g *group) kill() int {
	_ = syscall.Kill(-g.pid, syscall.SIGKILL)
	return g.trace.members(g.pid, !g.keepDetached)
}

// end kills until nothing is left that can be found, or it takes too long;
// it returns how many processes are still there. Processes die a moment after
// the signal, and one that was forking may have got a child away meanwhile.
func (g *group) end() int {
	deadline := time.Now().Add(endWait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left := g.trace.members(g.pid, !g.keepDetached)
		if left == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause)
	}
}

func signalName(ps *os.ProcessState) string {
	if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return unix.SignalName(ws.Signal())
	}
	return ""
}
