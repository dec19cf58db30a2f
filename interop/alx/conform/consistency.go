// Comparing answers with each other, and with themselves: the rules bind every surface, so two of
// them may not contradict each other.

package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// headers checks the part of WG-02 about headers and streams: they are optional, but must say the
// same as the envelope when present. A stream has no envelope: its answer, or its events, have the
// trace identifier.
func headers(s *survey, j *judge) {
	for _, x := range s.all {
		if x.Status == 0 {
			continue
		}
		if id := x.Header.Get(alx.HeaderCorrelationID); id != "" {
			j.seef(x, alx.HeaderCorrelationID, id == x.Sid, "the header says %s; the request's said %s",
				ojson.Shown(id), x.Sid)
		}
		if v := x.Header.Get(alx.HeaderProtocolVersion); v != "" && x.Doc != nil && protocolProblem(x.Doc) == "" {
			said := x.Doc.Object("protocol").String("protocol_version")
			j.seef(x, alx.HeaderProtocolVersion, v == said, "the header says version %s, protocol_version %s",
				ojson.Shown(v), ojson.Shown(said))
		}
		list := x.doc().Object("protocol").Strings("capabilities")
		for i, c := range list {
			if strings.TrimSpace(c) == "" || slices.Contains(list[:i], c) {
				j.see(x, "protocol.capabilities", "a capability is blank or there twice: "+ojson.Shown(c))
			}
		}
	}
	for _, st := range s.streams {
		traced := st.from.Header.Get(alx.HeaderCorrelationID) != ""
		for i, e := range st.events {
			o, err := ojson.DecodeObject([]byte(e.Data))
			if err != nil {
				continue // WG-04 judges that
			}
			v, has := o.Get("correlationId")
			id, _ := v.(string)
			j.seef(st.from, fmt.Sprintf("correlationId of event %d of the stream", i+1),
				has && id != "" || !has && traced,
				"neither the stream nor the event has one")
		}
	}
}

// order checks the part of WG-03 and WG-04 that makes a list of events consistent: numbers count
// up, ids are unique, nothing follows the end. Missing members are not judged.
func (j *judge) order(x *exchange, what string, events []*ojson.Object, ends func(string) bool) {
	ids := make(map[string]bool)
	last, over := 0.0, ""
	for i, e := range events {
		at := fmt.Sprintf("%s[%d]", what, i)
		if n, ok := e.Float("sequence"); ok {
			j.seef(x, at+".sequence", n > last || i == 0, "it is %v after %v", n, last)
			last = n
		} else if e.Has("sequence") {
			j.see(x, at+".sequence", "it must be a number, not "+ojson.TypeName(e.Value("sequence")))
		}
		if id := e.String("id"); id != "" {
			j.seef(x, at+".id", !ids[id], "%s is the id of an earlier one as well", ojson.Shown(id))
			ids[id] = true
		}
		if over != "" {
			j.see(x, at, fmt.Sprintf("%s comes after %s, which ends it", ojson.Shown(e.String("type")), over))
		}
		if ends(e.String("type")) {
			over = e.String("type")
		}
	}
}

// eventsInOrder judges the forms of every run's events for WG-04.
func eventsInOrder(s *survey, j *judge) {
	end := func(t string) bool { return alx.RunEventType(t).Ends() }
	told := make(map[string]*ojson.Object) // by run and id
	same := func(x *exchange, run string, e *ojson.Object) {
		if id := e.String("runId"); id != "" && run != "" {
			j.seef(x, "runId", id == run, "an event of run %s says %s", run, ojson.Shown(id))
		}
		key := run + "\x00" + e.String("id")
		first := told[key]
		if e.String("id") == "" || first == nil {
			told[key] = e
			return
		}
		for _, member := range []string{"type", "sequence", "at", "ok"} {
			a, hasA := first.Get(member)
			b, hasB := e.Get(member)
			j.seef(x, "event "+e.String("id")+"."+member, !hasA || !hasB || ojson.Equal(a, b),
				"it is %s here and was %s before", ojson.Shown(b), ojson.Shown(a))
		}
	}
	for _, x := range s.all {
		list := x.doc().Objects("events")
		if len(list) == 0 || x.failed() {
			continue
		}
		j.order(x, "events", list, end)
		for _, e := range list {
			same(x, runOf(x.Path), e)
		}
		if v, has := x.Doc.Get("runId"); has {
			j.seef(x, "runId of the page", v == runOf(x.Path), "it is %s", ojson.Shown(v))
		}
	}
	for _, st := range s.streams {
		var list []*ojson.Object
		for i, e := range st.events {
			o, err := ojson.DecodeObject([]byte(e.Data))
			if err != nil {
				continue
			}
			list = append(list, o)
			same(st.from, runOf(st.from.Path), o)
			if id := o.String("id"); id != "" && e.ID != "" {
				j.seef(st.from, fmt.Sprintf("id of event %d of the stream", i+1), id == e.ID,
					"the stream calls it %s, its data %s", ojson.Shown(e.ID), ojson.Shown(id))
			}
		}
		j.order(st.from, "stream", list, end)
	}
}

