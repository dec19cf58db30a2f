// Secrets prevent an export, because an artifact is meant to be passed on.

package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeSecretFound is the code for refusing to export files that hold a secret.
const CodeSecretFound = "secret_found"

// maxSecrets is how many secrets an error lists.
const maxSecrets = 20

// secretSearch searches the files of an artifact for secrets.
type secretSearch struct {
	allowed []string
	found   []*ojson.Object
	history bool     // something was found in the run's history
	prints  []string // fingerprints of the findings, each once
	more    int
}

func (s *secretSearch) look(f *fileRead) {
	if f.err != nil {
		return
	}
	s.search(f.path, f.content)
}

// lookBack searches the history that a bundle would pass on: what every operation recorded, even if the current
// files differ.
func (s *secretSearch) lookBack(ctx context.Context, repo *git.Repository, refs []git.Ref) error {
	before := len(s.found) + s.more
	err := repo.EachObject(ctx, refs, func(oid object.OID, kind, path string, data []byte) error {
		if path == "" {
			path = kind
		}
		s.search(path+"@"+oid.Short(), data)
		return nil
	})
	s.history = len(s.found)+s.more > before
	return err
}

func (s *secretSearch) search(path string, content []byte) {
	for _, x := range secrets.Find(content) {
		switch {
		case slices.Contains(s.allowed, x.Fingerprint):
			continue
		case len(s.found) == maxSecrets:
			s.more++
			continue
		case !slices.Contains(s.prints, x.Fingerprint):
			s.prints = append(s.prints, x.Fingerprint)
		}
		s.found = append(s.found,
			ojson.NewObject("path", path, "line", x.Line, "rule", x.Rule, "fingerprint", x.Fingerprint))
	}
}

// places lists the findings by file, line, rule and fingerprint.
func (s *secretSearch) places() string {
	var places []string
	for _, o := range s.found {
		line, _ := o.Int("line")
		places = append(places, fmt.Sprintf("%s:%d (%s, %s)", text.OneLine(o.String("path")), line, o.String("rule"),
			o.String("fingerprint")))
	}
	if s.more > 0 {
		places = append(places, fmt.Sprintf("and %d more", s.more))
	}
	return strings.Join(places, ", ")
}

// refusal lists the findings by file, line and rule, never by value.
func (s *secretSearch) refusal() error {
	if len(s.found) == 0 {
		return nil
	}
	where, way := "Files of the run hold", "revoke the secret and take it out of the file; or,"
	switch {
	case s.history:
		where, way = "The run's history holds",
			"revoke the secret and export without --bundle, since what was recorded stays; or,"
	case slices.ContainsFunc(s.found, func(o *ojson.Object) bool {
		path := o.String("path")
		return wire.Operational(path) && !wire.Authored(path)
	}):
		// Who takes it out of a ledger has a run that was tampered with.
		way = "revoke the secret; its record cannot be edited. Then, or"
	}
	return &wire.Error{
		Code:    CodeSecretFound,
		Field:   s.found[0].String("path"),
		Message: where + " what looks like secrets: " + s.places() + ".",
		Hint: way + " when it is none: git agentxchain export --allow-secret " + strings.Join(s.prints,
			" --allow-secret "),
		Details: ojson.NewObject("secrets", s.found, "more", s.more),
	}
}
