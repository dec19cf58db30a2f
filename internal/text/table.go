// The table of hostile runes, and how each is shown.

package text

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// hostileRange is one row of the table.
type hostileRange struct {
	lo, hi rune
	what   string
}

// hostile is the table, in ascending order. It includes line feed and tab; the functions that keep lines let the
// two through.
//
// Two cases depend on neighbouring runes and are not in it (see meant): the joiners U+200C and U+200D stay between
// letters of scripts that need them and between emoji, and U+FE0E and U+FE0F stay after the symbol they style.
// Private use is included: different readers see such a rune differently, and many see nothing. Tag characters are
// included everywhere, so the flags of England, Scotland and Wales are spelled out.
var hostile = [...]hostileRange{
	{0x0000, 0x001f, "C0 control"},
	{0x007f, 0x009f, "delete and C1 control"},
	{0x00ad, 0x00ad, "soft hyphen"},
	{0x034f, 0x034f, "combining grapheme joiner"},
	{0x061c, 0x061c, "Arabic letter mark"},
	{0x115f, 0x1160, "Hangul filler"},
	{0x17b4, 0x17b5, "Khmer inherent vowel"},
	{0x180b, 0x180f, "Mongolian selector and separator"},
	{0x200b, 0x200d, "zero width space and joiners"},
	{0x200e, 0x200f, "direction mark"},
	{0x2028, 0x2029, "line and paragraph separator"},
	{0x202a, 0x202e, "direction embedding and override"},
	{0x2060, 0x2065, "word joiner and invisible operators"},
	{0x2066, 0x2069, "direction isolate"},
	{0x206a, 0x206f, "deprecated format control"},
	{0x3164, 0x3164, "Hangul filler"},
	{0xd800, 0xdfff, "surrogate"},
	{0xe000, 0xf8ff, "private use"},
	{0xfdd0, 0xfdef, "noncharacter"},
	{0xfe00, 0xfe0f, "variation selector"},
	{0xfeff, 0xfeff, "byte order mark"},
	{0xffa0, 0xffa0, "half width Hangul filler"},
	{0xfff0, 0xfff8, "unassigned, ignorable"},
	{0xfff9, 0xfffb, "interlinear annotation"},
	{0xfffe, 0xffff, "noncharacter"},
	{0x13430, 0x1343f, "hieroglyph format control"},
	{0x1bca0, 0x1bca3, "shorthand format control"},
	{0x1d173, 0x1d17a, "musical format control"},
	{0x1fffe, 0x1ffff, "noncharacter"},
	{0x2fffe, 0x2ffff, "noncharacter"},
	{0x3fffe, 0x3ffff, "noncharacter"},
	{0x4fffe, 0x4ffff, "noncharacter"},
	{0x5fffe, 0x5ffff, "noncharacter"},
	{0x6fffe, 0x6ffff, "noncharacter"},
	{0x7fffe, 0x7ffff, "noncharacter"},
	{0x8fffe, 0x8ffff, "noncharacter"},
	{0x9fffe, 0x9ffff, "noncharacter"},
	{0xafffe, 0xaffff, "noncharacter"},
	{0xbfffe, 0xbffff, "noncharacter"},
	{0xcfffe, 0xcffff, "noncharacter"},
	{0xdfffe, 0xdffff, "noncharacter"},
	{0xe0000, 0xe007f, "tag"},
	{0xe0080, 0xe00ff, "unassigned, ignorable"},
	{0xe0100, 0xe01ef, "variation selector supplement"},
	{0xe01f0, 0xe0fff, "unassigned, ignorable"},
	{0xefffe, 0xeffff, "noncharacter"},
	{0xf0000, 0x10ffff, "private use and noncharacter"},
}

// Hostile reports whether a rune is in the table. Line feed and tab are.
func Hostile(r rune) bool {
	if r < 0x7f {
		return r < 0x20
	}
	lo, hi := 0, len(hostile)
	for lo < hi {
		mid := (lo + hi) / 2
		switch row := &hostile[mid]; {
		case r < row.lo:
			hi = mid
		case r > row.hi:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}

// HostileRunes yields every rune of the table except the surrogates, which UTF-8 text cannot hold. Of the private
// use areas it yields both ends. Tests of packages that show text iterate over it.
func HostileRunes() iter.Seq2[rune, string] {
	return func(yield func(rune, string) bool) {
		for _, row := range hostile {
			if row.lo == 0xd800 {
				continue
			}
			for r := row.lo; r <= row.hi; r++ {
				if row.hi-row.lo > 0x1000 && r == row.lo+16 {
					r = row.hi - 16
				}
				if !yield(r, row.what) {
					return
				}
			}
		}
	}
}

// appendShown appends a hostile rune spelled out: ^X for C0 controls, \uXXXX or \UXXXXXXXX for all others.
func appendShown(dst []byte, r rune) []byte {
	switch {
	case r < 0x20:
		return append(dst, '^', byte(r)+'@')
	case r > 0xffff:
		return appendDigits(append(dst, '\\', 'U'), r, 32)
	}
	return appendEscape(dst, r)
}

// appendEscape appends \uXXXX.
func appendEscape(dst []byte, r rune) []byte { return appendDigits(append(dst, '\\', 'u'), r, 16) }

func appendDigits(dst []byte, r rune, bits int) []byte {
	for bits > 0 {
		bits -= 4
		dst = append(dst, "0123456789abcdef"[r>>bits&0xf])
	}
	return dst
}

// meant reports whether a rune of the table is part of ordinary writing in its place: a joiner between two letters
// of a script that joins, or between two symbols; a selector of text or emoji style after the symbol it styles.
// Each needs a visible rune before it, so no run of them can carry a hidden message.
func meant(before, r, after rune) bool {
	switch r {
	case 0x200c:
		return joins(before) && joins(after)
	case 0x200d:
		return joins(before) && joins(after) || (symbol(before) || before == 0xfe0f) && symbol(after)
	case 0xfe0e, 0xfe0f:
		return symbol(before) || after == 0x20e3 && (before == '#' || before == '*' || '0' <= before && before <= '9')
	}
	return false
}

// joins reports whether r is a letter or mark of a script whose words are spelled with joiners.
func joins(r rune) bool {
	return r >= 0x600 && !Hostile(r) && (unicode.IsLetter(r) || unicode.IsMark(r)) &&
		unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian,
			unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
			unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
			unicode.Tibetan, unicode.Inherited)
}

// symbol reports whether r is in one of the blocks of emoji.
func symbol(r rune) bool {
	switch {
	case r < 0x203c:
		return r == 0xa9 || r == 0xae
	case r < 0x10000:
		return r <= 0x2139 && (r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139) ||
			0x2190 <= r && r <= 0x2bff || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299
	}
	return 0x1f000 <= r && r <= 0x1faff
}

// decode is utf8.DecodeRuneInString that reports an invalid byte.
func decode(s string) (r rune, size int, valid bool) {
	r, size = utf8.DecodeRuneInString(s)
	return r, size, r != utf8.RuneError || size != 1
}
