// Tracing: one thread follows every process of the tree.

package testtrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are the system calls that change files, and the positions of their arguments.
var calls = map[uint64]shape{
	unix.SYS_OPEN:            {name: "open", path: 0, flags: 1, mode: 2},
	unix.SYS_OPENAT:          {name: "openat", dir: 1, path: 1, flags: 2, mode: 3},
	unix.SYS_CREAT:           {name: "creat", path: 0, flags: -2, mode: 1},
	unix.SYS_WRITE:           {name: "write", fd: true},
	unix.SYS_PWRITE64:        {name: "pwrite64", fd: true},
	unix.SYS_WRITEV:          {name: "writev", fd: true},
	unix.SYS_PWRITEV:         {name: "pwritev", fd: true},
	unix.SYS_COPY_FILE_RANGE: {name: "copy_file_range", fd: true, fdAt: 2},
	unix.SYS_SENDFILE:        {name: "sendfile", fd: true},
	unix.SYS_FTRUNCATE:       {name: "ftruncate", fd: true},
	unix.SYS_TRUNCATE:        {name: "truncate"},
	unix.SYS_FALLOCATE:       {name: "fallocate", fd: true},
	unix.SYS_FSYNC:           {name: "fsync", fd: true},
	unix.SYS_FDATASYNC:       {name: "fdatasync", fd: true},
	unix.SYS_CLOSE:           {name: "close", fd: true},
	unix.SYS_RENAME:          {name: "rename", to: 1},
	unix.SYS_RENAMEAT:        {name: "renameat", dir: 1, path: 1, toDir: 3, to: 3},
	unix.SYS_RENAMEAT2:       {name: "renameat2", dir: 1, path: 1, toDir: 3, to: 3},
	unix.SYS_LINK:            {name: "link", to: 1},
	unix.SYS_LINKAT:          {name: "linkat", dir: 1, path: 1, toDir: 3, to: 3},
	unix.SYS_SYMLINK:         {name: "symlink", path: 1, target: true},
	unix.SYS_SYMLINKAT:       {name: "symlinkat", dir: 2, path: 2, target: true},
	unix.SYS_UNLINK:          {name: "unlink"},
	unix.SYS_UNLINKAT:        {name: "unlinkat", dir: 1, path: 1},
	unix.SYS_RMDIR:           {name: "rmdir"},
	unix.SYS_MKDIR:           {name: "mkdir", mode: 1},
	unix.SYS_MKDIRAT:         {name: "mkdirat", dir: 1, path: 1, mode: 2},
}

// shape says what the arguments of a call are. Directories are numbered from 1; 0 is none.
type shape struct {
	name   string
	path   int  // argument with the path
	dir    int  // 1 + argument with the directory of the path
	to     int  // argument with the second path, 0 for none
	toDir  int  // 1 + argument
	flags  int  // argument with the flags of an open, 0 for no open
	mode   int  // argument with the mode
	fd     bool // it works on a descriptor
	fdAt   int  // the argument with the descriptor
	target bool // argument 0 is a link's target
}

// Available reports whether processes can be traced here.
func Available() bool { return available() }

var available = sync.OnceValue(func() bool {
	r, err := (&Run{Dir: "/", Env: os.Environ(), Args: []string{"/bin/true"}, Below: "/nowhere"}).Do()
	return err == nil && r.Finished && r.Status == 0
})

// filter makes the kernel stop for the calls above, and for no others.
func filter() []unix.SockFilter {
	const ret, trace, allow = unix.BPF_RET | unix.BPF_K, 0x7ff00000, 0x7fff0000
	out := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number
	for nr := range calls {
		out = append(out, unix.SockFilter{
			Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K,
			Jf:   1,
			K:    uint32(nr),
		}, unix.SockFilter{Code: ret, K: trace})
	}
	return append(out, unix.SockFilter{Code: ret, K: allow})
}

// become installs the filter and execs the program, which is traced already.
func become(path string) {
	runtime.LockOSThread()
	f := filter()
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return
	}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, 1, 1, uintptr(unsafe.Pointer(&prog))); e != 0 { // all threads
		return
	}
	_ = unix.Exec(path, os.Args[1:], os.Environ())
}

// tracer is the state of the tracing thread.
type tracer struct {
	run    *Run
	root   int
	order  map[int]int      // process -> its number
	groups map[int]int      // thread -> process
	inside map[int]*pending // threads inside a call
	begun  bool             // the program itself is running
	over   bool             // kill everything
	result *Result
}

// pending is a call in progress.
type pending struct {
	call   *Call
	fail   syscall.Errno // error to return from it, 0 for none
	kill   bool          // kill the process at its end
	append bool
	fd     int
}

