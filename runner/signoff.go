// The person's yes in the sign-off documents: written and committed on their behalf.

package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// writeSignoffs writes the documents named in paths and commits exactly them. It refuses a document
// that has changed since it was read. The id is "" where git had nothing to commit; written says
// that the documents are signed, committed or not.
func (c *change) writeSignoffs(
	ctx context.Context,
	read, files []evidence.FileBlob,
	paths []string,
) (commit object.OID, written bool, err error) {
	root, err := os.OpenRoot(c.r.store.Dir())
	if err != nil {
		return "", false, err
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if !slices.Contains(paths, f.Path) {
			continue
		}
		mode, err := signedMode(root, f.Path)
		if err != nil {
			return "", false, err
		}
		data, err := c.readFile(f.Path)
		if err != nil {
			return "", false, err
		}
		if !slices.ContainsFunc(read, func(r evidence.FileBlob) bool {
			return r.Path == f.Path && r.Blob != nil && bytes.Equal(r.Blob.Data, data)
		}) {
			return "", false, &wire.Error{
				Code:    gitstore.CodeStateMoved,
				Field:   f.Path,
				Message: f.Path + " was changed while it was being approved.",
			}
		}
		durable.RemoveUnfinished(root, f.Path, f.Blob.Data)
		if err := durable.WriteFileRoot(root, f.Path, f.Blob.Data, mode); err != nil {
			return "", false, err
		}
	}
	tracked := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !wire.ProjectOwned(p) })
	gate, name, email := strings.Join(paths, ", "), c.env.Actor.Name, c.env.Actor.Email
	if a := c.view.State.LastApproval; a != nil { // another person may have opened the gate
		_, gate, _ = a.Gate()
		name, email = a.By.String("name"), a.By.String("email")
	}
	message := fmt.Sprintf("sign off: gate %s\n\nRun: %s\nGate: %s\nApproved-By: %s <%s>\n",
		text.OneLine(gate), c.view.Run, text.OneLine(gate), text.OneLine(name), text.OneLine(email))
	commit, err = gitcommit.Paths(ctx, c.r.store.Repository(), tracked, message)
	return commit, true, err
}

// signable refuses documents that writeSignoffs could not write: a yes that cannot be written is not recorded either.
func (c *change) signable(paths []string) error {
	root, err := os.OpenRoot(c.r.store.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, p := range paths {
		if _, err := signedMode(root, p); err != nil {
			return err
		}
	}
	return nil
}

// signedMode returns the mode to write a document with. A link is refused: its target is another document.
func signedMode(root *os.Root, path string) (os.FileMode, error) {
	info, err := root.Lstat(path)
	switch {
	case err != nil:
		return 0o644, nil // writing it reports the problem
	case !info.Mode().IsRegular():
		return 0, &wire.Error{
			Code:    wire.CodeGateFailed,
			Field:   path,
			Message: path + " cannot be signed: it is a link, not a file of its own.",
			Hint:    projectfile.PutPlain + ", then: git agentxchain approve",
		}
	}
	return info.Mode().Perm(), nil
}

// UnsignedDocuments lists the sign-off documents that lack a person's recorded yes in the work
// tree. The record counts until the next turn begins, which takes the documents as they are.
func (r *Runner) UnsignedDocuments(v *View) ([]string, error) {
	var out []string
	for _, p := range gates.Documents(v.Config) {
		m, ok := v.State.GateDocuments.Get(p)
		if !ok || !m.Signed || v.State.ActiveTurns.Len() > 0 || !gates.SignoffDocument(v.Config, p) {
			continue
		}
		data, err := projectfile.Read(r.store.Dir(), p, projectfile.MaxGate)
		if err != nil {
			return nil, err
		}
		if data != nil && !gates.LookDocument(v.Config, p, data).Signed {
			out = append(out, p)
		}
	}
	return out, nil
}

// SignDocuments writes and commits the yes that UnsignedDocuments misses, and returns the
// documents.
func (r *Runner) SignDocuments(ctx context.Context) (written []string, err error) {
	_, err = r.do(ctx, "sign-off", func(ctx context.Context, c *change) (*plan, error) {
		paths, err := r.UnsignedDocuments(c.view)
		if err != nil || len(paths) == 0 {
			return nil, err
		}
		var files []evidence.FileBlob
		for _, p := range paths {
			data, err := c.readFile(p)
			if err != nil {
				return nil, err
			}
			files = append(files, evidence.FileBlob{Path: p, Blob: evidence.NewBlob(data)})
		}
		signed, changed, refusal := protocol.Sign(c.view.Config, files)
		if refusal != nil {
			return nil, refusal
		}
		if _, _, err = c.writeSignoffs(ctx, files, signed, changed); err == nil {
			written = changed
		}
		return nil, err
	})
	return written, err
}
