// Reading /proc so that nothing can be substituted for it (proc(5), openat2(2)).

package turnmark

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"golang.org/x/sys/unix"
)

const (
	procRoot   = 1          // inode of the root directory of every proc file system
	firstNS    = 0xEFFFFFFC // inode of the machine's first pid namespace
	maxEnviron = 4 << 20
	maxTable   = 16 << 20 // of /proc/locks
)

// errCovered means that something is mounted over a file of /proc.
var errCovered = errors.New("something is mounted over files of /proc")

// procfs is the proc file system of this process's own pid namespace. Files are opened below its root without
// crossing into another mount, so that a file bound over one of them is not mistaken for it.
type procfs struct {
	root int
	dev  uint64
	old  bool // a kernel, or a filter, without openat2: opened files are checked instead
	buf  []byte
}

// openProc opens /proc, and returns an error when it cannot be trusted: it is missing, not a proc file system, or
// that of another pid namespace.
func openProc() (*procfs, error) {
	fd, err := unix.Open("/proc", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/proc cannot be read: %w", err)
	}
	p := &procfs{root: fd}
	if err := p.check(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *procfs) check() error {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if err := unix.Fstatfs(p.root, &fs); err != nil {
		return fmt.Errorf("/proc cannot be read: %w", err)
	}
	if err := unix.Fstat(p.root, &st); err != nil {
		return fmt.Errorf("/proc cannot be read: %w", err)
	}
	if fs.Type != unix.PROC_SUPER_MAGIC || st.Ino != procRoot {
		return errors.New("/proc is not a proc file system")
	}
	p.dev = uint64(st.Dev) //nolint:unconvert // its type differs between processors
	self := strconv.Itoa(os.Getpid())
	if name, err := readlinkat(p.root, "self"); err != nil || name != self {
		return errors.New("/proc shows other processes than those beside this one")
	}
	status, err := p.read(self+"/status", maxEnviron)
	if err != nil {
		return fmt.Errorf("/proc cannot be read: %w", err)
	}
	// One number: our number in the namespace of /proc is the one we know. A /proc of an outer namespace has one
	// number for each level. Kernels before 4.1 have none.
	if _, rest, ok := bytes.Cut(status, []byte("\nNSpid:")); ok {
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if ids := strings.Fields(string(line)); len(ids) != 1 || ids[0] != self {
			return errors.New("/proc is that of another pid namespace")
		}
	}
	return nil
}

func (p *procfs) close() { _ = unix.Close(p.root) }

// open opens a file below /proc. errCovered: something else is mounted there.
func (p *procfs) open(name string, flags int) (int, error) {
	flags |= unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	for !p.old {
		fd, err := unix.Openat2(p.root, name, &unix.OpenHow{
			Flags:   uint64(flags),
			Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
		})
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.EXDEV), errors.Is(err, unix.ELOOP):
			return -1, errCovered
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.E2BIG):
			p.old = true
		default:
			return fd, err
		}
	}
	fd, err := unix.Openat(p.root, name, flags, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || uint64(st.Dev) != p.dev { //nolint:unconvert // as above
		_ = unix.Close(fd)
		return -1, errCovered
	}
	return fd, nil
}

// read reads at most limit bytes of a file. They are valid until the next read: a process has many ancestors, and
// each operation asks for them.
func (p *procfs) read(name string, limit int) ([]byte, error) {
	fd, err := p.open(name, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	if p.buf == nil {
		p.buf = make([]byte, 16<<10)
	}
	for n := 0; ; {
		if n == len(p.buf) {
			p.buf = append(p.buf, make([]byte, len(p.buf))...)
		}
		got, err := unix.Read(fd, p.buf[n:min(len(p.buf), limit)])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		}
		if n += got; got == 0 || n >= limit {
			return p.buf[:n], nil
		}
	}
}

// names reads the directory open as fd.
func names(fd int) ([]string, error) {
	var out []string
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			return out, err
		}
		_, _, out = unix.ParseDirent(buf[:n], -1, out)
	}
}

// firstNamespace reports whether this process is in the machine's first pid
// namespace, from which every process can be seen.
func (p *procfs) firstNamespace() bool {
	dir, err := p.open("self/ns", unix.O_DIRECTORY)
	if err != nil {
		// "self" is a link, which open does not follow.
		if dir, err = p.open(strconv.Itoa(os.Getpid())+"/ns", unix.O_DIRECTORY); err != nil {
			return false
		}
	}
	defer func() { _ = unix.Close(dir) }()
	name, err := readlinkat(dir, "pid")
	return err == nil && name == fmt.Sprintf("pid:[%d]", uint32(firstNS))
}

func readlinkat(dir int, name string) (string, error) {
	var buf [4096]byte
	n, err := unix.Readlinkat(dir, name, buf[:])
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// stat reads the relevant part of /proc/PID/stat.
func (p *procfs) stat(pid int) (process.Stat, error) {
	data, err := p.read(procPath(pid, "stat"), 4096)
	if err != nil {
		return process.Stat{}, err
	}
	s, ok := process.ParseStat(data)
	if !ok {
		return s, errors.New("/proc/PID/stat cannot be understood")
	}
	return s, nil
}

// variable reads the turn from the initial environment of a process.
func (p *procfs) variable(pid int) (string, error) {
	env, err := p.read(procPath(pid, "environ"), maxEnviron)
	if err != nil {
		return "", err
	}
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(Variable+"=")); ok && len(v) > 0 {
			return string(v), nil
		}
	}
	return "", nil
}

// markFile is a turn's file that a process has open.
type markFile struct {
	turn    string
	fd      int
	closing bool // closed on exec
	locked  bool // the process itself has locked it
}

// files lists the turns' files that a process has open.
func (p *procfs) files(pid int) ([]markFile, error) {
	fd, err := p.open(procPath(pid, "fd"), unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	list, err := names(fd)
	if err != nil {
		return nil, err
	}
	var out []markFile
	for _, name := range list {
		target, err := readlinkat(fd, name)
		if err != nil {
			continue
		}
		turn := turnOfFile(target)
		n, err := strconv.Atoi(name)
		if turn == "" || err != nil {
			continue
		}
		f := markFile{turn: turn, fd: n}
		f.closing, f.locked, err = p.descriptor(pid, name)
		if errors.Is(err, errCovered) {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// descriptor reads whether a descriptor is closed on exec, and whether the process has locked the file through it;
// an unreadable one counts as inherited.
func (p *procfs) descriptor(pid int, fd string) (closing, locked bool, err error) {
	data, err := p.read(procPath(pid, "fdinfo/"+fd), maxEnviron)
	if err != nil {
		return false, false, err
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "flags:":
			flags, err := strconv.ParseUint(words[1], 8, 64)
			closing = err == nil && flags&unix.O_CLOEXEC != 0
		case len(words) > 5 && words[0] == "lock:" && words[2] == "FLOCK":
			locked = locked || words[5] == strconv.Itoa(pid)
		}
	}
	return closing, locked, nil
}

// each calls look with every process until it returns false.
func (p *procfs) each(look func(pid int) bool) error {
	fd, err := p.open(".", unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	list, err := names(fd)
	for _, name := range list {
		if pid, err := strconv.Atoi(name); err == nil && !look(pid) {
			return nil
		}
	}
	return err
}

func procPath(pid int, rest string) string { return strconv.Itoa(pid) + "/" + rest }