// Do runs the program to its end, and waits for everything it started.
func (r *Run) Do() (*Result, error) {
	type answer struct {
		res *Result
		err error
	}
	done := make(chan answer)
	go func() {
		// The thread ends with what it traced.
		runtime.LockOSThread()
		res, err := r.trace()
		done <- answer{res, err}
	}()
	a := <-done
	return a.res, a.err
}

func (r *Run) trace() (*Result, error) {
	path, err := exec.LookPath(r.Args[0])
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	stdout, err := os.CreateTemp("", "trace-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(stdout.Name()); _ = stdout.Close() }()
	stderr, err := os.CreateTemp("", "trace-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(stderr.Name()); _ = stderr.Close() }()
	cmd := exec.Command(self, r.Args...)
	cmd.Args = append([]string{"stage"}, r.Args...)
	cmd.Dir, cmd.Env = r.Dir, append(slices.Clone(r.Env), stage+"="+path)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() { _ = cmd.Process.Release() }()
	t := &tracer{
		run:    r,
		root:   cmd.Process.Pid,
		order:  map[int]int{cmd.Process.Pid: 1},
		groups: map[int]int{cmd.Process.Pid: cmd.Process.Pid},
		inside: map[int]*pending{},
		result: &Result{Status: -1},
	}
	if err := t.follow(); err != nil {
		return nil, err
	}
	if t.result.Output, err = os.ReadFile(stdout.Name()); err == nil {
		t.result.Errors, err = os.ReadFile(stderr.Name())
	}
	return t.result, err
}

// follow answers every stop until the last process is gone.
func (t *tracer) follow() error {
	var ws syscall.WaitStatus
	if _, err := wait(t.root, &ws); err != nil {
		return err
	}
	const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC |
		unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(t.root, options); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if err := syscall.PtraceCont(t.root, 0); err != nil {
		return err
	}
	for {
		tid, err := wait(-1, &ws)
		if errors.Is(err, syscall.ECHILD) {
			return nil
		}
		if err != nil {
			return err
		}
		if ws.Exited() || ws.Signaled() {
			delete(t.inside, tid)
			if tid == t.root {
				if ws.Exited() {
					t.result.Status, t.result.Finished = ws.ExitStatus(), true
				}
			}
			continue
		}
		if !ws.Stopped() {
			continue
		}
		if _, known := t.groups[tid]; !known {
			t.groups[tid] = groupOf(tid)
		}
		t.stopped(tid, ws)
	}
}

// wait waits only for processes of this thread: the tests of the same process have children too.
func wait(pid int, ws *syscall.WaitStatus) (int, error) {
	for {
		tid, err := syscall.Wait4(pid, ws, syscall.WALL|unix.WNOTHREAD, nil)
		if err != syscall.EINTR { //nolint:errorlint // it is a number
			return tid, err
		}
	}
}

// groupOf returns the process of a thread.
func groupOf(tid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return tid
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, "Tgid:"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
				return n
			}
		}
	}
	return tid
}

// stopped decides how a thread continues. A thread that has disappeared meanwhile does not.
func (t *tracer) stopped(tid int, ws syscall.WaitStatus) {
	sig := ws.StopSignal()
	switch {
	case sig == syscall.SIGTRAP|0x80: // a call has ended
		t.leave(tid)
		return
	case ws.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
		t.enter(tid)
		return
	case ws.TrapCause() == unix.PTRACE_EVENT_EXEC:
		if tid == t.root {
			t.begun = true
		}
		sig = 0
	case ws.TrapCause() > 0:
		sig = 0
	case sig == syscall.SIGSTOP:
		sig = 0 // a new thread's first stop
	}
	_ = syscall.PtraceCont(tid, int(sig))
}

