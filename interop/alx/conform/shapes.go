// WG-01, WG-05 and WG-06: shapes, error codes, canonical fields.

package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
)

// shape is a member that the protocol owns with the kind of value it has. What the normative text
// leaves open is not in the list.
type shape struct {
	name string
	kind string // string, number, boolean, object, array; "?" after it allows null
}

// solveShape and sessionShape return the canonical fields except the envelope and the error, which
// WG-02 and WG-05 judge.
func solveShape() []shape {
	return []shape{
		{"success", "boolean"}, {"executionId", "string"}, {"artifact", "object?"}, {"result", "any"},
		{"confidence", "number?"}, {"execution", "object?"}, {"steps", "array"}, {"learning", "any"},
	}
}

func sessionShape() []shape {
	return []shape{
		{"sessionId", "string"}, {"userId", "string?"}, {"intent", "string"}, {"status", "string"},
		{"progress", "any"}, {"nextStep", "any"}, {"summary", "any"}, {"timeline", "array"},
	}
}

// fits reports whether a value is of a kind.
func fits(v ojson.Value, kind string) bool {
	if kind == "any" || v == nil && strings.HasSuffix(kind, "?") {
		return true
	}
	switch v.(type) {
	case string:
		return strings.HasPrefix(kind, "string")
	case ojson.Number:
		return strings.HasPrefix(kind, "number")
	case bool:
		return strings.HasPrefix(kind, "boolean")
	case []any:
		return strings.HasPrefix(kind, "array")
	case *ojson.Object:
		return strings.HasPrefix(kind, "object")
	}
	return false
}

// sharedShapes judges WG-01. From outside, a second copy of a shape shows as a surface that has a
// member in another kind or additionally in another spelling, or that describes the service
// differently than another surface.
func sharedShapes(s *survey, j *judge) {
	look := func(x *exchange, o *ojson.Object, at string, shapes []shape) {
		for _, m := range shapes {
			v, has := o.Get(m.name)
			if !has {
				continue // WG-06 judges that
			}
			kind := strings.TrimSuffix(m.kind, "?")
			j.seef(x, at+m.name, fits(v, m.kind), "%s must be of kind %s, not %s", at+m.name, kind, ojson.TypeName(v))
			for k := range o.All() {
				if k != m.name && spelledAlike(k, m.name) {
					j.see(x, at+m.name, fmt.Sprintf("%s stands beside %s: a second copy of one field", k, m.name))
				}
			}
		}
	}
	items := func(x *exchange, o *ojson.Object, list string) {
		a, _ := o.Value(list).([]any)
		for i, e := range a {
			if _, ok := e.(*ojson.Object); !ok {
				j.see(x, fmt.Sprintf("%s[%d]", list, i), "must be an object, not "+ojson.TypeName(e))
			}
		}
	}
	for _, x := range []*exchange{s.solved, s.again, s.final} {
		if o := x.doc(); o != nil {
			look(x, o, "", solveShape())
			items(x, o, "steps")
		}
	}
	for _, x := range s.sessions {
		if o := x.doc(); o != nil && !x.failed() {
			look(x, o, "", sessionShape())
			items(x, o, "timeline")
		}
	}
	if o := s.list.doc(); o != nil && !s.list.failed() {
		look(s.list, o, "", []shape{{"sessions", "array"}})
		items(s.list, o, "sessions")
		for i, item := range o.Objects("sessions") {
			look(s.list, item, fmt.Sprintf("sessions[%d].", i), sessionShape())
		}
	}
	for _, x := range s.all {
		for _, name := range []string{"correlationId", "protocol"} {
			for k := range x.doc().All() {
				if k != name && spelledAlike(k, name) && x.Doc.Has(name) {
					j.see(x, name, fmt.Sprintf("%s stands beside %s: a second copy of one field", k, name))
				}
			}
		}
	}
	s.oneProtocol(j)
}

// oneProtocol compares the negotiation envelope of every answer with the first.
func (s *survey) oneProtocol(j *judge) {
	var first *ojson.Object
	for _, x := range s.all {
		p := x.doc().Object("protocol")
		if p == nil || protocolProblem(x.Doc) != "" || slices.Contains(p.Strings("capabilities"), strangeCapability) {
			continue // WG-02 and WG-07 judge that
		}
		if first == nil {
			first = p
			continue
		}
		j.seef(x, "protocol", ojson.Equal(first, p),
			"protocol is not what another surface of the same service says: %s and %s", shorten(compact(p)),
			shorten(compact(first)))
	}
}

// spelledAlike reports whether two names differ in case and separators only.
func spelledAlike(a, b string) bool {
	flat := strings.NewReplacer("_", "", "-", "")
	return strings.EqualFold(flat.Replace(a), flat.Replace(b))
}

// errorCodes judges WG-05.
func errorCodes(s *survey, j *judge) {
	var published []string
	for _, o := range s.info.doc().Objects("errorCodes") {
		published = append(published, o.String("code"))
	}
	for _, f := range s.failures {
		first, second := errorCode(f.first), errorCode(f.second)
		for _, x := range []*exchange{f.first, f.second} {
			// WG-02 judges a refusal without a document, WG-08 one that calls itself a success.
			if x.Doc == nil || !x.failed() {
				continue
			}
			j.see(x, "error.code for "+x.Purpose, codeProblem(x.Doc, published))
		}
		if first != "" && second != "" {
			j.seef(f.second, "the same error.code again for "+f.second.Purpose, first == second,
				"error.code is %s now and was %s for the same request", ojson.Shown(second), ojson.Shown(first))
		}
	}
	for _, x := range s.all {
		if !x.MustFail && x.Doc != nil && x.failed() {
			j.see(x, "error.code for "+x.Purpose, codeProblem(x.Doc, published))
		}
	}
	if len(j.rule.Observations) == 0 {
		j.note("no refusal was to be seen")
	}
}

