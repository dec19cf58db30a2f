package project

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/docs/schemas"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestMisspeltMembers(t *testing.T) {
	if _, err := ojson.DecodeObject(schemas.Config); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ config, want string }{
		{`{"gates":{"ship":{"requires_humam_approval":true}}}`, "gates.ship.requires_humam_approval -> requires_human_approval"},
		{`{"gates":{"ship":{"requiresHumanApproval":true}}}`, "gates.ship.requiresHumanApproval -> requires_human_approval"},
		{`{"gates":{"ship":{"require_files":[]}}}`, "gates.ship.require_files -> requires_files"},
		{`{"gate":{}}`, "gate -> gates"},
		{`{"roles":{"dev":{"write_authorty":"x"}}}`, "roles.dev.write_authorty -> write_authority"},
		{`{"runtimes":{"a":{"type":"local_cli","comand":["x"]}}}`, "runtimes.a.comand -> command"},
		{`{"policies":[{"id":"a","rul":"x"},{"id":"b","actoin":"block"}]}`, "policies[1].actoin -> action"},
		{`{"rules":{"challenge_requird":true}}`, "rules.challenge_requird -> challenge_required"},
		// Members of another tool, and names that a project chooses, are not mistakes.
		{`{"x_team":{"gates":1},"gates":{"requires_humam_approval":{}},"roles":{"rols":{}},"notes":"x"}`, ""},
		{`{"gates":{"ship":{"requires_human_approval":true,"owner":"me"}}}`, ""},
	} {
		config, err := ojson.DecodeObject([]byte(c.config))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range misspelt(config) {
			if got += p.Field; p.Code != ProblemMisspelt || p.Message == "" {
				t.Errorf("%s: %+v", c.config, p)
			}
			if name := p.Message[len("nothing reads "+p.Field+"; did you mean "):]; name != "" {
				got += " -> " + name[:len(name)-1]
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.config, diff)
		}
	}
}
