// Errors the command line itself makes, and what every error looks like from here.

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// CodedError is what the command line knows about an error of any room: a
// stable code (docs/errors.md), the sentence and the next thing to do.
type CodedError interface {
	error
	ErrorCode() string
	ErrorHint() string
}

// detailed is a CodedError with further machine-readable members for --json.
type detailed interface{ ErrorDetails() *ojson.Object }

// commandError is a CodedError made by a command.
type commandError struct {
	code    string
	message string
	hint    string
	details *ojson.Object
	cause   error
	// findings are shown below the message, one a line.
	findings []string
}

func (e *commandError) Error() string               { return e.message }
func (e *commandError) ErrorCode() string           { return e.code }
func (e *commandError) ErrorHint() string           { return e.hint }
func (e *commandError) ErrorDetails() *ojson.Object { return e.details }
func (e *commandError) Unwrap() error               { return e.cause }
func (e *commandError) withHint(h string) *commandError {
	e.hint = h
	return e
}

func (e *commandError) withDetails(d *ojson.Object) *commandError {
	e.details = d
	return e
}

// errorf makes an error with a stable code. A %w operand becomes its cause.
func errorf(code, format string, args ...any) *commandError {
	wrapped := fmt.Errorf(format, args...)
	return &commandError{code: code, message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// usageErrorf says that the command line cannot be understood (exit 2). It is
// one sentence on one line: what is wrong, then the nearest right thing.
func usageErrorf(format string, args ...any) *commandError { return errorf("usage", format, args...) }

// silentError ends a command with an exit status after it has said everything
// there is to say: fsck with findings, a verifier with its own exit codes.
type silentError struct{ status int }

func (e silentError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// exitSilently makes the command end with status and no error message. With
// --json the emitted payload keeps "ok" true only for status 0.
func exitSilently(status int) error {
	if status == 0 {
		return nil
	}
	return silentError{status}
}

// errFindings ends a command that worked and found something wrong (exit 1).
func errFindings() error { return silentError{1} }

// report is an error ready to be shown.
type report struct {
	code     string
	message  string
	hint     string
	details  *ojson.Object
	findings []string
	silent   bool
	exit     int
}

// describe turns any error into what is shown and the status to exit with.
func describe(err error) report {
	var silent silentError
	if errors.As(err, &silent) {
		return report{code: "findings", message: "finished with findings", silent: true, exit: silent.status}
	}
	r := report{code: "failed", message: err.Error()}
	var coded CodedError
	var d detailed
	switch {
	case errors.As(err, &coded):
		r.code, r.hint = coded.ErrorCode(), coded.ErrorHint()
		if errors.As(err, &d) {
			r.details = d.ErrorDetails()
		}
		var ours *commandError
		if errors.As(err, &ours) {
			r.findings = ours.findings
		}
		// Being interrupted in the middle of a step makes the step fail with
		// its own code; the person who pressed ^C knows why.
		if errors.Is(err, context.Canceled) {
			r.code, r.hint = "interrupted", ""
		}
	case errors.Is(err, context.Canceled):
		r.code, r.message = "interrupted", "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		r.code = "timeout"
	}
	r.exit = exitStatus(r.code)
	return r
}
