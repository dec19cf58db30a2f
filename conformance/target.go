// Targets: what a verifier sends fixtures to, and what it learns from each (docs/conformance.md#checking).

package conformance

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Outcome is the verifier's result for one fixture. Status is error both when the adapter said so and when it gave
// no usable answer; Message is never empty. Actual is the adapter's, or what is known of an unusable answer, or
// nil.
type Outcome struct {
	Status  Status
	Message string
	Actual  ojson.Value
}

// Target is an implementation under examination. Execute sends it one fixture and never fails: any error is an
// Outcome of its own. It is called from several goroutines at once. A canceled ctx ends it early.
type Target interface {
	Execute(ctx context.Context, f *Fixture) Outcome
}

// Bounds of what a report keeps of one answer, in bytes. Outcomes are a few kilobytes; an adapter that answers
// every fixture with the maximum must not fill the verifier's memory.
const (
	maxKeptActual  = 64 << 10 // as compact JSON
	maxKeptMessage = 16 << 10
)

// kept returns the outcome for a report, once the full outcome is no longer needed: only the status of a pass, and
// {omitted_bytes} in place of an actual that is too large.
func (o Outcome) kept() Outcome {
	if o.Status == StatusPass {
		return Outcome{Status: o.Status}
	}
	o.Message, o.Actual = text.Clip(o.Message, maxKeptMessage), keptActual(o.Actual)
	return o
}

func keptActual(v ojson.Value) ojson.Value {
	switch v.(type) {
	case *ojson.Object, []any, string:
		if n := len(ojson.Compact(v)); n > maxKeptActual {
			return ojson.NewObject("omitted_bytes", n)
		}
	}
	return v
}

// errored returns the outcome of a fixture without a usable answer.
func errored(message string, actual ojson.Value) Outcome {
	return Outcome{Status: StatusError, Message: message, Actual: actual}
}

// answer reads an adapter's answer {status, message, actual}. exit is the
// adapter's exit status; nil when the target has none (HTTP).
func answer(v ojson.Value, exit *int) Outcome {
	o, ok := v.(*ojson.Object)
	if !ok || o == nil {
		return errored("Adapter response must be a JSON object, not "+ojson.TypeName(v), v)
	}
	status, _ := o.Value("status").(string)
	switch Status(status) {
	case StatusPass, StatusFail, StatusError, StatusNotImplemented:
	default:
		return errored(`Adapter response missing valid "status"`, o)
	}
	out := Outcome{Status: Status(status), Message: o.String("message")}
	if exit != nil && *exit != out.Status.ExitCode() {
		return errored(exitMismatch(*exit, status), o)
	}
	if out.Message == "" {
		out.Message = defaultMessage(out.Status)
	}
	out.Actual, _ = o.Get("actual")
	return out
}

func exitMismatch(exit int, status string) string {
	return fmt.Sprintf("Adapter exit code %d does not match response status %q", exit, status)
}

// defaultMessage returns the message for a report when the adapter gives none.
func defaultMessage(s Status) string {
	switch s {
	case StatusPass:
		return "Fixture passed"
	case StatusFail:
		return "Fixture failed"
	case StatusNotImplemented:
		return "Not implemented"
	}
	return "Fixture errored"
}
