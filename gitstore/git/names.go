// Arguments and names given to git, and names taken from it.

package git

import (
	"bytes"
	"strings"
)

// NulTerminated returns one or more paths as git reads them with -z.
func NulTerminated(paths []string) []byte { return []byte(strings.Join(paths, "\x00") + "\x00") }

// NulNames splits a list whose names git ended with NUL.
func NulNames(out []byte) (names []string) {
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names
}

// argumentBytes bounds the names given to one process as arguments.
const argumentBytes = 64 << 10

// FitArguments splits names into those that one process takes as arguments, at least one, and the rest.
func FitArguments(names []string) (fit, rest []string) {
	size, n := 0, 0
	for n < len(names) && (n == 0 || size+len(names[n]) < argumentBytes) {
		size += len(names[n]) + 1
		n++
	}
	return names[:n], names[n:]
}

// DiffArgs disable everything that a repository or user may configure diff to run or to hide.
var DiffArgs = []string{
	"diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--relative", "--ignore-submodules=none",
}
