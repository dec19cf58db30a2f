// Path rules for names written by a participant: containment, git's own directory, reserved files.

package wire

import (
	"strings"
	"unicode"
)

// Reasons for which CleanPath refuses a path. They are stable tokens.
const (
	PathEmpty    = "empty"         // nothing but "." and separators
	PathTooLong  = "too_long"      // more than maxPathBytes
	PathNUL      = "nul"           // contains U+0000
	PathAbsolute = "absolute"      // starts at a root, a drive or a share
	PathParent   = "parent"        // has a ".." component
	PathGitDir   = "git_directory" // has a component some file system reads as ".git"
)

// maxPathBytes is what common systems accept for one path.
const maxPathBytes = 4096

// CleanPath returns the project-relative, slash-separated form of p without "." and empty components, or a reason
// (Path… constant) why p must not be used (docs/compatibility.md#where-we-differ-on-purpose). White space is part
// of a name and is kept.
//
// A backslash is a separator on some systems and part of a name on others: the checks read it both ways, the clean
// form keeps it. The caller must check symbolic links, since this function does not read the disk.
func CleanPath(p string) (clean, problem string) {
	switch {
	case len(p) > maxPathBytes:
		return "", PathTooLong
	case strings.IndexByte(p, 0) >= 0:
		return "", PathNUL
	case rooted(p):
		return "", PathAbsolute
	}
	for c := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		// Windows drops spaces at the end of a component, so ".. " goes up there.
		if strings.TrimRight(foldComponent(c), " ") == ".." {
			return "", PathParent
		}
		if isDotGit(c) {
			return "", PathGitDir
		}
	}
	var b strings.Builder
	for c := range strings.SplitSeq(p, "/") {
		if c == "" || c == "." {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('/')
		}
		b.WriteString(c)
	}
	clean = b.String()
	switch {
	case Blank(clean):
		return "", PathEmpty
	case rooted(clean): // ./C:/x
		return "", PathAbsolute
	}
	return clean, ""
}

// rooted reports whether a path starts at a root, a share or a drive.
func rooted(p string) bool {
	if p == "" {
		return false
	}
	return p[0] == '/' || p[0] == '\\' ||
		len(p) >= 3 && p[1] == ':' && (p[2] == '/' || p[2] == '\\') && isASCIILetter(p[0])
}

// PathProblemText says in words what a CleanPath reason means.
func PathProblemText(problem string) string {
	switch problem {
	case PathEmpty:
		return "names no file"
	case PathTooLong:
		return "is longer than 4096 bytes"
	case PathNUL:
		return "contains a NUL character"
	case PathAbsolute:
		return "is absolute; paths are relative to the project"
	case PathParent:
		return "leaves its directory with .."
	case PathGitDir:
		return "points into git's own directory"
	}
	return problem
}

// isDotGit reports whether a file system could read the component as ".git": any case, code points that HFS+
// ignores, trailing dots, spaces and stream names on NTFS, and its short name. Git refuses the same spellings in a
// tree.
func isDotGit(c string) bool {
	c, _, _ = strings.Cut(foldComponent(c), ":")
	c = strings.TrimRight(c, " .")
	return c == ".git" || c == "git~1"
}

// ReservedForm returns the form in which a path is compared with reserved ones: two names that some file system
// opens as one file have one form. It resolves "..", so that a detour gets its true name.
func ReservedForm(p string) string {
	p = Trim(strings.ReplaceAll(p, `\`, "/"))
	var parts []string
	for c := range strings.SplitSeq(p, "/") {
		folded := foldComponent(c)
		switch {
		case folded == "" || folded == ".":
			continue
		case strings.TrimRight(folded, " ") == "..":
			if len(parts) > 0 {
				parts = parts[:len(parts)-1]
			}
			continue
		}
		folded, _, _ = strings.Cut(folded, ":")
		parts = append(parts, strings.TrimRight(folded, " ."))
	}
	return strings.Join(parts, "/")
}

// foldComponent drops the code points that HFS+ ignores and folds case.
func foldComponent(c string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200C && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x206A && r <= 0x206F, r == 0xFEFF:
			return -1
		case r < 0x80:
			return unicode.ToLower(r)
		}
		return foldRune(r)
	}, c)
}

// foldRune maps r to one representative of the runes that differ from it only in case, an ASCII one when one exists
// (U+017F folds to s).
func foldRune(r rune) rune {
	lowest := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		lowest = min(lowest, f)
	}
	if lowest < 0x80 {
		return unicode.ToLower(lowest)
	}
	return lowest
}

func isASCIILetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
