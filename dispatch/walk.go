// Reading a bundle directory without being led out of it or blocked in it (docs/bundles.md#the-seal).

package dispatch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Limits bounds what is read from a bundle directory. A zero member means the value of DefaultLimits.
type Limits struct {
	Files     int   // entries of all kinds, directories included
	Depth     int   // directories below the bundle directory
	FileBytes int64 // of one file
	Bytes     int64 // of all files together
}

// defaultLimits returns the limits of a bundle. Bundles of active turns are kept in the repository, so they are
// documents, not data sets.
func defaultLimits() Limits {
	return Limits{Files: maxManifestFiles, Depth: 16, FileBytes: 64 << 20, Bytes: 64 << 20}
}

// sealLimits returns the limits of sealing and verifying, which read files as a stream.
func sealLimits() Limits {
	return Limits{Files: maxManifestFiles, Depth: 16, FileBytes: 4 << 30, Bytes: 16 << 30}
}

func (l Limits) or(d Limits) Limits {
	if l.Files <= 0 {
		l.Files = d.Files
	}
	if l.Depth <= 0 {
		l.Depth = d.Depth
	}
	if l.FileBytes <= 0 {
		l.FileBytes = d.FileBytes
	}
	if l.Bytes <= 0 {
		l.Bytes = d.Bytes
	}
	return l
}

// Codes of errors about a bundle directory.
const (
	// CodeBundleMissing means that a turn has no bundle directory.
	CodeBundleMissing = "bundle_missing"
	// CodeBundleUnreadable means that an entry of the directory cannot be read.
	CodeBundleUnreadable = "bundle_unreadable"
	// CodeBundleTooLarge means that the directory exceeds the limits.
	CodeBundleTooLarge = "bundle_too_large"
	// CodeBundleInvalid means that a bundle is not what was sealed.
	CodeBundleInvalid = wire.CodeBundleInvalid
)

// found is one entry below a bundle directory.
type found struct {
	path string
	kind string // as in FileInfo.Kind
	info fs.FileInfo
}

// bundleDir opens dir below root as a root of its own. Nothing reached through it can be outside the bundle,
// whatever links are planted.
func bundleDir(root *os.Root, dir string) (*os.Root, error) {
	info, err := root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &wire.Error{Code: CodeBundleMissing, Field: dir, Message: "Bundle directory does not exist"}
	case err != nil:
		return nil, unreadable(dir, err)
	case !info.IsDir():
		return nil, unreadable(dir, fmt.Errorf("it is a %s, not a directory", kindOf(info.Mode())))
	}
	d, err := root.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	// A link may have replaced it between the check and the opening.
	if now, err := d.Stat("."); err != nil || !os.SameFile(info, now) {
		_ = d.Close()
		return nil, unreadable(dir, errors.New("it was replaced while it was being opened"))
	}
	return d, nil
}

func unreadable(name string, err error) *wire.Error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &wire.Error{
		Code:    CodeBundleUnreadable,
		Field:   name,
		Message: fmt.Sprintf("%s cannot be read: %v.", name, err),
	}
}

func tooLarge(format string, args ...any) *wire.Error {
	return &wire.Error{Code: CodeBundleTooLarge, Message: "The bundle " + fmt.Sprintf(format, args...) + "."}
}

// walk lists every entry below root, sorted by path. Links are entries, never
// followed.
func walk(root *os.Root, lim Limits) ([]found, error) {
	var out []found
	var into func(dir string, depth int) error
	into = func(dir string, depth int) error {
		f, err := root.Open(dir)
		if err != nil {
			return unreadable(dir, err)
		}
		defer func() { _ = f.Close() }()
		for {
			// In portions: a directory of a million names must not be read whole only to be refused.
			list, err := f.ReadDir(1024)
			for _, e := range list {
				if len(out) == lim.Files {
					return tooLarge("holds more than %d entries", lim.Files)
				}
				name := path.Join(dir, e.Name())
				info, err := root.Lstat(name)
				if errors.Is(err, fs.ErrNotExist) {
					continue // gone since the listing
				}
				if err != nil {
					return unreadable(name, err)
				}
				kind := kindOf(info.Mode())
				out = append(out, found{name, kind, info})
				if kind != KindDirectory {
					continue
				}
				if depth == lim.Depth {
					return tooLarge("has directories more than %d deep", lim.Depth)
				}
				if err := into(name, depth+1); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return unreadable(dir, err)
			}
		}
	}
	if err := into(".", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// Values of FileInfo.Kind and OddFile.Kind.
const (
	KindDirectory = "directory"
	KindSymlink   = "symlink"
	KindFIFO      = "named pipe"
	KindSocket    = "socket"
	KindDevice    = "device"
	KindOther     = "special file"
	KindName      = "file with an unusable name"
	KindUnread    = "file that cannot be read"
)

// kindOf names the kind of a mode; "" is a regular file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return ""
	case m.IsDir():
		return KindDirectory
	case m&fs.ModeSymlink != 0:
		return KindSymlink
	case m&fs.ModeNamedPipe != 0:
		return KindFIFO
	case m&fs.ModeSocket != 0:
		return KindSocket
	case m&fs.ModeDevice != 0:
		return KindDevice
	}
	return KindOther
}

// errReplaced says that a name refers to another file than a moment ago.
var errReplaced = errors.New("it was replaced while it was being read")

// open opens the regular file that walk found. It never waits, as opening a pipe would, and compares what it opened
// with what was found: it refuses a link or a pipe put in its place.
func (f found) open(root *os.Root) (*os.File, error) {
	file, err := root.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(info, f.info)) {
		err = errReplaced
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// read returns the file's bytes, at most limit.
func (f found) read(root *os.Root, limit int64) ([]byte, error) {
	if f.info.Size() > limit {
		return nil, tooLarge("has more than it may: %s brings it to over %d bytes", f.path, limit)
	}
	file, err := f.open(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data := make([]byte, 0, f.info.Size()+1)
	for {
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, tooLarge("has more than it may: %s brings it to over %d bytes", f.path, limit)
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, 4096)
		}
	}
}

// usable reports whether a name on disk can be listed in a manifest: a name that is not UTF-8 would not survive
// JSON.
func usable(name string) bool { return safePath(name) && utf8.ValidString(name) }
