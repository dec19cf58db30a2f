// Staging the files of a restore beside the ones they replace.

package gitstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// stageRestore writes the changing files, complete and durable, to the journal's directory. Its own .gitignore
// hides them from git status where the project does not ignore transactions.
func (s *Store) stageRestore(ctx context.Context, in *incoming.Set, j *incoming.Journal,
	progress func(done, total int)) error {
	if err := s.work.Mkdirs(j.Staged()); err != nil {
		return unstaged(j.Dir, err)
	}
	if err := durable.WriteFileRoot(s.work.Root, j.Dir+"/.gitignore", []byte("*\n"), 0o666); err != nil {
		return unstaged(j.Dir, err)
	}
	wanted := make(map[string]incoming.File, len(in.Files))
	for _, f := range in.Files {
		wanted[f.Path] = f
	}
	dirs := make(map[string]bool)
	buf := make([]byte, 256<<10)
	for i, a := range j.Actions {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if a.Action == "remove" {
			continue
		}
		name := j.Staged() + "/" + a.Path
		if dir := path.Dir(name); !dirs[dir] {
			if err := s.work.Mkdirs(dir); err != nil {
				return unstaged(a.Path, err)
			}
			dirs[dir] = true
		}
		if err := s.stageFile(in, wanted[a.Path], name, buf); err != nil {
			return unstaged(a.Path, err)
		}
		faults.Point("restore.staged")
		if progress != nil {
			progress(i+1, len(j.Actions))
		}
	}
	for dir := range dirs {
		if err := s.work.SyncDir(dir); err != nil {
			return unstaged(j.Dir, err)
		}
	}
	return nil
}

func unstaged(name string, err error) error {
	return fail.Errorf(CodeNotStaged, err, "%s cannot be staged; nothing was changed", name)
}

// stageFile writes one file; a file that replaces another gets its mode.
func (s *Store) stageFile(in *incoming.Set, f incoming.File, name string, buf []byte) (err error) {
	perm := cmp.Or(f.Perm, fs.FileMode(0o666))
	fi, serr := s.work.Root.Lstat(f.Path)
	replaces := serr == nil && fi.Mode().IsRegular()
	src, err := in.Open(f.Path)
	if err != nil {
		return err
	}
	out, err := s.work.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	// The stored file must still be what was verified.
	sum := sha256.New()
	n, err := io.CopyBuffer(plainWriter{out, sum}, io.LimitReader(src, f.Size+1), buf)
	switch {
	case err != nil:
		return err
	case n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.SHA256:
		return fmt.Errorf("its bytes changed while it waited to be written")
	}
	if replaces {
		mode := fi.Mode().Perm()
		if f.Perm != 0 {
			mode = mode&^0o111 | mode>>2&0o111&f.Perm
		}
		if err := out.Chmod(mode); err != nil {
			return err
		}
	}
	return out.Sync()
}

// plainWriter hides other methods, so that copying uses the given buffer.
type plainWriter struct {
	w   io.Writer
	sum hash.Hash
}

func (p plainWriter) Write(b []byte) (int, error) {
	_, _ = p.sum.Write(b)
	return p.w.Write(b)
}
