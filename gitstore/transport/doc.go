// Package transport carries runs over git's remotes: which remote, its local settings, its tracking refs, fetching
// into tracking refs, and pushing each ref with the value the remote is expected to have. It believes nothing it
// fetched and joins nothing; the store does that.
package transport
