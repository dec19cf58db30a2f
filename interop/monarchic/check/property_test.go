// Properties of every type: required, unknown and null members; and of every mutation of a sample.

package check

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// objectSamples returns the valid samples that are objects, by path.
func objectSamples(t testing.TB) map[string]*ojson.Object {
	t.Helper()
	out := map[string]*ojson.Object{}
	for path, data := range samples(t, "valid") {
		if v, err := ojson.Decode(data); err == nil && !strings.HasSuffix(path, ".jsonl") &&
			!strings.Contains(path, "legacy_v0") {
			if o, ok := v.(*ojson.Object); ok {
				out[path] = o
			}
		}
	}
	return out
}

// TestRequiredMembers: each missing required member is named with the place where it belongs; any
// other may be left out, unless a rule requires it.
func TestRequiredMembers(t *testing.T) {
	for path, o := range objectSamples(t) {
		typ := sampleType(path)
		p, err := schemas().root(typ)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Required {
			c := o.Clone()
			key := name
			if !c.Has(name) {
				key = wire.LowerCamel(name)
			}
			c.Delete(key)
			f, err := Value(typ, c)
			if err != nil || !slices.Contains(words(f), "/"+name+" required") {
				t.Errorf("%s without %s: %v %v", path, name, err, f)
			}
			if typ.Strict() && p.Properties[name].Type != "" {
				c := o.Clone()
				c.Set(name, nil)
				if f, _ := Value(typ, c); !slices.Contains(words(f), "/"+name+" type") {
					t.Errorf("%s with null for %s: %v", path, name, f)
				}
			}
		}
	}
}

// TestUnknownMembers: the open family keeps them, the closed one names them.
func TestUnknownMembers(t *testing.T) {
	for path, o := range objectSamples(t) {
		typ := sampleType(path)
		c := o.Clone()
		c.Set("a/strange~member", ojson.NewObject("deep", []any{nil}))
		f, err := Value(typ, c)
		got := words(f)
		switch {
		case err != nil:
			t.Error(err)
		case typ.Strict() && typ != "client_boundary/map_operation_bundle":
			if !slices.Equal(got, []string{"/a~1strange~0member additionalProperties"}) {
				t.Errorf("%s: %q", path, got)
			}
		case len(got) > 0:
			t.Errorf("%s: %v", path, f)
		}
	}
}

// TestDefaults: members that a strict reader fills in may be absent, and null if they are optional
// scalars or objects (docs/monarchic.md).
func TestDefaults(t *testing.T) {
	for sample, cases := range map[string]map[string]bool{ // member -> null counts as absence
		"client_boundary/intent":               {"intent_class": false},
		"client_boundary/verification_receipt": {"contract_version": false, "execution_receipt_ids": false},
		"client_boundary/rerun_scope": {
			"trigger":            false,
			"source_decision_id": true,
			"task_ids":           false,
			"paths":              false,
		},
		"client_boundary/rerun_execution_result": {"matched_strategy": false, "status": false, "root_tasks": false},
		"client_boundary/pr_lifecycle_state": {
			"pr_number":            true,
			"review_decision":      true,
			"verification_receipt": true,
			"blocked_outcomes":     false,
		},
		"client_boundary/run_event_record": {
			"contract_version": false,
			"step_id":          true,
			"message":          true,
			"artifact_ids":     false,
		},
		"client_boundary/digest_manifest": {"contract_version": false},
		"client_boundary/task": {
			"role_id":       true,
			"run_context":   true,
			"interactive":   true,
			"required_mcps": false,
			"extensions":    true,
		},
		"client_boundary/task_message":    {"subject": true, "artifact_refs": false, "requires_ack": false},
		"durable_authority/fencing_token": {"extensions": false},
		"durable_authority/manual_override_record": {
			"contract_version":      false,
			"step_id":               true,
			"expires_at_ms":         true,
			"affected_artifact_ids": false,
		},
	} {
		o, ok := objectSamples(t)["valid/"+sample+".minimal.json"]
		if !ok {
			o = objectSamples(t)["valid/"+sample+".bypass_gate.json"]
		}
		for name, null := range cases {
			c := o.Clone()
			c.Delete(name)
			if f, err := Value(Type(sample), c); err != nil || !Valid(f) {
				t.Errorf("%s without %s: %v", sample, name, f)
			}
			c.Set(name, nil)
			if f, _ := Value(Type(sample), c); Valid(f) != null {
				t.Errorf("%s with null for %s: valid %v, %v", sample, name, !null, f)
			}
		}
	}
}

