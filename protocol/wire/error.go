// Error is the one error type of the engine; codes.go lists its codes.

package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Error is a refusal by the rules: a stable code, a sentence that says what is wrong and where, and the next step.
type Error struct {
	Code    string // stable token, see codes.go
	Message string
	Hint    string // the next command to run, or ""
	Stage   string // failed validation stage (docs/spec/results.md#the-five-stages), or ""
	Class   string // error_class of that stage, or ""
	Field   string // the member or path at fault, or ""

	Problems []Problem     // every finding when there are several
	Details  *ojson.Object // further machine-readable members for --json
	Explain  string        // the argument for git agentxchain explain: a turn; "" means Code
}

func (e *Error) Error() string     { return e.Message }
func (e *Error) ErrorCode() string { return e.Code }
func (e *Error) ErrorHint() string { return e.Hint }

// ErrorCode returns the stable code of an error of any package, "" where it has none.
func ErrorCode(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return ""
}

// ExplainSubject returns the argument with which git agentxchain explain explains a refusal further.
func (e *Error) ExplainSubject() string { return e.Explain }

// ExplainCommand returns the command that explains a refusal by the rules further; "" for other errors.
func (e *Error) ExplainCommand() string {
	if e.Explain == "" {
		return ""
	}
	return "git agentxchain explain " + e.Explain
}

// InvalidArgument returns the refusal of an argument: the field, and a sentence about it.
func InvalidArgument(field, format string, args ...any) *Error {
	return &Error{Code: CodeInvalidArgument, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Problem is one finding of a validator.
type Problem struct {
	Code    string // stable token
	Field   string // path of the member, e.g. "routing.qa.entry_role"
	Value   string // the offending or referenced name, when there is one
	Message string
}

// Problems collects findings.
type Problems []Problem

// Messages returns the texts in order.
func (p Problems) Messages() []string {
	out := make([]string, len(p))
	for i := range p {
		out[i] = p[i].Message
	}
	return out
}

// Join returns the texts as one line.
func (p Problems) Join() string { return strings.Join(p.Messages(), "; ") }

// ErrorDetails returns the machine-readable members of the error: its own
// details, the failed stage, the field and every problem.
func (e *Error) ErrorDetails() *ojson.Object {
	o := &ojson.Object{}
	for _, m := range []struct{ key, Member string }{{"failed_stage", e.Stage}, {"error_class", e.Class},
		{"error_field", e.Field}} {
		if m.Member != "" {
			o.Set(m.key, m.Member)
		}
	}
	for k, v := range e.Details.All() {
		o.Set(k, v)
	}
	if len(e.Problems) > 0 {
		rows := make([]*ojson.Object, len(e.Problems))
		for i, p := range e.Problems {
			rows[i] = ojson.NewObject("code", p.Code, "message", p.Message)
			if p.Field != "" {
				rows[i].Set("field", p.Field)
			}
			if p.Value != "" {
				rows[i].Set("value", p.Value)
			}
		}
		o.Set("problems", rows)
	}
	if o.Len() == 0 {
		return nil
	}
	return o
}