func errorCode(x *exchange) string { return x.doc().Object("error").String("code") }

func codeProblem(o *ojson.Object, published []string) string {
	v, has := o.Get("error")
	e, ok := v.(*ojson.Object)
	switch {
	case !has:
		return "a failed answer without error"
	case !ok:
		return "error must be an object with code and message, not " + ojson.TypeName(v)
	}
	v, has = e.Get("code")
	code, ok := v.(string)
	switch {
	case !has:
		return "error.code is missing"
	case !ok:
		return "error.code must be a string, not " + ojson.TypeName(v)
	case !alx.MachineCode(code):
		return fmt.Sprintf("error.code %s is text for people, not a token for programs", ojson.Shown(code))
	case e.Has("message") && strings.TrimSpace(e.String("message")) == "":
		return "error.message is there and says nothing"
	case published != nil && !slices.Contains(published, code):
		return fmt.Sprintf("error.code %s is not in the list the service publishes", ojson.Shown(code))
	}
	if alias, _ := o.Get("code"); alias != nil && alias != v {
		return fmt.Sprintf("the alias code is %s, error.code %s", ojson.Shown(alias), ojson.Shown(code))
	}
	return ""
}

// canonicalFields judges WG-06.
func canonicalFields(s *survey, j *judge) {
	have := func(x *exchange, shapes []shape) {
		for _, m := range shapes {
			j.seef(x, m.name, x.Doc.Has(m.name), "%s is missing", m.name)
		}
	}
	if s.solved == nil {
		if s.plain != nil {
			j.note("no solve was served: %s", s.plain.received())
		}
		return
	}
	for _, x := range []*exchange{s.solved, s.final} {
		if x.doc() != nil && (x == s.solved || !x.failed()) {
			have(x, solveShape())
			s.meaning(j, x)
		}
	}
	if id := s.again.doc().String("executionId"); id != "" {
		j.seef(s.again, "executionId of the same key and request", id == s.executed,
			"it is %s; the first answer said %s", ojson.Shown(id), ojson.Shown(s.executed))
	}
	if s.session.doc() != nil && !s.session.failed() {
		have(s.session, sessionShape())
		o := s.session.Doc
		if s.sessionID != s.executed {
			j.seef(s.session, "sessionId", o.String("sessionId") == s.sessionID, "asked for %s, got %s", s.sessionID,
				ojson.Shown(o.String("sessionId")))
		}
		j.seef(s.session, "intent", o.String("intent") == s.intent, "it is %s, not what the solve asked for",
			ojson.Shown(o.String("intent")))
		if p, ok := o.Float("progress"); ok {
			j.seef(s.session, "progress", 0 <= p && p <= 100, "it is %v", p)
		}
	} else {
		j.see(s.solved, "the session of the solve", "there is none to inspect under "+s.sessionID)
	}
	if o := s.list.doc(); o != nil && !s.list.failed() {
		have(s.list, []shape{{"sessions", ""}})
	}
	s.sameEvents(j)
	oneStory(s, j)
}

// meaning judges the values of a solve's answer whose meaning the protocol defines.
func (s *survey) meaning(j *judge, x *exchange) {
	if c, ok := x.Doc.Float("confidence"); ok {
		j.seef(x, "confidence is a score", 0 <= c && c <= 1, "confidence is %v, which is not between 0 and 1", c)
		if a, has := x.Doc.Float("confidenceScore"); has {
			j.seef(x, "confidenceScore is an alias", a == c, "the alias says %v, confidence %v", a, c)
		}
	}
	if x == s.final && s.session.doc().String("status") == string(alx.StatusCompleted) {
		if success, _ := x.Doc.Get("success"); success == true || success == false {
			j.seef(x, "success of a completed run", success == true, "the session is completed, and success is false")
		}
	}
	if block := x.Doc.Object("artifact"); block.String("kbHash") != "" {
		sum, err := kb.Hash(block)
		j.seef(x, "artifact.kbHash", err == nil &&
			sum == block.String("kbHash"), "the artifact's content hashes to %s", sum)
	}
}

// sameEvents compares the forms of a run's events, page, stream and resumed stream: an event's id
// and place never change. Forms without ids are not compared.
func (s *survey) sameEvents(j *judge) {
	var ids []string
	for _, e := range s.events.doc().Objects("events") {
		ids = append(ids, e.String("id"))
	}
	for _, st := range s.streams {
		var got []string
		for _, e := range st.events {
			got = append(got, e.ID)
		}
		if len(ids) == 0 {
			ids = got
		}
		want := ids
		if st.after != "" {
			want = want[min(1, len(want)):]
		}
		n := min(len(got), len(want))
		if n == 0 && st.after == "" || slices.Contains(got, "") || slices.Contains(want, "") {
			continue
		}
		j.seef(st.from, "events of the stream", slices.Equal(got[:n], want[:n]) && (n > 0 || len(want) == 0),
			"the ids are %s; they were %s before", shorten(strings.Join(got, " ")), shorten(strings.Join(want, " ")))
	}
}
