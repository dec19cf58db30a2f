// What the command line asks of an error: its code, hint and particulars.

package alx

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// ErrorCode is the stable code.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorHint is the next thing to do, "" for none.
func (e *Error) ErrorHint() string { return e.Hint }

// ErrorDetails are the machine-readable particulars, nil for none.
func (e *Error) ErrorDetails() *ojson.Object { return e.Details }
