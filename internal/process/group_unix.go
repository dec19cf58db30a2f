//go:build unix

// Process groups on Unix.

package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWait is how long killed processes are given to be gone.
const endWait = 2 * time.Second

// group is a program, the process group it leads, and what left that group.
type group struct {
	pid          int
	keepDetached bool
	trace        trace // how processes outside the group are found
}

func newGroup(keepDetached bool) *group { return &group{keepDetached: keepDetached} }

// prepare makes the program the leader of a new group.
func (g *group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func (g *group) started(p *os.Process) {
	g.pid = p.Pid
	g.trace.started(p.Pid)
}

// terminate asks the group to end. A stopped process must run to hear it.
func (g *group) terminate() {
	_ = syscall.Kill(-g.pid, syscall.SIGTERM)
	_ = syscall.Kill(-g.pid, syscall.SIGCONT)
}

// kill ends the group, and what left it, without asking. It is called while the
// leader is not yet waited for, so its number belongs to nobody else. It returns
// how many processes besides the leader were found.
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
