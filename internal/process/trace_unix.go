//go:build unix && !linux

// Unix systems without Linux's /proc: processes that left the group are not found.

package process

import "syscall"

type trace struct{}

func (g *group) mark(env []string) []string { return env }

func (t *trace) started(*group) {}

func (g *group) reap() {}

// AdoptOrphans does nothing here: orphans become children of the system's first process.
func AdoptOrphans() error { return nil }

// awaitExit returns false: there is no portable way to learn of the end of a process without collecting it.
func (g *group) awaitExit() bool { return false }

// members kills the rest of the group and returns 1 while it exists. The program itself has been waited for by now.
func (t *trace) members(pgid int, _ bool) int {
	if syscall.Kill(-pgid, syscall.SIGKILL) == syscall.ESRCH {
		return 0
	}
	return 1
}
