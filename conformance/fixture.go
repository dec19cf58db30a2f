// A fixture document: its members, their shapes, and how its text is read (docs/conformance.md#our-own-corpus).

package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Bounds of a fixture document. The public corpus stays below 10 KiB and ten levels of nesting.
const (
	MaxFixtureBytes = 16 << 20
	maxFixtureDepth = 80
)

// Fixture is a decoded fixture. Setup and Args are never nil.
type Fixture struct {
	ID          string // fixture_id as text, for messages only
	Tier        int    // 1, 2 or 3
	Surface     string
	Description string
	Profile     string // ProfileCore or ProfileStrict
	Deviations  []Deviation
	Operation   string
	Setup       *ojson.Object
	Args        *ojson.Object
	Expected    ojson.Value
	Raw         *ojson.Object
}

// setupKeys lists the setup members in the order of docs/conformance.md#our-own-corpus.
func setupKeys() []string {
	return []string{
		"config", "state", "turn_result", "history", "ledger", "filesystem", "dispatch_bundle",
		"post_finalize_inject", "post_finalize_tamper", "post_finalize_delete", "post_finalize_delete_manifest",
		"post_finalize_corrupt_manifest", "coordinator_config", "repos", "coordinator_state", "barriers",
		"coordinator_history", "barrier_ledger",
	}
}

// ReadFixture decodes a fixture: strict UTF-8, bounded, no duplicate members.
func ReadFixture(data []byte) (*Fixture, error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: MaxFixtureBytes, Depth: maxFixtureDepth})
	if err != nil {
		return nil, fmt.Errorf("the fixture is not valid JSON: %w", err)
	}
	return newFixture(v)
}

// newFixture checks the shape of a decoded fixture. The error has all findings, joined by "; ", in the words of
// docs/conformance.md#our-own-corpus. The fixture refers to v, which must not be changed afterwards.
func newFixture(v ojson.Value) (*Fixture, error) {
	f, bad := shape(v)
	if len(bad) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(bad, "; "))
	}
	return f, nil
}

// shape does the work of NewFixture and returns the findings separately.
func shape(v ojson.Value) (*Fixture, []string) {
	o, ok := v.(*ojson.Object)
	if !ok || o == nil {
		return nil, []string{"fixture must be a JSON object"}
	}
	var bad []string
	for _, name := range []string{"fixture_id", "tier", "surface", "description", "type", "setup", "input",
		"expected"} {
		if !o.Has(name) {
			bad = append(bad, fmt.Sprintf("missing required field %q", name))
		}
	}
	f := &Fixture{
		Raw:         o,
		ID:          textOf(o, "fixture_id"),
		Surface:     textOf(o, "surface"),
		Description: textOf(o, "description"),
	}
	f.Profile, f.Deviations, bad = profile(o, bad)
	if o.Has("tier") {
		if f.Tier, _ = o.Int("tier"); f.Tier < 1 || f.Tier > 3 {
			bad = append(bad, "tier must be 1, 2, or 3")
		}
	}
	if o.Has("input") {
		bad = append(bad, f.input(o)...)
	}
	if v, has := o.Get("setup"); has {
		if f.Setup, ok = v.(*ojson.Object); !ok && v != nil {
			bad = append(bad, "setup must be an object, not "+ojson.TypeName(v))
		}
	}
	if f.Setup == nil {
		f.Setup = ojson.NewObject()
	}
	f.Expected, _ = o.Get("expected")
	return f, bad
}

func (f *Fixture) input(o *ojson.Object) (bad []string) {
	f.Args = ojson.NewObject()
	in := o.Object("input")
	if in == nil {
		return []string{"input must be an object"}
	}
	if f.Operation = in.String("operation"); blank(f.Operation) {
		bad = append(bad, "input.operation must be a non-empty string")
	}
	if v, _ := in.Get("args"); v != nil {
		args, ok := v.(*ojson.Object)
		if !ok {
			return append(bad, "input.args must be an object, not "+ojson.TypeName(v))
		}
		f.Args = args
	}
	return bad
}

// textOf returns a member as text; ids and surfaces are compared, never parsed.
func textOf(o *ojson.Object, key string) string {
	switch v := o.Value(key).(type) {
	case string:
		return v
	case ojson.Number:
		return string(v)
	}
	return ""
}

// checkSetup refuses setup members that the operation would ignore: a fixture judged without a part of its setup
// proves nothing.
func (f *Fixture) checkSetup(allowed []string) error {
	for k, v := range f.Setup.All() {
		switch {
		case !slices.Contains(setupKeys(), k):
			return fmt.Errorf("setup.%s is not a setup member this adapter knows", text.Clip(k, 80))
		case v != nil && !slices.Contains(allowed, k):
			return fmt.Errorf("setup.%s has no effect on the operation %s", k, f.Operation)
		}
	}
	return nil
}
