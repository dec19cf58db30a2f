// Package bundle carries runs in git bundles: it writes the refs of a run, and unpacks a bundle in a repository of
// its own, where everything in it is judged before any of it is believed. The store restores from bundles.
package bundle
