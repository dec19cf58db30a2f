//go:build unix && !linux

// Unix systems without /proc as Linux has it: what left the group is not found.

package process

import "syscall"

type trace struct{}

func (g *group) mark(env []string) []string { return env }

func (t *trace) started(*group) {}

func (g *group) reap() {}

// AdoptOrphans does nothing here: orphans go to the system's first process.
func AdoptOrphans() error { return nil }

// awaitExit is false: there is no portable way to learn of the end of a process
// without taking it.
func (g *group) awaitExit() bool { return false }

// members kills what is left of the group and returns 1 while it exists. The
// program itself is gone and waited for by now.
func (t *trace) members(pgid int, _ bool) int {
	if syscall.Kill(-pgid, syscall.SIGKILL) == syscall.ESRCH {
		return 0
	}
	return 1
}
