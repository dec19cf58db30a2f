// Decoding: what is refused, what is tolerated, what survives.

package alx

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const goodHead = `"ok":true,"correlationId":"c","protocol":{"protocol_version":"1.1","capabilities":["x"]}`

func TestSolveRequest(t *testing.T) {
	ok := func(members string) string { return `{"intent":"do it"` + members + `}` }
	for _, c := range []struct{ name, body, code, field string }{
		{"plain", ok(``), "", ""},
		{"unknown members", ok(`,"xNew":{"a":[1,null]},"ok":false`), "", ""},
		{"unknown capabilities", ok(`,"protocol":{"protocol_version":"1.7","capabilities":["x-new"],"xNew":1}`), "",
			""},
		{"capabilities of a strange kind", ok(`,"protocol":{"capabilities":{"a":1}}`), "", ""},
		{"capabilities that are no names",
			ok(`,"protocol":{"protocol_version":"1.1","capabilities":[1,null,{"a":1}]}`), "", ""},
		{"null for what is optional",
			ok(`,"protocol":null,"idempotencyKey":null,"userId":null,"sessionId":null,"correlationId":null,"constraints":null`),
			"", ""},
		{"an insane correlation id", ok(`,"correlationId":"a b"`), "", ""},
		{"a correlation id that is no text", ok(`,"correlationId":7`), "", ""},
		{"constraints of any kind", ok(`,"constraints":[{"a":1},"b"]`), "", ""},
		{"other languages", `{"intent":"翻訳する 🎌"}`, "", ""},
		{"another major", ok(`,"protocol":{"protocol_version":"2.0"}`), CodeProtocolVersionUnsupported, ""},
		{"another major first of all", `{"goal":7,"intent":9,"protocol":{"protocol_version":"2.0"}}`,
			CodeProtocolVersionUnsupported, ""},
		{"a version that is a number", ok(`,"protocol":{"protocol_version":1.1}`), CodeInvalidRequest,
			"protocol.protocol_version"},
		{"protocol as text", ok(`,"protocol":"1.1"`), CodeInvalidRequest, "protocol"},
		{"no intent", `{}`, CodeInvalidRequest, "intent"},
		{"blank intent", `{"intent":" \n\t "}`, CodeInvalidRequest, "intent"},
		{"intent of another kind", `{"intent":["x"]}`, CodeInvalidRequest, "intent"},
		{"intent null", `{"intent":null}`, CodeInvalidRequest, "intent"},
		{"intent with NUL", `{"intent":"a\u0000b"}`, CodeInvalidRequest, "intent"},
		{"intent too long", `{"intent":"` + strings.Repeat("é", MaxIntentRunes+1) + `"}`, CodeInvalidRequest,
			"intent"},
		{"key of another kind", ok(`,"idempotencyKey":1`), CodeInvalidRequest, "idempotencyKey"},
		{"key too long", ok(`,"idempotencyKey":"` + strings.Repeat("k", MaxIDBytes+1) + `"`), CodeInvalidRequest,
			"idempotencyKey"},
		{"key with a line feed", ok(`,"idempotencyKey":"a\nb"`), CodeInvalidRequest, "idempotencyKey"},
		{"user of control characters", ok(`,"userId":"\u001b[2J"`), CodeInvalidRequest, "userId"},
		{"session id as a path", ok(`,"sessionId":"../../x"`), CodeInvalidRequest, "sessionId"},
		{"half a surrogate pair", `{"intent":"a\ud800"}`, CodeInvalidJSON, "intent"},
		{"half a pair in a name", ok(`,"x":[{"\udc00":1}]`), CodeInvalidJSON, "x[0] (a member's name)"},
		{"a member twice", `{"intent":"a","intent":"b"}`, CodeInvalidJSON, ""},
		{"no JSON", `{"intent":`, CodeInvalidJSON, ""},
		{"a list", `[{"intent":"a"}]`, CodeInvalidJSON, ""},
		{"nothing", ``, CodeInvalidJSON, ""},
		{"two documents", `{"intent":"a"}{}`, CodeInvalidJSON, ""},
		{"no UTF-8", "{\"intent\":\"\xff\"}", CodeInvalidJSON, ""},
		{"too deep", ok(`,"x":` + strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)), CodeInvalidJSON,
			""},
		{"too large", ok(`,"x":"` + strings.Repeat("x", MaxBodyBytes) + `"`), CodeBodyTooLarge, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, e := DecodeSolveRequest([]byte(c.body))
			switch {
			case c.code == "" && (e != nil || strings.TrimSpace(r.Intent) == ""):
				t.Fatalf("%v", e)
			case c.code == "":
				if r.CorrelationID != "" && !SaneCorrelationID(r.CorrelationID) {
					t.Errorf("correlation id %q", r.CorrelationID)
				}
			case e == nil || e.Code != c.code || e.Details.String("field") != c.field && c.field != "":
				t.Fatalf("%v %s", e, ojson.Compact(e.Details))
			}
		})
	}
	r, _ := DecodeSolveRequest([]byte(`{"intent":"a","xNew":{"b":1.50}}`))
	if v, ok := r.Extra.Get("xNew"); !ok || string(ojson.Compact(v)) != `{"b":1.50}` {
		t.Error("an unknown member was lost")
	}
}

