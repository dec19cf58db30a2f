// What the command line reads from an error: its code, hint and details.

package alx

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorHint returns the next thing to do, "" for none.
func (e *Error) ErrorHint() string { return e.Hint }

// ErrorDetails returns the machine-readable details, nil for none.
func (e *Error) ErrorDetails() *ojson.Object { return e.Details }
