// The directories of ours in the git directory, below "agentxchain". No link may
// stand for one of them or for a file in one: whoever can put a link there would have
// us read or write somewhere else.

package gitstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// refuseLinks refuses links, and what is no directory, in place of our directories of this work tree
// and of those all work trees share, and links in place of the files in them.
func (s *Store) refuseLinks() error {
	dirs := []string{filepath.Join(s.repo.GitDir, git.PrivateName), s.cacheDir()}
	if s.repo.CommonDir != s.repo.GitDir {
		dirs = append(dirs, filepath.Join(s.repo.CommonDir, git.PrivateName))
	}
	for _, dir := range dirs {
		fi, err := os.Lstat(dir)
		if err != nil {
			continue // not there; anything else is met by whoever needs it
		}
		if fi.Mode()&fs.ModeSymlink != 0 {
			return git.LinkedPrivate(dir)
		}
		if !fi.IsDir() {
			return git.NoPrivateDir(dir)
		}
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			if e.Type()&fs.ModeSymlink != 0 {
				return git.LinkedPrivate(filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

// private is this work tree's own directory for this project, see cacheDir.
func (s *Store) private(create bool) (*os.Root, error) {
	return git.OpenPrivate(s.repo.GitDir, filepath.Base(s.cacheDir()), create)
}

// readPrivate reads a file of ours there.
func (s *Store) readPrivate(name string, limit int64) ([]byte, error) {
	root, err := s.private(false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, _, ok, err := (&workdir.Dir{Path: s.cacheDir(), Root: root}).Read(name, limit)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return data, err
}

// writePrivate writes one so that it survives a power cut.
func (s *Store) writePrivate(name string, data []byte) error {
	root, err := s.private(true)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return durable.WriteFileRoot(root, name, data, 0o666)
}

// removePrivate removes one; that it is not there is no error.
func (s *Store) removePrivate(name string) error {
	root, err := s.private(false)
	if err == nil {
		defer func() { _ = root.Close() }()
		err = root.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
