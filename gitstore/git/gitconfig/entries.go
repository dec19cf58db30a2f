// The lines of a git configuration, as git config --list --null prints them.

package gitconfig

import (
	"bytes"
	"errors"
	"strings"
)

// Entry is one line of a configuration file that sets a key.
type Entry struct {
	Key   string // section and name in lower case, a subsection as written
	Value string
}

// Parse returns every value of every key, in the order of the file. With an error it also returns the entries
// before it: git stops there too.
func Parse(data []byte) ([]Entry, error) {
	p := newParser(data)
	err := p.read()
	return p.out, err
}

// Read also reports which entries have no value, not even an empty one, and whether every git version reads these
// bytes in the same way.
func Read(data []byte) (list []Entry, alone map[int]bool, sure bool) {
	p := newParser(data)
	err := p.read()
	return p.out, p.alone, err == nil && !p.doubted && bytes.IndexByte(data, 0) < 0
}

type parser struct {
	b       []byte
	at      int
	section string // "core." or "remote.origin.", "" before the first header
	out     []Entry
	alone   map[int]bool // entries without a value, even an empty one
	doubted bool         // a value contains tabs or carriage returns: git before 2.45 reads them as spaces
}

func newParser(data []byte) *parser {
	return &parser{b: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), alone: make(map[int]bool)}
}

// read parses the file.
func (p *parser) read() error {
	for {
		switch c, ok := p.next(); {
		case !ok:
			return nil
		case c == ' ', c == '\t', c == '\n', c == '\r':
		case c == '#', c == ';':
			p.line()
		case c == '[':
			if err := p.header(); err != nil {
				return err
			}
		case isLetter(c):
			if err := p.entry(c); err != nil {
				return err
			}
		default:
			return errGitConfig
		}
	}
}

func (p *parser) next() (byte, bool) {
	if p.at >= len(p.b) {
		return 0, false
	}
	p.at++
	return p.b[p.at-1], true
}

// line skips the rest of a line.
func (p *parser) line() {
	if i := bytes.IndexByte(p.b[p.at:], '\n'); i >= 0 {
		p.at += i + 1
	} else {
		p.at = len(p.b)
	}
}

// header reads a section header after its opening bracket.
func (p *parser) header() error {
	var name strings.Builder
	for {
		c, ok := p.next()
		switch {
		case !ok:
			return errGitConfig
		case c == ']':
			if name.Len() == 0 {
				return errGitConfig
			}
			p.section = strings.ToLower(name.String()) + "."
			return nil
		case isLetter(c) || isDigit(c) || c == '-' || c == '.':
			name.WriteByte(c)
		case (c == ' ' || c == '\t') && name.Len() > 0:
			return p.subsection(strings.ToLower(name.String()))
		default:
			return errGitConfig
		}
	}
}

// subsection reads the quoted rest of a header.
func (p *parser) subsection(section string) error {
	rest := bytes.TrimLeft(p.b[p.at:], " \t")
	p.at = len(p.b) - len(rest)
	if c, ok := p.next(); !ok || c != '"' {
		return errGitConfig
	}
	var sub strings.Builder
	for {
		c, ok := p.next()
		if ok && c == '\\' {
			if c, ok = p.next(); ok && c != '\n' {
				sub.WriteByte(c)
				continue
			}
		}
		switch {
		case !ok || c == '\n':
			return errGitConfig
		case c != '"':
			sub.WriteByte(c)
			continue
		}
		if c, ok := p.next(); !ok || c != ']' {
			return errGitConfig
		}
		p.section = section + "." + sub.String() + "."
		return nil
	}
}

// entry reads a key, whose first letter is already consumed, and its value.
func (p *parser) entry(first byte) error {
	key := []byte{first}
	c, ok := p.next()
	for ok && (isLetter(c) || isDigit(c) || c == '-') {
		key = append(key, c)
		c, ok = p.next()
	}
	for ok && (c == ' ' || c == '\t') {
		c, ok = p.next()
	}
	name := p.section + strings.ToLower(string(key))
	if ok && c == '\r' && p.at < len(p.b) && p.b[p.at] == '\n' {
		c, ok = p.next()
	}
	switch {
	case !ok || c == '\n':
		p.alone[len(p.out)] = true
		p.out = append(p.out, Entry{name, "true"})
		return nil
	case c != '=':
		return errGitConfig
	}
	value, err := p.value()
	p.out = append(p.out, Entry{name, value})
	return err
}

// value reads up to the end of the line: surrounding blanks and comments are not part of it, quotes preserve both,
// a backslash at the end continues on the next line.
func (p *parser) value() (string, error) {
	var out []byte
	kept := 0 // length without trailing blanks outside quotes
	quoted, tabs := false, false
	for {
		c, ok := p.next()
		if ok && c == '\r' && p.at < len(p.b) && p.b[p.at] == '\n' {
			c, _ = p.next()
		}
		switch {
		case !ok || c == '\n':
			if quoted {
				return "", errGitConfig
			}
			return string(out[:kept]), nil
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if kept > 0 {
				out = append(out, c)
				tabs = tabs || c != ' '
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			p.line()
			return string(out[:kept]), nil
		case c == '"':
			quoted = !quoted
			kept = max(kept, len(out))
			continue
		case c == '\\':
			c, ok = p.next()
			if ok && c == '\r' && p.at < len(p.b) && p.b[p.at] == '\n' {
				c, ok = p.next()
			}
			switch {
			case !ok || c == '\n':
				continue
			case c == 'n':
				c = '\n'
			case c == 't':
				c = '\t'
			case c == 'b':
				c = '\b'
			case c != '\\' && c != '"':
				return "", errGitConfig
			}
		}
		out = append(out, c)
		kept = len(out)
		p.doubted = p.doubted || tabs
	}
}

var errGitConfig = errors.New("not a configuration file of git")

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// PlainName reports whether s is a valid section or key name.
func PlainName(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) && s[i] != '-' {
			return false
		}
	}
	return s != "" && isLetter(s[0])
}
