// Running gate actions: bounded output, deadlines, whole process groups.

package commands

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

const (
	maxActionOutput = 10 << 20 // bytes kept of each stream of a gate action
	tailUnits       = 1200     // UTF-16 code units recorded of a stream (docs/spec/gates.md#gate-actions)
)

// Gate is the gate whose actions are run, as the actions see it.
type Gate struct {
	ID, Kind, Phase string
	By              string // the turn that asked
	Trigger         string // the command that approves
}

// Attempt returns the id of one run of a gate's actions.
func Attempt(now time.Time, seed string) string {
	return fmt.Sprintf("ga_%d_%.8s", now.UnixMilli(), seed)
}

// RunActions runs a gate's actions in dir one after another; the first failure stops.
func RunActions(ctx context.Context, dir, attempt string, g Gate, actions []config.GateAction) []protocol.ActionRun {
	var out []protocol.ActionRun
	for i, a := range actions {
		timeout := a.TimeoutMS
		if timeout <= 0 {
			timeout = 900000
		}
		limit := time.Duration(timeout) * time.Millisecond
		res := process.Run(ctx, process.Spec{
			Argv: []string{"/bin/sh", "-lc", a.Run}, Dir: dir, Timeout: limit, Limit: maxActionOutput, KeepTail: true,
			Env: append(os.Environ(), "AGENTXCHAIN_GATE_ID="+g.ID, "AGENTXCHAIN_GATE_TYPE="+g.Kind,
				"AGENTXCHAIN_PHASE="+g.Phase,
				"AGENTXCHAIN_REQUESTED_BY_TURN="+g.By, "AGENTXCHAIN_TRIGGER_COMMAND="+g.Trigger),
			KeepDetached: true, // a deployment may start a daemon
		})
		run := protocol.ActionRun{
			AttemptID:  attempt,
			Index:      i + 1,
			Label:      a.Label,
			Command:    a.Run,
			TimeoutMS:  timeout,
			OK:         res.OK(),
			ExitCode:   res.Exit,
			StdoutTail: tail(res.Stdout),
			StderrTail: tail(res.Stderr),
			TimedOut:   res.TimedOut,
		}
		if run.Label == "" {
			run.Label = a.Run
		}
		if res.TimedOut {
			run.ExitCode = nil
		}
		if res.Signal != "" {
			run.Signal = &res.Signal
		}
		if reason := spawnError(res, limit); reason != "" {
			run.SpawnError = &reason
		}
		out = append(out, run)
		if !run.OK {
			break
		}
	}
	return out
}

// tail returns the last 1200 UTF-16 units of trimmed output, nil when blank.
func tail(b []byte) *string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(b), "\ufffd"))
	if s == "" {
		return nil
	}
	if u := utf16.Encode([]rune(s)); len(u) > tailUnits {
		s = string(utf16.Decode(u[len(u)-tailUnits:]))
	}
	return &s
}

// spawnError says why a program has no exit status of its own, "" when it has
// one or a signal ended it.
func spawnError(res *process.Result, timeout time.Duration) string {
	switch {
	case res.StartErr != nil:
		return res.StartErr.Error()
	case res.TimedOut:
		return fmt.Sprintf("Timed out after %dms", timeout.Milliseconds())
	}
	return ""
}
