// The journal of putting files in place.

package incoming

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Journal is the note in the git directory that a restore is in progress. The next command that finds it undoes the
// restore if it is not ready, and completes it otherwise.
type Journal struct {
	Ready   bool
	Joins   bool   // two records are joined; no file is staged, and only what was brought has to be dropped
	Dir     string // project-relative: staged files in new/, displaced ones in kept/
	Run     string
	Refs    []git.RefUpdate
	Actions []Action
	Empty   []string // directories to remove if they are empty
}

func (j *Journal) Staged() string { return j.Dir + "/new" }
func (j *Journal) Kept() string   { return j.Dir + "/kept" }

// Key returns an identifier of this restore that can be part of a ref name.
func (j *Journal) Key() string {
	var b strings.Builder
	for _, r := range path.Base(j.Dir) {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// MaxJournal bounds the journal, in bytes: two hundred thousand long paths fit.
const MaxJournal = 1 << 30

func (j *Journal) Encode() []byte {
	actions := make([]any, len(j.Actions))
	for i, a := range j.Actions {
		actions[i] = []any{a.Action, a.Path}
	}
	refs := []any{}
	for _, u := range j.Refs {
		refs = append(refs, []any{u.Name, string(u.Old), string(u.New)})
	}
	return private.Seal(ojson.Compact(ojson.NewObject("ready", j.Ready, "joins", j.Joins, "dir", j.Dir, "run", j.Run, "refs", refs,
		"actions", actions, "empty", append([]string{}, j.Empty...))))
}

var errJournal = errors.New("it is not what a restore writes")

// DecodeJournal parses the output of Encode. Anything else is an error.
func DecodeJournal(data []byte) (*Journal, error) {
	d, err := private.Unseal(data)
	if err != nil {
		return nil, errJournal
	}
	v, err := ojson.DecodeLimited(d.Rest(), ojson.Limits{Bytes: MaxJournal, Depth: 8})
	o, ok := v.(*ojson.Object)
	if err != nil || !ok {
		return nil, errJournal
	}
	j := &Journal{Dir: o.String("dir"), Run: o.String("run")}
	j.Ready, j.Joins = o.Bool("ready"), o.Bool("joins")
	name, ok := strings.CutPrefix(j.Dir, record.ProjectDir+"/transactions/restore-")
	if !ok || strings.Contains(name, "/") {
		return nil, errJournal
	}
	for _, row := range o.Array("refs") {
		t, ok := git.RowTexts(row, 3)
		if !ok || !git.SafeRefName(t[0]) {
			return nil, errJournal
		}
		j.Refs = append(j.Refs, git.RefUpdate{Name: t[0], Old: object.OID(t[1]), New: object.OID(t[2])})
	}
	for _, row := range o.Array("actions") {
		t, ok := git.RowTexts(row, 2)
		if !ok || !fs.ValidPath(t[1]) || t[1] == "." {
			return nil, errJournal
		}
		j.Actions = append(j.Actions, Action{Action: t[0], Path: t[1]})
	}
	for _, dir := range o.Strings("empty") {
		if !fs.ValidPath(dir) || dir == "." {
			return nil, errJournal
		}
		j.Empty = append(j.Empty, dir)
	}
	return j, nil
}
