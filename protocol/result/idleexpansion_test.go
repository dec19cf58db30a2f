// Tests of idle expansion results (docs/spec/results.md#idle-expansion).

package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const (
	idleIntent    = `"title":"t","charter":"c","acceptance_contract":["a"],"priority":"p1","template":"generic"`
	idleExhausted = `"kind":"vision_exhausted","expansion_iteration":2,"vision_traceability":[],"vision_exhausted":{"classification":[{"vision_heading":"A","status":"complete","reason":"r"},{"vision_heading":"B","status":"deferred","reason":"r"}]}`
)

// idleCase is a result of a turn assigned for iteration 2 over headings A and B.
func idleCase(members string) resultCase {
	patch := `{}`
	if members != "" {
		patch = `{"idle_expansion_result":` + members + `}`
	}
	return resultCase{patch: patch, tweak: func(in *Input) {
		in.Turn.IntakeContext = ojson.NewObject("source", "vision_idle_expansion",
			"idle_expansion", ojson.NewObject("expansion_iteration", 2,
				"vision_headings_snapshot", []string{"A", "B"}))
	}}
}

func TestIdleExpansionRefusals(t *testing.T) {
	const f = "idle_expansion_result"
	intent := func(members string) resultCase {
		return idleCase(`{"kind":"new_intake_intent","expansion_iteration":2,"vision_traceability":[{"vision_heading":"A"}]` + members + `}`)
	}
	exhausted := func(classification string) resultCase {
		return idleCase(`{"kind":"vision_exhausted","expansion_iteration":2,"vision_traceability":[],"vision_exhausted":{"classification":` + classification + `}}`)
	}
	runRefusals(t, StageSchema, []refusalCase{
		{"missing", idleCase(""), []string{"idle_expansion_missing " + f}},
		{"null", idleCase("null"), []string{"idle_expansion_missing " + f}},
		{"type", idleCase("5"), []string{"wrong_type " + f}},
		{"also when not required", resultCase{patch: `{"idle_expansion_result":{}}`}, []string{"invalid_enum_value " +
			f + ".kind", "wrong_type " + f + ".expansion_iteration", "wrong_type " + f + ".vision_traceability"}},
		{"iteration",
			idleCase(`{"kind":"vision_exhausted","expansion_iteration":3,"vision_traceability":[],"vision_exhausted":{"classification":[{"vision_heading":"A","status":"complete","reason":"r"},{"vision_heading":"B","status":"complete","reason":"r"}]}}`),
			[]string{"idle_expansion_iteration_mismatch " + f + ".expansion_iteration"}},
		{"no intent", intent(``), []string{"wrong_type " + f + ".new_intake_intent"}},
		{"empty intent", intent(`,"new_intake_intent":{}`),
			[]string{"empty_field " + f + ".new_intake_intent.title", "empty_field " + f +
				".new_intake_intent.charter", "invalid_enum_value " + f + ".new_intake_intent.priority",
				"invalid_enum_value " + f + ".new_intake_intent.template",
				"wrong_type " + f + ".new_intake_intent.acceptance_contract"}},
		{"both kinds", intent(`,"new_intake_intent":{` + idleIntent + `},"vision_exhausted":{}`),
			[]string{"idle_expansion_kind_conflict " + f + ".vision_exhausted"}},
		{"both kinds, other way", idleCase(`{` + idleExhausted + `,"new_intake_intent":null}`),
			[]string{"idle_expansion_kind_conflict " + f + ".new_intake_intent"}},
		{"nothing cited",
			idleCase(`{"kind":"new_intake_intent","expansion_iteration":2,"vision_traceability":[],"new_intake_intent":{` + idleIntent + `}}`), []string{"idle_expansion_no_heading " + f + ".vision_traceability"}},
		{"citations",
			idleCase(`{"kind":"new_intake_intent","expansion_iteration":2,"vision_traceability":[{"vision_heading":"Z","goal":"","kind":"x"},5,{}],"new_intake_intent":{` + idleIntent + `}}`),
			[]string{"idle_expansion_unknown_heading " + f + ".vision_traceability[0].vision_heading", "empty_field " +
				f + ".vision_traceability[0].goal", "invalid_enum_value " + f + ".vision_traceability[0].kind",
				"wrong_type " + f + ".vision_traceability[1]",
				"empty_field " + f + ".vision_traceability[2].vision_heading"}},
		{"no classification", exhausted(`[]`), []string{"wrong_type " + f + ".vision_exhausted.classification"}},
		{"exhausted type",
			idleCase(`{"kind":"vision_exhausted","expansion_iteration":2,"vision_traceability":[],"vision_exhausted":true}`), []string{"wrong_type " + f + ".vision_exhausted"}},
		{"classification",
			exhausted(`[{"vision_heading":"A","status":"done","reason":" "},1,{"vision_heading":"Q","status":"complete","reason":"r"}]`),
			[]string{"invalid_enum_value " + f + ".vision_exhausted.classification[0].status",
				"empty_field " + f + ".vision_exhausted.classification[0].reason",
				"wrong_type " + f + ".vision_exhausted.classification[1]",
				"idle_expansion_unknown_heading " + f + ".vision_exhausted.classification[2].vision_heading",
				"idle_expansion_unclassified_heading " + f + ".vision_exhausted.classification"}},
	})
}

