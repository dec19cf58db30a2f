// Looking for the marks of a turn in this process and its ancestors (proc(5)).

package turnmark

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

const (
	maxAncestors = 64
	maxEnviron   = 4 << 20
	cloexec      = syscall.O_CLOEXEC
)

// Inside returns the turn this process belongs to, "" for none. getenv looks into
// the environment of the process itself, or of the caller it acts for.
func Inside(getenv func(string) string) string {
	if id := getenv(Variable); id != "" {
		return id
	}
	if id := inherited(); id != "" {
		return id
	}
	child, ok := statOf(os.Getpid())
	for range maxAncestors {
		if !ok || child.parent <= 1 {
			break
		}
		pid := child.parent
		if id := variableOf(pid); id != "" {
			return id
		}
		parent, known := statOf(pid)
		for _, f := range filesOf(pid) {
			// Who carries the turn out keeps the file to itself; its agents have it
			// passed on to them. What else it starts is in its own session.
			if !f.closing || known && parent.session != child.session {
				return f.turn
			}
		}
		child, ok = parent, known
	}
	return ""
}

// inherited looks at the files of this process besides those it has taken itself.
func inherited() string {
	held.Lock()
	own := make(map[int]bool, len(held.files))
	for f := range held.files {
		own[int(f.Fd())] = true
	}
	held.Unlock()
	for _, f := range filesOf(os.Getpid()) {
		if !own[f.fd] && !f.closing {
			return f.turn
		}
	}
	return ""
}

// variableOf reads the turn from the environment a process was started with.
func variableOf(pid int) string {
	f, err := os.Open(procPath(pid, "environ"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	env, _ := io.ReadAll(io.LimitReader(f, maxEnviron))
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(Variable+"=")); ok && len(v) > 0 {
			return string(v)
		}
	}
	return ""
}

// markFile is a turn's file as a process has it open.
type markFile struct {
	turn    string
	fd      int
	closing bool // not handed on to programs the process starts
}

func filesOf(pid int) []markFile {
	dir, err := os.Open(procPath(pid, "fd"))
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	var out []markFile
	for _, name := range names {
		target, err := os.Readlink(procPath(pid, "fd/"+name))
		if err != nil {
			continue
		}
		turn := turnOfFile(target)
		fd, err := strconv.Atoi(name)
		if turn == "" || err != nil {
			continue
		}
		out = append(out, markFile{turn: turn, fd: fd, closing: closing(pid, name)})
	}
	return out
}

// closing reads whether a descriptor is closed in programs that are started; one
// that cannot be read counts as handed on.
func closing(pid int, fd string) bool {
	data, err := os.ReadFile(procPath(pid, "fdinfo/"+fd))
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(data), "flags:")
	if !ok {
		return false
	}
	words := strings.Fields(rest)
	if len(words) == 0 {
		return false
	}
	flags, err := strconv.ParseUint(words[0], 8, 64)
	return err == nil && flags&cloexec != 0
}

// Owner is the process that carries the turn out and has its mark for itself, 0
// when there is none or it cannot be seen.
func Owner(turnID string) int {
	owner := 0
	eachProcess(func(pid int) bool {
		for _, f := range filesOf(pid) {
			if f.turn == turnID && f.closing {
				owner = pid
			}
		}
		return owner == 0
	})
	return owner
}

// eachProcess calls look with every process until it returns false.
func eachProcess(look func(pid int) bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && !look(pid) {
			return
		}
	}
}

// Processes lists the living processes that carry a mark of the turn themselves,
// besides this one and its ancestors.
func Processes(turnID string) []int {
	skip := map[int]bool{os.Getpid(): true}
	for s, ok := statOf(os.Getpid()); ok && s.parent > 1 && len(skip) < maxAncestors; s, ok = statOf(s.parent) {
		skip[s.parent] = true
	}
	var out []int
	eachProcess(func(pid int) bool {
		if s, ok := statOf(pid); skip[pid] || !ok || s.state == 'Z' || s.state == 'X' {
			return true
		}
		marked := variableOf(pid) == turnID
		for _, f := range filesOf(pid) {
			marked = marked || f.turn == turnID && !f.closing
		}
		if marked {
			out = append(out, pid)
		}
		return true
	})
	return out
}

type procStat struct {
	state           byte
	parent, session int
}

// statOf reads the part of /proc/PID/stat that matters here. The program's name
// may hold spaces and parentheses; the fields follow the last one.
func statOf(pid int) (procStat, bool) {
	data, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return procStat{}, false
	}
	end := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[end+1:]))
	if end < 0 || len(fields) < 4 {
		return procStat{}, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	session, err2 := strconv.Atoi(fields[3])
	return procStat{state: fields[0][0], parent: parent, session: session}, err1 == nil && err2 == nil
}

func procPath(pid int, rest string) string { return "/proc/" + strconv.Itoa(pid) + "/" + rest }
