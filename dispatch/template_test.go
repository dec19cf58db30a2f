// The turn-result template, checked against the rules for results (docs/spec/results.md#members).

package dispatch

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// fill replaces every placeholder, as an actor does.
func fill(v ojson.Value, role string) ojson.Value {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "<one of: ") || strings.HasPrefix(v, "<a role") {
			return role
		}
		if strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">") {
			return "src/main.go"
		}
	case []any:
		for i := range v {
			v[i] = fill(v[i], role)
		}
	case *ojson.Object:
		for _, k := range v.Keys() {
			val, _ := v.Get(k)
			v.Set(k, fill(val, role))
		}
	}
	return v
}

func TestTemplateShape(t *testing.T) {
	for authority, want := range map[string]string{
		wire.ReviewOnly:    `{"type":"review","ref":null}`,
		wire.Proposed:      `{"type":"patch","ref":null}`,
		wire.Authoritative: `{"type":"workspace","ref":"git:dirty"}`,
	} {
		t.Run(authority, func(t *testing.T) {
			in := newInput(authority, "manual")
			o := Template(in)
			if got := string(ojson.Compact(o.Object("artifact"))); got != want {
				t.Errorf("artifact %s", got)
			}
			keys := []string{"schema_version", "run_id", "turn_id", "role", "runtime_id", "status", "summary",
				"decisions", "objections", "files_changed", "artifacts_created", "verification", "artifact"}
			if authority == wire.Proposed {
				keys = append(keys, "proposed_changes")
			}
			keys = append(keys, "proposed_next_role", "phase_transition_request", "run_completion_request",
				"needs_human_reason", "cost")
			if got := strings.Join(o.Keys(), " "); got != strings.Join(keys, " ") {
				t.Errorf("members %s", got)
			}
			if n := len(o.Objects("objections")); (n > 0) != (authority == wire.ReviewOnly) {
				t.Errorf("%d sample objections", n)
			}
			for k, want := range map[string]string{
				"run_id":         *in.State.RunID,
				"turn_id":        in.Turn.TurnID,
				"role":           "pm",
				"runtime_id":     "rt",
				"status":         "completed",
				"schema_version": "1.0",
			} {
				if got := o.String(k); got != want {
					t.Errorf("%s = %q", k, got)
				}
			}
		})
	}
}

func TestFilledTemplateHoldsTheRules(t *testing.T) {
	for _, authority := range []string{wire.ReviewOnly, wire.Proposed, wire.Authoritative} {
		for _, runtime := range []string{"manual", "api_proxy", "mcp"} {
			in := fullInput(t, authority, runtime)
			o := fill(Template(in), "dev").(*ojson.Object)
			if strings.Contains(string(ojson.Compact(o)), "<") {
				t.Errorf("%s: a placeholder is left: %s", authority, ojson.Compact(o))
			}
			for _, d := range o.Objects("decisions") {
				if !strings.HasPrefix(d.String("id"), "DEC-") || d.String("category") != "implementation" ||
					d.String("statement") == "" || d.String("rationale") == "" {
					t.Errorf("decision %s", ojson.Compact(d))
				}
			}
			for _, ob := range o.Objects("objections") {
				if ob.String("id") != "OBJ-101" || ob.String("severity") != "medium" || ob.String("statement") == "" ||
					ob.String("status") != "raised" || ob.String("against_turn_id") != "turn_00000000000000aa" {
					t.Errorf("objection %s", ojson.Compact(ob))
				}
			}
			ver := o.Object("verification")
			switch ver.String("status") {
			case "pass":
				for _, e := range ver.Objects("machine_evidence") {
					if n, ok := e.Int("exit_code"); !ok || n != 0 || e.String("command") == "" {
						t.Errorf("evidence %s", ojson.Compact(e))
					}
				}
			case "skipped":
			default:
				t.Errorf("verification %s", ojson.Compact(ver))
			}
			if files := o.Strings("files_changed"); (authority == wire.Authoritative) != (len(files) > 0) {
				t.Errorf("files_changed %q", files)
			}
			for _, c := range o.Objects("proposed_changes") {
				if !safePath(c.String("path")) || c.String("action") != "create" || c.String("content") == "" {
					t.Errorf("change %s", ojson.Compact(c))
				}
			}
			if len(o.Objects("intent_response")) != 2 {
				t.Errorf("intent_response %s", ojson.Compact(o))
			}
		}
	}
}

func TestTemplateFirstReviewHasNoTarget(t *testing.T) {
	o := Template(newInput(wire.ReviewOnly, "manual"))
	if o.Objects("objections")[0].Has("against_turn_id") {
		t.Error("the first turn of a run is asked for a turn that does not exist")
	}
}

func TestTemplateIdleExpansion(t *testing.T) {
	in := newInput(wire.ReviewOnly, "manual")
	in.Turn.IntakeContext = obj(t, `{"source":"vision_idle_expansion"}`)
	in.Turn.Extra.Set("idle_expansion_context", obj(t, `{"expansion_iteration":3}`))
	o := Template(in).Object("idle_expansion_result")
	if n, _ := o.Int("expansion_iteration"); n != 3 || o.String("kind") != "new_intake_intent" ||
		o.Has("vision_exhausted") || len(o.Objects("vision_traceability")) == 0 ||
		o.Object("new_intake_intent").String("priority") != "p2" {
		t.Errorf("idle expansion %s", ojson.Compact(o))
	}
}

func TestNextRoleHint(t *testing.T) {
	in := newInput(wire.ReviewOnly, "manual")
	for _, tc := range []struct {
		allowed []string
		want    string
	}{
		{[]string{"dev", "human"}, "<one of: dev, human>"},
		{[]string{"dev"}, "<one of: dev, human>"},
		{nil, "<a role id, or human>"},
	} {
		in.Config.Route("planning").AllowedNextRoles = tc.allowed
		if got := Template(in).String("proposed_next_role"); got != tc.want {
			t.Errorf("%v: %q", tc.allowed, got)
		}
	}
}
