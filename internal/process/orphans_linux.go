// Orphans on Linux: becoming the parent of what programs leave behind, so that nothing gets out of sight.

package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// adopting says that orphans of our programs come to us.
var adopting atomic.Bool

// AdoptOrphans makes this process the parent of every descendant whose own parent
// dies, whatever it has done to its session and its environment, for as long as
// it lives (prctl(2), PR_SET_CHILD_SUBREAPER). What programs with Session leave
// behind is then found by its descent, ended and collected. It is for a process
// that is alone with the programs it runs: children in other sessions that were
// not started by Run are taken for orphans.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	adopting.Store(true)
	return nil
}

// ownSession is the session this process is in.
func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}

// adopted reports whether a process came to us by the death of its parent: it is
// our child in a session that is not ours, and none of our programs.
func adopted(pid int, p Stat) bool {
	if !adopting.Load() || p.Parent != os.Getpid() || p.Session == ownSession() {
		return false
	}
	household.Lock()
	defer household.Unlock()
	return household.programs[pid] == nil
}

// stray reports whether an orphan was left by the program of t. It was if no other
// program can have left it; with other programs still at work, an orphan that has wiped
// its marks cannot be told from theirs and stays until the last of them is done.
func (t *trace) stray(pid int, p Stat) bool {
	if !adopted(pid, p) {
		return false
	}
	if othersAtWork(t.session) {
		return false
	}
	household.Lock()
	defer household.Unlock()
	if p.Start < household.since {
		return false
	}
	for _, mark := range household.spared {
		if marked(pid, mark) {
			return false
		}
	}
	return true
}

// collect waits for an orphan that has died; no other process will.
func collect(pid int, p Stat) bool {
	if p.State != 'Z' || !adopted(pid, p) {
		return false
	}
	_, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return err == nil
}

// reap collects the orphans that have died since the last time.
func (g *group) reap() {
	if !adopting.Load() {
		return
	}
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range lists {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			if p, ok := readStat(pid); ok {
				collect(pid, p)
			}
		}
	}
}
