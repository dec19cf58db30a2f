// Applying files of a proposal: which, whether they may be written, writing them.

package proposal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// Choose returns the named files, or all that are left.
func (p *Proposal) Choose(names []string) ([]File, error) {
	var out []File
	for _, f := range p.Files {
		if len(names) == 0 && !f.Applied {
			out = append(out, f)
		}
	}
	for _, n := range names {
		i := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == n })
		switch {
		case i < 0:
			return nil, &wire.Error{
				Code:    wire.CodeNotFound,
				Field:   "file",
				Message: fmt.Sprintf("File %s is not part of the proposal of turn %s.", wire.Shown(n), p.Turn),
				Hint:    "git agentxchain proposal show " + p.Turn,
			}
		case p.Files[i].Applied:
			return nil, &wire.Error{
				Code:    CodeDecided,
				Field:   "file",
				Message: fmt.Sprintf("File %s of the proposal of turn %s is already applied.", n, p.Turn),
				Hint:    "git agentxchain proposal show " + p.Turn,
			}
		}
		if !slices.ContainsFunc(out, func(f File) bool { return f.Path == n }) {
			out = append(out, p.Files[i])
		}
	}
	return out, nil
}

// merge carries a proposal over to files that have changed since it was made, if its base is still
// known: the commit that its turn began with. A file that does not merge is left for Applicable to
// refuse.
func (p *Proposal) merge(ctx context.Context, s *gitstore.Store) error {
	ref := p.line.Row.Object("observed_artifact").String("baseline_ref")
	base := object.OID(strings.TrimPrefix(ref, "git:"))
	repo := s.Repository()
	if !base.Valid(repo.ObjectFormat) || !repo.HasCommit(ctx, base) {
		return nil
	}
	for i := range p.Files {
		f := &p.Files[i]
		if f.Applied || f.Before == nil || f.After == nil || f.source == "" || f.asProposed() ||
			f.source == wire.Digest(f.Before) {
			continue
		}
		var was []byte
		err := repo.ReadNamed(ctx, []string{string(base) + ":" + repo.Prefix + f.Path}, func(_ int, o git.Named) {
			if o.Found && o.Kind == object.KindBlob {
				was = o.Data
			}
		})
		if err != nil {
			return err
		}
		if f.source != wire.Digest(was) {
			continue
		}
		merged, clean, err := repo.MergeFile(ctx, f.Before, was, f.After)
		if err != nil {
			return err
		}
		if clean {
			f.After, f.Merged = merged, true
		}
	}
	return nil
}

// Applicable refuses files that a role may not write, and those that no longer match the proposal's
// base. A file that is already as proposed is fine, as an interrupted apply continues; so is a
// merged file, which no longer matches its base.
func (p *Proposal) Applicable(s *gitstore.Store, cfg *config.Config, st *gitstatus.Status, files []File) error {
	if err := observe.RefuseUnmerged(st); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	var conflicts []*ojson.Object
	var names []string
	for _, f := range files {
		if !wire.ProjectOwned(f.Path) || protocol.KeptPath(cfg, f.Path) || governed(f.Path) ||
			!plainPath(root, f.Path) {
			return unsafe(f.Path)
		}
		if f.asProposed() {
			continue
		}
		now := ""
		if f.Before != nil {
			now = wire.Digest(f.Before)
		}
		reason := ""
		if _, dirty := st.Dirty[f.Path]; now != f.source && !f.Merged {
			reason = "workspace_diverged"
		} else if dirty {
			reason = "uncommitted_change"
		}
		if reason != "" {
			conflicts = append(conflicts, ojson.NewObject("path", f.Path, "action", f.Action, "reason", reason))
			names = append(names, f.Path)
		}
	}
	if len(conflicts) == 0 {
		return nil
	}
	return &wire.Error{
		Code:    CodeConflict,
		Field:   names[0],
		Details: ojson.NewObject("conflicts", conflicts),
		Message: fmt.Sprintf("The proposal of turn %s was made from other contents of %s; nothing was written.",
			p.Turn, wire.List(names)),
		Hint: "git agentxchain proposal diff " + p.Turn + "; apply the other files with --file, or reject it",
	}
}

// governed reports the configuration and git's own directory, however they are spelled.
func governed(name string) bool {
	top, _, _ := strings.Cut(wire.FoldPath(name), "/")
	return top == wire.FoldPath("agentxchain.json") || top == wire.FoldPath(".agentxchain") ||
		slices.Contains(strings.Split(wire.FoldPath(name), "/"), wire.FoldPath(".git"))
}

// plainPath reports that name is a regular file or missing, with no link on the way to it.
func plainPath(root *os.Root, name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil, at == name && !info.Mode().IsRegular(), at != name && !info.IsDir():
			return false
		}
	}
	return true
}

func unsafe(name string) error {
	return &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Field:   "file",
		Message: fmt.Sprintf("File %s may not be written by a proposal.", wire.Shown(name)),
		Hint:    "leave it out with --file, or: git agentxchain proposal reject",
	}
}

// Write writes files of a proposal into the work tree.
func Write(s *gitstore.Store, files []File) error {
	root, err := os.OpenRoot(s.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if f.After == nil {
			if err := root.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if f.asProposed() {
			continue
		}
		mode := os.FileMode(0o644)
		if info, err := root.Lstat(f.Path); err == nil {
			mode = info.Mode().Perm()
		} else if err := s.MakeDir(path.Dir(f.Path)); err != nil {
			return err
		}
		durable.RemoveUnfinished(root, f.Path, f.After)
		if err := durable.WriteFileRoot(root, f.Path, f.After, mode); err != nil {
			return err
		}
	}
	return nil
}
