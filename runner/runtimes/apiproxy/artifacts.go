// What a dispatch leaves for an audit, beside the bundle and beside the result.

package apiproxy

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// files writes artifacts. It keeps the first error; losing an artifact is not a reason to lose the
// turn.
type files struct {
	root *os.Root
	req  *runtimes.Request
}

func openFiles(req *runtimes.Request) (*files, error) {
	root, err := os.OpenRoot(req.Root)
	if err != nil {
		return nil, err
	}
	f := &files{root: root, req: req}
	if err := root.MkdirAll(f.stagingDir(), 0o755); err != nil {
		_ = root.Close()
		return nil, err
	}
	f.dropError()
	return f, nil
}

func (f *files) close() { _ = f.root.Close() }

func (f *files) stagingDir() string { return path.Dir(f.req.StagingPath) }

func (f *files) write(name string, data []byte) {
	if err := durable.WriteFileRoot(f.root, name, data, 0o644); err != nil {
		_, _ = f.req.Log.Write([]byte("[api_proxy] " + path.Base(name) + " could not be written: " + err.Error() +
			"\n"))
	}
}

func (f *files) bundle(name string, data []byte) { f.write(path.Join(f.req.BundleDir, name), data) }

func (f *files) bundleJSON(name string, o *ojson.Object) { f.bundle(name, ojson.Pretty(o)) }

// staging keeps an answer: as JSON where it is JSON, unchanged otherwise.
func (f *files) staging(name string, data []byte) {
	if len(data) == 0 {
		return
	}
	if v, err := ojson.DecodeLimited(data, ojson.Limits{LastWins: true}); err == nil {
		data = ojson.Pretty(v)
	}
	f.write(path.Join(f.stagingDir(), name), data)
}

func (f *files) stagingJSON(name string, o *ojson.Object) {
	f.write(path.Join(f.stagingDir(), name), ojson.Pretty(o))
}

// dropError removes the error of an earlier attempt: it would be taken for this one's.
func (f *files) dropError() {
	if err := f.root.Remove(path.Join(f.stagingDir(), "api-error.json")); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		_, _ = f.req.Log.Write([]byte("[api_proxy] api-error.json of an earlier attempt stays: " + err.Error() + "\n"))
	}
}
