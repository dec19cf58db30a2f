// Package transport carries runs over git's remotes: which remote, its settings
// here, where its refs are seen, fetching into tracking names, and pushing each ref
// with the value the remote is expected to have. It believes nothing of what it
// fetched and joins nothing; that is the store's.
package transport
