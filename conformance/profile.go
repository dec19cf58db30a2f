// Profiles of a corpus: what the protocol's documents require, and what we require beyond them
// (docs/conformance.md#profiles).

package conformance

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Profiles of fixtures. A fixture that names none, as in the public corpus, is a
// core fixture; strict runs the core fixtures too.
const (
	ProfileCore   = "core"
	ProfileStrict = "strict"
)

// Profiles lists them, the default first.
func Profiles() []string { return []string{ProfileCore, ProfileStrict} }

// Deviation is a version of an implementation that is known to break a fixture's rule, as recorded in the corpus.
type Deviation struct{ Implementation, Version, Reason string }

// profile reads the members that classify a fixture: profile and known_deviations.
func profile(o *ojson.Object, bad []string) (string, []Deviation, []string) {
	p := ProfileCore
	if v, has := o.Get("profile"); has {
		if p, _ = v.(string); p != ProfileCore && p != ProfileStrict {
			bad = append(bad, fmt.Sprintf("profile must be %q or %q", ProfileCore, ProfileStrict))
		}
	}
	v, has := o.Get("known_deviations")
	if !has {
		return p, nil, bad
	}
	list, ok := v.([]any)
	if !ok {
		return p, nil, append(bad, "known_deviations must be an array, not "+ojson.TypeName(v))
	}
	var out []Deviation
	for i, v := range list {
		row, _ := v.(*ojson.Object)
		d := Deviation{row.String("implementation"), row.String("version"), row.String("reason")}
		if blank(d.Implementation) || blank(d.Version) || blank(d.Reason) {
			bad = append(bad, fmt.Sprintf("known_deviations[%d] must name implementation, version and reason", i))
		}
		out = append(out, d)
	}
	return p, out, bad
}

// deviation returns what the corpus knows about the implementation and version of a capabilities document, or nil.
func (f *Fixture) deviation(c *Capabilities) *Deviation {
	for i, d := range f.Deviations {
		if d.Implementation == c.Implementation && d.Version == c.Version {
			return &f.Deviations[i]
		}
	}
	return nil
}
