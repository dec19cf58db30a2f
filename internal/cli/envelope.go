// The envelope around every --json answer (spec/07 "Envelope").

package cli

import (
	"crypto/rand"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// envelopeVersion is the wire version of the envelope, not of this program.
const envelopeVersion = "1.1"

// envelopeCapabilities are the optional parts of the protocol a reader may
// rely on in command output.
func envelopeCapabilities() []string {
	return []string{"governed-runs", "stable-error-codes", "correlation-ids"}
}

// envelope builds one answer: ok, correlationId, protocol, then the payload's
// members in their order, then error. A payload cannot replace the envelope's
// own members.
func envelope(ok bool, correlation string, payload *ojson.Object, failure *ojson.Object) *ojson.Object {
	env := ojson.NewObject(
		"ok", ok,
		"correlationId", correlation,
		"protocol", ojson.NewObject(
			"protocol_version", envelopeVersion,
			"capabilities", envelopeCapabilities(),
		),
	)
	for k, v := range payload.All() {
		if !env.Has(k) && (k != "error" || failure == nil) {
			env.Set(k, v)
		}
	}
	if failure != nil {
		env.Set("error", failure)
	}
	return env
}

// object is the "error" member of a failed answer.
func (r report) object() *ojson.Object {
	o := ojson.NewObject("code", r.code, "message", r.message)
	if r.hint != "" {
		o.Set("hint", r.hint)
	}
	if r.details.Len() > 0 {
		o.Set("details", r.details)
	}
	return o
}

// correlationID takes the caller's id when it is sane and mints one otherwise.
// Sane is 1 to 128 bytes of letters, digits and "-_.:": the id is copied into
// ledgers, HTTP headers and hook environments.
func correlationID(getenv func(string) string) string {
	if id := getenv("AGENTXCHAIN_CORRELATION_ID"); saneCorrelationID(id) {
		return id
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails (it aborts the program instead)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func saneCorrelationID(id string) bool {
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
