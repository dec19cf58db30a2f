// Properties of validation over arbitrary documents, and its fuzz target.

package result

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// drawValue yields arbitrary JSON in the vocabulary of turn results, so that
// members of the right name but the wrong shape are common.
func drawValue(t *rapid.T, depth int) ojson.Value {
	kinds := 7
	if depth <= 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.SampledFrom([]ojson.Number{"0", "1", "-1", "1.5", "1e999", "3.0", "99999999999999999999"}).Draw(t,
			"number")
	case 3, 4:
		return rapid.OneOf(rapid.SampledFrom([]string{"", " ", "completed", "blocked", "needs_human", "DONE", "dev",
			"qa", "human", "pass", "fail", "workspace", "review", "low", "blocking",
			"DEC-1", "DEC-001", "OBJ-1", "del-001", "scope", "src/a.go", ".planning/x.md", "../x", ".git/x",
			".agentxchain/state.json", "planning", "implementation", "code_gate", "ship_gate", "ready", "<x>",
			"run_1", "turn_a", "1.0", "hand", "artifact", "ignore", "create", "new_intake_intent", "vision_exhausted",
			"\xed\xa0\x80"}), rapid.String()).Draw(t, "string")
	case 5:
		a := make([]any, rapid.IntRange(0, 3).Draw(t, "len"))
		for i := range a {
			a[i] = drawValue(t, depth-1)
		}
		return a
	}
	o := &ojson.Object{}
	for range rapid.IntRange(0, 6).Draw(t, "members") {
		k := rapid.SampledFrom([]string{"id", "category", "statement", "rationale", "durability", "overrides",
			"severity", "status", "type", "ref", "path", "name", "action", "content", "command", "exit_code",
			"expected_exit_code",
			"commands", "machine_evidence", "produced_files", "evidence_summary", "disposition", "to_role", "charter",
			"acceptance_contract", "required_decision_ids", "usd", "input_tokens", "detail", "summary", "decision",
			"kind", "expansion_iteration", "vision_traceability", "vision_heading", "heading", "headings",
			"new_intake_intent", "proposed_intent", "vision_exhausted", "classification", "contract",
			"x-unknown"}).Draw(t, "member")
		o.Set(k, drawValue(t, depth-1))
	}
	return o
}

// drawInput yields a plausible result with some members replaced by any value.
func drawInput(t *rapid.T, tb testing.TB) Input {
	in := resultCase{
		role:  rapid.SampledFrom([]string{"dev", "qa", "pm", "writer"}).Draw(t, "role"),
		phase: rapid.SampledFrom([]string{"planning", "implementation", "qa", "ghost"}).Draw(t, "phase"),
	}.input(tb)
	doc := in.Raw.(*ojson.Object)
	for range rapid.IntRange(0, 4).Draw(t, "replaced") {
		m := rapid.SampledFrom(append(requiredFields(), "artifacts_created", "phase_transition_request",
			"run_completion_request", "needs_human_reason", "proposed_changes", "delegations", "cost",
			"idle_expansion_result", "files_modified", "milestone", "x-own")).Draw(t, "member")
		if rapid.IntRange(0, 4).Draw(t, "delete") == 0 {
			doc.Delete(m)
		} else {
			doc.Set(m, drawValue(t, 3))
		}
	}
	if rapid.Bool().Draw(t, "idle") {
		in.Turn.IntakeContext = ojson.NewObject("source", "vision_idle_expansion", "idle_expansion", drawValue(t, 2))
		in.IdleSidecar = drawValue(t, 3)
	}
	switch rapid.IntRange(0, 5).Draw(t, "context") {
	case 0:
		in.Turn = nil
	case 1:
		in.State = nil
	case 2:
		in.Config = nil
	}
	return in
}

func TestValidateTurnResultProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := drawInput(rt, t)
		before := string(ojson.Compact(in.Raw))
		side := string(ojson.Compact(in.IdleSidecar))
		in.Raw.(*ojson.Object).Set("x-survives", ojson.NewObject("deep", []any{"yes"}))
		marked := string(ojson.Compact(in.Raw))

		v := Validate(in)
		if string(ojson.Compact(in.Raw)) != marked || string(ojson.Compact(in.IdleSidecar)) != side {
			rt.Fatalf("the input was modified; it was %s", before)
		}
		again := Validate(in)
		if again.OK != v.OK || again.Errors.Join() != v.Errors.Join() {
			rt.Fatal("not deterministic")
		}
		if !v.OK {
			if v.Result != nil || v.Stage == "" || v.Class != v.Stage+"_error" || len(v.Errors) == 0 ||
				v.Code() == "" {
				rt.Fatalf("half a refusal: %+v", v)
			}
			for _, p := range v.Errors {
				if p.Code == "" || p.Message == "" {
					rt.Fatalf("empty finding %+v", p)
				}
			}
			return
		}
		if s, ok := v.Result.Raw.Get("x-survives"); !ok || string(ojson.Compact(s)) != `{"deep":["yes"]}` {
			rt.Fatal("an unknown member was lost")
		}
		for _, p := range v.Result.FilesChanged {
			if clean, problem := wire.CleanPath(p); clean != p || problem != "" || wire.IsReserved(p) {
				rt.Fatalf("path %q got through", p)
			}
		}
		// What passed passes again unchanged.
		in.Raw = v.Result.Raw
		second := Validate(in)
		if !second.OK || len(second.Events) != 0 || !ojson.Equal(second.Result.Raw, v.Result.Raw) {
			rt.Fatalf("not idempotent: %s\n%v\n%v", ojson.Compact(v.Result.Raw), second.Errors, second.Events)
		}
		RenumberDecisions(v.Result, nil, nil)
	})
}

// Documents without anything plausible.
func TestValidateTurnResultOnNoise(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := &ojson.Object{}
		for _, m := range append(requiredFields(), "proposed_changes", "delegations", "idle_expansion_result",
			"artifacts_created") {
			if rapid.Bool().Draw(rt, m) {
				o.Set(m, drawValue(rt, 4))
			}
		}
		in := resultCase{}.input(t)
		in.Raw = o
		Validate(in)
		if r := New(o); r.Raw != o {
			rt.Fatal("the view lost its document")
		}
	})
}

func FuzzValidateTurnResult(f *testing.F) {
	for _, c := range []resultCase{{}, {
		role:  "qa",
		phase: "qa",
	}, {role: "writer"}, {patch: `{"decisions":[{"id":"x"}],"files_changed":["./a"],"cost":{"usd":1}}`},
		{patch: `{"idle_expansion_result":{` + idleExhausted + `}}`}} {
		f.Add(ojson.Pretty(c.input(f).Raw))
	}
	f.Add([]byte(`{"files_changed":[{"path":"a"}],"verification":{"exit_code":0,"machine_evidence":[{"type":"t"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: 1 << 20, LastWins: true})
		if err != nil {
			return
		}
		for _, role := range []string{"dev", "qa", "writer"} {
			in := resultCase{role: role}.input(t)
			in.Raw = doc
			v := Validate(in)
			if v.OK != (v.Result != nil) || v.OK == (len(v.Errors) > 0) {
				t.Fatalf("half an outcome: %+v", v)
			}
			if v.OK {
				in.Raw = v.Result.Raw
				if second := Validate(in); !second.OK || len(second.Events) > 0 {
					t.Fatalf("not idempotent: %v %v", second.Errors, second.Events)
				}
			}
		}
	})
}
