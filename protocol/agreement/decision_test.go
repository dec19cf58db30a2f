package agreement

import (
	"slices"
	"strings"
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

// A person whom no rule names is sent to those whose yes would count, not to one whom another rule leaves out.
func TestAsksOnlyThoseWhoCount(t *testing.T) {
	ours := &config.GateRule{Principals: []string{"ann@example.org", "bob@example.org"}, Threshold: 1}
	for others, want := range map[string]string{
		"bob@example.org": "ask bob@example.org: ",
		"dan@example.org": "too few people are left",
	} {
		theirs := &config.GateRule{Principals: []string{others}, Threshold: 1}
		d := &Decision{Gate: "ship", Rules: []*config.GateRule{ours, theirs}}
		if got := d.Excludes("eve@example.org"); got == nil || !strings.HasPrefix(got.Hint, want) {
			t.Errorf("%+v", got)
		}
	}
}