func TestStrictAndTolerant(t *testing.T) {
	events := func(members ...string) string {
		for i, m := range members {
			members[i] = `{"id":"` + fmt.Sprint(i+1) + `","sequence":` + fmt.Sprint(i+1) +
				`,"runId":"r","correlationId":"c","at":"","data":{},` + m + `}`
		}
		return `{` + goodHead + `,"runId":"r","ended":true,"events":[` + strings.Join(members, ",") + `]}`
	}
	page := func(d Decoder, s string) (any, error) { return d.RunEventPage([]byte(s)) }
	session := func(d Decoder, s string) (any, error) { return d.SessionResponse([]byte(s)) }
	solve := func(d Decoder, s string) (any, error) { return d.SolveResponse([]byte(s)) }
	list := func(d Decoder, s string) (any, error) { return d.SessionList([]byte(s)) }
	fail := func(d Decoder, s string) (any, error) { return d.Failure([]byte(s)) }
	const (
		both = iota
		tolerantOnly
		neither
	)
	full := `{` + goodHead +
		`,"sessionId":"s","userId":"","intent":"i","status":"active","progress":0.5,"nextStep":"","summary":"","timeline":[%s]}`
	solved := `{` + goodHead +
		`,"success":true,"executionId":"r","artifact":null,"result":"","confidence":1,"execution":{"status":"completed"},"steps":[],"learning":{}%s}`
	bad := func(code string) string {
		return `{"ok":false,"correlationId":"c","protocol":{"protocol_version":"1.1","capabilities":[]},"error":{"code":"` +
			code + `","message":"m"}}`
	}
	for _, c := range []struct {
		name   string
		decode func(Decoder, string) (any, error)
		doc    string
		want   int
	}{
		{"events", page, events(`"type":"run.started"`, `"type":"run.completed","ok":true`), both},
		{"an unknown event (WG-04)", page, events(`"type":"run.teleported"`), tolerantOnly},
		{"run.completed without ok (WG-10)", page, events(`"type":"run.completed"`), neither},
		{"run.completed with ok false (WG-10)", page, events(`"type":"run.completed","ok":false`), neither},
		{"run.failed with ok true (WG-09)", page, events(`"type":"run.failed","ok":true`), neither},
		{"run.failed", page, events(`"type":"run.failed","ok":false`), both},
		{"an event without a type", page, events(`"x":1`), neither},
		{"a type of another kind", page, events(`"type":7`), neither},
		{"a session", session, fmt.Sprintf(full,
			`{"type":"session.created","id":"1","sequence":1,"at":"","summary":""}`), both},
		{"an unknown timeline event (WG-03)", session, fmt.Sprintf(full,
			`{"type":"session.nap","sequence":1}`), tolerantOnly},
		{"an unknown status", session, strings.Replace(fmt.Sprintf(full, ""), `"active"`, `"dreaming"`,
			1), tolerantOnly},
		{"a session of an older minor", session, `{` + goodHead + `,"sessionId":"s","status":"active"}`, tolerantOnly},
		{"progress out of bounds", session, strings.Replace(fmt.Sprintf(full, ""), `0.5`, `7`, 1), neither},
		{"no session id", session, strings.Replace(fmt.Sprintf(full, ""), `"sessionId":"s"`, `"sessionId":""`,
			1), neither},
		{"solved", solve, fmt.Sprintf(solved, ""), both},
		{"unknown members (WG-07)", solve, fmt.Sprintf(solved, `,"xNew":[1]`), both},
		{"ok beside an error (WG-08)", solve, fmt.Sprintf(solved,
			`,"error":{"code":"internal","message":""}`), neither},
		{"success beside ok false", solve, `{"ok":false,` + strings.TrimPrefix(fmt.Sprintf(solved,
			`,"error":{"code":"internal","message":""}`), `{"ok":true,`), neither},
		{"confidence of another kind", solve, strings.Replace(fmt.Sprintf(solved, ""), `"confidence":1`,
			`"confidence":"1"`, 1), neither},
		{"another major", solve, strings.Replace(fmt.Sprintf(solved, ""), `"1.1"`, `"2.0"`, 1), tolerantOnly},
		{"a list of sessions", list, `{` + goodHead + `,"sessions":[{"sessionId":"s","status":"active"}]}`, both},
		{"a list of strangers", list, `{` + goodHead + `,"sessions":[{"sessionId":"s","status":"x"}]}`, tolerantOnly},
		{"a failure", fail, bad("not_found"), both},
		{"a failure with another's code", fail, bad("E_OTHER"), tolerantOnly},
		{"a failure with a sentence for a code (WG-05)", fail, bad("not found!"), neither},
		{"a failed session", session, bad("session_not_found"), both},
		{"a failure that says ok (WG-08)", fail, strings.Replace(bad("not_found"), "false", "true", 1), neither},
		{"no correlation id (WG-02)", fail, strings.Replace(bad("not_found"), `"correlationId":"c",`, "", 1), neither},
		{"no protocol (WG-02)", fail, strings.Replace(bad("not_found"), `"protocol_version":"1.1",`, "", 1), neither},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, strict := c.decode(Decoder{Strict: true}, c.doc)
			_, tolerant := c.decode(Decoder{}, c.doc)
			if (strict == nil) != (c.want == both) || (tolerant == nil) != (c.want != neither) {
				t.Errorf("strict: %v\ntolerant: %v", strict, tolerant)
			}
			for _, err := range []error{strict, tolerant} {
				var e *Error
				if err != nil && (!errors.As(err, &e) || !knownErrorCode(e.Code)) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// TestTheUnknownIsKeptAsideAndComesBack: data of a newer peer survives a tolerant reader that
// writes the document again.
func TestTheUnknownIsKeptAsideAndComesBack(t *testing.T) {
	in := `{` + goodHead + `,"runId":"r","xNew":{"b":1,"a":2.50},"events":[` +
		`{"type":"run.started","id":"1","sequence":1,"runId":"r","correlationId":"c","at":"","data":{"z":1}},` +
		`{"type":"run.levitated","id":"2","sequence":2,"runId":"r","correlationId":"c","at":"","data":{},"height":3},` +
		`{"type":"run.completed","id":"3","sequence":3,"runId":"r","ok":true,"correlationId":"c","at":"","data":{}}],"ended":true}`
	p, err := Decoder{}.RunEventPage([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Events) != 2 || len(p.Aside) != 1 || p.Aside[0].Type != "run.levitated" {
		t.Fatalf("%d events, %d aside", len(p.Events), len(p.Aside))
	}
	if diff := cmp.Diff(in, string(Encode(p))); diff != "" {
		t.Error(diff)
	}
	if len(p.Events) != 2 {
		t.Error("encoding changed the document")
	}
	s := `{` + goodHead +
		`,"sessionId":"s","userId":"","intent":"i","status":"active","progress":0,"nextStep":"","summary":"","timeline":[` +
		`{"type":"session.dreamt","id":"1","sequence":1,"at":"","summary":""},{"type":"session.step","id":"2","sequence":2,"at":"","summary":"","x":null}]}`
	r, err := Decoder{}.SessionResponse([]byte(s))
	if err != nil || len(r.Timeline) != 1 || len(r.Aside) != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	if diff := cmp.Diff(s, string(Encode(r))); diff != "" {
		t.Error(diff)
	}
}

func FuzzSolveRequest(f *testing.F) {
	f.Add([]byte(`{"intent":"a","protocol":{"protocol_version":"1.1","capabilities":[1]},"x":["\ud800"]}`))
	f.Add([]byte(`{"intent":"a","sessionId":"..","correlationId":7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, e := DecodeSolveRequest(data)
		if (r == nil) == (e == nil) {
			t.Fatalf("%v %v", r, e)
		}
		if e != nil {
			if !knownErrorCode(e.Code) {
				t.Fatal(e)
			}
			return
		}
		if _, e := DecodeSolveRequest(Encode(r)); e != nil {
			t.Fatalf("what was taken is refused when written again: %v\n%s", e, Encode(r))
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{` + goodHead + `,"runId":"r","events":[{"type":"x","id":"1","sequence":1,"runId":"r"}]}`))
	f.Add([]byte(`{` + goodHead + `,"sessionId":"s","status":"active","timeline":[{"type":"y"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, strict := range []bool{false, true} {
			d := Decoder{Strict: strict}
			if p, err := d.RunEventPage(data); err == nil {
				if _, err := d.RunEventPage(Encode(p)); err != nil {
					t.Fatalf("%v\n%s", err, Encode(p))
				}
			}
			if s, err := d.SessionResponse(data); err == nil {
				if _, err := d.SessionResponse(Encode(s)); err != nil {
					t.Fatalf("%v\n%s", err, Encode(s))
				}
			}
			_, _ = d.SolveResponse(data)
			_, _ = d.Failure(data)
		}
	})
}
