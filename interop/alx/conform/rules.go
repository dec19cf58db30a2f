// The ten rules, each a function of what was seen.

package conform

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// guarantee is a rule with its judge.
type guarantee struct {
	id, requirement string
	conditional     bool // it holds when its subject did not occur
	judge           func(*survey, *judge)
}

func rules() []guarantee {
	return []guarantee{
		{"WG-01", "shared wire shapes are those the protocol owns, the same on every surface", false, sharedShapes},
		{"WG-02", "every response has ok, correlationId and protocol", false, envelopes},
		{"WG-03", "session timeline events are of the closed vocabulary", false, timelineVocabulary},
		{"WG-04", "run events are of the closed vocabulary", false, runVocabulary},
		{"WG-05", "error.code is machine-readable and stable", false, errorCodes},
		{"WG-06", "canonical fields are there and keep their meaning", false, canonicalFields},
		{"WG-07", "unknown optional fields and capabilities are tolerated", false, tolerance},
		{"WG-08", "a failed request does not report ok: true", false, failedRequests},
		{"WG-09", "run.failed carries ok: false", true, func(s *survey, j *judge) { ends(s, j, alx.RunFailed) }},
		{"WG-10", "run.completed carries ok: true", true, func(s *survey, j *judge) { ends(s, j, alx.RunCompleted) }},
	}
}

// judge collects the observations of one rule.
type judge struct{ rule *Rule }

// see notes one observation; why is "" when all is well.
func (j *judge) see(x *exchange, what, why string) {
	o := Observation{What: x.line() + ": " + what, OK: why == "", Why: why}
	if why != "" {
		o.Sent, o.Received = x.sent(), x.received()
	}
	j.rule.Observations = append(j.rule.Observations, o)
}

// seef notes an observation like see, with why when the condition does not hold.
func (j *judge) seef(x *exchange, what string, ok bool, format string, args ...any) {
	if ok {
		j.see(x, what, "")
		return
	}
	j.see(x, what, fmt.Sprintf(format, args...))
}

func (j *judge) note(format string, args ...any) { j.rule.Note = fmt.Sprintf(format, args...) }

// envelopes judges WG-02: every answer, to good and bad requests alike. A stream's answer is its
// events.
func envelopes(s *survey, j *judge) {
	for _, x := range s.all {
		if x.Status == 0 || x.Stream {
			continue
		}
		if x.Doc == nil {
			j.see(x, "envelope", x.Err)
			continue
		}
		ok, has := x.Doc.Get("ok")
		_, isBool := ok.(bool)
		j.seef(x, "ok", has && isBool, "ok %s", missingOr(has, "must be true or false, not "+ojson.TypeName(ok)))

		id, has := x.Doc.Get("correlationId")
		sid, _ := id.(string)
		why := ""
		switch {
		case !has:
			why = "correlationId is missing"
		case sid == "":
			why = "correlationId must be a non-empty string, not " + ojson.Shown(id)
		case sid != x.Sid:
			why = fmt.Sprintf("correlationId is %s; the request's %s header said %s", ojson.Shown(sid),
				alx.HeaderCorrelationID, x.Sid)
		}
		j.see(x, "correlationId", why)
		j.see(x, "protocol", protocolProblem(x.Doc))
	}
	headers(s, j)
}

func protocolProblem(o *ojson.Object) string {
	v, has := o.Get("protocol")
	p, ok := v.(*ojson.Object)
	switch {
	case !has:
		return "protocol is missing"
	case !ok:
		return "protocol must be an object, not " + ojson.TypeName(v)
	case alx.Negotiate(&alx.Protocol{Version: p.String("protocol_version")}) != nil ||
		p.String("protocol_version") == "":
		v, _ := p.Get("protocol_version")
		return fmt.Sprintf("protocol.protocol_version must be a version 1.x, not %s", ojson.Shown(v))
	}
	list, has := p.Get("capabilities")
	if a, ok := list.([]any); !ok || len(p.Strings("capabilities")) != len(a) {
		return "protocol.capabilities " + missingOr(has, "must be an array of strings")
	}
	return ""
}

func missingOr(has bool, why string) string {
	if !has {
		return "is missing"
	}
	return why
}

// timelineVocabulary judges WG-03.
func timelineVocabulary(s *survey, j *judge) {
	known := func(t string) bool { return alx.TimelineEventType(t).Known() }
	s.declared(j, "sessionTimelineEventTypes", known, len(alx.TimelineEventTypes()))
	declared := len(j.rule.Observations)
	timeline := func(x *exchange, o *ojson.Object) {
		for i, e := range o.Objects("timeline") {
			j.see(x, fmt.Sprintf("timeline[%d].type", i), s.nameProblem(e, known))
		}
	}
	for _, x := range s.sessions {
		timeline(x, x.doc())
	}
	for _, o := range s.list.doc().Objects("sessions") {
		timeline(s.list, o)
	}
	timelinesInOrder(s, j)
	if len(j.rule.Observations) == declared {
		j.unproven("no session showed a timeline event")
	}
}

