// Errors that the command line itself makes, and the form of every error from here.

package term

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// CodedError is what the command line knows about an error of any package: a stable code
// (docs/errors.md), the sentence and the next thing to do.
type CodedError interface {
	error
	ErrorCode() string
	ErrorHint() string
}

// detailed is a CodedError with further machine-readable members for --json.
type detailed interface{ ErrorDetails() *ojson.Object }

// Error is a CodedError made by a command.
type Error struct {
	Code    string
	Message string
	Hint    string
	details *ojson.Object
	Cause   error
	// Findings are shown below the message, one a line.
	Findings []string
}

func (e *Error) Error() string               { return e.Message }
func (e *Error) ErrorCode() string           { return e.Code }
func (e *Error) ErrorHint() string           { return e.Hint }
func (e *Error) ErrorDetails() *ojson.Object { return e.details }
func (e *Error) Unwrap() error               { return e.Cause }
func (e *Error) WithHint(h string) *Error {
	e.Hint = h
	return e
}

// WithDetails adds members for --json.
func (e *Error) WithDetails(d *ojson.Object) *Error {
	e.details = d
	return e
}

// Errorf makes an error with a stable code. A %w operand becomes its cause.
func Errorf(code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), Cause: errors.Unwrap(wrapped)}
}

// UsageErrorf says that the command line cannot be parsed (exit 2). It is one sentence on one line:
// what is wrong, then the nearest right thing.
func UsageErrorf(format string, args ...any) *Error { return Errorf("usage", format, args...) }

// silentError ends a command with an exit status after it has printed everything: fsck with
// findings, a verifier with its own exit codes.
type silentError struct{ status int }

func (e silentError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// ExitSilently makes the command end with status and no error message. With
// --json the emitted payload keeps "ok" true only for status 0.
func ExitSilently(status int) error {
	if status == 0 {
		return nil
	}
	return silentError{status}
}

// ErrFindings ends a command that worked and found something wrong (exit 1).
func ErrFindings() error { return silentError{1} }

// report is an error ready to be shown.
type report struct {
	Code     string
	message  string
	hint     string
	details  *ojson.Object
	findings []string
	silent   bool
	explain  string // what explain takes to tell more, "" when there is no more to tell
	Exit     int
}

// Describe turns any error into what is shown and the exit status.
func Describe(err error) report {
	if silent, ok := errors.AsType[silentError](err); ok {
		return report{Code: "findings", message: "finished with findings", silent: true, Exit: silent.status}
	}
	r := report{Code: "failed", message: err.Error()}
	var coded CodedError
	var d detailed
	switch {
	case errors.As(err, &coded):
		r.Code, r.hint = coded.ErrorCode(), coded.ErrorHint()
		if errors.As(err, &d) {
			r.details = d.ErrorDetails()
		}
		if ours, ok := errors.AsType[*Error](err); ok {
			r.findings = ours.Findings
		}
		var told interface{ ErrorFindings() []string }
		if errors.As(err, &told) {
			r.findings = told.ErrorFindings()
		}
		// A step that is interrupted in the middle fails with its own code; the person who pressed
		// ^C knows why.
		if errors.Is(err, context.Canceled) {
			r.Code, r.hint = "interrupted", ""
		}
	case errors.Is(err, context.Canceled):
		r.Code, r.message = "interrupted", "interrupted"
		var at interface{ InterruptedAt() string }
		if errors.As(err, &at) {
			r.message += "; " + at.InterruptedAt() + " was at work"
		}
	case errors.Is(err, context.DeadlineExceeded):
		r.Code = "timeout"
	}
	for inner := err; r.hint == "" && r.Code != "interrupted" && errors.As(inner, &coded); inner = errors.Unwrap(coded) {
		r.hint = coded.ErrorHint() // of the error that another package's error wraps
	}
	if r.hint == "" && r.Code != "interrupted" {
		name := ""
		if at := (*fs.PathError)(nil); errors.As(err, &at) && filepath.IsAbs(at.Path) {
			name = OneLine(at.Path)
		}
		r.hint = failures.Remedy(name, err)
	}
	r.Exit = ExitStatus(r.Code)
	if r.Exit == ExitRefused || r.Exit == ExitBlocked {
		r.explain = r.Code
	}
	var of interface{ ExplainSubject() string }
	if errors.As(err, &of) && of.ExplainSubject() != "" && !r.silent && r.Code != "interrupted" {
		r.explain = of.ExplainSubject()
	}
	return r
}

// explainCommand returns the command that explains a refusal.
func (r report) explainCommand() string { return "git agentxchain explain " + OneLine(r.explain) }
