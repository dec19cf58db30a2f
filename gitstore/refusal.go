// Notes of refusals that left no trace in a run: the newest of each code.

package gitstore

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
)

// maxRefusal bounds the note of a refusal, bytes.
const maxRefusal = 1 << 20

// refusalCode reports whether s can be a code: small letters, digits and "_" behind a
// letter, 64 at most.
func refusalCode(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= 64 && strings.Contains(letters, s[:1]) && strings.Trim(s, letters+"0123456789_") == ""
}

func refusalName(code string) string { return "refused-" + code + ".json" }

// NoteRefusal keeps the chain of a refusal in the private directory of this work tree.
// It is nothing of the run and not part of its record.
func (s *Store) NoteRefusal(c *verdict.Chain) error {
	data := ojson.Pretty(c.Object())
	if !refusalCode(c.Code) || len(data) > maxRefusal {
		return nil
	}
	return private.Write(s.repo, refusalName(c.Code), data)
}

// Refusal is the newest note of a refusal with the code, nil without one.
func (s *Store) Refusal(code string) (*verdict.Chain, error) {
	if !refusalCode(code) {
		return nil, nil
	}
	data, err := private.Read(s.repo, refusalName(code), maxRefusal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, nil // cut short by a crash: there is no note
	}
	c := &verdict.Chain{}
	if errs := ojson.Unmarshal(o, c); len(errs) > 0 {
		return nil, nil
	}
	return c, nil
}
