// The git processes of this machine, to tell a lock that was left behind from one that is held.

package git

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// gitProcess is a running git.
type gitProcess struct {
	dir  string // its working directory, "" when that cannot be seen
	note string // the note in its environment, see lockNoteVar
	ours bool   // git agentxchain started it
}

// gitAtWork counts the running gits that match. known is false where processes cannot be examined.
func gitAtWork(match func(gitProcess) bool) (n int, known bool) {
	procs, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil || len(procs) == 0 {
		return 0, false
	}
	for _, comm := range procs {
		name, err := os.ReadFile(comm)
		if err != nil || !isGit(strings.TrimSpace(string(name))) {
			continue
		}
		proc := filepath.Dir(comm)
		if filepath.Base(proc) == strconv.Itoa(os.Getppid()) && startedUs(proc) {
			continue // it is waiting for us and holds nothing
		}
		p := gitProcess{}
		if p.dir, err = os.Readlink(proc + "/cwd"); err != nil {
			if os.IsNotExist(err) || errors.Is(err, syscall.ESRCH) {
				continue // ended, or a zombie
			}
			p.dir = ""
		}
		env, err := os.ReadFile(proc + "/environ")
		if err == nil && len(env) == 0 {
			continue // it is about to exit
		}
		for kv := range bytes.SplitSeq(env, []byte{0}) {
			if v, ok := bytes.CutPrefix(kv, []byte(lockNoteVar+"=")); ok {
				p.note = string(v)
			}
			p.ours = p.ours || string(kv) == storeMarker
		}
		if match(p) {
			n++
		}
	}
	return n, true
}

// startedUs reports whether a git process was started as "git agentxchain". Another git, such as one that commits,
// may have started us from a hook.
func startedUs(proc string) bool {
	line, err := os.ReadFile(proc + "/cmdline")
	if err != nil {
		return false
	}
	args := strings.Split(string(line), "\x00")
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-c" || arg == "-C":
			i++ // skip its value
		case !strings.HasPrefix(arg, "-"):
			return arg == "agentxchain"
		}
	}
	return false
}

// isGit reports whether a process of that name may be git: git itself, or one of its programs. git-agentxchain is
// not one of them.
func isGit(comm string) bool {
	return comm == "git" || strings.HasPrefix(comm, "git-") && !strings.HasPrefix(comm, "git-agentxchai")
}
