// The project's configuration.

package workdir

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxConfig bounds the configuration, which every command decodes, in bytes.
const maxConfig = 4 << 20

// Config returns the bytes of the project's configuration. It may be a link inside the project: it is the project's
// file, not ours.
func (w *Dir) Config() ([]byte, error) {
	f, err := w.Root.OpenFile(wire.ConfigPath, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) { // it existed when the project was opened
		return nil, fail.Errorf(fail.CodeUnreadable, err, "%s is gone", wire.ConfigPath).
			WithHint("git restore %s", wire.ConfigPath)
	}
	if err != nil {
		return nil, notRead(err)
	}
	defer func() { _ = f.Close() }()
	fi, err := git.InfoOf(f, wire.ConfigPath)
	var data []byte
	if err == nil {
		data, err = git.ReadLimited(f, fi.Size(), maxConfig)
	}
	if errors.Is(err, git.ErrTooLong) {
		return nil, fail.Errorf(fail.CodeUnreadable, nil, "%s is larger than the %d MiB a configuration may have",
			wire.ConfigPath, maxConfig>>20)
	}
	if err != nil {
		return nil, notRead(err)
	}
	return data, nil
}

func notRead(err error) error {
	return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", wire.ConfigPath).
		WithHint("%s", cmp.Or(failures.Remedy(wire.ConfigPath, err), projectfile.PutPlain))
}
