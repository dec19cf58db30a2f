// The typed errors: a stable code, a sentence, and a hint.

package fail

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/git-agentxchain/git-agentxchain/internal/failures"
)

// Codes of Error. They are stable: callers and scripts branch on them, and the command line maps them to exit codes
// in one place.
const (
	CodeNotRepository     = "not_a_git_repository"
	CodeBareRepository    = "bare_repository"
	CodeDubiousOwnership  = "dubious_ownership"
	CodeGitMissing        = "git_missing"
	CodeGitTooOld         = "git_too_old"
	CodeGitFailed         = "git_failed"
	CodeOutputTooLarge    = "git_output_too_large"
	CodeFetchTooLarge     = "fetch_too_large"
	CodeObjectMissing     = "object_missing"
	CodeObjectCorrupt     = "object_corrupt"
	CodeObjectTooLarge    = "object_too_large"
	CodeObjectInvalid     = "object_invalid"
	CodeRefMoved          = "ref_moved"
	CodeRefSymbolic       = "ref_is_symbolic"
	CodeRefBroken         = "ref_broken"
	CodeRefLocked         = "ref_locked"
	CodeBadRefName        = "bad_ref_name"
	CodeBaseMissing       = "base_missing"
	CodeLocked            = "locked"
	CodeLockLost          = "lock_lost"
	CodeUnsupportedFormat = "unsupported_repository_format"
)

// Error is a refusal or failure of the store.
type Error struct {
	Code    string // one of the Code constants
	Message string // what is wrong, one sentence, no trailing period
	Hint    string // what to do about it; may be empty
	Err     error  // the cause, if any
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the outermost Error in err's chain, else "".
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// Errorf makes an Error with a stable code; cause may be nil.
func Errorf(code string, cause error, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: cause}
}

// WithHint sets what to do about the error and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WritableHint says how to make a directory writable, "" when err has another cause.
func WritableHint(dir string, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "make " + dir + " and what is in it writable for the user who runs this, then again"
	}
	return failures.Remedy(dir, err)
}

// Unwritable reports whether err says that this process's user may not write something.
func Unwritable(err error) bool { return WritableHint("", err) != "" }

// ErrorCode returns the stable code of e, for the command line.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorHint returns what to do about the error, "" when there is no hint.
func (e *Error) ErrorHint() string { return e.Hint }

const CodeUnsafeTarget = "unsafe_target" // a link or something else is where a file should be written

const CodeWorkBehind = "working_files_behind"

const CodeUnreadable = "unreadable_file"

// CodeIO means that a file of ours cannot be written.
const CodeIO = "io_failed"

// CodeFilterNotRun means that a filter should have changed files and this program does not start it.
const CodeFilterNotRun = "filter_not_run"
