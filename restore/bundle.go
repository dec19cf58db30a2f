// The run's history beside its artifact, as a git bundle.

package restore

import (
	"context"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ExportedBundle describes an exported bundle.
type ExportedBundle struct {
	Refs  []string
	Bytes int64
}

// bundleOf writes the refs of the run in the artifact to the new file at path. The caller holds the run's lock, so
// the history matches the state in the artifact.
func bundleOf(ctx context.Context, store *gitstore.Store, run string, opt ExportOptions) (*ExportedBundle, error) {
	if run == "" {
		return nil, &wire.Error{
			Code:    chain.CodeNoRun,
			Field:   "bundle",
			Message: "There is no run whose history could be bundled.",
			Hint:    "start one with git agentxchain assign, or export without --bundle",
		}
	}
	path := opt.Bundle
	refs, err := bundle.Refs(ctx, store.Repository(), run)
	if err != nil {
		return nil, err
	}
	found := secretSearch{allowed: opt.AllowSecrets}
	if err := found.lookBack(ctx, store.Repository(), refs); err != nil {
		return nil, err
	}
	if err := found.refusal(); err != nil {
		return nil, err
	}
	refs, err = bundle.Write(ctx, store.Repository(), run, path)
	if err != nil {
		return nil, err
	}
	b := &ExportedBundle{}
	for _, r := range refs {
		b.Refs = append(b.Refs, r.Name)
	}
	if err := syncFile(path, &b.Bytes); err != nil {
		return nil, &wire.Error{
			Code:    "io_failed",
			Field:   "bundle",
			Message: "The bundle cannot be written: " + err.Error() + ".",
		}
	}
	return b, nil
}

// syncFile makes a file that git wrote durable.
func syncFile(path string, size *int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err == nil {
		*size = fi.Size()
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
