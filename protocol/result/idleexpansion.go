// The idle_expansion_result member: tolerated shapes and validation (docs/spec/results.md#idle-expansion).

package result

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const idleField = "idle_expansion_result"

// idleContext is what the turn records about the expansion it was assigned for.
type idleContext struct {
	required  bool     // intake source vision_idle_expansion
	iteration int      // 0 when unknown
	headings  []string // nil when no snapshot exists
}

func newIdleContext(t *run.Turn) idleContext {
	if t == nil {
		return idleContext{}
	}
	c := idleContext{required: t.IntakeContext.String("source") == "vision_idle_expansion"}
	o, ok := t.Extra.Value("idle_expansion_context").(*ojson.Object)
	if !ok {
		o = t.IntakeContext.Object("idle_expansion")
	}
	if i, ok := o.Int("expansion_iteration"); ok && i > 0 {
		c.iteration = i
	}
	c.headings = o.Strings("vision_headings_snapshot")
	return c
}

// adoptSidecar uses the document beside the staged result when the member is absent. The participant wrote it where
// it belongs, so strict uses it too.
func (n *normalizer) adoptSidecar() {
	c := newIdleContext(n.in.Turn)
	if c.required && !n.doc.Has(idleField) && n.in.IdleSidecar != nil {
		n.doc.Set(idleField, ojson.CloneValue(n.in.IdleSidecar))
		n.changed(idleField, nil, "(loaded from sidecar)", "idle_expansion_result_loaded_from_sidecar")
	}
}

// idleShapes converts the tolerated shapes into the one that the schema names.
func (n *normalizer) idleShapes() {
	c := newIdleContext(n.in.Turn)
	o := n.doc.Object(idleField)
	if o == nil {
		return
	}
	if c.required && !o.Has("expansion_iteration") && c.iteration > 0 {
		o.Set("expansion_iteration", c.iteration)
		n.changed(idleField+".expansion_iteration", nil, c.iteration, "idle_expansion_iteration_from_context")
	}
	n.idleTraceability(o)
	if o.String("kind") == "new_intake_intent" {
		n.idleIntent(o)
	}
	for _, item := range o.Object("vision_exhausted").Array("classification") {
		n.idleHeading(item, idleField+".vision_exhausted.classification")
	}
}

// idleHeading renames heading to vision_heading.
func (n *normalizer) idleHeading(item ojson.Value, field string) {
	o, ok := item.(*ojson.Object)
	if !ok || o.Has("vision_heading") || !o.Has("heading") {
		return
	}
	v, _ := o.Get("heading")
	o.Delete("heading")
	o.Set("vision_heading", v)
	n.changed(field, "heading", "vision_heading", "idle_expansion_heading_renamed")
}

// idleTraceability turns strings and {headings, rationale} groups into one entry per heading.
func (n *normalizer) idleTraceability(o *ojson.Object) {
	const field = idleField + ".vision_traceability"
	v, _ := o.Get("vision_traceability")
	var items []any
	switch v := v.(type) {
	case []any:
		items = v
	case *ojson.Object:
		if v.Array("headings") == nil {
			return
		}
		items = []any{v}
	default:
		return
	}
	out := make([]any, 0, len(items))
	reshaped := false
	for _, item := range items {
		switch v := item.(type) {
		case string:
			out = append(out, ojson.NewObject("vision_heading", v))
			reshaped = true
			continue
		case *ojson.Object:
			if headings := v.Array("headings"); headings != nil && !v.Has("vision_heading") &&
				len(out)+len(headings) <= maxArrayItems {
				for _, h := range headings {
					e := ojson.NewObject("vision_heading", h)
					if nonBlank(v.String("rationale")) {
						e.Set("goal", v.String("rationale"))
					}
					e.Set("kind", "advances")
					out = append(out, e)
				}
				reshaped = true
				continue
			}
			n.idleHeading(v, field)
		}
		out = append(out, item)
	}
	if _, wasObject := v.(*ojson.Object); reshaped || wasObject {
		o.Set("vision_traceability", out)
		n.changed(field, "(other shape)", "(one entry a heading)", "idle_expansion_traceability_reshaped")
	}
}

// idleIntent finds the intent under proposed_intent or flat in the result.
func (n *normalizer) idleIntent(o *ojson.Object) {
	if o.Has("new_intake_intent") {
		return
	}
	const field, why = idleField + ".new_intake_intent", "idle_expansion_intent_reshaped"
	if p := o.Object("proposed_intent"); p != nil {
		o.Delete("proposed_intent")
		o.Set("new_intake_intent", p)
		n.changed(field, nil, "(from proposed_intent)", why)
		return
	}
	if !o.Has("title") && !o.Has("charter") {
		return
	}
	intent := &ojson.Object{}
	for _, m := range []string{"title", "charter", "acceptance_contract", "priority", "template"} {
		if v, ok := o.Get(m); ok {
			o.Delete(m)
			intent.Set(m, v)
		}
	}
	o.Set("new_intake_intent", intent)
	n.changed(field, nil, "(from flat members)", why)
}

// N24: vision_exhausted false or null beside a new intent is redundant.
func (n *normalizer) falseVisionExhausted() {
	o := n.doc.Object(idleField)
	if o.String("kind") != "new_intake_intent" || !o.Has("vision_exhausted") {
		return
	}
	if v, _ := o.Get("vision_exhausted"); v == nil || v == false {
		o.Delete("vision_exhausted")
		n.changed(idleField+".vision_exhausted", false, nil, "false_vision_exhausted_removed")
	}
}

