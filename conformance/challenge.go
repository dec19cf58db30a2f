// Challenges: questions that only an adapter which really runs fixtures can answer
// (docs/compatibility.md#where-we-differ-on-purpose 1).

package conformance

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Kinds of challenges. Each is sent, or derived, in addition to a fixture that passed.
const (
	// The actual that came with the pass must satisfy the expectation.
	ChallengeActual = "actual"
	// With an expectation that no true outcome satisfies, the answer must be fail.
	ChallengeExpectation = "expectation"
	// With every run, turn, event and decision id and the fixture's own id replaced, the answer must still be pass.
	ChallengeIDs = "ids"
	// The same for the names of roles, phases, gates, runtimes, repositories and
	// workstreams.
	ChallengeNames = "names"
)

// Challenger makes challenges; the same seed makes the same ones. Variants whose answer follows from the protocol
// are first run with this program's own engine, except those that would start programs, and are not sent when it
// answers otherwise: an adapter must not be blamed for an unsound variant.
type Challenger struct {
	Seed   uint64
	oracle Adapter
	pool   map[string][]string // member name -> texts expected of it anywhere in the corpus
}

// NewChallenger prepares challenges for the fixtures of a corpus.
func NewChallenger(c *Corpus, seed uint64) *Challenger {
	ch := &Challenger{Seed: seed, pool: make(map[string][]string)}
	seen := make(map[string]bool)
	for _, f := range c.Fixtures {
		if o, ok := f.Expected.(*ojson.Object); ok {
			for k, v := range o.All() {
				if s, ok := v.(string); ok && !seen[k+"\x00"+s] {
					seen[k+"\x00"+s] = true
					ch.pool[k] = append(ch.pool[k], s)
				}
			}
		}
	}
	return ch
}

// Challenges is the section of a report about them. Failed is in fixture order.
type Challenges struct {
	Seed   uint64
	Run    int
	Failed []ChallengeFailure
}

// ChallengeFailure is a challenge that was answered wrongly.
type ChallengeFailure struct {
	ID      ojson.Value // the fixture_id of the challenged fixture
	Surface ojson.Value
	Kind    string
	Want    Status
	Got     Status
	Message string
	Actual  ojson.Value
}

func (c *Challenges) addTo(o *ojson.Object) {
	rows := []any{}
	for _, f := range c.Failed {
		rows = append(rows, ojson.NewObject("fixture_id", f.ID, "surface", f.Surface, "challenge", f.Kind,
			"expected_status", string(f.Want), "status", string(f.Got), "message", f.Message, "actual", f.Actual))
	}
	o.Set("challenge_seed", fmt.Sprint(c.Seed)) // as text: readers lose digits of large numbers
	o.Set("challenges_run", c.Run)
	o.Set("challenges_failed", len(c.Failed))
	o.Set("challenges", rows)
}

// variant is a changed fixture and the answer it must get.
type variant struct {
	kind    string
	fixture *Fixture
	want    Status
	truth   ojson.Value // what the outcome must satisfy, whatever the expectation
	what    string      // how it differs, for messages
}

// challenge runs all challenges of a fixture that passed. It returns their number and those answered wrongly.
func (c *Challenger) challenge(ctx context.Context, t Target, f CorpusFixture,
	first Outcome) (run int, failed []ChallengeFailure) {
	id, _ := f.Raw.Get("fixture_id")
	surface, _ := f.Raw.Get("surface")
	fail := func(kind string, want, got Status, actual ojson.Value, format string, args ...any) {
		failed = append(failed,
			ChallengeFailure{id, surface, kind, want, got, fmt.Sprintf(format, args...), keptActual(actual)})
	}
	run = 1
	if m := Compare(f.Expected, first.Actual); m != nil {
		fail(ChallengeActual, StatusPass, first.Status, first.Actual,
			"the answer was pass, but its actual does not satisfy the expectation: %v", m)
	}
	for _, v := range c.variants(f) {
		if ctx.Err() != nil {
			return run, failed
		}
		run++
		o := t.Execute(ctx, v.fixture)
		switch {
		case o.Status != v.want:
			fail(v.kind, v.want, o.Status, o.Actual, "%s, the answer must be %s, not %s: %s", v.what, v.want, o.Status,
				text.Clip(o.Message, 300))
		case o.Status == StatusPass || o.Actual != nil:
			if m := Compare(v.truth, o.Actual); m != nil {
				fail(v.kind, v.want, o.Status, o.Actual,
					"%s, the answer is %s, but its actual is not the outcome of this fixture: %v", v.what, o.Status, m)
			}
		}
	}
	return run, failed
}

// variants returns the variants of a fixture: its own ids with another expectation; other ids; other ids with
// another expectation; other names.
func (c *Challenger) variants(f CorpusFixture) []variant {
	h := fnv.New64a()
	_, _ = h.Write([]byte(f.Path))
	rng := rand.New(rand.NewPCG(c.Seed, h.Sum64()))
	var out []variant
	add := func(v variant) bool {
		ok := v.fixture != nil && c.sound(v)
		if ok {
			out = append(out, v)
		}
		return ok
	}
	add(c.altered(f.Fixture, rng, false, ""))
	ids := idRenames(f.Fixture, rng)
	if renamed := rename(f.Fixture, ids, rng); renamed != nil {
		what := "with other ids" + ids.list()
		if add(variant{ChallengeIDs, renamed, StatusPass, renamed.Expected, what}) {
			add(c.altered(renamed, rng, true, what+" and "))
		}
	}
	if v, ok := c.otherNames(f.Fixture, rng); ok {
		add(v)
	}
	return out
}

// altered returns f with another expectation.
func (c *Challenger) altered(f *Fixture, rng *rand.Rand, structure bool, prefix string) variant {
	a, ok := c.alter(f.Expected, rng, structure)
	if !ok {
		return variant{}
	}
	raw := f.Raw.Clone()
	raw.Set("expected", a.expected)
	if prefix == "" {
		prefix = "with "
	}
	changed, _ := shape(raw)
	return variant{ChallengeExpectation, changed, StatusFail, f.Expected, prefix + "another expectation at " + a.where}
}

// otherNames renames as many names as this program's engine does not depend on.
func (c *Challenger) otherNames(f *Fixture, rng *rand.Rand) (variant, bool) {
	all := nameRenames(f, rng)
	make := func(m *renames) (variant, bool) {
		renamed := rename(f, m, rng)
		if m.empty() || renamed == nil {
			return variant{}, false
		}
		v := variant{ChallengeNames, renamed, StatusPass, renamed.Expected, "with other names" + m.list()}
		return v, c.sound(v)
	}
	if v, ok := make(all); ok {
		return v, true
	}
	// Some name cannot be changed here: it is a default, or a word of the protocol.
	kept := &renames{names: true}
	var best variant
	found := false
	for _, old := range all.order {
		try := kept.with(old, all.to[old])
		if v, ok := make(try); ok {
			kept, best, found = try, v, true
		}
	}
	return best, found
}

// sound reports whether this program's engine gives a variant the required answer, or cannot run it.
func (c *Challenger) sound(v variant) bool {
	if startsPrograms(v.fixture) {
		return true
	}
	r := c.oracle.Execute(ojson.Compact(v.fixture.Raw))
	return r.Status == v.want || r.Status == StatusNotImplemented
}

// list returns the renamed words, for messages.
func (m *renames) list() string {
	if m.empty() {
		return ""
	}
	words := make([]string, 0, len(m.order))
	for _, old := range m.order {
		words = append(words, old+" is "+m.to[old])
	}
	return " (" + text.Clip(strings.Join(words, ", "), 300) + ")"
}
