// What is traced, the faults, and the results.

package testtrace

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Kind is a way in which a system call goes wrong.
type Kind string

// The faults. In addition every name of an errno in errnos is one.
const (
	KillBefore Kind = "kill-before" // kill the process, do not carry out the call
	KillAfter  Kind = "kill-after"  // kill the process after the call
	KillAll    Kind = "kill-all"    // kill every process, do not carry out the call
	Orphan     Kind = "orphan"      // kill the program; its children continue
	Short      Kind = "short"       // write half of the bytes
	Pause      Kind = "pause"       // wait until Run.Meanwhile has returned; nothing goes wrong
)

// errnos are the errors that a call can return.
var errnos = map[Kind]syscall.Errno{
	"EIO":    syscall.EIO,
	"ENOSPC": syscall.ENOSPC,
	"EINTR":  syscall.EINTR,
	"EMFILE": syscall.EMFILE,
	"EROFS":  syscall.EROFS,
	"EDQUOT": syscall.EDQUOT,
}

// Fault is a fault and its place. The zero value is none.
type Fault struct {
	At   int // number of the call, from 1
	Kind Kind
	// Lasting makes every later call fail too, like a full disk.
	Lasting bool
}

func (f Fault) String() string {
	s := fmt.Sprintf("%s at %d", f.Kind, f.At)
	if f.Lasting {
		s += " and after"
	}
	return s
}

// Call is a system call that changed a file, or was about to.
type Call struct {
	N       int    // its number in the tree
	Process int    // number of the process in the tree, 1 for the program
	Program string // the program of that process, without directory
	Name    string // of the call, such as openat
	Path    string // the file, absolute
	To      string // the second name of a rename or a link
	Done    bool   // it was carried out and succeeded

	// Only when calls are recorded.
	Inode  uint64 // of the file, if it has been opened
	Offset int64  // of the write
	Data   []byte // what was written, or the target of a symbolic link
	Size   int64  // of a truncation
	Mode   uint32 // of a new file
}

func (c *Call) String() string {
	s := fmt.Sprintf("%s[%d] %s %s", c.Program, c.Process, c.Name, c.Path)
	if c.To != "" {
		s += " -> " + c.To
	}
	return s
}

// Applies reports whether this kind of fault can happen to the call: EMFILE only happens to an open, Short only to a
// write, and no file system interrupts fsync with a signal.
func (c *Call) Applies(k Kind) bool {
	opens, writes := strings.HasPrefix(c.Name, "open"), strings.Contains(c.Name, "write")
	switch k {
	case "EMFILE":
		return opens
	case Short:
		return writes
	case "EINTR":
		return opens || writes
	case "ENOSPC", "EDQUOT":
		return !strings.HasPrefix(c.Name, "unlink") && c.Name != "rmdir"
	case "EROFS":
		return c.Name != "close" && !writes && !strings.Contains(c.Name, "sync")
	}
	return true
}

// Run is a program to trace.
type Run struct {
	Dir    string   // where the program is started
	Env    []string // its environment
	Args   []string // the program and its arguments
	Below  string   // only calls that concern files below it count; absolute, without links
	Except []string // directories below it that belong to another machine: calls there do not count
	Fault  Fault
	Record bool // record Offset, Data and the like of each call
	// Meanwhile is called before the call at which the fault is a Pause. Until it returns, no process of the tree
	// gets past its next call.
	Meanwhile func()
}

// within reports whether path is dir or below it.
func within(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Result is the outcome of a Run.
type Result struct {
	Output   []byte // standard output
	Errors   []byte // standard error
	Status   int    // exit status of the program, -1 when a signal ended it
	Calls    []*Call
	Hit      *Call // the call that went wrong, nil when none did
	Finished bool  // the program ended by itself
}

// stage is set in the environment of the process that installs the filter.
const stage = "TESTTRACE_STAGE"

// Helper turns the test binary into the process that becomes the traced program, or into the one that serves a
// simulated disk; every TestMain of a package that traces calls it first.
func Helper() {
	if what := os.Getenv(mountStage); what != "" {
		_ = os.Unsetenv(mountStage)
		if err := serve(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(98)
		}
		os.Exit(0)
	}
	if path := os.Getenv(stage); path != "" {
		_ = os.Unsetenv(stage)
		become(path)
		os.Exit(98)
	}
}
