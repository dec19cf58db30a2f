// Package bundle carries runs in git bundles: writing the refs of one, and taking a bundle apart in a repository of
// its own, where everything in it is judged before any of it is believed. Restoring from one is the store's.
package bundle
