// Decoding and encoding of wire documents, strict and tolerant (docs/alx.md, WG-07).

package alx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Decoder reads wire documents. Unknown members survive in Extra, strict or not. A strict decoder
// also requires every member that its version promises and refuses names outside the closed
// vocabularies; a tolerant one keeps events of unknown types aside and accepts what an older minor
// version sends. Neither accepts a contradiction: ok true together with an error, run.failed with
// ok true.
//
// Every error is an *Error with code invalid_json, body_too_large or
// invalid_request (details.field names the member).
type Decoder struct {
	Strict   bool
	MaxBytes int // 0 is MaxResponseBytes
	MaxDepth int // 0 is MaxDepth
}

// SolveResponse decodes the answer of solve.
func (d Decoder) SolveResponse(data []byte) (*SolveResponse, error) {
	return decode(d, data, func(r *SolveResponse) *Error {
		if r.Confidence < 0 || r.Confidence > 1 {
			return fieldError("confidence", "must be between 0 and 1")
		}
		if d.Strict && r.OK && !r.Execution.Status.Known() {
			return unknownName("execution.status", string(r.Execution.Status))
		}
		if r.Success && !r.OK {
			return fieldError("success", "is true in a failed answer")
		}
		return d.envelope(r.Envelope, r.Error)
	})
}

// SessionResponse decodes one session.
func (d Decoder) SessionResponse(data []byte) (*SessionResponse, error) {
	return decode(d, data, func(r *SessionResponse) *Error {
		if e := d.envelope(r.Envelope, r.Error); e != nil || !r.OK {
			return e
		}
		if e := d.session("", &r.Session); e != nil {
			return e
		}
		var last int64
		for i := range r.Timeline {
			field := fmt.Sprintf("timeline[%d].", i)
			switch t := &r.Timeline[i]; {
			case d.Strict && !t.Type.Known():
				return unknownName(field+"type", string(t.Type))
			case t.Type == "":
				return fieldError(field+"type", "is missing")
			case d.Strict && t.Sequence <= last:
				return fieldError(field+"sequence", "is not above the one before it")
			default:
				last = t.Sequence
			}
		}
		r.Timeline, r.Aside = setAside(r.Timeline, func(t TimelineEvent) bool { return t.Type.Known() })
		return nil
	})
}

// SessionList decodes a page of sessions.
func (d Decoder) SessionList(data []byte) (*SessionList, error) {
	return decode(d, data, func(r *SessionList) *Error {
		if e := d.envelope(r.Envelope, r.Error); e != nil || !r.OK {
			return e
		}
		for i := range r.Sessions {
			if e := d.session(fmt.Sprintf("sessions[%d].", i), &r.Sessions[i].Session); e != nil {
				return e
			}
		}
		return nil
	})
}

// ServiceInfo decodes the description of a service.
func (d Decoder) ServiceInfo(data []byte) (*ServiceInfo, error) {
	return decode(d, data, func(r *ServiceInfo) *Error { return d.envelope(r.Envelope, r.Error) })
}

// Failure decodes the answer to a failed request.
func (d Decoder) Failure(data []byte) (*FailureResponse, error) {
	return decode(d, data, func(r *FailureResponse) *Error {
		if r.OK {
			return fieldError("ok", "is true in the answer to a failed request")
		}
		return d.envelope(r.Envelope, r.Error)
	})
}

// RunEvent decodes one event. A tolerant decoder also returns one of unknown type;
// RunEventType.Known reports that.
func (d Decoder) RunEvent(data []byte) (*RunEvent, error) {
	return decode(d, data, func(e *RunEvent) *Error { return d.runEvent("", e) })
}

// RunEventPage decodes a page of events.
func (d Decoder) RunEventPage(data []byte) (*RunEventPage, error) {
	return decode(d, data, func(r *RunEventPage) *Error {
		if e := d.envelope(r.Envelope, r.Error); e != nil || !r.OK {
			return e
		}
		for i := range r.Events {
			if e := d.runEvent(fmt.Sprintf("events[%d].", i), &r.Events[i]); e != nil {
				return e
			}
			if i > 0 && r.Events[i].Sequence <= r.Events[i-1].Sequence {
				return fieldError(fmt.Sprintf("events[%d].sequence", i), "is not above the one before it")
			}
		}
		r.Events, r.Aside = setAside(r.Events, func(e RunEvent) bool { return e.Type.Known() })
		return nil
	})
}

// Encode writes a document on one line. Events that a tolerant decoder kept aside are back in their
// places.
func Encode(doc any) []byte {
	switch r := doc.(type) {
	case *SessionResponse:
		c := *r
		c.Timeline = putBack(r.Timeline, r.Aside, func(t TimelineEvent) int64 { return t.Sequence })
		doc = &c
	case *RunEventPage:
		c := *r
		c.Events = putBack(r.Events, r.Aside, func(e RunEvent) int64 { return e.Sequence })
		doc = &c
	}
	return ojson.Compact(ojson.Marshal(doc))
}

