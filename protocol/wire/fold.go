// Names that some file systems treat as the same.

package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// FoldPath returns the form in which paths are compared so that none can be mistaken for another: components that
// some file system or name conversion reads the same way have one form. It folds case (with the long s, the Kelvin
// sign, and ß to ss, as APFS does), Unicode composition, full-width and other compatibility forms, invisible characters, trailing dots
// and spaces, and stream names. Short names need the name that they abbreviate: see LooksLike.
func FoldPath(p string) string { return strings.Join(foldedComponents(p), "/") }

// foldedComponents folds the components of a path. A backslash separates; "." and empty components are dropped, and
// ".." removes the one before it.
func foldedComponents(p string) []string {
	var out []string
	for c := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		switch c = foldName(c); c {
		case "":
			// Nothing but dots, spaces and invisible characters.
		case "..":
			out = out[:max(0, len(out)-1)]
		default:
			out = append(out, c)
		}
	}
	return out
}

// foldName folds one component; ".." is kept, "." becomes "".
func foldName(c string) string {
	c, _, _ = strings.Cut(foldText(c), ":")
	if strings.TrimRight(c, " ") == ".." {
		return ".."
	}
	return strings.TrimRight(c, " .")
}

func foldText(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			// Compatibility forms are taken apart before case is folded, and again after: each can produce the other.
			return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(strings.Map(visible, s))))
		}
	}
	return strings.ToLower(s)
}

// visible drops the characters that have no shape: those that HFS+ ignores in names, and every other format character,
// variation selector and tag.
func visible(r rune) rune {
	switch {
	case r >= '\u200c' && r <= '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u206a' && r <= '\u206f':
		return -1
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r),
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return -1
	}
	return r
}

// LooksLike reports whether some file system could open the file called honest when asked for name: both fold to
// one form, or name is a short name that honest could have on a FAT or NTFS volume.
func LooksLike(name, honest string) bool {
	a, b := foldName(name), foldName(honest)
	return a == b || shortNameOf(a, b)
}

// shortNameOf reports whether name could be the 8.3 name of long; both are folded. The number at its end depends on
// the other files of the directory, and from the fifth on the characters before it are a hash.
func shortNameOf(name, long string) bool {
	base, ext, _ := strings.Cut(name, ".")
	i := strings.LastIndexByte(base, '~')
	if i < 1 || i == len(base)-1 || len(base) > 8 || strings.Trim(base[i+1:], "0123456789") != "" {
		return false
	}
	stem := strings.TrimLeft(long, ".")
	longExt := ""
	if dot := strings.LastIndexByte(stem, '.'); dot >= 0 {
		stem, longExt = stem[:dot], stem[dot+1:]
	}
	if len(long) == len(stem)+len(longExt)+min(1, len(longExt)) && len(stem) <= 8 && len(longExt) <= 3 &&
		!strings.ContainsAny(stem, " .") {
		return false // it is its own short name
	}
	if ext != longExt[:min(3, len(longExt))] {
		return false
	}
	stem = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '.':
			return -1
		case '+', ',', ';', '=', '[', ']':
			return '_'
		}
		return r
	}, stem)
	head := base[:i]
	if strings.HasPrefix(stem, head) && (len(head) == min(len(stem), 7-len(base[i+1:])) || len(head) >= 6) {
		return true
	}
	return len(head) == 6 && len(stem) >= 2 && head[:2] == stem[:2] && strings.Trim(head[2:], "0123456789abcdef") == ""
}

// MatchFolded is like MatchPath for a path that may be disguised: each component matches in its folded form, or as
// the short name of a component without wildcards.
func MatchFolded(pattern, path string) bool {
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	parts, names := strings.Split(pattern, "/"), foldedComponents(path)
	folded := make([][]rune, len(parts))
	for i, p := range parts {
		folded[i] = []rune(foldName(p))
	}
	return wildcard(len(parts), len(names), func(p int) bool { return parts[p] == "**" }, func(p, i int) bool {
		return matchName(folded[p], []rune(names[i])) ||
			!strings.ContainsAny(parts[p], "*?") && shortNameOf(names[i], string(folded[p]))
	})
}

// MatchPath reports whether a project-relative path matches a pattern: * matches any characters within one
// component, ? one character, ** any number of components, and a pattern that ends in / covers the directory.
func MatchPath(pattern, path string) bool {
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	parts, names := strings.Split(pattern, "/"), strings.Split(path, "/")
	return wildcard(len(parts), len(names), func(p int) bool { return parts[p] == "**" },
		func(p, i int) bool { return matchName([]rune(parts[p]), []rune(names[i])) })
}

// matchName matches one component.
func matchName(pattern, name []rune) bool {
	return wildcard(len(pattern), len(name), func(p int) bool { return pattern[p] == '*' },
		func(p, i int) bool { return pattern[p] == '?' || pattern[p] == name[i] })
}

// wildcard matches a pattern of length m with a text of length n. star reports whether a part of the pattern
// matches any number of things, and match whether a part matches one thing. After the last star a mismatch only
// advances that star, so the work is bounded by the product of the lengths.
func wildcard(m, n int, star func(p int) bool, match func(p, i int) bool) bool {
	p, i := 0, 0
	last, mark := -1, 0
	for i < n {
		switch {
		case p < m && star(p):
			last, mark = p, i
			p++
		case p < m && match(p, i):
			p++
			i++
		case last >= 0:
			mark++
			p, i = last+1, mark
		default:
			return false
		}
	}
	for p < m && star(p) {
		p++
	}
	return p == m
}