func TestIdleExpansionPasses(t *testing.T) {
	want := `{"kind":"new_intake_intent","expansion_iteration":2,"vision_traceability":[{"vision_heading":"A"}],"new_intake_intent":{` + idleIntent + `}}`
	for _, c := range []struct{ name, members, want string }{
		{"plain", want, want},
		{"exhausted", `{` + idleExhausted + `}`, ""},
		{"heading",
			`{"kind":"vision_exhausted","expansion_iteration":2,"vision_traceability":[],"vision_exhausted":{"classification":[{"heading":"A","status":"complete","reason":"r","x":1},{"vision_heading":"B","status":"out_of_scope","reason":"r"}]}}`, ""},
		{"strings",
			`{"kind":"new_intake_intent","expansion_iteration":2,"vision_traceability":["A"],"new_intake_intent":{` +
				idleIntent + `}}`, want},
		{"iteration and proposed_intent",
			`{"kind":"new_intake_intent","vision_traceability":["A"],"proposed_intent":{` + idleIntent + `}}`, want},
		{"flat, grouped headings, unknown member kept",
			`{"kind":"new_intake_intent","expansion_iteration":2,"vision_traceability":{"headings":["B","A"],"rationale":"why"},` + idleIntent + `,"x":1}`,
			`{"kind":"new_intake_intent","expansion_iteration":2,"vision_traceability":[{"vision_heading":"B","goal":"why","kind":"advances"},{"vision_heading":"A","goal":"why","kind":"advances"}],"new_intake_intent":{` + idleIntent + `},"x":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := idleCase(c.members).passes(t)
			if c.want == "" {
				return
			}
			want, err := ojson.DecodeObject([]byte(c.want))
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Result.Raw.Object("idle_expansion_result"); !ojson.Equal(got, want) {
				t.Errorf("got %s", ojson.Compact(got))
			}
		})
	}
}

func TestIdleExpansionSidecar(t *testing.T) {
	side, err := ojson.Decode([]byte(`{` + idleExhausted + `}`))
	if err != nil {
		t.Fatal(err)
	}
	c := idleCase("")
	in := c.input(t)
	in.IdleSidecar = side
	v := Validate(in)
	if !v.OK || v.Events[0].Rationale != "idle_expansion_result_loaded_from_sidecar" ||
		!ojson.Equal(v.Result.Raw.Object("idle_expansion_result"), side) {
		t.Errorf("%v %s", v.OK, v.Errors.Join())
	}
	// A turn's own context member is read as well.
	in.Turn.IntakeContext.Delete("idle_expansion")
	in.Turn.Extra.Set("idle_expansion_context", ojson.NewObject("expansion_iteration", 9))
	if v := Validate(in); !cmp.Equal(findings(v),
		[]string{"idle_expansion_iteration_mismatch idle_expansion_result.expansion_iteration"}) {
		t.Errorf("%q", findings(v))
	}
	// A sidecar that is not needed is not read.
	in = resultCase{}.input(t)
	in.IdleSidecar = side
	if v := Validate(in); !v.OK || v.Result.Raw.Has("idle_expansion_result") {
		t.Errorf("%v", v.Errors)
	}
}
