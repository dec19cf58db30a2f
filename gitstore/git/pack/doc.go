// Package pack is git's packs as bytes: entries, indexes and deltas, written, and read strictly because other
// programs make them too. Where a repository is not trusted, the caller supplies what opens files. Package git
// decides when packs are written, held and folded.
package pack
