// Tests of the non-progress guard (docs/spec/lifecycle.md#lack-of-progress).

package gates

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

func TestNonProgress(t *testing.T) {
	c := gateConfig(func(c *config.Config) {
		for _, p := range []string{"plan", "build", "ship"} {
			c.Gate(p + "_gate").RequiresFiles = []string{"z.md", "a.md"}
		}
		c.Gate("build_gate").RequiresHuman = true
	})
	in := Input{Config: c, Files: filesOf("x", "")}
	// The guard finds the right request in every phase, including the last.
	for _, phase := range []string{"plan", "build", "ship"} {
		in.Phase = phase
		first := NonProgress(NonProgressInput{Gate: in})
		want := NonProgressResult{Count: 1, GateID: phase + "_gate", FailingFiles: []string{"z.md", "a.md"},
			Signature: phase + "_gate::a.md,z.md::Required file missing: a.md,Required file missing: z.md"}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Errorf("%s: %s", phase, diff)
		}
		again := NonProgress(NonProgressInput{
			Gate:      in,
			Signature: first.Signature,
			Count:     2,
			Declared:  []string{"src/other"},
		})
		if again.Count != 3 || again.Signature != first.Signature {
			t.Errorf("%s repeated: %+v", phase, again)
		}
		touched := NonProgress(NonProgressInput{
			Gate:      in,
			Signature: first.Signature,
			Count:     2,
			Declared:  []string{"a.md"},
		})
		if touched.Count != 1 {
			t.Errorf("%s with a gated file touched: %+v", phase, touched)
		}
		other := NonProgress(NonProgressInput{Gate: in, Signature: "something else", Count: 2})
		if other.Count != 1 {
			t.Errorf("%s with another signature: %+v", phase, other)
		}
	}
}

func TestNonProgressSemanticFailure(t *testing.T) {
	c := gateConfig(func(c *config.Config) { c.Gate("plan_gate").RequiresFiles = []string{".planning/PM_SIGNOFF.md"} })
	in := Input{Config: c, Phase: "plan", Files: filesOf(".planning/PM_SIGNOFF.md", "Approved: NO")}
	first := NonProgress(NonProgressInput{Gate: in})
	if len(first.FailingFiles) != 1 {
		t.Fatalf("got %+v", first)
	}
	// Editing the document is work on the gate even if the verdict stays.
	if got := NonProgress(NonProgressInput{
		Gate:      in,
		Signature: first.Signature,
		Count:     2,
		Declared:  []string{".planning/PM_SIGNOFF.md"},
	}); got.Count != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestNonProgressWithoutFailure(t *testing.T) {
	c := gateConfig(func(c *config.Config) {
		c.Gate("build_gate").RequiresHuman = true
		c.Route("ship").ExitGate = ""
	})
	request := "nowhere"
	for _, phase := range []string{"plan", "build", "ship", "gone"} {
		got := NonProgress(NonProgressInput{
			Gate:      Input{Config: c, Phase: phase, TransitionRequest: &request},
			Signature: "s",
			Count:     2,
		})
		if diff := cmp.Diff(NonProgressResult{}, got); diff != "" {
			t.Errorf("%s: %s", phase, diff)
		}
	}
}

func TestNonProgressVerificationOnly(t *testing.T) {
	c := gateConfig(func(c *config.Config) { c.Gate("plan_gate").RequiresVerify = true })
	in := Input{Config: c, Phase: "plan", VerificationStatus: "fail"}
	first := NonProgress(NonProgressInput{Gate: in})
	if got := NonProgress(NonProgressInput{
		Gate:      in,
		Signature: first.Signature,
		Count:     first.Count,
		Declared:  []string{"src/a"},
	}); got.Count != 2 {
		t.Errorf("got %+v", got)
	}
}
