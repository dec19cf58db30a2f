// Text that git takes for binary.

package history

import (
	"bytes"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

const (
	maxUncovered = 64      // files to examine again, with a git process each
	maxUncover   = 4 << 20 // bytes of a patch to examine
)

// uncover shows the changes of text files that git calls binary. An attribute can make git do so for any file, and
// so can a single byte near its beginning: the author of a change must not be able to hide it from its reviewer.
// args are those of the command that made the patch, up to the names of files.
func uncover(
	ctx context.Context,
	r *git.Repository,
	args []string,
	files []FileStat,
	patch []byte,
	cut bool,
	limit int64,
) ([]FileStat, []byte, bool, error) {
	parts := patchParts(patch)
	paired := len(parts) == len(files) // else git printed more than one part for a file
	left := maxUncovered
	for i := range files {
		f := &files[i]
		if f.Added >= 0 || left == 0 {
			continue
		}
		left--
		names := []string{f.Path}
		if f.From != "" {
			names = append(names, f.From)
		}
		text, tooLong, err := patchOf(ctx, r, maxUncover, slices.Concat(args[:1], []string{"--text"}, args[1:], names))
		if err != nil {
			return nil, nil, false, err
		}
		body := changedLines(text)
		if tooLong || len(body) == 0 || !Textual(bytes.Join(body, nil)) {
			continue
		}
		f.Added, f.Removed = 0, 0
		for _, l := range body {
			if l[0] == '+' {
				f.Added++
			} else if l[0] == '-' {
				f.Removed++
			}
		}
		if paired {
			parts[i] = text
		} else {
			parts = append(parts, text)
		}
	}
	if cut || left == maxUncovered {
		return files, patch, cut, nil
	}
	if patch = bytes.Join(parts, nil); int64(len(patch)) > limit {
		return files, nil, true, nil
	}
	return files, patch, false, nil
}

// patchParts splits a patch into its parts, one for each file. A line of a file begins with a blank, a plus or a
// minus.
func patchParts(patch []byte) (parts [][]byte) {
	for line := range bytes.Lines(patch) {
		if n := len(parts); n > 0 && !bytes.HasPrefix(line, []byte("diff --git ")) {
			parts[n-1] = append(parts[n-1], line...)
		} else {
			parts = append(parts, bytes.Clone(line))
		}
	}
	return parts
}

// changedLines returns the lines in a file's patch that come from the file, with their sign.
func changedLines(patch []byte) (lines [][]byte) {
	within := false
	for line := range bytes.Lines(patch) {
		switch {
		case bytes.HasPrefix(line, []byte("@@ ")):
			within = true
		case within && bytes.IndexByte([]byte(" +-"), line[0]) >= 0:
			lines = append(lines, line)
		}
	}
	return lines
}

// Textual reports whether a person can read the contents: at most one byte of ten is a control character or invalid
// UTF-8.
func Textual(data []byte) bool {
	odd := 0
	for rest := data; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		if c == utf8.RuneError && n == 1 || c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			odd++
		}
		rest = rest[n:]
	}
	return odd*10 <= len(data)
}
