// Profiles: which fixtures run by default, and what is known of a target.

package conformance

import (
	"context"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const profiled = `{"fixture_id":"ID","tier":1,"surface":"s","description":"d","type":"t","setup":{},` +
	`"input":{"operation":"o"},"expected":{"result":"success"}MORE}`

func profiledFixture(t *testing.T, id, more string) CorpusFixture {
	t.Helper()
	f, err := ReadFixture([]byte(strings.NewReplacer("ID", id, "MORE", more).Replace(profiled)))
	if err != nil {
		t.Fatal(err)
	}
	return CorpusFixture{id, f}
}

func TestProfileSelects(t *testing.T) {
	c := &Corpus{Fixtures: []CorpusFixture{
		profiledFixture(t, "A", ""), profiledFixture(t, "B", `,"profile":"strict"`),
		profiledFixture(t, "C", `,"profile":"core"`),
	}}
	ids := func(profile string) (out string) {
		for _, f := range c.Select(1, "", profile) {
			out += f.ID
		}
		return out
	}
	if core, strict := ids(ProfileCore), ids(ProfileStrict); core != "AC" || strict != "ABC" {
		t.Errorf("core %s, strict %s", core, strict)
	}
	only := &Corpus{Fixtures: c.Fixtures[1:2]}
	_, err := (&Verifier{
		Capabilities: caps(1),
		Target:       scripted(nil),
		Corpus:       only,
		Tier:         1,
	}).Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "1 belong to the profile strict") {
		t.Errorf("a selection that only strict fills: %v", err)
	}
}

func TestProfileMembers(t *testing.T) {
	for more, want := range map[string]string{
		`,"profile":"lax"`:                           `profile must be "core" or "strict"`,
		`,"profile":null`:                            `profile must be "core" or "strict"`,
		`,"known_deviations":{}`:                     "known_deviations must be an array, not an object",
		`,"known_deviations":[{"version":"1"}]`:      "known_deviations[0] must name implementation, version and reason",
		`,"known_deviations":[1]`:                    "known_deviations[0] must name implementation, version and reason",
		`,"profile":"strict","known_deviations":[]`:  "",
		`,"source":{"document":"d"},"reason":"none"`: "",
	} {
		_, err := ReadFixture([]byte(strings.NewReplacer("ID", "A", "MORE", more).Replace(profiled)))
		if (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v", more, err)
		}
	}
}

// TestKnownDeviation: what is known of a target is selected by its name and version, shown beside a failure, and
// excuses nothing.
func TestKnownDeviation(t *testing.T) {
	known := `,"known_deviations":[{"implementation":"x","version":"2","reason":"it cannot"}]`
	c := &Corpus{Fixtures: []CorpusFixture{
		profiledFixture(t, "A", known), profiledFixture(t, "B", known), profiledFixture(t, "C", known),
		profiledFixture(t, "D", ""),
	}}
	answers := scripted(map[string]Outcome{
		"A": {
			Status:  StatusFail,
			Message: "f",
		}, "B": {Status: StatusError, Message: "e"}, "D": {Status: StatusFail, Message: "f"},
	})
	for _, x := range []struct {
		version string
		known   int
	}{{"2", 2}, {"2.0", 0}, {"", 0}} {
		target := caps(1)
		target.Version = x.version
		r, err := (&Verifier{
			Capabilities: target,
			Target:       answers,
			Corpus:       c,
			Tier:         1,
			Now:          testClock,
		}).Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Count(string(ojson.Compact(r.Object())),
			`"known_deviation":{"implementation":"x","version":"2","reason":"it cannot"}`)
		if r.Known != x.known || said != x.known || r.Overall != StatusError {
			t.Errorf("version %q: %d known, said %d times, %s", x.version, r.Known, said, r.Overall)
		}
		var b strings.Builder
		same := func(s string) string { return s }
		if err := r.WriteText(&b, Ink{Bold: same, Good: same, Bad: same, Faint: same, Safe: same}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "known deviation of x 2: it cannot"); n != x.known {
			t.Errorf("version %q: the text says it %d times", x.version, n)
		}
	}
}
