// The envelope of every response: ok, correlationId, protocol, error (docs/alx.md#envelope).

package alx

import (
	"crypto/rand"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Version is the wire version this package speaks.
const Version = "1.1"

// Envelope is the metadata that every response begins with (WG-02).
type Envelope struct {
	OK            bool     `json:"ok" jsonschema:"true on success; a failed request never says true (WG-08)"`
	CorrelationID string   `json:"correlationId" jsonschema:"opaque trace identifier, the caller's when it was sane"`
	Protocol      Protocol `json:"protocol" jsonschema:"negotiation envelope"`
}

// Protocol is the negotiation envelope, in responses and in requests.
type Protocol struct {
	Version      string      `json:"protocol_version" jsonschema:"MAJOR.MINOR"`
	Capabilities []string    `json:"capabilities" jsonschema:"what the sender can do; the unknown is ignored"`
	Extra        ojson.Extra `json:"-"`
}

// Capabilities returns the optional parts of the protocol that a peer may rely on.
func Capabilities() []string {
	return []string{
		"governed-runs", "stable-error-codes", "correlation-ids",
		"knowledge-blocks", "run-events", "session-inspection", "idempotency-keys",
	}
}

// NewEnvelope returns the head of one answer. It replaces an insane correlation id.
func NewEnvelope(ok bool, correlation string) Envelope {
	if !SaneCorrelationID(correlation) {
		correlation = NewCorrelationID()
	}
	return Envelope{
		OK:            ok,
		CorrelationID: correlation,
		Protocol:      Protocol{Version: Version, Capabilities: Capabilities()},
	}
}

// Error is the error of a failed answer, and a Go error.
type Error struct {
	Code    string        `json:"code" jsonschema:"machine-readable, stable across compatible releases (WG-05)"`
	Message string        `json:"message" jsonschema:"for people; may change"`
	Hint    string        `json:"hint,omitempty" jsonschema:"the next thing to do, for people"`
	Details *ojson.Object `json:"details,omitempty" jsonschema:"machine-readable particulars of the code"`
	Extra   ojson.Extra   `json:"-"`
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an Error; code is one of ErrorCodes.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With adds one detail and returns e.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = &ojson.Object{}
	}
	e.Details.Set(key, value)
	return e
}

// FailureResponse is the answer to a request that failed before it had an operation's own response.
type FailureResponse struct {
	Envelope
	Success *bool       `json:"success,omitempty" jsonschema:"false in the answer to a solve that was refused"`
	Error   *Error      `json:"error" jsonschema:"why"`
	Extra   ojson.Extra `json:"-"`
}

// NewFailure returns the answer for a failure.
func NewFailure(correlation string, why *Error) *FailureResponse {
	return &FailureResponse{Envelope: NewEnvelope(false, correlation), Error: why}
}

// NewCorrelationID mints an id: a random UUID.
func NewCorrelationID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails (it aborts the program instead)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// SaneCorrelationID reports whether a caller's id may be copied into ledgers,
// HTTP headers and hook environments: 1 to 128 bytes of letters, digits and "-_.:".
func SaneCorrelationID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			c == '-' || c == '_' || c == '.' || c == ':') {
			return false
		}
	}
	return true
}
