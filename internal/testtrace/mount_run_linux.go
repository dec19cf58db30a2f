// Programs on a simulated disk: which of them continues, and which of their calls goes wrong.

package testtrace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// mounted is a program on the disk.
type mounted struct {
	run    *Run
	pid    int // 0 until it is known
	result *Result
	over   bool
}

// turns holds the programs on the disk, and which of two continues.
type turns struct {
	runs  []*mounted
	owner map[uint32]int // thread -> its program, -1 for none
	turn  int
	left  int       // calls until the other one continues
	last  time.Time // of the last call
}

// patience is how long a program may take until its next call: another one continues when it waits for something.
const patience = 3 * time.Millisecond

// limit is how long a run may take.
const limit = 2 * time.Minute

// called is the outcome of a call.
type called struct {
	fail  fuse.Status // it is not carried out
	short bool        // only half of it is carried out
	kill  uint32      // the process to kill afterwards
}

func (c called) done() {
	if c.kill != 0 {
		_ = unix.Kill(int(c.kill), unix.SIGKILL)
	}
}

// call waits until it is the program's turn, counts a call that changes a file, and decides its outcome. The file
// is n, or has the name in the directory n, and is to get the name as.
func (m *fake) call(h *fuse.InHeader, what string, n int, name, as string) called {
	if len(m.turns.runs) == 0 {
		return called{} // the test itself
	}
	mine := m.await(h.Pid)
	if m.frozen {
		return called{fail: fuse.EIO}
	}
	if mine < 0 {
		return called{}
	}
	r := m.turns.runs[mine]
	c := &Call{N: len(r.result.Calls) + 1, Process: int(h.Pid), Name: what}
	r.result.Calls = append(r.result.Calls, c)
	f := r.run.Fault
	switch {
	case f.Kind == "", c.N < f.At, !c.Applies(f.Kind), r.result.Hit != nil && !f.Lasting:
		return called{}
	case r.result.Hit == nil:
		c.Path, c.To = filepath.Join(m.path(n), name), as
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", h.Pid))
		c.Program = strings.TrimSpace(string(comm))
		r.result.Hit = c
	}
	switch f.Kind {
	case KillBefore:
		return called{fail: fuse.EIO, kill: h.Pid}.now()
	case KillAfter:
		return called{kill: h.Pid}
	case KillAll:
		m.frozen = true
		killBelow(os.Getpid())
		return called{fail: fuse.EIO}
	case Orphan:
		_ = unix.Kill(r.pid, unix.SIGKILL)
		return called{}
	case Short:
		return called{short: true}
	}
	return called{fail: fuse.Status(errnos[f.Kind])}
}

// now carries out the kill immediately.
func (c called) now() called {
	c.done()
	return c
}

// await waits for the turn of a thread's program and returns the program's number.
func (m *fake) await(thread uint32) int {
	t := &m.turns
	mine, known := t.owner[thread]
	for !known {
		if slices.ContainsFunc(t.runs, func(r *mounted) bool { return r.pid == 0 }) {
			m.pause() // it may have just been started
			continue
		}
		mine, known = m.ownerOf(int(thread)), true
		t.owner[thread] = mine
	}
	if len(t.runs) < 2 || mine < 0 {
		return mine
	}
	for t.turn != mine && !t.runs[t.turn].over && time.Since(t.last) < patience && !m.frozen {
		m.pause()
	}
	if t.turn != mine {
		t.turn, t.left = mine, m.some()
	}
	if t.left--; t.left <= 0 {
		t.turn, t.left = 1-mine, m.some()
	}
	t.last = time.Now()
	return mine
}

// pause gives up the lock for a moment.
func (m *fake) pause() {
	m.mu.Unlock()
	time.Sleep(patience / 20)
	m.mu.Lock()
}

// some draws how many calls a program makes before the other continues.
func (m *fake) some() int { return 1 + m.draw.IntN(1<<m.draw.IntN(7)) }

// ownerOf returns the program of a thread, -1 for none.
func (m *fake) ownerOf(thread int) int {
	for pid := statusOf(thread, "Tgid:"); pid > 1; {
		for i, r := range m.turns.runs {
			if r.pid == pid {
				return i
			}
		}
		parent := statusOf(pid, "PPid:")
		if parent == os.Getpid() && len(m.turns.runs) == 1 {
			return 0 // what started it is gone
		}
		pid = parent
	}
	return -1
}

// statusOf reads a number from the kernel's status of a process or a thread.
func statusOf(pid int, field string) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "\n"+field)
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	return n
}

// children returns the processes that a process has started or inherited.
func children(pid int) (list []int) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		for word := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// killBelow kills everything that a process has started.
func killBelow(pid int) {
	for _, child := range children(pid) {
		_ = unix.Kill(child, unix.SIGKILL)
		killBelow(child)
	}
}

// run runs programs to their end, two of them alternating, and waits for everything they started.
func (m *fake) run(runs []*Run) ([]*Result, error) {
	// Processes that a program leaves behind become children of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.turns = turns{owner: map[uint32]int{}, turn: m.draw.IntN(len(runs)), left: m.some(), last: time.Now()}
	for _, r := range runs {
		m.turns.runs = append(m.turns.runs, &mounted{run: r, result: &Result{Status: -1}})
	}
	m.mu.Unlock()
	ended := make(chan error, len(runs))
	for _, r := range m.turns.runs {
		go func() { ended <- m.carry(r) }()
	}
	var err error
	begun, killed := time.Now(), 0
	for waiting := len(runs); ; {
		select {
		case e := <-ended:
			err = errors.Join(err, e)
			waiting--
			continue
		case <-time.After(time.Millisecond):
		}
		m.mu.Lock()
		frozen := m.frozen
		m.mu.Unlock()
		if over := time.Since(begun) > limit; frozen || over {
			killBelow(os.Getpid())
			if killed++; over && killed == 1 {
				err = errors.Join(err, fmt.Errorf("%v takes more than %v", runs[0].Args, limit))
			}
		}
		if waiting > 0 {
			continue
		}
		left := children(os.Getpid())
		for _, pid := range left {
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		}
		if len(left) == 0 {
			break
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var results []*Result
	for _, r := range m.turns.runs {
		results = append(results, r.result)
	}
	m.turns, m.frozen = turns{}, false
	return results, err
}

// carry runs one program.
func (m *fake) carry(r *mounted) error {
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		r.over = true
		r.pid = cmp.Or(r.pid, -1)
	}()
	// Files, not pipes: leftover processes would hold pipes open.
	var printed [2]*os.File
	for i := range printed {
		fd, err := unix.MemfdCreate("output", unix.MFD_CLOEXEC)
		if err != nil {
			return err
		}
		printed[i] = os.NewFile(uintptr(fd), "output")
		defer func() { _ = printed[i].Close() }()
	}
	// The shell changes the directory: a child before its exec would block this process.
	cmd := exec.Command("/bin/sh", append([]string{"-c", `cd "$0" && exec "$@"`, r.run.Dir}, r.run.Args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = r.run.Env, printed[0], printed[1]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	m.mu.Lock()
	r.pid = cmd.Process.Pid
	m.mu.Unlock()
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		return err
	}
	r.result.Status = cmd.ProcessState.ExitCode()
	r.result.Finished = r.result.Status >= 0
	var err error
	for i, to := range []*[]byte{&r.result.Output, &r.result.Errors} {
		if _, err = printed[i].Seek(0, io.SeekStart); err == nil {
			*to, err = io.ReadAll(printed[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
