// Running gate actions and verification commands: bounded output, deadlines,
// whole process groups.

package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

const (
	maxActionOutput = 10 << 20 // bytes kept of each stream of a gate action
	tailUnits       = 1200     // UTF-16 code units recorded of a stream (spec/02 §14)
	killAfter       = 2 * time.Second
)

type actionContext struct{ gate, kind, phase, by, trigger string }

// runActions runs a gate's actions one after another; the first failure stops.
func (c *change) runActions(ctx context.Context, ac actionContext, actions []protocol.GateAction) []protocol.ActionRun {
	attempt := fmt.Sprintf("ga_%d_%.8s", c.env.Now.UnixMilli(), c.env.Seed)
	var out []protocol.ActionRun
	for i, a := range actions {
		timeout := a.TimeoutMS
		if timeout <= 0 {
			timeout = 900000
		}
		res := runProcess(ctx, processSpec{
			argv: []string{"/bin/sh", "-lc", a.Run}, dir: c.r.Store.Dir(), timeout: time.Duration(timeout) * time.Millisecond, limit: maxActionOutput,
			env: append(os.Environ(), "AGENTXCHAIN_GATE_ID="+ac.gate, "AGENTXCHAIN_GATE_TYPE="+ac.kind, "AGENTXCHAIN_PHASE="+ac.phase,
				"AGENTXCHAIN_REQUESTED_BY_TURN="+ac.by, "AGENTXCHAIN_TRIGGER_COMMAND="+ac.trigger),
		})
		run := protocol.ActionRun{AttemptID: attempt, Index: i + 1, Label: a.Label, Command: a.Run, TimeoutMS: timeout, OK: res.ok(), ExitCode: res.exit,
			Signal: res.signal, StdoutTail: tail(res.stdout), StderrTail: tail(res.stderr), TimedOut: res.timedOut}
		if run.Label == "" {
			run.Label = a.Run
		}
		if res.spawn != "" {
			run.SpawnError = &res.spawn
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

type processSpec struct {
	argv    []string
	dir     string
	env     []string
	timeout time.Duration
	limit   int
}

type processResult struct {
	exit           *int
	signal         *string
	stdout, stderr []byte
	spawn          string // why it could not be started
	timedOut       bool
}

func (r *processResult) ok() bool { return r.exit != nil && *r.exit == 0 && !r.timedOut }

// runProcess runs one program in its own process group and ends the whole group
// when the deadline passes or ctx ends: first politely, then not.
func runProcess(ctx context.Context, p processSpec) *processResult {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	stdout, stderr := &tailBuffer{limit: p.limit}, &tailBuffer{limit: p.limit}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = killAfter
	ownGroup(cmd)
	res := &processResult{}
	err := cmd.Run()
	killGroup(cmd)
	res.stdout, res.stderr = stdout.bytes(), stderr.bytes()
	res.timedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
	var exit *exec.ExitError
	switch {
	case err == nil:
		zero := 0
		res.exit = &zero
	case errors.As(err, &exit):
		if sig := signalName(exit); sig != "" {
			res.signal = &sig
		} else if code := exit.ExitCode(); code >= 0 {
			res.exit = &code
		}
	case res.timedOut:
	default:
		res.spawn = err.Error()
	}
	if res.timedOut && res.spawn == "" {
		res.spawn = fmt.Sprintf("Timed out after %dms", p.timeout.Milliseconds())
		res.exit = nil
	}
	return res
}

// tailBuffer keeps the last limit bytes written to it.
type tailBuffer struct {
	limit int
	buf   bytes.Buffer
}

func (b *tailBuffer) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > b.limit {
		p = p[len(p)-b.limit:]
	}
	b.buf.Write(p)
	if over := b.buf.Len() - 2*b.limit; over > 0 {
		b.buf.Next(b.buf.Len() - b.limit)
	}
	return n, nil
}

func (b *tailBuffer) bytes() []byte {
	if n := b.buf.Len(); n > b.limit {
		b.buf.Next(n - b.limit)
	}
	return b.buf.Bytes()
}
