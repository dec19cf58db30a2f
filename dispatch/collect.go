// Collecting what hooks and the coordinator added to a bundle (docs/bundles.md).

package dispatch

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Contents is the contents of a bundle directory.
type Contents struct {
	// Files are the regular files, by their slash-separated path below the bundle directory, including
	// MANIFEST.json if it exists.
	Files map[string][]byte
	// Odd are all other entries except directories, in byte order of the paths. None of them can be part of a
	// bundle.
	Odd []OddFile
}

// OddFile is an entry that is not a regular file, or has a name that no manifest
// can list.
type OddFile struct {
	Path string
	Kind string // Kind… constant
}

// Collect reads every regular file below dir, recursively. It does not follow links or wait for pipes, but reports
// them in Odd. Errors are *wire.Error with the codes bundle_missing, bundle_unreadable and bundle_too_large; lim's
// zero members take DefaultLimits.
func Collect(root *os.Root, dir string, lim Limits) (Contents, error) {
	lim = lim.or(defaultLimits())
	d, err := bundleDir(root, dir)
	if err != nil {
		return Contents{}, err
	}
	defer func() { _ = d.Close() }()
	list, err := walk(d, lim)
	if err != nil {
		return Contents{}, err
	}
	return collect(d, list, lim)
}

func collect(d *os.Root, list []found, lim Limits) (Contents, error) {
	c := Contents{Files: make(map[string][]byte)}
	left := lim.Bytes
	for _, f := range list {
		switch {
		case f.kind == KindDirectory:
			continue
		case f.kind != "":
			c.Odd = append(c.Odd, OddFile{f.path, f.kind})
			continue
		case !usable(f.path):
			c.Odd = append(c.Odd, OddFile{f.path, KindName})
			continue
		}
		data, err := f.read(d, min(left, lim.FileBytes))
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since the listing
		}
		if err != nil {
			if coded, ok := errors.AsType[*wire.Error](err); ok {
				return Contents{}, coded
			}
			return Contents{}, unreadable(f.path, err)
		}
		left -= int64(len(data))
		c.Files[f.path] = data
	}
	return c, nil
}

// Core reports whether name is a file that Build writes, or the seal: a dispatch renews these, while it keeps
// supplements.
func Core(name string) bool {
	switch name {
	case AssignmentFile, PromptFile, ContextFile, ManifestFile:
		return true
	}
	return false
}

// coordinatorFiles returns the files that the coordinator of several repositories adds to the bundle
// (docs/coordinator.md), in the reference after the seal.
func coordinatorFiles() []string {
	return []string{CoordinatorJSON, CoordinatorText}
}

// Supplements returns the files of c that a new dispatch of the same turn keeps: those that its seal lists and that
// still match it, and the coordinator's. Any other file was added without authority, for example by the actor of an
// earlier attempt; it is not sealed into the next bundle.
func (c Contents) Supplements() map[string][]byte {
	sealed := make(map[string]entry)
	if entries, _, ok := readManifest(Identity{}, c.Files[ManifestFile]); ok {
		for _, e := range entries {
			if e.bad == "" {
				sealed[e.path] = e
			}
		}
	}
	out := make(map[string][]byte)
	for name, data := range c.Files {
		if Core(name) {
			continue
		}
		if slices.Contains(coordinatorFiles(), name) {
			out[name] = data
			continue
		}
		if e, ok := sealed[name]; ok && e.size == int64(len(data)) && e.sha256 == InfoOf(data).SHA256 {
			out[name] = data
		}
	}
	return out
}
