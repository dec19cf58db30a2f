// Content fingerprints of work tree files (docs/spec/observation.md#baseline).

package gitstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// Fingerprints that are not a hash.
const (
	FingerprintDeleted    = "deleted"
	FingerprintUnreadable = "unreadable"
)

var hashBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// fingerprint returns "sha256:<hex>" of the bytes that a reader of path below root gets, "deleted" when there is no
// file, "unreadable" for a directory, a device, a file without read permission or a path that leads out of root.
//
// Symbolic links are followed as a reader would, but only within root: a link to /etc/passwd must not put a
// fingerprint of that file into a ledger. A dangling link is "deleted".
func fingerprint(root *os.Root, path string) string {
	// A named pipe would block the open until a process writes to it.
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		// ENOTDIR: a parent was replaced by a file, so the path is gone.
		if errors.Is(err, fs.ErrNotExist) || git.IsNotDir(err) && !trailingSlash(path) {
			return FingerprintDeleted
		}
		return FingerprintUnreadable
	}
	defer func() { _ = f.Close() }()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return FingerprintUnreadable
	}
	h := sha256.New()
	buf := hashBuffers.Get().(*[]byte)
	defer hashBuffers.Put(buf)
	if _, err := io.CopyBuffer(h, onlyReader{f}, *buf); err != nil {
		return FingerprintUnreadable
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// onlyReader hides File.WriteTo, which would bypass the buffer.
type onlyReader struct{ io.Reader }

func trailingSlash(p string) bool { return p != "" && p[len(p)-1] == '/' }
