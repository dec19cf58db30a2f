// A cache of what was found sound in the repositories' records, so that each operation is proven once.

package coordinator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// cacheDir returns where a workspace keeps its notes of sound operations: in its own git directory, else in the
// person's cache directory; "-" when there is neither. It is never in a repository of the initiative, because the
// notes are believed.
func cacheDir(workspace string) string {
	git := filepath.Join(workspace, ".git")
	if fi, err := os.Lstat(git); err == nil && fi.IsDir() {
		return filepath.Join(git, "agentxchain", "siblings")
	}
	if user, err := os.UserCacheDir(); err == nil {
		return filepath.Join(user, "git-agentxchain", "siblings")
	}
	return "-"
}

// maxCacheEntry bounds one file of the cache, in bytes.
const maxCacheEntry = 64 << 10

func cacheName(path, run string) string {
	return wire.SHA256([]byte(path + "\x00" + run))[:32]
}

// known returns the operation up to which the run of the repository at path was found sound, "" if it never was.
func (r *childReader) known(path, run string) object.OID {
	if r.opt.Cache == "-" || run == "" {
		return ""
	}
	root, err := os.OpenRoot(r.opt.Cache)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	data, err := readRegular(root, cacheName(path, run), maxCacheEntry)
	if err != nil || data == nil {
		return ""
	}
	o, err := ojson.DecodeObject(data)
	if err != nil || o.String("path") != path || o.String("run") != run {
		return ""
	}
	return object.OID(o.String("op"))
}

// remember notes that a run is sound up to op. It is a cache: a failure to write it, or its loss, only costs a
// proof.
func (r *childReader) remember(path, run string, op object.OID) {
	if r.opt.Cache == "-" || r.opt.Untouched || op == r.known(path, run) || os.MkdirAll(r.opt.Cache, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(r.opt.Cache, "new-")
	if err != nil {
		return
	}
	_, err = f.Write(ojson.Pretty(ojson.NewObject("path", path, "run", run, "op", string(op))))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(r.opt.Cache, cacheName(path, run)))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// forget drops what a workspace knows about a run, so that it is proven from its beginning.
func forget(workspace, path, run string) error {
	cache := cacheDir(workspace)
	if cache == "-" {
		return nil
	}
	if err := os.Remove(filepath.Join(cache, cacheName(path, run))); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
