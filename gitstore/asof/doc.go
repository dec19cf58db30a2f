// Package asof lays a run out as of one of its operations, in a scratch work tree beside the repository, so that every
// look-up works in it as it does in the real one. Nothing is written into the repository.
package asof
