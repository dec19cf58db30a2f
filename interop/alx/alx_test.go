// Vocabularies, codes, negotiation, envelope: the parts of the protocol that never change.

package alx

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// TestClosedVocabularies repeats the lists, so that a change of a published name does not pass by
// oversight (WG-03, WG-04).
func TestClosedVocabularies(t *testing.T) {
	join := func(list any) string { return strings.Trim(strings.Join(strings.Fields(ojsonText(list)), ""), "[]") }
	for name, c := range map[string]struct{ got, want string }{
		"run events": {join(RunEventTypes()),
			`"run.started","run.paused","run.resumed","run.blocked","run.completed","run.failed","turn.dispatched",` +
				`"turn.accepted","turn.rejected","gate.pending","gate.approved","gate.failed","phase.entered"`},
		"timeline events": {join(TimelineEventTypes()),
			`"session.created","session.step","session.waiting","session.resumed","session.completed","session.failed"`},
		"statuses": {join(SessionStatuses()), `"active","paused","blocked","completed","failed"`},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s", name, c.got)
		}
	}
	for _, e := range RunEventTypes() {
		value, required := e.RequiredOK()
		if !e.Known() || required != e.Ends() || required && value != (e == RunCompleted) {
			t.Errorf("%s", e)
		}
	}
	if RunEventType("run.x").Known() || TimelineEventType("").Known() || SessionStatus("x").Known() {
		t.Error("a stranger is known")
	}
}

func ojsonText(list any) string {
	var out []any
	switch l := list.(type) {
	case []RunEventType:
		for _, e := range l {
			out = append(out, string(e))
		}
	case []TimelineEventType:
		for _, e := range l {
			out = append(out, string(e))
		}
	case []SessionStatus:
		for _, e := range l {
			out = append(out, string(e))
		}
	}
	return string(ojson.Compact(out))
}

func TestErrorCodes(t *testing.T) {
	seen := map[string]bool{}
	last := 0
	for _, c := range ErrorCodes() {
		if seen[c.Code] || !MachineCode(c.Code) || c.Status < 400 || c.Status > 599 || c.Status < last ||
			c.Meaning == "" {
			t.Errorf("%+v", c)
		}
		seen[c.Code], last = true, c.Status
		if HTTPStatus(c.Code) != c.Status || !knownErrorCode(c.Code) {
			t.Errorf("%s", c.Code)
		}
	}
	if HTTPStatus("x") != 500 || knownErrorCode("x") {
		t.Error("a stranger is known")
	}
	for code, ok := range map[string]bool{
		"a":                     true,
		"E.NOT_FOUND":           true,
		"x-1":                   true,
		"":                      false,
		"1a":                    false,
		"a b":                   false,
		"Oh no!":                false,
		"é":                     false,
		strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false,
	} {
		if MachineCode(code) != ok {
			t.Errorf("%q", code)
		}
	}
}

func TestNegotiation(t *testing.T) {
	for version, code := range map[string]string{
		"":                       "",
		"1.1":                    "",
		"1.0":                    "",
		"1":                      "",
		"1.99":                   "",
		"1.1.7":                  "",
		"2.0":                    CodeProtocolVersionUnsupported,
		"0.9":                    CodeProtocolVersionUnsupported,
		"99":                     CodeProtocolVersionUnsupported,
		"11.1":                   CodeProtocolVersionUnsupported,
		"v1.1":                   CodeInvalidRequest,
		"1.":                     CodeInvalidRequest,
		"1.x":                    CodeInvalidRequest,
		"1.1.1.1":                CodeInvalidRequest,
		"-1.0":                   CodeInvalidRequest,
		strings.Repeat("9", 100): CodeInvalidRequest,
		"٣.١":                    CodeInvalidRequest,
	} {
		e := Negotiate(&Protocol{Version: version, Capabilities: []string{"x-unheard-of"}})
		if (e == nil) != (code == "") || e != nil && e.Code != code {
			t.Errorf("%q: %v", version, e)
		}
		if e != nil && !slices.Equal(e.Details.Strings("supportedVersions"), supportedVersions()) {
			t.Errorf("%q: the supported versions are not named: %s", version, ojson.Compact(e.Details))
		}
	}
	if Negotiate(nil) != nil {
		t.Error("a client that says nothing is refused")
	}
}

func TestEnvelope(t *testing.T) {
	e := NewEnvelope(true, "mine:1.a_b-c")
	if e.CorrelationID != "mine:1.a_b-c" || !e.OK || e.Protocol.Version != Version {
		t.Errorf("%+v", e)
	}
	for _, insane := range []string{"", "a b", "a\nb", "ü", strings.Repeat("x", 129)} {
		if e := NewEnvelope(true, insane); e.CorrelationID == insane || !SaneCorrelationID(e.CorrelationID) {
			t.Errorf("%q became %q", insane, e.CorrelationID)
		}
	}
	if a, b := NewCorrelationID(), NewCorrelationID(); a == b || len(a) != 36 {
		t.Errorf("%s %s", a, b)
	}
	head := string(Encode(NewFailure("c",
		Errorf(CodeNotFound, "No %s.", "such path").With("path", "/x").With("n", 2))))
	want := `{"ok":false,"correlationId":"c","protocol":{"protocol_version":"1.1","capabilities":[` +
		`"governed-runs","stable-error-codes","correlation-ids","knowledge-blocks","run-events","session-inspection","idempotency-keys"]},` +
		`"error":{"code":"not_found","message":"No such path.","details":{"path":"/x","n":2}}}`
	if head != want {
		t.Errorf("%s", head)
	}
}

func TestPaths(t *testing.T) {
	if got := SessionPath("a/../b c"); got != "/alx/v1/sessions/a%2F..%2Fb%20c" {
		t.Error(got)
	}
	if got := RunEventsPath("r?#"); got != "/alx/v1/runs/r%3F%23/events" {
		t.Error(got)
	}
	for id, ok := range map[string]bool{
		"a":                     true,
		"s_1-x":                 true,
		"":                      false,
		"-a":                    false,
		"_a":                    false,
		"a.b":                   false,
		"..":                    false,
		"a/b":                   false,
		"a:b":                   false,
		strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false,
	} {
		if SaneSessionID(id) != ok {
			t.Errorf("%q", id)
		}
	}
}
