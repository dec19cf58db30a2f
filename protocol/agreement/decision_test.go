package agreement

import (
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// A person who has agreed is not waited for, however the address is written.
func TestUnheard(t *testing.T) {
	r := &config.GateRule{Principals: []string{"ann@example.org", "bob@example.org", "cleo@example.org"}}
	votes := []*run.Vote{{Principal: "Bob@Example.org"}, {Principal: "dan@example.org"}}
	if got := Unheard(r, votes); !slices.Equal(got, []string{"ann@example.org", "cleo@example.org"}) {
		t.Errorf("%q are waited for", got)
	}
	if len(r.Principals) != 3 {
		t.Errorf("the rule is now of %q", r.Principals)
	}
}
