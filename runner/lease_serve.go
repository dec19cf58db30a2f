// Serving leases: one server in a work tree, and the place of its own files.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
)

// serveLock names the process that hands out leases of this work tree.
const serveLock = "runner-control.lock"

// ServeLeases makes the caller the only server of leases of this work tree until release is called
// or the process ends, for any reason. The error has the code locked and names the other server.
func (r *Runner) ServeLeases(ctx context.Context) (release func(), err error) {
	path, err := r.lockPlace(serveLock)
	if err != nil {
		return nil, err
	}
	l, err := lockfile.Serve(ctx, path, "monarchic serve")
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Release() }, nil
}

// PrivateDir returns where this machine keeps what belongs to the project and not to its run: a
// directory below the git directory that need not exist.
func (r *Runner) PrivateDir() string { return private.Dir(r.store.Repository()) }
