// The envelope around every --json answer (docs/alx.md#envelope).

package term

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Envelope builds one answer: the protocol's envelope, then the payload's
// members in their order, then error. A payload cannot replace the envelope's
// own members.
func Envelope(ok bool, correlation string, payload *ojson.Object, failure *ojson.Object) *ojson.Object {
	env := ojson.Marshal(alx.NewEnvelope(ok, correlation))
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

// ErrorObject returns the error member of an answer with a form of its own.
func ErrorObject(err error) *ojson.Object { return Describe(err).object() }

// object returns the "error" member of a failed answer.
func (r report) object() *ojson.Object {
	e := &alx.Error{Code: r.Code, Message: r.message, Hint: r.hint}
	if r.details.Len() > 0 {
		e.Details = r.details
	}
	o := ojson.Marshal(e)
	if r.explain != "" {
		o.Set("explain", r.explainCommand())
	}
	return o
}

// correlationID takes the caller's id when it is sane and mints one otherwise.
func correlationID(getenv func(string) string) string {
	if id := getenv("AGENTXCHAIN_CORRELATION_ID"); alx.SaneCorrelationID(id) {
		return id
	}
	return alx.NewCorrelationID()
}
