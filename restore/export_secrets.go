// Secrets keep an artifact from being made: it is meant to be passed on.

package restore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// CodeSecretFound is the refusal to export files that hold a secret.
const CodeSecretFound = "secret_found"

// maxSecrets is how many secrets a refusal names.
const maxSecrets = 20

// secretSearch looks through the files of an artifact.
type secretSearch struct {
	allowed []string
	found   []*ojson.Object
	prints  []string // fingerprints of what was found, each once
	more    int
}

func (s *secretSearch) look(f *fileRead) {
	if f.err != nil {
		return
	}
	for _, x := range secrets.Find(f.content) {
		switch {
		case slices.Contains(s.allowed, x.Fingerprint):
			continue
		case len(s.found) == maxSecrets:
			s.more++
			continue
		case !slices.Contains(s.prints, x.Fingerprint):
			s.prints = append(s.prints, x.Fingerprint)
		}
		s.found = append(s.found, ojson.NewObject("path", f.path, "line", x.Line, "rule", x.Rule, "fingerprint", x.Fingerprint))
	}
}

// refusal names what was found by file, line and rule, never by value.
func (s *secretSearch) refusal() error {
	if len(s.found) == 0 {
		return nil
	}
	var places []string
	for _, o := range s.found {
		line, _ := o.Int("line")
		places = append(places, fmt.Sprintf("%s:%d (%s, %s)", text.OneLine(o.String("path")), line, o.String("rule"), o.String("fingerprint")))
	}
	if s.more > 0 {
		places = append(places, fmt.Sprintf("and %d more", s.more))
	}
	return &protocol.Error{
		Code:    CodeSecretFound,
		Field:   s.found[0].String("path"),
		Message: "Files of the run hold what looks like secrets: " + strings.Join(places, ", ") + ".",
		Hint:    "revoke the secret and take it out of the file; or, when it is none: git agentxchain export --allow-secret " + strings.Join(s.prints, " --allow-secret "),
		Details: ojson.NewObject("secrets", s.found, "more", s.more),
	}
}
