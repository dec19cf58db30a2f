// A git that waits for the other end of a pipe, which an agent or an archive put in place of a file that git reads.

package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// pipeMoment is the time before a git is examined, and again before it is ended.
const pipeMoment = time.Second

// endAtPipe calls end once a git in the process group of pid has been opening a pipe for a while: it would block
// forever. done ends the watch, and reports whether end was called. Where the kernel does not say what a process
// waits for, nothing is ended.
func endAtPipe(pid int, end func()) (done func() bool) {
	var ended atomic.Bool
	over := make(chan struct{})
	timer := time.AfterFunc(pipeMoment, func() {
		for seen := false; ; {
			opens := opensPipe(pid)
			if opens && seen {
				ended.Store(true)
				end()
				return
			}
			seen = opens
			select {
			case <-over:
				return
			case <-time.After(pipeMoment):
			}
		}
	})
	return func() bool {
		timer.Stop()
		close(over)
		return ended.Load()
	}
}

// opensPipe reports whether a git of the process group is blocked opening one end of a pipe.
func opensPipe(group int) bool {
	waits, err := filepath.Glob("/proc/[0-9]*/wchan")
	if err != nil {
		return false
	}
	for _, name := range waits {
		at, err := os.ReadFile(name)
		if err != nil || string(at) != "wait_for_partner" {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(name), "stat"))
		if err != nil {
			continue
		}
		// The name is in parentheses; state, parent and group follow.
		head, tail, found := strings.Cut(string(stat), ") ")
		_, comm, _ := strings.Cut(head, "(")
		f := strings.Fields(tail)
		if found && len(f) > 2 && f[2] == strconv.Itoa(group) && isGit(comm) {
			return true
		}
	}
	return false
}
