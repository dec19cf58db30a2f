// Our directories in the git directory, below "agentxchain". None of them, and no file in them, may be a link: a
// planted link would make us read or write elsewhere.

package private

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RefuseLinks refuses links, and files, in place of our directories, those of this work tree and those all work
// trees share, and links in place of the files in them.
func RefuseLinks(repo *git.Repository) error {
	dirs := []string{filepath.Join(repo.GitDir, git.PrivateName), Dir(repo)}
	if repo.CommonDir != repo.GitDir {
		dirs = append(dirs, filepath.Join(repo.CommonDir, git.PrivateName))
	}
	for _, dir := range dirs {
		fi, err := os.Lstat(dir)
		if err != nil {
			continue // missing; the code that needs it reports anything else
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

// Open opens the directory, see Dir.
func Open(repo *git.Repository, create bool) (*os.Root, error) {
	return git.OpenPrivate(repo.GitDir, filepath.Base(Dir(repo)), create)
}

// Read reads a file of ours there.
func Read(repo *git.Repository, name string, limit int64) ([]byte, error) {
	root, err := Open(repo, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, _, ok, err := (&workdir.Dir{Path: Dir(repo), Root: root}).Read(name, limit)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return data, err
}

// Write writes a file there so that it survives a power cut.
func Write(repo *git.Repository, name string, data []byte) error {
	root, err := Open(repo, true)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return durable.WriteFileRoot(root, name, data, 0o666)
}

// Remove removes a file there, if it exists.
func Remove(repo *git.Repository, name string) error {
	root, err := Open(repo, false)
	if err == nil {
		defer func() { _ = root.Close() }()
		err = root.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Dir returns this work tree's own directory for this project. Linked work trees share run refs but each has its
// own .agentxchain, so each has its own cache; two projects in one repository have two.
func Dir(repo *git.Repository) string {
	return filepath.Join(repo.GitDir, git.PrivateName, wire.SHA256([]byte(repo.Prefix))[:12])
}

// Bound returns what a note of some kind about something is bound to: the location of the repository, this
// machine's file system and this person. A note that came with a directory, copied or unpacked, is bound to
// something else.
func Bound(repo *git.Repository, kind, about string) [sha256.Size]byte {
	b := PutBytes(PutBytes([]byte(kind), []byte(about)), []byte(git.RealOr(repo.CommonDir)))
	b = binary.AppendVarint(b, int64(os.Getuid()))
	if fi, err := os.Lstat(repo.CommonDir); err == nil {
		b = binary.AppendUvarint(b, git.StatOf(fi).Inode)
	}
	return sha256.Sum256(b)
}
