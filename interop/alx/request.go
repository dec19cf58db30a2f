// Reading a solve request: limits, negotiation, the values of each member (docs/serve.md#asking).

package alx

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// DecodeSolveRequest reads the body of a solve request. Unknown members and capabilities are
// tolerated (WG-07); a correlation id that is not sane is dropped. The error is an *Error that can
// be sent as the answer.
//
// The version is judged before anything else: a client of another major version must be told so,
// not that its members are strange.
func DecodeSolveRequest(data []byte) (*SolveRequest, *Error) {
	o, failure := readObject(data, MaxBodyBytes, MaxDepth)
	if failure != nil {
		return nil, failure
	}
	client, failure := clientProtocol(o)
	if failure != nil {
		return nil, failure
	}
	if failure := Negotiate(client); failure != nil {
		return nil, failure
	}
	if field, ok := brokenText(o, ""); !ok {
		e := Errorf(CodeInvalidJSON, "%s holds half of a surrogate pair, which is not text", field)
		return nil, e.With("field", field)
	}
	r := &SolveRequest{}
	rest := o.Clone()
	rest.Delete("protocol") // read above, more leniently
	if rest.String("correlationId") == "" {
		rest.Delete("correlationId") // of another type: counts as none
	}
	for _, optional := range []string{"idempotencyKey", "userId", "sessionId"} {
		if v, has := rest.Get(optional); has && v == nil {
			rest.Delete(optional)
		}
	}
	if wrong := ojson.Unmarshal(rest, r); len(wrong) > 0 {
		return nil, fieldError(wrong[0].Path, "must be "+wrong[0].Want+", not "+wrong[0].Got)
	}
	r.Protocol = client
	if failure := r.check(); failure != nil {
		return nil, failure
	}
	return r, nil
}

// check judges the values.
func (r *SolveRequest) check() *Error {
	if strings.TrimSpace(r.Intent) == "" {
		return fieldError("intent", "must be a non-empty string")
	}
	if n := utf8.RuneCountInString(r.Intent); n > MaxIntentRunes {
		return fieldError("intent", fmt.Sprintf("has %d characters; the limit is %d", n, MaxIntentRunes)).With("limit",
			MaxIntentRunes)
	}
	if strings.ContainsRune(r.Intent, 0) {
		return fieldError("intent", "holds a NUL character")
	}
	if !SaneCorrelationID(r.CorrelationID) {
		r.CorrelationID = ""
	}
	if r.SessionID != "" && !SaneSessionID(r.SessionID) {
		return fieldError("sessionId", "must be 1 to 64 letters, digits, - and _, beginning with a letter or digit")
	}
	if failure := CheckLabel("userId", r.UserID); failure != nil {
		return failure
	}
	return CheckLabel("idempotencyKey", r.IdempotencyKey)
}

// SaneSessionID reports whether a session id may be requested: 1 to 64 letters, digits, "-" and
// "_", the first not a sign, so that it can be part of a ref and of a path on any file system.
func SaneSessionID(id string) bool {
	if id == "" || len(id) > 64 || id[0] == '-' || id[0] == '_' {
		return false
	}
	return SaneCorrelationID(id) && !strings.ContainsAny(id, ".:")
}

// CheckLabel judges a user id or idempotency key: at most MaxIDBytes bytes, nothing unprintable.
// field is the member or header it came from.
func CheckLabel(field, v string) *Error {
	if len(v) > MaxIDBytes {
		return fieldError(field, fmt.Sprintf("has %d bytes; the limit is %d", len(v), MaxIDBytes)).With("limit",
			MaxIDBytes)
	}
	if !utf8.ValidString(v) ||
		strings.ContainsFunc(v, func(c rune) bool { return c < ' ' || 0x7f <= c && c <= 0x9f }) {
		return fieldError(field, "holds characters that cannot be printed")
	}
	return nil
}

// clientProtocol reads what the client says about itself. Capabilities of any shape are tolerated;
// a version must be text.
func clientProtocol(o *ojson.Object) (*Protocol, *Error) {
	v, _ := o.Get("protocol")
	if v == nil {
		return nil, nil
	}
	p, ok := v.(*ojson.Object)
	if !ok {
		return nil, fieldError("protocol", "must be an object, not "+ojson.TypeName(v))
	}
	client := &Protocol{Capabilities: p.Strings("capabilities")}
	if version, _ := p.Get("protocol_version"); version != nil {
		if client.Version, ok = version.(string); !ok {
			return nil, fieldError("protocol.protocol_version", "must be a string, not "+ojson.TypeName(version))
		}
	}
	return client, nil
}

// brokenText finds text without a UTF-8 form, which neither git nor RFC 8785 can hold; ok is false
// when there is some, and field says where.
func brokenText(v ojson.Value, at string) (field string, ok bool) {
	switch v := v.(type) {
	case string:
		return strings.TrimPrefix(at, "."), utf8.ValidString(v)
	case []any:
		for i, e := range v {
			if field, ok := brokenText(e, fmt.Sprintf("%s[%d]", at, i)); !ok {
				return field, false
			}
		}
	case *ojson.Object:
		for k, e := range v.All() {
			if !utf8.ValidString(k) {
				return strings.TrimPrefix(at+" (a member's name)", "."), false
			}
			if field, ok := brokenText(e, at+"."+k); !ok {
				return field, false
			}
		}
	}
	return "", true
}
