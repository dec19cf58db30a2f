// What is traced, what goes wrong, and what was seen.

package testtrace

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Kind is a way in which a system call goes wrong.
type Kind string

// The faults there are. Beside these every name of an errno in errnos is one.
const (
	KillBefore Kind = "kill-before" // the process is killed, the call is not carried out
	KillAfter  Kind = "kill-after"  // the process is killed when the call is done
	KillAll    Kind = "kill-all"    // every process is killed, the call is not carried out
	Orphan     Kind = "orphan"      // the program is killed, what it started goes on
	Short      Kind = "short"       // a write takes half of the bytes
	Pause      Kind = "pause"       // the call waits until Run.Meanwhile has returned; nothing goes wrong
)

// errnos are the failures a call can be given.
var errnos = map[Kind]syscall.Errno{
	"EIO":    syscall.EIO,
	"ENOSPC": syscall.ENOSPC,
	"EINTR":  syscall.EINTR,
	"EMFILE": syscall.EMFILE,
	"EROFS":  syscall.EROFS,
	"EDQUOT": syscall.EDQUOT,
}

// Fault is what goes wrong, and where. The zero value is nothing.
type Fault struct {
	At   int // number of the call, from 1
	Kind Kind
	// Lasting has every call fail that follows, as on a disk that is full.
	Lasting bool
}

func (f Fault) String() string {
	s := fmt.Sprintf("%s at %d", f.Kind, f.At)
	if f.Lasting {
		s += " and after"
	}
	return s
}

// Call is a system call that changed a file, or was to.
type Call struct {
	N       int    // its number in the tree
	Process int    // number of the process in the tree, 1 for the program
	Program string // what that process runs, without its directory
	Name    string // of the call, such as openat
	Path    string // the file, absolute
	To      string // the second name of a rename or a link
	Done    bool   // it was carried out and did not fail

	// Only when calls are recorded.
	Inode  uint64 // of the file, where it has been opened
	Offset int64  // of what was written
	Data   []byte // what was written, or the target of a symbolic link
	Size   int64  // a truncation's
	Mode   uint32 // of a new file
}

func (c *Call) String() string {
	s := fmt.Sprintf("%s[%d] %s %s", c.Program, c.Process, c.Name, c.Path)
	if c.To != "" {
		s += " -> " + c.To
	}
	return s
}

// Applies reports whether the kind of fault can happen to the call: only a new
// descriptor can be one too many, only a write can be short, and no file system has
// fsync wait for a signal.
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

// Run is what is traced.
type Run struct {
	Dir    string   // where the program is started
	Env    []string // its environment
	Args   []string // the program and its arguments
	Below  string   // only calls that concern files below it count; absolute, without links
	Except []string // directories below it that are another machine's: calls there do not count
	Fault  Fault
	Record bool // note Offset, Data and the like of each call
	// Meanwhile is what happens before the call at which the fault is a Pause. Until it returns no process of
	// the tree gets beyond its next call.
	Meanwhile func()
}

// within reports whether path is dir or below it.
func within(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Result is how it went.
type Result struct {
	Output   []byte // standard output
	Errors   []byte // standard error
	Status   int    // of the program, -1 when a signal ended it
	Calls    []*Call
	Hit      *Call // the call that went wrong, nil when none did
	Finished bool  // the program ended by itself
}

// stage is set in the environment of the process that puts the filter in place.
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
