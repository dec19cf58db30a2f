// Finding the processes that a program left behind, on Linux through /proc.

package process

import (
	"bytes"
	"crypto/rand"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// markName is the variable that marks descendants. A program run by a program that was run has the marks of both,
// so that the outermost caller can end everything.
const (
	markName  = "AGENTXCHAIN_PROCESS_MARK"
	maxMarks  = 8
	maxEnvLen = 4 << 20 // how much of a process's environment is read
)

// trace knows the processes that descend from one program.
type trace struct {
	mark    string // unique to this program
	since   uint64 // start time of the program in clock ticks since boot
	session int    // the session it leads, 0 for none
}

// mark adds the marker to the environment of the program.
func (g *group) mark(env []string) []string {
	g.trace.mark = rand.Text()
	chain := []string{}
	if outer := os.Getenv(markName); outer != "" {
		chain = strings.Split(outer, ":")
	}
	if chain = append(chain, g.trace.mark); len(chain) > maxMarks {
		chain = chain[len(chain)-maxMarks:]
	}
	out := make([]string, 0, len(env)+1)
	out = append(out, markName+"="+strings.Join(chain, ":"))
	for _, kv := range env {
		if !strings.HasPrefix(kv, markName+"=") {
			out = append(out, kv)
		}
	}
	return out
}

// started records the program's start; the caller holds the household's lock.
func (t *trace) started(g *group) {
	if p, ok := readStat(g.pid); ok {
		t.since = p.Start
	}
	if g.session {
		alone := true
		for _, other := range household.programs {
			alone = alone && !other.session
		}
		if t.session = g.pid; alone {
			household.since = t.since
		}
	}
	if g.keepDetached {
		household.spared = append(household.spared, t.mark)
	}
}

// awaitExit returns true when the program has ended and is not yet waited for, so that its group can be ended
// before its pipes are waited for.
func (g *group) awaitExit() bool {
	for {
		err := unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != syscall.EINTR {
			return err == nil
		}
	}
}

// members kills the rest of the group and the marked processes, and returns how many were still alive.
func (t *trace) members(pgid int, detached bool) int {
	n := 0
	t.each(pgid, detached, func() { n++ })
	return n
}

// each kills the processes of the group (0: none) and the marked ones. A dead process that its parent has not
// collected yet does not count.
func (t *trace) each(pgid int, detached bool, found func()) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close()
	if err != nil && len(names) == 0 {
		return
	}
	self := os.Getpid()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		stat, ok := readStat(pid)
		if !ok || collect(pid, stat) || !t.ours(pid, stat, pgid, detached) {
			continue
		}
		// The handle is bound to the process; check again what it is bound to, because the number may have been
		// reused in the meantime.
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if stat, ok = readStat(pid); ok && t.ours(pid, stat, pgid, detached) {
			_ = p.Signal(syscall.SIGKILL)
			if found != nil {
				found()
			}
		}
		_ = p.Release()
	}
}

// ours reports whether a process belongs to the group or carries the marker. A process older than the program
// cannot descend from it.
func (t *trace) ours(pid int, p Stat, pgid int, detached bool) bool {
	if p.Dead() {
		return false
	}
	if detached && t.session != 0 && t.stray(pid, p) {
		return true
	}
	if p.Start < t.since {
		return false
	}
	if pgid != 0 && p.Group == pgid || t.session != 0 && p.Session == t.session {
		return true
	}
	return detached && marked(pid, t.mark)
}

// execWait is how long a process may take for an exec before it counts as one without an environment, in steps of a
// millisecond; execLooks is how often a sleeping process with arguments must be seen without a complete
// environment.
const (
	execWait  = 100
	execLooks = 8
)

// marked looks for the marker in the initial environment of a process. Other users' environments are unreadable,
// and their processes could not be ended. During an exec a process's environment and arguments read as empty, and a
// read in progress is cut short; the process must not escape because of that.
func marked(pid int, mark string) bool {
	if mark == "" {
		return false
	}
	dir := "/proc/" + strconv.Itoa(pid)
	without := 0 // consecutive looks that found it running, but without a complete environment
	for range execWait {
		env, ok := readSome(dir+"/environ", maxEnvLen)
		if !ok || bytes.Contains(env, []byte(mark)) {
			return ok
		}
		p, ok := readStat(pid)
		if !ok || p.Dead() || p.Kernel {
			return false
		}
		whole := min(p.Env, maxEnvLen)
		if len(env) > 0 && whole > 0 && uint64(len(env)) >= whole {
			return false
		}
		args, ok := readSome(dir+"/cmdline", 1)
		switch {
		case !ok:
			return false
		case len(args) == 0:
			without = 0
			time.Sleep(time.Millisecond)
		default:
			// It may have been created, or have called exec again, between the looks. A process waiting for a CPU
			// may have been stopped where its new arguments are set and its environment is not: let it continue.
			if without++; without < execLooks {
				continue
			}
			if p.State == 'S' {
				return false
			}
			time.Sleep(time.Millisecond)
		}
	}
	return false
}

// readSome reads at most limit bytes of a file; ok is false when it cannot be read.
func readSome(name string, limit int64) (data []byte, ok bool) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	data, err = io.ReadAll(io.LimitReader(f, limit))
	return data, err == nil
}