// runOf returns the run in an events path.
func runOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return strings.TrimSuffix(strings.TrimPrefix(path, alx.PathRuns+"/"), "/events")
}

// timelinesInOrder does the same for WG-03.
func timelinesInOrder(s *survey, j *judge) {
	end := func(t string) bool {
		return t == string(alx.SessionCompleted) || t == string(alx.SessionFailed)
	}
	for _, x := range s.sessions {
		if x.doc() != nil && !x.failed() {
			j.order(x, "timeline", x.Doc.Objects("timeline"), end)
		}
	}
}

// oneStory checks the part of WG-06 between surfaces: a session is the same in the list, on its own
// and in the answer to its solve.
func oneStory(s *survey, j *judge) {
	byID := make(map[string]*ojson.Object)
	for _, o := range s.list.doc().Objects("sessions") {
		id := o.String("sessionId")
		if id == "" {
			j.see(s.list, "sessionId", "a session of the list has none")
			continue
		}
		j.seef(s.list, "sessionId "+id, byID[id] == nil, "the list has it twice")
		byID[id] = o
	}
	agree := func(x *exchange, what string, a, b *ojson.Object, members ...string) {
		for _, m := range members {
			va, hasA := a.Get(m)
			vb, hasB := b.Get(m)
			if hasA && hasB && va != nil && vb != nil {
				j.seef(x, m+" in "+what, ojson.Equal(va, vb), "it is %s here and %s by itself", ojson.Shown(va),
					ojson.Shown(vb))
			}
		}
	}
	for _, x := range s.sessions {
		if x.doc() == nil || x.failed() {
			continue
		}
		listed := byID[x.Doc.String("sessionId")]
		if listed == nil {
			if x == s.session && len(byID) > 0 && !s.list.Doc.Has("nextCursor") && s.sessionID != s.executed {
				j.see(s.list, "the session of the solve", "the list does not have it")
			}
			continue
		}
		members := []string{"sessionId", "userId", "intent", "executionId", "createdAt"}
		switch alx.SessionStatus(x.Doc.String("status")) {
		case alx.StatusCompleted, alx.StatusFailed:
			members = append(members, "status", "progress") // they no longer change
		}
		agree(s.list, "the list", listed, x.Doc, members...)
	}
	if d := s.session.doc(); d != nil && !s.session.failed() {
		if run := d.String("executionId"); run != "" && s.executed != "" {
			j.seef(s.session, "executionId", run == s.executed, "it is %s; the solve said %s", ojson.Shown(run),
				ojson.Shown(s.executed))
		}
		done := ""
		for _, e := range s.events.doc().Objects("events") {
			if alx.RunEventType(e.String("type")).Ends() {
				done = e.String("type")
			}
		}
		switch status := alx.SessionStatus(d.String("status")); {
		case status == alx.StatusCompleted && done == string(alx.RunFailed),
			status == alx.StatusFailed && done == string(alx.RunCompleted):
			j.see(s.session, "status", fmt.Sprintf("the session is %s, and its run ended with %s", status, done))
		}
	}
	for _, x := range []*exchange{s.solved, s.again, s.final} {
		if x.doc() == nil || x.failed() {
			continue
		}
		if id := x.Doc.Object("execution").String("sessionId"); id != "" && s.sessionID != "" {
			j.seef(x, "execution.sessionId", id == s.sessionID, "it is %s; it was %s", ojson.Shown(id),
				ojson.Shown(s.sessionID))
		}
		last := -1.0
		for i, step := range x.Doc.Objects("steps") {
			if n, ok := step.Float("index"); ok {
				j.seef(x, fmt.Sprintf("steps[%d].index", i), n > last, "it is %v after %v", n, last)
				last = n
			}
		}
	}
}

// noSuccess checks the part of WG-08 besides ok: no member of a failed answer may claim success.
func noSuccess(s *survey, j *judge) {
	for _, x := range s.all {
		if x.Doc == nil || !x.failed() && !x.MustFail {
			continue
		}
		v, has := x.Doc.Get("success")
		j.seef(x, "success beside "+x.Purpose, !has || v != true, "the request failed, and success is true")
	}
}
