// Notes of refusals that are not recorded in a run: the newest of each code.

package gitstore

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
)

// maxRefusal bounds the note of a refusal, in bytes.
const maxRefusal = 1 << 20

// refusalCode reports whether s can be a code: lower-case letters, digits and "_" after a letter, at most 64.
func refusalCode(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= 64 && strings.Contains(letters, s[:1]) && strings.Trim(s, letters+"0123456789_") == ""
}

func refusalName(code string) string { return "refused-" + code + ".json" }

// NoteRefusal saves the chain of a refusal in the private directory of this work tree. It is not part of the run or
// its record.
func (s *Store) NoteRefusal(c *verdict.Chain) error {
	data := ojson.Pretty(c.Object())
	if !refusalCode(c.Code) || len(data) > maxRefusal {
		return nil
	}
	return private.Write(s.repo, refusalName(c.Code), data)
}

// Refusal returns the newest note of a refusal with the code, nil if there is none.
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
		return nil, nil // truncated by a crash: ignore it
	}
	c := &verdict.Chain{}
	if errs := ojson.Unmarshal(o, c); len(errs) > 0 {
		return nil, nil
	}
	return c, nil
}
