// Properties of configuration decoding: no panic, deterministic findings, the document untouched.

package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// cfgCheck holds for every document.
func cfgCheck(t interface{ Fatalf(string, ...any) }, o *ojson.Object) {
	before := string(ojson.Compact(o))
	c, p := DecodeObject(o)
	c2, p2 := DecodeObject(o)
	if !slices.Equal(p, p2) {
		t.Fatalf("findings differ between two readings: %v %v", p, p2)
	}
	norm := string(ojson.Compact(NormalizedConfig(c)))
	if norm != string(ojson.Compact(NormalizedConfig(c2))) {
		t.Fatalf("normalised forms differ")
	}
	Admission(c)
	NormalizedConfig(c.WithoutDefaultKit())
	for _, id := range c.Roles.Keys() {
		WriteContract(c, id)
	}
	for _, phase := range c.Phases() {
		if r := c.Route(phase); r == nil || r.MaxConcurrentTurns < 1 || r.MaxConcurrentTurns > MaxConcurrentTurns {
			t.Fatalf("route %q: %+v", phase, r)
		}
		c.PhaseRoles(phase)
	}
	for _, g := range c.Gates.All() {
		for _, f := range g.RequiresFiles {
			if clean, problem := wire.CleanPath(f); problem != "" || clean != f {
				t.Fatalf("gate keeps the path %q: %s", f, problem)
			}
		}
	}
	for _, f := range p {
		if f.Code == "" || f.Field == "" || f.Message == "" {
			t.Fatalf("poor finding %+v", f)
		}
	}
	if (Refusal(p) == nil) != (len(p) == 0) {
		t.Fatalf("ConfigError and findings disagree")
	}
	if string(ojson.Compact(o)) != before {
		t.Fatalf("decoding changed the document")
	}
	if len(p) == 0 && norm != "" {
		// A valid document normalises to a document with the same phases.
		if !slices.Equal(NormalizedConfig(c).Object("routing").Keys(), c.Phases()) {
			t.Fatalf("phases lost in %s", norm)
		}
	}
}

func FuzzDecodeConfig(f *testing.F) {
	f.Add([]byte("\"\\\n"))
	f.Add([]byte(cfgFull))
	f.Add([]byte(cfgMinimal))
	f.Add([]byte(`{"version":3}`))
	f.Add([]byte(`{"roles":{"a":null},"routing":{"x":null,"":{"exit_gate":[]}},"gates":[],"workflow_kit":{"phases":{"x":{"artifacts":[{}]}}}}`))
	f.Add([]byte(`{"approval_policy":{"phase_transitions":null},"policies":[{"rule":"require_status","params":{"allowed":{}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, p, err := Decode(data)
		_, p2, err2 := Decode(data)
		if !slices.Equal(p, p2) || (err == nil) != (err2 == nil) {
			t.Fatalf("two readings differ: %v %v", err, err2)
		}
		if err != nil {
			if e, ok := err.(*wire.Error); !ok || e.Code == "" || strings.ContainsAny(e.Message, "\n\r") {
				t.Fatalf("error %#v", err)
			}
			return
		}
		o, oerr := ojson.DecodeObject(data)
		if oerr != nil {
			t.Fatal(oerr)
		}
		cfgCheck(t, o)
	})
}

// cfgAnyValue draws small JSON values of every type.
func cfgAnyValue() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return ojson.Number(rapid.SampledFrom(
				[]string{"0", "-1", "1", "1.5", "1e400", "9007199254740993", "4"}).Draw(t, "number"))
		case 3:
			return rapid.SampledFrom([]string{"", " ", "lead", "human", "../x", "/x", "a.md", "planning", "yes",
				"http://h"}).Draw(t, "text")
		case 4:
			return []any{rapid.SampledFrom([]any{nil, "x", ojson.Number("2"), &ojson.Object{}}).Draw(t, "item")}
		case 5:
			return ojson.NewObject(rapid.SampledFrom([]string{"x", "id", "phases", "limit"}).Draw(t, "key"), "x")
		}
		return []any{}
	})
}

// A full document with any member replaced by any value always gives a Config, never a panic.
func TestDecodeConfigAnyMutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, err := ojson.DecodeObject([]byte(cfgFull))
		if err != nil {
			t.Fatalf("%v", err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			var at ojson.Value = o
			for {
				if a, ok := at.([]any); ok && len(a) > 0 {
					i := rapid.IntRange(0, len(a)-1).Draw(t, "index")
					if rapid.Bool().Draw(t, "stop") {
						a[i] = cfgAnyValue().Draw(t, "value")
						break
					}
					at = a[i]
					continue
				}
				obj, ok := at.(*ojson.Object)
				if !ok || obj.Len() == 0 {
					break
				}
				k := rapid.SampledFrom(slices.Clone(obj.Keys())).Draw(t, "key")
				if rapid.IntRange(0, 3).Draw(t, "stop") == 0 {
					if rapid.Bool().Draw(t, "delete") {
						obj.Delete(k)
					} else {
						obj.Set(k, cfgAnyValue().Draw(t, "value"))
					}
					break
				}
				at, _ = obj.Get(k)
			}
		}
		cfgCheck(t, o)
	})
}

// Phase order is document order, whatever the names are.
func TestPhaseOrderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9_-]{0,6}`), 1, 12, rapid.ID[string]).Draw(t,
			"names")
		routing := &ojson.Object{}
		for _, n := range names {
			routing.Set(n, &ojson.Object{})
		}
		o, err := ojson.DecodeObject([]byte(cfgMinimal))
		if err != nil {
			t.Fatalf("%v", err)
		}
		o.Set("routing", routing)
		c, p := DecodeObject(o)
		if len(p) > 0 || !cmp.Equal(c.Phases(), names) || c.FinalPhase() != names[len(names)-1] {
			t.Fatalf("%v %v", c.Phases(), p)
		}
		for i, n := range names[1:] {
			if c.NextPhase(names[i]) != n {
				t.Fatalf("after %s comes %s", names[i], c.NextPhase(names[i]))
			}
		}
	})
}
