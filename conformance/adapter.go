// The adapter: one fixture in, one verdict out (docs/conformance.md#becoming-a-target).

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Status is the verdict on one fixture.
type Status string

// Verdicts and their exit codes: 0, 1, 2, 3.
const (
	StatusPass           Status = "pass"
	StatusFail           Status = "fail"
	StatusError          Status = "error"
	StatusNotImplemented Status = "not_implemented"
)

// ExitCode returns the exit status of an adapter process with this verdict.
func (s Status) ExitCode() int {
	switch s {
	case StatusPass:
		return 0
	case StatusFail:
		return 1
	case StatusNotImplemented:
		return 3
	}
	return 2
}

// Result is an adapter's answer. Actual is null when there was no outcome to
// compare.
type Result struct {
	Status  Status
	Message string
	Actual  ojson.Value
}

// object returns the answer as sent: {status, message, actual}.
func (r Result) object() *ojson.Object {
	return ojson.NewObject("status", string(r.Status), "message", r.Message, "actual", r.Actual)
}

// Line returns the answer as one line of JSON with its newline.
func (r Result) Line() []byte { return append(ojson.Compact(r.object()), '\n') }

// errNotImplemented marks an operation, or a use of one, that this adapter does not support; the verdict is
// not_implemented.
var errNotImplemented = errors.New("not implemented")

// Adapter runs fixtures with this program's engine. The zero value is ready. It keeps no state between fixtures.
// Operations that need files or run programs use a temporary directory, which is then removed; the others touch
// neither disk nor network.
type Adapter struct {
	Now func() time.Time // clock of the operations; time.Now when nil
	// Context ends the programs a fixture started; nil never does.
	Context context.Context
}

// Read runs the fixture read from r.
func (a Adapter) Read(r io.Reader) Result {
	data, err := io.ReadAll(io.LimitReader(r, MaxFixtureBytes+1))
	if err != nil {
		return failure(fmt.Errorf("the fixture cannot be read: %w", err))
	}
	return a.Execute(data)
}

// Execute runs one fixture document. It always returns an answer and does not panic, whatever the bytes are.
func (a Adapter) Execute(data []byte) (r Result) {
	defer rescue(&r)
	f, err := ReadFixture(data)
	if err != nil {
		return failure(err)
	}
	return a.run(f)
}

// run runs a decoded fixture and compares the outcome with its expectation.
func (a Adapter) run(f *Fixture) (r Result) {
	defer rescue(&r)
	actual, err := a.outcome(f)
	switch {
	case errors.Is(err, errNotImplemented):
		return Result{Status: StatusNotImplemented, Message: err.Error()}
	case err != nil:
		return failure(err)
	}
	if m := Compare(f.Expected, actual); m != nil {
		return Result{Status: StatusFail, Message: fmt.Sprintf("fixture %s: %v", show(f.ID), m), Actual: actual}
	}
	return Result{Status: StatusPass, Message: "the outcome is what the fixture expects", Actual: actual}
}

// outcome runs the fixture's operation and returns its outcome, without looking at the expectation.
func (a Adapter) outcome(f *Fixture) (*ojson.Object, error) {
	op, err := lookup(f.Operation)
	if err != nil {
		return nil, err
	}
	if err := f.checkSetup(op.setup); err != nil {
		return nil, err
	}
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}
	// The seed is the fixture's own digest, so the same fixture draws the same ids.
	w, err := newWorkspace(f, now(), wire.SHA256(ojson.Compact(f.Raw))[:32])
	if err != nil {
		return nil, err
	}
	if w.ctx = a.Context; w.ctx == nil {
		w.ctx = context.Background()
	}
	return op.run(w)
}

// rescue turns a panic into an answer: a defect that a fixture triggers must fail that fixture, not the verifier.
func rescue(r *Result) {
	if p := recover(); p != nil {
		*r = failure(fmt.Errorf("internal error: %v", p))
	}
}

func failure(err error) Result {
	return Result{Status: StatusError, Message: text.Clip(err.Error(), 2000)}
}
