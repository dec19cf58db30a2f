// Finding the processes a program left behind: Linux, through /proc.

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

// markName is the variable by which descendants are known. Programs run by
// programs that were run have the marks of all of them, so that the outermost
// can end everything.
const (
	markName  = "AGENTXCHAIN_PROCESS_MARK"
	maxMarks  = 8
	maxEnvLen = 4 << 20 // of a process, as far as it is looked at
)

// trace knows the processes that descend from one program.
type trace struct {
	mark    string // unique to this program
	since   uint64 // start time of the program in clock ticks since boot
	session int    // it leads, 0 for none
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

// started is called with the household locked.
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

// awaitExit returns true when the program has ended and is not yet waited for,
// so that its group can be ended before its pipes are waited for.
func (g *group) awaitExit() bool {
	for {
		err := unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != syscall.EINTR {
			return err == nil
		}
	}
}

// members kills what is left of the group and of the marked processes and
// returns how many were still alive.
func (t *trace) members(pgid int, detached bool) int {
	n := 0
	t.each(pgid, detached, func() { n++ })
	return n
}

// each kills the processes of the group (0: none) and the marked ones. One that
// is dead and only waits to be collected by its parent does not count.
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
		// The handle is bound to the process; what it is bound to is looked at
		// again, for the number may have passed to another meanwhile.
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

// ours reports whether a process belongs to the group or carries the marker.
// What is older than the program cannot descend from it.
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

// execWait is how long a process may take to replace its program until it is
// taken for one without an environment, in steps of a millisecond; execLooks is
// how often one that has arguments and sleeps must be seen without a whole
// environment.
const (
	execWait  = 100
	execLooks = 8
)

// marked looks for the marker in the environment a process was started with.
// Those of other people cannot be read, and could not be ended. While a process
// replaces its program its environment and its arguments read as empty, and what
// is being read of them breaks off; it must not get away for that.
func marked(pid int, mark string) bool {
	if mark == "" {
		return false
	}
	dir := "/proc/" + strconv.Itoa(pid)
	without := 0 // looks in a row that found it at work, but all of no environment
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
			// It may have come to be, or to be replaced again, between the looks. One that waits for a processor may have
			// been stopped where its new arguments are there and its environment is not: it is let go on.
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
