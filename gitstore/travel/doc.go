// Package travel syncs runs and initiatives of a repository with its remotes: fetch, verify, join, push, and how
// the two sides relate. It moves refs through the store; packages below decide what an operation is and whether it
// is valid.
package travel
