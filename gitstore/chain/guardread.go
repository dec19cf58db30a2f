// What guards ask of a repository besides its runs: new commits with their claims, the history of one file, and
// single files held by runs.

package chain

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// MaxNewCommits bounds the commits that are listed at once, and thereby memory: each takes some hundred bytes.
const MaxNewCommits = 500000

// CommitAlone returns the parents and the message of one commit, without starting git.
func CommitAlone(ctx context.Context, r *git.Repository, commit object.OID) (parents []object.OID, message string,
	err error) {
	c, err := record.NewReader(ctx, r).Commit(commit)
	if err != nil {
		return nil, "", err
	}
	return c.Parents, c.Message, nil
}

// EntryAt returns the entry of a commit's tree at a path, without reading it: "" when there is none.
func EntryAt(ctx context.Context, r *git.Repository, commit object.OID, path string) (object.OID, object.Mode, error) {
	t := record.NewReader(ctx, r)
	c, err := t.Commit(commit)
	if err != nil {
		return "", 0, err
	}
	e, ok, err := t.Lookup(c.Tree, path)
	if err != nil || !ok {
		return "", 0, err
	}
	return e.OID, e.Mode, nil
}

// Versions lists the contents of a document that the newest limit operations recorded, each content once, newest
// first.
func (x *RunRecord) Versions(d wire.Document, limit int) ([]object.OID, error) {
	var out []object.OID
	seen := make(map[object.OID]bool)
	for op := x.Op; op != "" && limit > 0; limit-- {
		c, err := x.rec.Reader.Commit(op)
		if err != nil {
			return nil, err
		}
		e, ok, err := x.rec.Reader.Lookup(c.Tree, record.DocumentFile(d))
		if err != nil {
			return nil, err
		}
		if ok && !seen[e.OID] {
			seen[e.OID] = true
			out = append(out, e.OID)
		}
		if op = ""; len(c.Parents) > 0 {
			op = c.Parents[0]
		}
	}
	return out, nil
}

// HoldsFile reports whether an operation of the run wrote the file, a project path
// below .agentxchain, with this content.
func (x *RunRecord) HoldsFile(name string, content object.OID) (bool, error) {
	if !record.SafeFile(name) {
		return false, nil
	}
	root, err := x.root()
	if err != nil {
		return false, err
	}
	groups, err := x.rec.Reader.Slots(root, record.DirFiles, true)
	if err != nil {
		return false, err
	}
	for _, g := range groups {
		e, ok, err := x.rec.Reader.Lookup(g, strings.TrimPrefix(name, record.ProjectDir+"/"))
		if err != nil || ok && e.OID == content {
			return ok, err
		}
	}
	return false, nil
}

// Config returns the configuration of the newest operation.
func (x *RunRecord) Config() (data []byte, content object.OID, err error) {
	root, err := x.root()
	if err != nil {
		return nil, "", err
	}
	e, ok, err := x.rec.Reader.Lookup(root, record.FileConfig)
	if err != nil || !ok || e.IsTree() {
		return nil, "", err
	}
	data, err = x.rec.Reader.Blob(e.OID)
	return data, e.OID, err
}

// ConfigUse is a configuration that operations of a run used.
type ConfigUse struct {
	Op      string     // name of the first operation with it
	At      object.OID // that operation
	Content object.OID // of agentxchain.json
	First   bool       // it is the run's first operation
	After   string     // last operation of the run before, "" for none
}

// Configs lists the configurations of a run's operations, newest first, at most limit operations back. A
// configuration that another one interrupted is listed again.
func (x *RunRecord) Configs(limit int) ([]ConfigUse, error) {
	var out []ConfigUse
	for op := x.Op; op != "" && limit > 0; limit-- {
		c, err := x.rec.Reader.Commit(op)
		if err != nil {
			return nil, err
		}
		e, _, err := x.rec.Reader.Lookup(c.Tree, record.FileConfig)
		if err != nil {
			return nil, err
		}
		use := ConfigUse{
			Op:      record.Trailer(c.Message, record.TrailerOp),
			At:      op,
			Content: e.OID,
			First:   len(c.Parents) == 0,
			After:   record.Trailer(c.Message, record.TrailerPrevious),
		}
		if n := len(out); n > 0 && out[n-1].Content == use.Content {
			out[n-1] = use
		} else {
			out = append(out, use)
		}
		if op = ""; len(c.Parents) > 0 {
			op = c.Parents[0]
		}
	}
	return out, nil
}
