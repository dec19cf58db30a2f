// An active turn's files on disk: its bundle against the seal, its staged result.

package runner

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Bundle is a dispatch bundle as it lies in the project.
type Bundle struct {
	Files    map[string]dispatch.FileInfo // path below the bundle directory
	Problems []dispatch.ManifestError     // none: it is as it was sealed (spec/03 §9.1)
}

// Names returns the bundle's paths sorted by bytes.
func (b *Bundle) Names() []string {
	var out []string
	for name := range b.Files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Limits on looking at a bundle: it holds a handful of documents.
const (
	maxBundleFile  = 64 << 20
	maxBundleFiles = 10000
)

// adapterFiles are what adapters add to a sealed bundle while the turn runs
// (spec/03 §1): they are no part of the seal and no sign of tampering.
func adapterFiles() []string {
	return []string{"CONTEXT.effective.md", "TOKEN_BUDGET.json", "API_REQUEST.json", "stdout.log"}
}

// CheckBundle compares the bundle of an active turn with its seal. What cannot
// be read counts as a problem of the bundle.
func (r *Runner) CheckBundle(run string, t *protocol.Turn) *Bundle {
	b := &Bundle{Files: make(map[string]dispatch.FileInfo)}
	dir := protocol.BundleDir(t.TurnID)
	if clean, problem := protocol.CleanPath(dir); problem != "" || clean != dir || path.Dir(clean) != protocol.DispatchDir {
		// A turn id made by another tool could name any directory.
		b.Problems = []dispatch.ManifestError{{Type: dispatch.InvalidManifest, Detail: "the id of the turn cannot be part of a path"}}
		return b
	}
	root, err := os.OpenRoot(r.Store.Dir())
	if err == nil {
		defer func() { _ = root.Close() }()
		err = b.walk(root, dir, "")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.Problems = []dispatch.ManifestError{{Type: dispatch.MissingManifest, Detail: "the bundle cannot be read: " + err.Error()}}
		return b
	}
	manifest, err := readProjectFile(r.Store.Dir(), dir+"/"+dispatch.ManifestFile, maxBundleFile)
	if err != nil {
		b.Problems = []dispatch.ManifestError{{Type: dispatch.InvalidManifest, Path: dispatch.ManifestFile, Detail: err.Error()}}
		return b
	}
	b.Problems = slices.DeleteFunc(dispatch.VerifyManifest(dispatch.Identity{RunID: run, TurnID: t.TurnID, Role: t.AssignedRole}, manifest, b.Files),
		func(e dispatch.ManifestError) bool {
			return e.Type == dispatch.UnexpectedFile && slices.Contains(adapterFiles(), e.Path)
		})
	return b
}

// walk describes every entry below dir/sub without following links.
func (b *Bundle) walk(root *os.Root, dir, sub string) error {
	f, err := root.Open(path.Join(dir, sub))
	if err != nil {
		return err
	}
	list, err := f.ReadDir(-1)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path.Join(sub, e.Name())
		if len(b.Files) == maxBundleFiles {
			return errors.New("it holds too many files")
		}
		switch {
		case e.IsDir():
			b.Files[name] = dispatch.FileInfo{Kind: "directory"}
			if err := b.walk(root, dir, name); err != nil {
				return err
			}
		case e.Type()&fs.ModeSymlink != 0:
			b.Files[name] = dispatch.FileInfo{Kind: "symlink"}
		case !e.Type().IsRegular():
			b.Files[name] = dispatch.FileInfo{Kind: "special file"}
		default:
			data, err := readProjectFile(root.Name(), path.Join(dir, name), maxBundleFile)
			if err != nil {
				return err
			}
			b.Files[name] = dispatch.InfoOf(data)
		}
	}
	return nil
}

// StagedResult is what the actor of a turn has staged.
type StagedResult struct {
	Path string
	Data []byte // nil when there is nothing yet
}

// Staged reads the staged result of a turn as it is.
func (r *Runner) Staged(turnID string) (StagedResult, error) {
	s, err := readStaged(r.Store.Dir(), turnID)
	if err == nil && s.data != nil && !protocol.StagedProof(s.data) {
		s.data = nil // a file that was only cleared counts as nothing
	}
	return StagedResult{s.path, s.data}, err
}

// ReadFile reads a regular file of the project, at most 64 MiB, never through a
// link out of it; nil without error when it is missing.
func (r *Runner) ReadFile(name string) ([]byte, error) {
	clean, problem := protocol.CleanPath(name)
	if problem != "" {
		return nil, unreadable(name, errors.New("it is no path of the project"))
	}
	return readProjectFile(r.Store.Dir(), clean, maxBundleFile)
}
