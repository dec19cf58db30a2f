// A git that waits for the other end of a pipe: one that an agent or an archive put in the place of a file that git reads.

package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// pipeMoment is after how long a git is looked at, and again before it is ended.
const pipeMoment = time.Second

// endAtPipe calls end once a git of the group that pid leads has been opening a pipe for a while: it would do so for
// good. done ends the watch, and says whether that was so. Where the kernel does not tell what a process waits in,
// nothing is ended.
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

// opensPipe reports a git of the process group that has opened one end of a pipe and waits for the other.
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
