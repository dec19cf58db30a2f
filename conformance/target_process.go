// Local targets: one adapter process per fixture (docs/conformance.md#becoming-a-target).

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Bounds of an adapter's answer.
const (
	maxAnswer     = 16 << 20 // bytes of standard output; more ends the adapter
	maxAnswerText = 16 << 10 // bytes of an unusable answer that a report shows
)

// TokenVariable holds the bearer token of a remote endpoint. Adapters started
// here do not inherit it.
const TokenVariable = "AGENTXCHAIN_CONFORMANCE_TOKEN"

// DefaultTimeout is the time limit of one fixture.
const DefaultTimeout = 30 * time.Second

// ProcessTarget starts an adapter once per fixture: no shell, the target's root as directory, the environment of
// this process with a temporary directory of its own, and a process group that is ended with it. The fixture is one
// line on standard input.
type ProcessTarget struct {
	Root    string        // absolute
	Command []string      // argv; a relative program path starts at Root
	Timeout time.Duration // total, per fixture
}

var _ Target = (*ProcessTarget)(nil)

// Execute runs the adapter on one fixture.
func (t *ProcessTarget) Execute(ctx context.Context, f *Fixture) Outcome {
	temp, env, err := ownTemp(os.Environ())
	if err != nil {
		return errored("Failed to execute adapter: "+err.Error(), nil)
	}
	defer removeTemp(temp)
	r := process.Run(ctx, process.Spec{
		Argv:           t.Command,
		Dir:            t.Root,
		Env:            env,
		Stdin:          append(ojson.Compact(f.Raw), '\n'),
		Timeout:        t.Timeout,
		Limit:          maxAnswer,
		KillOnOverflow: true,
	})
	switch {
	case r.StartErr != nil:
		why := "Failed to execute adapter: " + r.StartErr.Error()
		if errors.Is(r.StartErr, fs.ErrPermission) {
			why += "; is it a program, and executable (chmod +x)?"
		}
		return errored(why, nil)
	case r.Canceled:
		return errored("Adapter was ended early: "+context.Cause(ctx).Error(), nil)
	case r.TimedOut:
		return errored(fmt.Sprintf("Adapter did not answer within %dms", t.Timeout.Milliseconds()), said(r))
	case r.Overflow:
		return errored(fmt.Sprintf("Adapter wrote more than %d MiB", maxAnswer>>20), said(r))
	}
	return t.read(r)
}

// read judges an adapter that ended by itself, in the order of docs/conformance.md#checking.
func (t *ProcessTarget) read(r *process.Result) Outcome {
	if r.Exit == nil || *r.Exit < 0 || *r.Exit > 3 {
		return oddExit(r)
	}
	text := strings.TrimFunc(string(r.Stdout), blankRune)
	if text == "" {
		out := answer(ojson.NewObject(), r.Exit)
		out.Actual = said(r) // standard error says why it wrote no answer
		return out
	}
	v, err := ojson.DecodeLimited([]byte(text), ojson.Limits{Bytes: maxAnswer, LastWins: true})
	if err != nil {
		return errored("Malformed adapter response: "+err.Error(), said(r))
	}
	return answer(v, r.Exit)
}

// oddExit returns the outcome of a forbidden exit status, or of a signal.
func oddExit(r *process.Result) Outcome {
	code, how := ojson.Value(nil), "null"
	if r.Exit != nil {
		code, how = ojson.Int(*r.Exit), fmt.Sprint(*r.Exit)
	} else if r.Signal != "" {
		how += " (ended by " + r.Signal + ")"
	}
	actual := ojson.NewObject("exit_code", code, "stderr", strings.TrimFunc(excerpt(r.Stderr), blankRune))
	if r.Signal != "" {
		actual.Set("signal", r.Signal)
	}
	return errored("Adapter exited with unsupported status "+how, actual)
}

// said returns what an adapter wrote, for a report.
func said(r *process.Result) *ojson.Object {
	return ojson.NewObject("stdout", excerpt(r.Stdout), "stderr", excerpt(r.Stderr))
}

func excerpt(data []byte) string {
	return strings.ToValidUTF8(text.Clip(string(data), maxAnswerText), "\ufffd")
}
