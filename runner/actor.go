// Who asks for an operation, and whether an agent is asking.

package runner

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// TurnMarker is the environment variable a dispatcher sets for the process of a
// turn. Its presence, here or in an ancestor, means an agent is asking.
const TurnMarker = "AGENTXCHAIN_TURN_ID"

// maxAncestors bounds the walk up the process tree.
const maxAncestors = 64

func (r *Runner) actor(ctx context.Context) protocol.Actor {
	name, email := r.Store.Identity(ctx)
	return protocol.Actor{Name: name, Email: email, Terminal: r.opt.Terminal, InsideTurn: r.insideTurn()}
}

// insideTurn returns the turn whose dispatched process this one descends from,
// or "". The environment alone is not enough: a shell can unset a variable for
// its child, but not in its parents.
func (r *Runner) insideTurn() string {
	if id := r.opt.Getenv(TurnMarker); id != "" {
		return id
	}
	if runtime.GOOS != "linux" {
		return ""
	}
	pid := os.Getppid()
	for range maxAncestors {
		if pid <= 1 {
			break
		}
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil {
			for kv := range bytes.SplitSeq(env, []byte{0}) {
				if v, ok := bytes.CutPrefix(kv, []byte(TurnMarker+"=")); ok && len(v) > 0 {
					return string(v)
				}
			}
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			break
		}
		// The command name may hold spaces and parentheses; the fields follow the last ')'.
		_, rest, ok := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 2 {
			break
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			break
		}
	}
	return ""
}