// runVocabulary judges WG-04: pages and streams.
func runVocabulary(s *survey, j *judge) {
	known := func(t string) bool { return alx.RunEventType(t).Known() }
	s.declared(j, "runEventTypes", known, len(alx.RunEventTypes()))
	declared := len(j.rule.Observations)
	for _, e := range s.seen {
		j.see(e.from, "event type", s.nameProblem(e.event, known))
	}
	for _, x := range s.streams {
		for i, e := range x.events {
			o, err := ojson.DecodeObject([]byte(e.Data))
			why := ""
			switch {
			case err != nil:
				why = "the data of the event is not a JSON object: " + err.Error()
			case e.Type != "message" && e.Type != o.String("type"):
				why = fmt.Sprintf("the stream calls the event %q, its data %q", shorten(e.Type),
					shorten(o.String("type")))
			}
			j.see(x.from, fmt.Sprintf("event %d of the stream", i+1), why)
		}
	}
	if len(j.rule.Observations) == declared {
		j.unproven("no run event was to be seen")
		return
	}
	eventsInOrder(s, j)
}

// unproven says that the rule was not tested: a service's declaration does not prove what it does.
func (j *judge) unproven(why string) {
	j.note("%s", why)
	if len(j.rule.Failures()) == 0 {
		j.rule.Observations = nil
	}
}

// declared judges the vocabulary that a service publishes, if it does.
func (s *survey) declared(j *judge, member string, known func(string) bool, n int) {
	v := s.info.doc().Object("vocabularies")
	if !v.Has(member) {
		return
	}
	names := v.Strings(member)
	why := ""
	for _, name := range names {
		if !known(name) && !s.newer() {
			why = fmt.Sprintf("the published list has %s, which is not in the vocabulary of version %s",
				ojson.Shown(name), alx.Version)
		}
	}
	if why == "" && len(names) < n {
		why = fmt.Sprintf("the published list has %d of the %d names", len(names), n)
	}
	j.see(s.info, "published "+member, why)
}

// nameProblem judges the type of an event. A newer minor version may have names of its own, which
// we can safely ignore.
func (s *survey) nameProblem(e *ojson.Object, known func(string) bool) string {
	v, has := e.Get("type")
	name, ok := v.(string)
	switch {
	case !has:
		return "type is missing"
	case !ok:
		return "type must be a string, not " + ojson.TypeName(v)
	case !known(name) && !s.newer():
		return fmt.Sprintf("%s is not in the closed vocabulary", ojson.Shown(name))
	}
	return ""
}

// newer reports whether the endpoint speaks a later minor version than we do.
func (s *survey) newer() bool {
	v := s.info.doc().Object("protocol").String("protocol_version")
	var major, minor int
	if n, err := fmt.Sscanf(v, "%d.%d", &major, &minor); n != 2 || err != nil {
		return false
	}
	var ours, ourMinor int
	_, _ = fmt.Sscanf(alx.Version, "%d.%d", &ours, &ourMinor)
	return major == ours && minor > ourMinor
}

// tolerance judges WG-07.
func tolerance(s *survey, j *judge) {
	parameter := func(x *exchange) {
		if x != nil && x.Doc != nil {
			j.seef(x, "an unknown query parameter", x.Status != 400 &&
				x.Status != 422, "the request was refused because of it")
		}
	}
	parameter(s.info)
	why := ""
	switch {
	case s.tolerant == nil || s.tolerant.Status == 0:
		return
	case s.solved == s.tolerant:
	case s.plain != nil && s.solved == s.plain:
		why = "the same request without the unknown members, capabilities and minor version was served"
	default:
		j.rule.Observations = nil
		j.note("no solve was served, with unknown members or without")
		return
	}
	j.see(s.tolerant, "unknown members, unknown capability, minor "+strangeMinor, why)
	for _, x := range s.all {
		for _, c := range x.doc().Object("protocol").Strings("capabilities") {
			if c == strangeCapability {
				j.see(x, "capabilities", "an unheard-of capability of the client is echoed as supported")
			}
		}
	}
	parameter(s.list)
}

// failedRequests judges WG-08.
func failedRequests(s *survey, j *judge) {
	for _, x := range s.all {
		if x.Doc == nil || !x.MustFail && x.Status < 400 {
			continue
		}
		if _, has := x.Doc.Get("ok"); !has {
			continue // WG-02 judges that
		}
		why := ""
		if x.Doc.Bool("ok") {
			why = fmt.Sprintf("%s was answered with status %d and ok: true", x.Purpose, x.Status)
		}
		j.see(x, x.Purpose, why)
	}
	noSuccess(s, j)
	for _, x := range s.all {
		if x.doc().Value("error") != nil && x.Status < 400 && !x.MustFail && x.Doc.Has("ok") {
			j.seef(x, "ok beside an error", !x.Doc.Bool("ok"), "there is an error, and ok is true")
		}
	}
}

// ends judges WG-09 and WG-10.
func ends(s *survey, j *judge, kind alx.RunEventType) {
	want, _ := kind.RequiredOK()
	for _, e := range s.seen {
		if e.event.String("type") != string(kind) {
			continue
		}
		v, has := e.event.Get("ok")
		j.seef(e.from, string(kind), v == want, "ok %s", missingOr(has, "is "+ojson.Shown(v)))
	}
	if len(j.rule.Observations) == 0 {
		j.note("no %s was emitted while we looked", kind)
	}
}
