// Orphans on Linux: becoming the parent of processes that programs leave behind, so that none escapes.

package process

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// adopting says that orphans of our programs become our children.
var adopting atomic.Bool

// AdoptOrphans makes this process the parent of every descendant whose own parent dies, whatever it has done to its
// session and its environment, until this process ends (prctl(2), PR_SET_CHILD_SUBREAPER). Processes left by
// programs with Session are then found by descent, ended and collected. It is for a process that is alone with the
// programs it runs: children in other sessions that Run did not start are mistaken for orphans.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	adopting.Store(true)
	return nil
}

// ownSession returns the session of this process.
func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}

// adopted reports whether a process became ours by the death of its parent: it is our child in a different session,
// and none of our programs.
func adopted(pid int, p Stat) bool {
	if !adopting.Load() || p.Parent != os.Getpid() || p.Session == ownSession() {
		return false
	}
	household.Lock()
	defer household.Unlock()
	return household.programs[pid] == nil
}

// stray reports whether the program of t left an orphan. That is so if no other program can have left it; while
// other programs are running, an orphan without marks cannot be distinguished from theirs and stays until the last
// of them ends.
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
	return !slices.ContainsFunc(household.spared, func(mark string) bool { return marked(pid, mark) })
}

// collect waits for a dead orphan; no other process will.
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
		for word := range strings.FieldsSeq(string(data)) {
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
