// Folding the small packs of single commits into fewer, larger ones.

package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

const (
	// compactFanIn packs of one order of magnitude become one of the next, so an object is copied about four times
	// in the life of a repository, and their number stays below git gc's own limit of 50.
	compactFanIn = 10
	// compactMin is the size below which all packs count as one order of magnitude.
	compactMin = 10_000
)

// Compact folds packs this package wrote when enough of one size have accumulated; otherwise it only lists a
// directory. It never touches other packs. It may run concurrently with readers, writers, git gc and itself: a pack
// is removed only after everything in it is durably in another one. Call it after a commit, outside the lock; a
// failure loses nothing and may be ignored.
func (r *Repository) Compact(ctx context.Context) error {
	if c, ok := r.Objects().(interface{ compact(context.Context) error }); ok {
		err := c.compact(ctx)
		r.DropStaleMidx() // one may have been written from a list that includes the packs just folded
		return err
	}
	return nil
}

// marks is the directory that lists our packs. It is a hint: a lost mark leaves its pack to git gc.
func (s *ObjectFiles) marks() string {
	return filepath.Join(s.loose.Dir, "info", "agentxchain-packs")
}

func (s *ObjectFiles) mark(packPath string) {
	file := filepath.Join(s.marks(), filepath.Base(packPath))
	if os.WriteFile(file, nil, 0o644) != nil {
		_ = MakeDir(s.marks())
		_ = os.WriteFile(file, nil, 0o644)
	}
}

func (s *ObjectFiles) compact(ctx context.Context) error {
	s.compactMu.Lock()
	defer s.compactMu.Unlock()
	marks, err := os.ReadDir(s.marks())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(marks) < compactFanIn {
		return nil
	}
	if err != nil {
		return err
	}
	// git maintenance folds the packs that its index names. The next maintenance may be far off, since a git commit
	// starts it: newer packs are folded here.
	midx := filepath.Join(s.Packs.Dir, pack.MidxName)
	named := pack.MidxPacks(midx)
	if _, err := os.Lstat(midx); err == nil && len(named) == 0 {
		return nil
	}
	type small struct {
		path string
		at   time.Time
	}
	tiers := make(map[int][]small)
	for _, m := range marks {
		if slices.Contains(named, m.Name()+".pack") {
			continue
		}
		path := filepath.Join(s.Packs.Dir, m.Name())
		fi, err := os.Stat(path + ".pack")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			_ = os.Remove(filepath.Join(s.marks(), m.Name())) // gc removed it
		case err == nil && fi.Size() < pack.MaxStored:
			t := int(math.Log10(float64(max(fi.Size(), compactMin))))
			tiers[t] = append(tiers[t], small{path, fi.ModTime()})
		}
	}
	for _, packs := range tiers {
		if len(packs) < compactFanIn {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		// In the order they were written: a run is read in the order of its operations.
		slices.SortFunc(packs, func(a, b small) int {
			return cmp.Or(a.at.Compare(b.at), strings.Compare(a.path, b.path))
		})
		paths := make([]string, len(packs))
		for i := range packs {
			paths[i] = packs[i].path
		}
		if err := s.fold(paths); err != nil {
			return err
		}
	}
	return nil
}

// fold copies the entries of packs into a new one and removes them. It leaves out a pack that is damaged or
// vanishes meanwhile: fsck handles that.
func (s *ObjectFiles) fold(paths []string) error {
	paths = slices.DeleteFunc(paths, kept)
	for len(paths) >= 2 {
		folded, bad, err := s.copyPacks(paths)
		if bad != "" {
			paths = slices.DeleteFunc(paths, func(p string) bool { return p == bad })
			continue
		}
		if err != nil {
			return fmt.Errorf("fold packs: %w", err)
		}
		s.mark(folded.path)
		faults.Point("fold.copied")
		for _, p := range paths {
			// The index first: without it no process starts to use the pack.
			_ = os.Remove(p + ".idx")
			_ = os.Remove(p + ".rev")
			_ = os.Remove(p + ".pack")
			_ = os.Remove(filepath.Join(s.marks(), filepath.Base(p)))
		}
		// Not before: git multi-pack-index expire removes a pack if its index finds every object of it in other
		// packs, and those other packs were just removed.
		folded.Release()
		return nil
	}
	return nil
}

// copyPacks writes one pack with the entries of all, older versions as deltas of newer ones; entries of large packs
// unchanged, holding one source in memory at a time. bad names a source that could not be read.
func (s *ObjectFiles) copyPacks(paths []string) (folded *packHold, bad string, err error) {
	hashLen := object.HexLen(s.format) / 2
	mode, err := s.loose.Modes()
	if err != nil {
		return nil, "", err
	}
	ids := make(map[string]bool)
	var size int64
	for _, p := range paths {
		if err := pack.AddIDs(p, hashLen, ids); err != nil {
			return nil, p, err
		}
		if fi, err := os.Stat(p + ".pack"); err == nil {
			size += fi.Size()
		}
	}
	if size <= pack.MaxLinked {
		return s.linkPacks(paths, mode)
	}
	folded, err = BuildPack(s.Packs.Dir, s.format, mode, len(ids), func(w *pack.Writer) error {
		for _, p := range paths {
			entries, err := pack.ReadStored(p, hashLen)
			if err != nil {
				bad = p
				return err
			}
			for _, e := range entries {
				if !ids[string(e.Raw)] {
					continue // copied from an earlier pack
				}
				ids[string(e.Raw)] = false
				if err := w.AddRaw(e.Raw, e.Entry); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return folded, bad, err
}

// linkPacks is copyPacks in memory.
func (s *ObjectFiles) linkPacks(paths []string, mode fs.FileMode) (folded *packHold, bad string, err error) {
	packs := make([][]pack.Stored, len(paths))
	for i, p := range paths {
		if packs[i], err = pack.ReadStored(p, object.HexLen(s.format)/2); err != nil {
			return nil, p, err
		}
	}
	linked := pack.Link(s.format, packs)
	folded, err = BuildPack(s.Packs.Dir, s.format, mode, len(linked), func(w *pack.Writer) error {
		for _, e := range linked {
			if err := w.AddRaw(e.Raw, e.Entry); err != nil {
				return err
			}
		}
		return nil
	})
	return folded, "", err
}

// kept reports whether another tool has marked a pack in a way that folding would lose.
func kept(path string) bool {
	for _, ext := range []string{".keep", ".promisor", ".mtimes", ".bitmap"} {
		if _, err := os.Lstat(path + ext); err == nil {
			return true
		}
	}
	return false
}
