// Tests of the member authority.

package config

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func withAuthority(t *testing.T, text string) (*Config, []string) {
	t.Helper()
	doc, err := ojson.DecodeObject([]byte(`{"schema_version":"1.0","project":{"id":"p","name":"P"},
		"roles":{"pm":{"title":"PM","mandate":"m","write_authority":"review_only","runtime":"man"}},
		"runtimes":{"man":{"type":"manual"}},
		"routing":{"planning":{"entry_role":"pm","allowed_next_roles":["pm","human"],"exit_gate":"g"}},
		"gates":{"g":{}},"authority":` + text + `}`))
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := DecodeObject(doc)
	var codes []string
	for _, p := range problems {
		codes = append(codes, p.Code+" "+p.Field)
	}
	return cfg, codes
}

func TestAuthority(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "",
		`{"approvers":{"a":{"principals":["x@y"]}},"gates":{"g":{"by":"a"}},"signoff_documents":"person"}`: "",
		`{"approvers":{"a":{"principals":["x@y","z@y"],"threshold":2}},"acts":{"by":"a","signed":true}}`:   "",
		`{"approvers":{"a":{"principals":[]}}}`:                                                            "invalid_authority authority.approvers.a.principals",
		`{"approvers":{"a":{}}}`:                                                                           "invalid_authority authority.approvers.a.principals",
		`{"approvers":{"a":{"principals":["x@y","x@y"]}}}`:                                                 "invalid_authority authority.approvers.a.principals",
		`{"approvers":{"a":{"principals":["x@y"],"threshold":2}}}`:                                         "invalid_authority authority.approvers.a.threshold",
		`{"approvers":{"a":{"principals":["x@y"],"threshold":0}}}`:                                         "invalid_authority authority.approvers.a.threshold",
		`{"approvers":{"a":{"principals":["x@y"]}},"gates":{"h":{"by":"a"}}}`:                              "undeclared_gate_reference authority.gates.h",
		`{"gates":{"g":{"by":"a"}}}`:                                                                       "invalid_authority authority.gates.g.by",
		`{"gates":{"g":{}}}`:                                                                               "invalid_authority authority.gates.g.by",
		`{"approvers":{"a":{"principals":["x@y"]}},"gates":{"g":{"by":"a","signed":1}}}`:                   "invalid_authority authority.gates.g.signed",
		`{"signoff_documents":"agents"}`:                                                                   "invalid_authority authority.signoff_documents",
		`{"approvers":[]}`:                                                                                 "invalid_authority authority.approvers",
		`7`:                                                                                                "invalid_authority authority",
	} {
		_, codes := withAuthority(t, text)
		if got := strings.Join(codes, "; "); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// An unreadable member makes the rule stricter, not weaker.
func TestAuthorityFailsClosed(t *testing.T) {
	cfg, _ := withAuthority(t, `{"approvers":{"a":{"principals":["x@y"]}},
		"gates":{"g":{"by":"a","signed":"no","not_author":0}},"signoff_documents":7}`)
	r := cfg.GateRule("g")
	if r == nil || !r.Signed || !r.NotAuthor || !cfg.PersonSigns() {
		t.Errorf("%+v, signs %v", r, cfg.PersonSigns())
	}
	cfg, _ = withAuthority(t, `{"gates":{"g":{"by":"missing"}}}`)
	if r := cfg.GateRule("g"); r == nil || len(r.Principals) != 0 {
		t.Errorf("a gate of an unknown group is open to all: %+v", r)
	}
}
