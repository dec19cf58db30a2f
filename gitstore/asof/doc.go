// Package asof lays a run out as of one of its operations, in a scratch work tree beside the repository, so that
// every query works in it as in the real one. It writes nothing to the repository.
package asof
