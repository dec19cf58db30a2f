// One process at a time carries out a turn; what a killed one left running is ended first.

package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

const (
	askNicely = 2 * time.Second // between SIGTERM and SIGKILL for a leftover agent
	endWait   = 5 * time.Second
)

// hold takes the mark of a turn. It ends an agent that survived its dispatcher: that agent works
// with an older attempt's knowledge, and two at once would spoil each other's work.
func (d *Driver) hold(ctx context.Context, root *os.Root, turnID string) (*turnmark.Mark, error) {
	// Looking through all processes takes time; a turn that was never worked on does not need it.
	_, err := root.Lstat(runtimes.ProgressPath(turnID))
	left, found := err == nil, false
	for start := time.Now(); ; {
		mark, err := turnmark.Hold(root, turnID)
		if err != nil && !errors.Is(err, turnmark.ErrHeld) {
			return nil, &wire.Error{
				Code:    projectfile.CodeUnreadable,
				Field:   turnmark.Path(turnID),
				Message: "The lock of turn " + turnID + " cannot be taken: " + err.Error() + ".",
			}
		}
		if mark != nil && !mark.Found && !left {
			return mark, nil
		}
		if mark == nil {
			if owner := turnmark.Owner(turnID); owner != 0 {
				return nil, busy(turnID, owner)
			}
		}
		agents := turnmark.Processes(turnID)
		if mark != nil {
			found = found || mark.Found
			if mark.Found = found; len(agents) == 0 {
				return mark, nil
			}
		}
		if mark != nil {
			mark.Release() // taken again once they are gone
			left = true
		}
		elapsed := time.Since(start)
		if ctx.Err() != nil || elapsed > endWait {
			pid := 0
			if p, err := runtimes.ReadProgress(root, turnID); err == nil && p != nil {
				pid = p.DriverPID
			}
			return nil, busy(turnID, pid)
		}
		for _, pid := range agents {
			sig := syscall.SIGTERM
			if elapsed > askNicely {
				sig = syscall.SIGKILL
			}
			end(pid, sig)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func end(pid int, sig os.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Signal(sig)
		_ = p.Release()
	}
}

func busy(turnID string, pid int) *wire.Error {
	who := "Another process"
	if pid > 0 {
		who = fmt.Sprintf("Process %d", pid)
	}
	return &wire.Error{
		Code:    CodeTurnBusy,
		Field:   "turn_id",
		Message: fmt.Sprintf("%s is carrying out turn %s.", who, turnID),
		Hint:    "wait for it, or end it; git agentxchain status shows how far the turn is",
	}
}

// environ returns what agents inherit: everything, with the turn's marker, and without the
// variables that give trust, which only a person may give.
func environ(env []string, turnID string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == runner.TurnMarker || name == trust.Env
	})
	return append(kept, runner.TurnMarker+"="+turnID)
}
