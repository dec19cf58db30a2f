// Package private is the store's own directory in the git directory of a work tree: notes that this machine keeps and
// that no record holds, each sealed with its length and digest, none behind a link. What a note says is its owner's
// business.
package private