// mutate changes a random place of a document.
func mutate(t *rapid.T, v ojson.Value) ojson.Value {
	value := rapid.SampledFrom([]ojson.Value{
		nil, true, ojson.Number("0"), ojson.Number("-1"), ojson.Number("1.0"), ojson.Number("1.5"),
		ojson.Number("18446744073709551616"), "", " ", "x", "v2", "unspecified", "DEV", []any{}, []any{"x"},
		[]any{ojson.Number("1")}, &ojson.Object{}, ojson.NewObject("a", "b"),
	})
	switch v := v.(type) {
	case *ojson.Object:
		if v.Len() == 0 {
			break
		}
		c := v.Clone()
		k := rapid.SampledFrom(c.Keys()).Draw(t, "key")
		e, _ := c.Get(k)
		switch rapid.IntRange(0, 4).Draw(t, "op") {
		case 0:
			c.Delete(k)
		case 1:
			c.Set("extra_"+k, e)
		case 2:
			c.Set(k, value.Draw(t, "value"))
		default:
			c.Set(k, mutate(t, e))
		}
		return c
	case []any:
		if len(v) == 0 {
			break
		}
		c := slices.Clone(v)
		i := rapid.IntRange(0, len(c)-1).Draw(t, "i")
		if rapid.Bool().Draw(t, "item") {
			c[i] = mutate(t, c[i])
			return c
		}
		return append(c, value.Draw(t, "item value"))
	}
	return value.Draw(t, "value")
}

// TestMutations: whatever is done to a sample, the library's verdict and the places found agree, no
// place is guessed, findings point into the document, and the strict decoders accept what is valid.
func TestMutations(t *testing.T) {
	docs := objectSamples(t)
	paths := sortedKeys(docs)
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom(paths).Draw(t, "sample")
		typ := sampleType(path)
		var v ojson.Value = docs[path]
		for range rapid.IntRange(1, 3).Draw(t, "mutations") {
			v = mutate(t, v)
		}
		r, err := read(typ, v, Options{})
		if err != nil {
			t.Fatal(err)
		}
		j := newJudge(Options{})
		j.explain(r.place, r.value, "")
		if (r.err == nil) != (len(j.findings) == 0) {
			t.Fatalf("%s: library %v, places %v", ojson.Compact(v), r.err, j.findings)
		}
		findings := r.judge().findings
		for _, f := range findings {
			if f.Rule == "schema" {
				t.Fatalf("%s: %+v", ojson.Compact(v), f)
			}
			if !exists(v, parent(f.Pointer)) {
				t.Fatalf("%s: no %s", ojson.Compact(v), f.Pointer)
			}
		}
		if o, ok := v.(*ojson.Object); ok && typ.Strict() && Valid(findings) && monarchic.New(typ) != nil {
			if _, err := monarchic.Decode(typ, o); err != nil {
				t.Fatalf("%s is valid and cannot be decoded: %v", ojson.Compact(v), err)
			}
		}
	})
}

func parent(pointer string) string {
	if i := strings.LastIndexByte(pointer, '/'); i > 0 {
		return pointer[:i]
	}
	return ""
}

// exists follows a pointer.
func exists(v ojson.Value, pointer string) bool {
	if pointer == "" {
		return true
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch c := v.(type) {
		case *ojson.Object:
			e, ok := c.Get(part)
			if !ok {
				return false
			}
			v = e
		case []any:
			n := 0
			for _, d := range part {
				n = n*10 + int(d-'0')
			}
			if n < 0 || n >= len(c) {
				return false
			}
			v = c[n]
		default:
			return false
		}
	}
	return true
}
