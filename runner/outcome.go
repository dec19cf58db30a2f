// How an operation ended, as data: what every result has besides the Go error.

package runner

import (
	"context"
	"errors"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Outcome says how an operation ended. It is part of every result of the interface, also of one
// that is returned together with an error, so that a service can pass on the result alone
// (docs/runner.md: {ok, error, error_code}).
type Outcome struct {
	OK    bool
	Error string // one sentence for a person; "" when OK
	Code  string // stable token of docs/errors.md, never "" unless OK
	Hint  string // the next command or change, "" when none can be named
}

// Codes of failures for which no package has a code of its own.
const (
	codeFailed      = "failed"      // nothing more precise is known
	codeInterrupted = "interrupted" // the context was cancelled
	codeTimeout     = "timeout"     // the context's deadline passed
)

// OutcomeOf describes an error as data; nil is OK. A step that is cancelled in the middle fails
// with its own code; the outcome names the cause.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Outcome{OK: true}
	}
	out := Outcome{Error: err.Error(), Code: codeFailed}
	var coded interface {
		ErrorCode() string
		ErrorHint() string
	}
	switch {
	case errors.Is(err, context.Canceled):
		out.Code = codeInterrupted
	case errors.As(err, &coded) && coded.ErrorCode() != "":
		out.Code, out.Hint = coded.ErrorCode(), coded.ErrorHint()
	case errors.Is(err, context.DeadlineExceeded):
		out.Code = codeTimeout
	}
	return out
}

// settle makes err the outcome and returns it.
func (o *Outcome) settle(err error) error {
	*o = OutcomeOf(err)
	return err
}

// ErrorCode returns the stable code of an error of any package, or "".
func ErrorCode(err error) string { return wire.ErrorCode(err) }