func (t *tracer) killProcess(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

func (t *tracer) killEverything() {
	t.over = true
	for _, pid := range t.groups {
		t.killProcess(pid)
	}
}

// enter handles a call before it is carried out.
func (t *tracer) enter(tid int) {
	if t.over {
		t.killProcess(t.groups[tid])
		_ = syscall.PtraceCont(tid, 0)
		return
	}
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(tid, &regs) != nil || !t.begun {
		_ = syscall.PtraceCont(tid, 0)
		return
	}
	p := t.look(tid, &regs)
	if p == nil {
		_ = syscall.PtraceCont(tid, 0)
		return
	}
	group := t.groups[tid]
	if t.order[group] == 0 {
		t.order[group] = len(t.order) + 1
	}
	c := p.call
	c.N, c.Process, c.Program = len(t.result.Calls)+1, t.order[group], programOf(group)
	t.result.Calls = append(t.result.Calls, c)
	if f := t.run.Fault; f.Kind != "" && (c.N == f.At || f.Lasting && c.N > f.At) && c.Applies(f.Kind) {
		if t.result.Hit == nil {
			t.result.Hit = c
		}
		switch f.Kind {
		case Pause:
			aside(t.run.Meanwhile)
		case KillBefore:
			t.killProcess(group)
		case KillAll:
			t.killEverything()
		case Orphan:
			t.killProcess(t.root)
		case KillAfter:
			p.kill = true
		case Short:
			shorten(tid, &regs)
		default:
			p.fail = errnos[f.Kind]
			if c.Name != "close" {
				// The call is skipped, and returns the error.
				regs.Orig_rax, regs.Rax = ^uint64(0), -uint64(p.fail)
				_ = syscall.PtraceSetRegs(tid, &regs)
				_ = syscall.PtraceCont(tid, 0)
				return
			}
		}
	}
	if p.kill || p.fail != 0 || t.run.Record || t.run.Fault.Kind == Short {
		t.inside[tid] = p
		_ = syscall.PtraceSyscall(tid, 0)
		return
	}
	c.Done = true
	_ = syscall.PtraceCont(tid, 0)
}

// aside calls f on another thread: what it starts is then not a child of the thread that waits for the traced
// processes.
func aside(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// leave handles a call after it has been carried out.
func (t *tracer) leave(tid int) {
	p := t.inside[tid]
	delete(t.inside, tid)
	if p != nil {
		var regs syscall.PtraceRegs
		if syscall.PtraceGetRegs(tid, &regs) == nil {
			ret := int64(regs.Rax)
			p.call.Done = ret >= 0
			if t.run.Record && p.call.Done {
				t.record(tid, p, ret)
			}
			if p.fail != 0 {
				regs.Rax = -uint64(p.fail)
				_ = syscall.PtraceSetRegs(tid, &regs)
			}
		}
		if p.kill {
			t.killProcess(t.groups[tid])
		}
	}
	_ = syscall.PtraceCont(tid, 0)
}

// shorten makes a write write half of its bytes.
func shorten(tid int, regs *syscall.PtraceRegs) {
	if regs.Rdx > 1 && (regs.Orig_rax == unix.SYS_WRITE || regs.Orig_rax == unix.SYS_PWRITE64) {
		regs.Rdx /= 2
		_ = syscall.PtraceSetRegs(tid, regs)
	}
}

// look returns a call that changes a file below the directory, nil for every other one.
func (t *tracer) look(tid int, regs *syscall.PtraceRegs) *pending {
	s, ok := calls[regs.Orig_rax]
	if !ok {
		return nil
	}
	args := [6]uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8, regs.R9}
	p := &pending{call: &Call{Name: s.name}, fd: -1}
	c := p.call
	if s.fd {
		p.fd = int(int32(args[s.fdAt]))
		c.Path = linkOf(tid, p.fd)
		if !t.below(c.Path) {
			return nil
		}
		return t.descriptor(tid, p, regs, args)
	}
	if s.flags != 0 {
		flags := int(unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC)
		if s.flags > 0 {
			flags = int(args[s.flags])
		}
		if flags&(unix.O_ACCMODE|unix.O_CREAT|unix.O_TRUNC) == 0 {
			return nil // only read
		}
		p.append = flags&unix.O_APPEND != 0
		c.Size = int64(flags)
	}
	if s.mode > 0 {
		c.Mode = uint32(args[s.mode])
	}
	c.Path = t.name(tid, s.dir, args, s.path)
	if s.to > 0 {
		c.To = t.name(tid, s.toDir, args, s.to)
	}
	if s.target {
		c.Data = []byte(readText(tid, args[0]))
	}
	if s.name == "unlinkat" && args[2]&unix.AT_REMOVEDIR != 0 {
		c.Name = "rmdir"
	}
	if fd, ok := strings.CutPrefix(c.Path, "/proc/self/fd/"); ok {
		if n, err := strconv.Atoi(fd); err == nil { // an unnamed file gets a name
			p.fd = n
			c.Path = linkOf(tid, n)
		}
	}
	if !t.below(c.Path) && !t.below(c.To) {
		return nil
	}
	return p
}

// descriptor fills in the file of a call on a descriptor; closing a file that was only read does not count.
func (t *tracer) descriptor(tid int, p *pending, regs *syscall.PtraceRegs, args [6]uint64) *pending {
	c := p.call
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", tid, p.fd))
	if err != nil {
		return nil
	}
	var pos, flags int64
	for line := range strings.Lines(string(info)) {
		if v, ok := strings.CutPrefix(line, "pos:"); ok {
			pos, _ = strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		}
		if v, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, _ = strconv.ParseInt(strings.TrimSpace(v), 8, 64)
		}
	}
	if c.Name == "close" && flags&unix.O_ACCMODE == unix.O_RDONLY {
		return nil
	}
	if !t.run.Record {
		return p
	}
	var st unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", tid, p.fd), &st) != nil {
		return p
	}
	c.Inode, c.Offset = st.Ino, pos
	if flags&unix.O_APPEND != 0 {
		c.Offset = st.Size
	}
	switch c.Name {
	case "write":
		c.Data = readBytes(tid, args[1], int(args[2]))
	case "pwrite64":
		c.Data, c.Offset = readBytes(tid, args[1], int(args[2])), int64(args[3])
	case "writev", "pwritev":
		vec := readBytes(tid, args[1], int(args[2])*16)
		for ; len(vec) >= 16; vec = vec[16:] {
			c.Data = append(c.Data, readBytes(tid, binary.LittleEndian.Uint64(vec),
				int(binary.LittleEndian.Uint64(vec[8:])))...)
		}
		if c.Name == "pwritev" {
			c.Offset = int64(args[3])
		}
	case "ftruncate":
		c.Size = int64(args[1])
	case "copy_file_range", "sendfile":
		if c.Name == "copy_file_range" && args[3] != 0 {
			if b := readBytes(tid, args[3], 8); len(b) == 8 {
				c.Offset = int64(binary.LittleEndian.Uint64(b))
			}
		}
	}
	return p
}

