// Names that some file system treats as the same (docs/compatibility.md#where-we-differ-on-purpose).

package dispatch

import (
	"strings"
	"unicode"
)

// names finds, among successive paths, the first that an earlier one could be mistaken for: by case, by composed
// versus decomposed accents, by characters that a file system ignores or cuts off, or because one would have to be
// the other's directory.
type names struct {
	files  map[string]string     // folded path -> path
	dirs   map[string]string     // folded directory -> path below it
	groups map[string][]accented // skeleton -> names with non-ASCII letters
}

// accented is a path split into letters with their marks.
type accented struct {
	path     string
	clusters []string
	marks    bool // some letter has a combining mark
}

func newNames() *names {
	return &names{files: make(map[string]string), dirs: make(map[string]string), groups: make(map[string][]accented)}
}

// add notes path and returns the earlier path it collides with, or "".
func (n *names) add(path string) string {
	key := foldPath(path)
	if was, ok := n.files[key]; ok {
		return was
	}
	if was, ok := n.dirs[key]; ok {
		return was
	}
	for i := range len(key) {
		if key[i] == '/' {
			if was, ok := n.files[key[:i]]; ok {
				return was
			}
		}
	}
	if was := n.accents(path, key); was != "" {
		return was
	}
	n.files[key] = path
	for i := range len(key) {
		if key[i] == '/' {
			n.dirs[key[:i]] = path
		}
	}
	return ""
}

// accents compares names with combining marks to names with composed letters in the same places. Without
// composition tables, a composed letter counts as matching any letter with marks: two names that mix the forms at
// the same place are refused even if their accents differ.
func (n *names) accents(path, key string) string {
	a := accented{path: path}
	var skeleton []byte
	for _, r := range key {
		last := len(a.clusters) - 1
		switch {
		case isMark(r) && last >= 0 && a.clusters[last] != "/":
			// The letter below the mark is part of the composed letter.
			skeleton[last] = 0
			a.clusters[last] += string(r)
			a.marks = true
		case r >= 0x80:
			a.clusters = append(a.clusters, string(r))
			skeleton = append(skeleton, 0)
		default:
			a.clusters = append(a.clusters, string(r))
			skeleton = append(skeleton, byte(r))
		}
	}
	group := string(skeleton)
	if strings.IndexByte(group, 0) < 0 {
		return ""
	}
	for _, b := range n.groups[group] {
		if (a.marks || b.marks) && a.like(b) {
			return b.path
		}
	}
	n.groups[group] = append(n.groups[group], a)
	return ""
}

// like reports whether two names with the same skeleton may be the same letters.
func (a accented) like(b accented) bool {
	if len(a.clusters) != len(b.clusters) {
		return false
	}
	for i, x := range a.clusters {
		y := b.clusters[i]
		if x == y {
			continue
		}
		xm, ym := marked(x), marked(y)
		// Two plain letters differ; two marked ones differ unless one of them is
		// partly composed (ê with an acute against e with both).
		if !xm && !ym || xm && ym && x[0] < 0x80 && y[0] < 0x80 {
			return false
		}
	}
	return true
}

func marked(cluster string) bool {
	first := true
	for _, r := range cluster {
		if !first && isMark(r) {
			return true
		}
		first = false
	}
	return false
}

// isMark reports whether a rune composes with the letter before it.
func isMark(r rune) bool {
	return r >= 0x0300 && r <= 0x036F || r == 0x3099 || r == 0x309A ||
		r >= 0x0591 && r <= 0x05C7 && unicode.Is(unicode.Mn, r) || r >= 0x0653 && r <= 0x0655 || r == 0x093C ||
		r >= 0x1AB0 && r <= 0x1AFF || r >= 0x1DC0 && r <= 0x1DFF
}

// foldPath maps each component of path to a form shared by all spellings that some file system opens as the same
// file: case is folded, Hangul syllables are decomposed, code points that HFS+ ignores are dropped, and so are
// trailing dots and spaces, which Windows drops.
func foldPath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		var b strings.Builder
		for _, r := range p {
			switch {
			case r >= 0x200C && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x206A && r <= 0x206F, r == 0xFEFF:
			case r >= 0xAC00 && r <= 0xD7A3:
				s := r - 0xAC00
				b.WriteRune(0x1100 + s/588)
				b.WriteRune(0x1161 + s%588/28)
				if t := s % 28; t > 0 {
					b.WriteRune(0x11A7 + t)
				}
			default:
				b.WriteRune(foldRune(r))
			}
		}
		folded, _, _ := strings.Cut(b.String(), ":")
		parts[i] = strings.TrimRight(folded, " .")
	}
	return strings.Join(parts, "/")
}

// foldRune maps r to one representative of the runes that differ only in case.
func foldRune(r rune) rune {
	lowest := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		lowest = min(lowest, f)
	}
	return unicode.ToLower(lowest)
}