func (d Decoder) session(at string, s *Session) *Error {
	switch {
	case s.SessionID == "":
		return fieldError(at+"sessionId", "is missing")
	case s.Status == "":
		return fieldError(at+"status", "is missing")
	case d.Strict && !s.Status.Known():
		return unknownName(at+"status", string(s.Status))
	case s.Progress < 0 || s.Progress > 1:
		return fieldError(at+"progress", "must be between 0 and 1")
	}
	return nil
}

func (d Decoder) runEvent(at string, e *RunEvent) *Error {
	switch {
	case e.Type == "":
		return fieldError(at+"type", "is missing")
	case d.Strict && !e.Type.Known():
		return unknownName(at+"type", string(e.Type))
	case e.ID == "":
		return fieldError(at+"id", "is missing")
	case e.RunID == "":
		return fieldError(at+"runId", "is missing")
	case e.Sequence < 1:
		return fieldError(at+"sequence", "must be 1 or more")
	}
	if value, required := e.Type.RequiredOK(); required && (e.OK == nil || *e.OK != value) {
		return fieldError(at+"ok", fmt.Sprintf("must be %v in %s", value, e.Type))
	}
	return nil
}

// envelope judges the beginning of every answer and its error.
func (d Decoder) envelope(e Envelope, why *Error) *Error {
	switch {
	case e.CorrelationID == "":
		return fieldError("correlationId", "is missing")
	case e.Protocol.Version == "":
		return fieldError("protocol.protocol_version", "is missing")
	case e.OK && why != nil:
		return fieldError("error", "is there although ok is true")
	case !e.OK && why == nil:
		return fieldError("error", "is missing although ok is false")
	case why != nil && !MachineCode(why.Code):
		return fieldError("error.code", "is not a machine-readable code")
	case why != nil && d.Strict && !knownErrorCode(why.Code):
		return unknownName("error.code", why.Code)
	}
	if ours, _ := majorVersion(Version); d.Strict {
		if theirs, ok := majorVersion(e.Protocol.Version); !ok || theirs != ours {
			return fieldError("protocol.protocol_version", "is of another major version")
		}
	}
	return nil
}

// decode reads one document into a T and lets check judge it.
func decode[T any](d Decoder, data []byte, check func(*T) *Error) (*T, error) {
	o, failure := readObject(data, orDefault(d.MaxBytes, MaxResponseBytes), orDefault(d.MaxDepth, MaxDepth))
	if failure != nil {
		return nil, failure
	}
	doc := new(T)
	if d.Strict {
		if failure := required(o, doc); failure != nil {
			return nil, failure
		}
	}
	if wrong := ojson.Unmarshal(o, doc); len(wrong) > 0 {
		return nil, fieldError(wrong[0].Path, "must be "+wrong[0].Want+", not "+wrong[0].Got)
	}
	if failure := check(doc); failure != nil {
		return nil, failure
	}
	return doc, nil
}

// required checks the members that an encoded zero value has, which are never left out. A failed
// answer may have only its envelope and error.
func required(o *ojson.Object, zero any) *Error {
	if ok, has := o.Get("ok"); has && ok == false && o.Has("error") {
		zero = &FailureResponse{}
	}
	for _, k := range ojson.Marshal(zero).Keys() {
		if !o.Has(k) {
			return fieldError(k, "is missing")
		}
	}
	return nil
}

// readObject reads a body within limits.
func readObject(data []byte, maxBytes, maxDepth int) (*ojson.Object, *Error) {
	if len(data) > maxBytes {
		return nil, Errorf(CodeBodyTooLarge, "the document is larger than %d bytes", maxBytes).With("limit", maxBytes)
	}
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: maxBytes, Depth: maxDepth})
	var syntax *ojson.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, Errorf(CodeInvalidJSON, "not JSON that can be read: %s", syntax.Error()).
			With("line", syntax.Line).With("offset", syntax.Offset)
	case err != nil:
		return nil, Errorf(CodeInvalidJSON, "not JSON that can be read: %s", err)
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, Errorf(CodeInvalidJSON, "the document must be a JSON object, not %s", ojson.TypeName(v))
	}
	return o, nil
}

func fieldError(field, what string) *Error {
	return Errorf(CodeInvalidRequest, "%s", strings.TrimPrefix(field+" "+what, " ")).With("field", field)
}

func unknownName(field, name string) *Error {
	return fieldError(field, fmt.Sprintf("is %q, which is not in its closed vocabulary", clip(name)))
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

// setAside removes the events that known does not accept.
func setAside[E any](all []E, known func(E) bool) (kept, aside []E) {
	for i, e := range all {
		if !known(e) {
			if aside == nil {
				kept = slices.Clone(all[:i])
			}
			aside = append(aside, e)
		} else if aside != nil {
			kept = append(kept, e)
		}
	}
	if aside == nil {
		return all, nil
	}
	return kept, aside
}

// putBack is the reverse of setAside.
func putBack[E any](kept, aside []E, sequence func(E) int64) []E {
	if len(aside) == 0 {
		return kept
	}
	all := append(slices.Clone(kept), aside...)
	slices.SortStableFunc(all, func(a, b E) int { return int(min(max(sequence(a)-sequence(b), -1), 1)) })
	return all
}
