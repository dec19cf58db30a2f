// Package private is the store's own directory in the git directory of a work tree: notes of this machine that no
// record holds, each sealed with its length and digest, none behind a link. Their owners define the content.
package private