// record completes a finished call.
func (t *tracer) record(tid int, p *pending, ret int64) {
	c := p.call
	switch c.Name {
	case "open", "openat", "creat":
		p.fd = int(ret)
		c.Path = linkOf(tid, p.fd)
	case "copy_file_range", "sendfile":
		// The copied data is in the file.
		c.Data = make([]byte, ret)
		f, err := os.Open(fmt.Sprintf("/proc/%d/fd/%d", tid, p.fd))
		if err == nil {
			_, _ = f.ReadAt(c.Data, c.Offset)
			_ = f.Close()
		}
	default:
		if strings.Contains(c.Name, "write") && int(ret) < len(c.Data) {
			c.Data = c.Data[:ret]
		}
	}
	if p.fd >= 0 && c.Inode == 0 {
		var st unix.Stat_t
		if unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", tid, p.fd), &st) == nil {
			c.Inode = st.Ino
		}
	}
}

func (t *tracer) below(path string) bool {
	return within(t.run.Below, path) &&
		!slices.ContainsFunc(t.run.Except, func(dir string) bool { return within(dir, path) })
}

// name returns the absolute path in an argument; dir is 1 + the argument with the directory it is relative to, 0
// for the working directory.
func (t *tracer) name(tid, dir int, args [6]uint64, at int) string {
	text := readText(tid, args[at])
	if filepath.IsAbs(text) {
		return filepath.Clean(text)
	}
	base := ""
	if dir > 0 && int32(args[dir-1]) != unix.AT_FDCWD {
		base = linkOf(tid, int(int32(args[dir-1])))
	} else {
		base, _ = os.Readlink(fmt.Sprintf("/proc/%d/cwd", tid))
	}
	return filepath.Join(base, text)
}

// linkOf returns the path of a descriptor. For a removed file it is the last one.
func linkOf(tid, fd int) string {
	text, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, fd))
	if err != nil || !filepath.IsAbs(text) {
		return ""
	}
	return strings.TrimSuffix(text, " (deleted)")
}

func programOf(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	words := bytes.Split(data, []byte{0})
	name := filepath.Base(string(words[0]))
	// The git command, after its settings.
	for i := 1; name == "git" && i < len(words); i++ {
		if string(words[i]) == "-c" || string(words[i]) == "-C" {
			i++
		} else if !bytes.HasPrefix(words[i], []byte("-")) {
			return "git " + string(words[i])
		}
	}
	return name
}

// readBytes reads the memory of a process.
func readBytes(tid int, at uint64, n int) []byte {
	if n <= 0 {
		return nil
	}
	buf := make([]byte, n)
	local := []unix.Iovec{{Base: &buf[0], Len: uint64(n)}}
	got, err := unix.ProcessVMReadv(tid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: n}}, 0)
	if err != nil {
		return nil
	}
	return buf[:got]
}

// readText reads a NUL-terminated string. It never crosses into a page that may be missing.
func readText(tid int, at uint64) string {
	var out []byte
	for len(out) < unix.PathMax {
		b := readBytes(tid, at, int(4096-at%4096))
		if len(b) == 0 {
			break
		}
		if before, _, ok := bytes.Cut(b, []byte{0}); ok {
			return string(append(out, before...))
		}
		out = append(out, b...)
		at += uint64(len(b))
	}
	return string(out)
}
