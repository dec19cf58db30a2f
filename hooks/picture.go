// The state of one protected path: its kind, its digest, and the bytes to restore.

package hooks

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const dispatchDir = wire.DispatchDir

// How much of protected files is kept in memory; the rest is copied to disk.
const (
	maxKeptFile  = 8 << 20
	maxKeptTotal = 64 << 20
)

// Kinds of what is at a path.
const (
	kindNone    = iota // nothing
	kindFile           // a regular file
	kindDir            // a directory
	kindLink           // a symbolic link
	kindOther          // a device, a pipe
	kindBlocked        // unreachable, for instance through a link that leads out
)

type picture struct {
	kind int
	mode fs.FileMode // permission bits
	link string      // target of a link
	size int64
	sum  [sha256.Size]byte

	data  []byte // contents, when kept in memory
	inMem bool
	copy  string // file they were copied to
}

// same compares what a hook must not change. Times do not count.
func (p picture) same(q picture) bool {
	return p.kind == q.kind && p.mode == q.mode && p.link == q.link && p.size == q.size && p.sum == q.sum
}

// kindOf returns the kind of a path that cannot be examined. Below a file there is nothing.
func kindOf(err error) int {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return kindNone
	}
	return kindBlocked
}

// look takes the picture of a path, with its contents if keep is set. An unreadable file is an error if it is to be
// kept; afterwards it is a difference.
func (g *guard) look(name string, keep bool) (picture, error) {
	info, err := g.root.Lstat(name)
	if err != nil {
		pic := picture{kind: kindOf(err)}
		if keep && pic.kind == kindBlocked {
			return pic, err // what cannot be seen cannot be guarded
		}
		return pic, nil
	}
	pic := picture{mode: info.Mode().Perm(), kind: kindOther}
	switch {
	case info.IsDir():
		pic.kind = kindDir
	case info.Mode()&fs.ModeSymlink != 0:
		pic.kind, pic.mode = kindLink, 0
		if pic.link, err = g.root.Readlink(name); err != nil {
			return picture{kind: kindBlocked}, nil
		}
	case info.Mode().IsRegular():
		pic.kind, pic.size = kindFile, info.Size()
		err = g.read(name, info, &pic, keep)
	}
	if err != nil && !keep {
		return picture{kind: kindBlocked}, nil
	}
	return pic, err
}

// read digests a regular file and, if asked, keeps its bytes.
func (g *guard) read(name string, info fs.FileInfo, pic *picture, keep bool) error {
	// Without waiting: a pipe may have replaced the file meanwhile.
	f, err := g.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !opened.Mode().IsRegular() || !os.SameFile(info, opened) {
		return fmt.Errorf("%s changed while it was read", name)
	}
	sum := sha256.New()
	var to io.Writer = sum
	var memory *bytes.Buffer
	switch {
	case !keep:
	case pic.size <= maxKeptFile && g.kept+pic.size <= maxKeptTotal:
		memory = bytes.NewBuffer(make([]byte, 0, pic.size))
		to = io.MultiWriter(sum, memory)
	case g.runner.Restore == nil || g.runner.Restorable != nil && !g.runner.Restorable(name):
		c, err := g.copyFile()
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		pic.copy = c.Name()
		to = io.MultiWriter(sum, c)
	}
	// No more than there was at first: a growing file must not keep us busy.
	n, err := io.CopyN(to, f, pic.size)
	if err != nil || n != pic.size {
		return fmt.Errorf("%s could not be read to its end: %w", name, err)
	}
	sum.Sum(pic.sum[:0])
	if memory != nil {
		pic.data, pic.inMem = memory.Bytes(), true
		g.kept += pic.size
	}
	return nil
}

// copyFile creates a file for the copy of a big one, readable only by this user.
func (g *guard) copyFile() (*os.File, error) {
	if g.copies == "" {
		dir, err := os.MkdirTemp(g.runner.Scratch, "agentxchain-guard-")
		if err != nil {
			return nil, err
		}
		g.copies = dir
	}
	return os.OpenFile(filepath.Join(g.copies, strconv.Itoa(len(g.files))), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
