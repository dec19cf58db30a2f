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

// endWait is how long to wait for killed processes to disappear.
const endWait = 2 * time.Second

// household lists the programs of this process that have not been waited for.
var household = struct {
	sync.Mutex
	programs map[int]*group // by process number
	since    uint64         // start of the first session in the current uninterrupted series of sessions
	spared   []string       // marks of programs whose detached children may live on
}{programs: make(map[int]*group)}

// group is a program, its process group, and the processes that left that group.
type group struct {
	pid          int
	keepDetached bool
	session      bool
	trace        trace    // how processes outside the group are found
	terminal     *os.File // whose foreground the group has, nil for none
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

// foreground puts the group in the foreground of a terminal, if we may.
func (g *group) foreground(terminal *os.File) {
	front, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	if err == nil && front == unix.Getpgrp() {
		g.terminal = terminal
	}
}

// background takes the terminal back. We are then no longer in its foreground, and a background process would be
// stopped for doing that.
func (g *group) background() {
	if g.terminal == nil {
		return
	}
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(g.terminal.Fd()), unix.TIOCSPGRP, unix.Getpgrp())
}

// start starts the program and registers it in one step: an unregistered program could be mistaken for an orphan.
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

// forget unregisters a program that has been waited for.
func (g *group) forget() {
	household.Lock()
	defer household.Unlock()
	delete(household.programs, g.pid)
}

// beside reports whether other sessions run beside that of g.
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

// terminate asks the group to end. A stopped process must be continued to receive it.
func (g *group) terminate() {
	_ = syscall.Kill(-g.pid, syscall.SIGTERM)
	_ = syscall.Kill(-g.pid, syscall.SIGCONT)
}

// kill ends the group, and the processes that left it, forcibly. It is called before the leader is waited for, so
// no other process has its number. It returns how many processes besides the leader were found.
func (g *group) kill() int {
	_ = syscall.Kill(-g.pid, syscall.SIGKILL)
	return g.trace.members(g.pid, !g.keepDetached)
}

// end kills until no process can be found, or it takes too long; it returns how many remain. Processes die a moment
// after the signal, and one may fork a child in the meantime.
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
