// A report keeps an adapter's answer up to a bound.

package conformance

import (
	"context"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestReportKeepsAnswersBounded(t *testing.T) {
	huge := ojson.NewObject("text", strings.Repeat("x", 2*maxKeptActual))
	size := len(ojson.Compact(huge))
	just := strings.Repeat("x", maxKeptActual-2) // and its quotes
	c := testCorpus(t, "A 1 s", "B 1 s", "C 1 s", "D 1 s")
	v := &Verifier{Capabilities: caps(1), Corpus: c, Tier: 1, Target: scripted(map[string]Outcome{
		"A": {Status: StatusFail, Message: strings.Repeat("é", maxKeptMessage), Actual: huge},
		"B": {Status: StatusError, Message: "b", Actual: []any{huge}},
		"C": {Status: StatusFail, Message: "c", Actual: just},
		"D": {Status: StatusPass, Message: "d", Actual: huge},
	})}
	r, err := v.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	fails, errs := r.Tiers[0].Failures, r.Tiers[0].Errors
	if len(fails) != 2 || len(errs) != 1 || r.Tiers[0].Count.Passed != 1 {
		t.Fatalf("%d failures, %d errors", len(fails), len(errs))
	}
	if n := len(fails[0].Message); n > maxKeptMessage+len("…") {
		t.Errorf("a message of %d bytes is kept", n)
	}
	if want := ojson.NewObject("omitted_bytes", size); !ojson.Equal(fails[0].Actual, want) {
		t.Errorf("actual: %.100s", ojson.Compact(fails[0].Actual))
	}
	if want := ojson.NewObject("omitted_bytes", size+2); !ojson.Equal(errs[0].Actual, want) {
		t.Errorf("actual: %.100s", ojson.Compact(errs[0].Actual))
	}
	if fails[1].Actual != just {
		t.Error("an actual at the bound is not kept as it is")
	}
}

// TestChallengesKeepAnswersBounded: the whole of an actual is compared before it
// is cut.
func TestChallengesKeepAnswersBounded(t *testing.T) {
	c := testCorpus(t, "A 1 s")
	pad := strings.Repeat("x", 2*maxKeptActual)
	v := &Verifier{Capabilities: caps(1), Corpus: c, Tier: 1, Challenger: NewChallenger(c, 1),
		Target: stub(func(*Fixture) Outcome {
			return Outcome{Status: StatusPass, Message: "m", Actual: ojson.NewObject("pad", pad)}
		})}
	r, err := v.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Challenges.Failed) == 0 {
		t.Fatal("an adapter that always passes is not caught")
	}
	for _, f := range r.Challenges.Failed {
		if len(ojson.Compact(f.Actual)) > maxKeptActual || len(f.Message) > maxKeptMessage {
			t.Errorf("%s keeps %d bytes", f.Kind, len(ojson.Compact(f.Actual)))
		}
	}
}
