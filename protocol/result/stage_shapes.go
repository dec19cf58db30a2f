// Stage A under strict: optional members of a wrong type are refused. Where results are repaired they read as
// absent (docs/spec/results.md#strict-and-reference).

package result

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// checkShapes checks what checkSchema leaves to the reader: evidence given as one object instead of a list would
// otherwise vanish while the pass beside it stands.
func checkShapes(r *stageReport, doc *ojson.Object) {
	s := &schemaCheck{r}
	list := func(o *ojson.Object, at, member string) {
		if v, _ := o.Get(member); v != nil {
			if _, ok := v.([]any); !ok {
				r.errorf(ProblemType, at+member, "", "%s must be an array or null, not %s", at+member,
					ojson.TypeName(v))
			}
		}
	}
	text := func(o *ojson.Object, at, member string) {
		if v, _ := o.Get(member); v != nil && !isString(v) {
			r.errorf(ProblemType, at+member, "", "%s must be a string or null, not %s", at+member, ojson.TypeName(v))
		}
	}
	list(doc, "", "proposed_changes")
	list(doc, "", "intent_response")
	v := doc.Object("verification")
	for _, m := range []string{"commands", "machine_evidence", "produced_files"} {
		list(v, "verification.", m)
	}
	text(v, "verification.", "evidence_summary")
	if code, _ := v.Get("exit_code"); code != nil && !isInteger(code) {
		r.errorf(ProblemType, "verification.exit_code", "",
			"verification.exit_code must be an integer, not %s", ojson.TypeName(code))
	}
	text(doc.Object("artifact"), "artifact.", "ref")
	for i, o := range doc.Objects("objections") {
		for _, m := range []string{"against_turn_id", "against_decision_id", "proposed_resolution"} {
			text(o, indexed("objections", i)+".", m)
		}
	}
	s.nullable(doc, "idle_expansion_result", "an object or null", func(v ojson.Value) bool {
		_, ok := v.(*ojson.Object)
		return ok
	})
}