// checkIdleExpansion performs the part of the schema stage for idle_expansion_result.
func checkIdleExpansion(r *stageReport, doc *ojson.Object, t *run.Turn) {
	c := newIdleContext(t)
	v, _ := doc.Get(idleField)
	if v == nil {
		if c.required {
			r.errorf(ProblemIdleMissing, idleField, "",
				"the turn was assigned for an idle expansion and must bring %s", idleField)
		}
		return
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		r.errorf(ProblemType, idleField, "", "%s must be an object, not %s", idleField, ojson.TypeName(v))
		return
	}
	s := &idleCheck{schemaCheck{r}, c, o}
	s.run()
}

type idleCheck struct {
	schemaCheck
	ctx idleContext
	o   *ojson.Object
}

func (s *idleCheck) run() {
	kind := s.o.String("kind")
	s.enum(idleField+".kind", s.o.Value("kind"), "new_intake_intent", "vision_exhausted")

	iteration, ok := s.o.Int("expansion_iteration")
	switch field := idleField + ".expansion_iteration"; {
	case !ok || iteration < 1:
		s.r.errorf(ProblemType, field, "", "%s must be an integer of at least 1", field)
	case s.ctx.iteration > 0 && iteration != s.ctx.iteration:
		s.r.errorf(ProblemIdleIteration, field, "", "%s is %d but the session is at %d", field, iteration,
			s.ctx.iteration)
	}
	s.traceability(kind)
	switch kind {
	case "new_intake_intent":
		s.intent()
		s.exclusive("vision_exhausted", kind)
	case "vision_exhausted":
		s.exhausted()
		s.exclusive("new_intake_intent", kind)
	}
}

// exclusive refuses a member that belongs to the other kind.
func (s *idleCheck) exclusive(member, kind string) {
	if s.o.Has(member) {
		s.r.errorf(ProblemIdleExclusive, idleField+"."+member, "", "%s.%s does not go with kind %s", idleField, member,
			kind)
	}
}

// heading checks a cited heading against the session's snapshot.
func (s *idleCheck) heading(at string, o *ojson.Object) {
	v, _ := o.Get("vision_heading")
	if !nonBlank(v) {
		s.text(at+".vision_heading", v)
		return
	}
	if h := wire.Trim(v.(string)); len(s.ctx.headings) > 0 && !s.known(h) {
		s.r.errorf(ProblemIdleHeading, at+".vision_heading", h,
			"%s.vision_heading %s is not a heading of the session's VISION.md", at, wire.Shown(h))
	}
}

func (s *idleCheck) known(heading string) bool {
	return slices.ContainsFunc(s.ctx.headings, func(h string) bool { return wire.Trim(h) == heading })
}

func (s *idleCheck) traceability(kind string) {
	const field = idleField + ".vision_traceability"
	v, _ := s.o.Get("vision_traceability")
	s.each(field, v, func(at string, o *ojson.Object) {
		s.heading(at, o)
		if goal, ok := o.Get("goal"); ok {
			s.text(at+".goal", goal)
		}
		if k, ok := o.Get("kind"); ok {
			s.enum(at+".kind", k, "advances", "supports", "unblocks")
		}
	})
	if items, ok := v.([]any); ok && len(items) == 0 && kind == "new_intake_intent" {
		s.r.errorf(ProblemIdleUncited, field, "", "%s must cite at least one heading of VISION.md for a new intent",
			field)
	}
}

func (s *idleCheck) intent() {
	const field = idleField + ".new_intake_intent"
	o, ok := s.o.Value("new_intake_intent").(*ojson.Object)
	if !ok {
		s.r.errorf(ProblemType, field, "", "%s must be an object", field)
		return
	}
	s.text(field+".title", o.Value("title"))
	s.text(field+".charter", o.Value("charter"))
	s.enum(field+".priority", o.Value("priority"), "p0", "p1", "p2", "p3")
	s.enum(field+".template", o.Value("template"), "generic", "api-service", "cli-tool", "library", "web-app",
		"full-local-cli", "enterprise-app")
	s.contract(field+".acceptance_contract", o.Value("acceptance_contract"))
}

func (s *idleCheck) exhausted() {
	const field = idleField + ".vision_exhausted"
	o, ok := s.o.Value("vision_exhausted").(*ojson.Object)
	if !ok {
		s.r.errorf(ProblemType, field, "", "%s must be an object", field)
		return
	}
	list, _ := o.Get("classification")
	if items, ok := list.([]any); !ok || len(items) == 0 {
		s.r.errorf(ProblemType, field+".classification", "",
			"%s.classification must be an array with at least one item", field)
		return
	}
	classified := make(map[string]bool)
	s.each(field+".classification", list, func(at string, o *ojson.Object) {
		s.heading(at, o)
		classified[wire.Trim(o.String("vision_heading"))] = true
		s.enum(at+".status", o.Value("status"), "complete", "deferred", "out_of_scope")
		s.text(at+".reason", o.Value("reason"))
	})
	for _, h := range s.ctx.headings {
		if !classified[wire.Trim(h)] {
			s.r.errorf(ProblemIdleUnclassed, field+".classification", h,
				"%s.classification says nothing about the heading %s", field, wire.Shown(h))
		}
	}
}
