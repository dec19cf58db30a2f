// Git commit objects: encoding, and a parser for hostile input.

package object

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Signature is the author or committer with the time, to the second, and the zone's offset.
type Signature struct {
	Name  string
	Email string
	When  time.Time
}

// Header is a commit header this package does not interpret (gpgsig, encoding,
// mergetag). Value may have several lines.
type Header struct{ Key, Value string }

// Commit is a commit object.
type Commit struct {
	Tree      OID
	Parents   []OID
	Author    Signature
	Committer Signature
	Extra     []Header // in order, after the committer line
	Message   string   // raw bytes, normally ending in a newline
}

// EncodeCommit returns the commit object. It drops characters from names and addresses that a signature cannot
// hold, as git does; ids that are not of the format and NUL bytes are errors.
func EncodeCommit(format string, c *Commit) ([]byte, error) {
	if !c.Tree.Valid(format) {
		return nil, fmt.Errorf("commit with the tree %q", c.Tree)
	}
	var b bytes.Buffer
	b.WriteString("tree " + string(c.Tree) + "\n")
	for _, p := range c.Parents {
		if !p.Valid(format) || p.IsZero() {
			return nil, fmt.Errorf("commit with the parent %q", p)
		}
		b.WriteString("parent " + string(p) + "\n")
	}
	b.WriteString("author " + c.Author.encode() + "\n")
	b.WriteString("committer " + c.Committer.encode() + "\n")
	for _, h := range c.Extra {
		if h.Key == "" || strings.ContainsAny(h.Key, " \n\x00") || strings.IndexByte(h.Value, 0) >= 0 {
			return nil, fmt.Errorf("commit with the header %q", h.Key)
		}
		b.WriteString(h.Key + " " + strings.ReplaceAll(h.Value, "\n", "\n ") + "\n")
	}
	b.WriteByte('\n')
	if strings.IndexByte(c.Message, 0) >= 0 {
		return nil, errors.New("commit message with a NUL byte")
	}
	b.WriteString(c.Message)
	return b.Bytes(), nil
}

func (s Signature) encode() string {
	name, email := Identity(s.Name), Identity(s.Email)
	if name == "" {
		// fsck --strict refuses a signature without a name.
		if name, _, _ = strings.Cut(email, "@"); name == "" {
			name = "unknown"
		}
	}
	_, off := s.When.Zone()
	sign := '+'
	if off < 0 {
		sign, off = '-', -off
	}
	off /= 60
	return fmt.Sprintf("%s <%s> %d %c%02d%02d", name, email, max(s.When.Unix(), 0), sign, min(off/60, 99), off%60)
}

// Identity drops characters that would break the line and trims those that git trims.
func Identity(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.Trim(s, " .,:;\"\\'")
}

// ParseCommit parses a commit object of the format. It accepts well-formed commits of other tools but trusts
// nothing in them.
func ParseCommit(format string, data []byte) (*Commit, error) {
	c := &Commit{}
	head, msg, ok := bytes.Cut(data, []byte("\n\n"))
	if ok {
		c.Message = string(msg)
	} else if head, ok = bytes.CutSuffix(data, []byte("\n")); !ok {
		return nil, errors.New("commit header does not end")
	}
	lines := strings.Split(string(head), "\n")
	next := func(key string) (string, bool) {
		if len(lines) == 0 {
			return "", false
		}
		v, ok := strings.CutPrefix(lines[0], key+" ")
		if ok {
			lines = lines[1:]
		}
		return v, ok
	}
	id := func(v, what string) (OID, error) {
		if !OID(v).Valid(format) {
			return "", fmt.Errorf("commit with a malformed %s id", what)
		}
		return OID(v), nil
	}
	v, ok := next("tree")
	if !ok {
		return nil, errors.New("commit without a tree")
	}
	var err error
	if c.Tree, err = id(v, "tree"); err != nil {
		return nil, err
	}
	for {
		if v, ok = next("parent"); !ok {
			break
		}
		p, err := id(v, "parent")
		if err != nil {
			return nil, err
		}
		c.Parents = append(c.Parents, p)
	}
	if v, ok = next("author"); !ok {
		return nil, errors.New("commit without an author")
	}
	if c.Author, err = parseSignature(v); err != nil {
		return nil, err
	}
	if v, ok = next("committer"); !ok {
		return nil, errors.New("commit without a committer")
	}
	if c.Committer, err = parseSignature(v); err != nil {
		return nil, err
	}
	for _, l := range lines {
		if more, ok := strings.CutPrefix(l, " "); ok {
			if len(c.Extra) == 0 {
				return nil, errors.New("commit header continues nothing")
			}
			c.Extra[len(c.Extra)-1].Value += "\n" + more
			continue
		}
		k, v, ok := strings.Cut(l, " ")
		if !ok || k == "" {
			return nil, fmt.Errorf("commit header %.40q is not understood", l)
		}
		c.Extra = append(c.Extra, Header{k, v})
	}
	return c, nil
}

// parseSignature reads "Name <email> 1700000000 +0100".
func parseSignature(s string) (Signature, error) {
	lt := strings.IndexByte(s, '<')
	gt := strings.LastIndexByte(s, '>')
	if lt < 0 || gt < lt {
		return Signature{}, errors.New("signature without an address")
	}
	sig := Signature{Name: strings.TrimSpace(s[:lt]), Email: s[lt+1 : gt]}
	secs, zone, ok := strings.Cut(strings.TrimPrefix(s[gt+1:], " "), " ")
	n, err := strconv.ParseInt(secs, 10, 64)
	if !ok || err != nil || n < 0 || n > 1<<40 {
		return Signature{}, errors.New("signature without a time")
	}
	if len(zone) != 5 || zone[0] != '+' && zone[0] != '-' {
		return Signature{}, errors.New("signature without a zone")
	}
	hhmm, err := strconv.ParseUint(zone[1:], 10, 16)
	if err != nil {
		return Signature{}, errors.New("signature without a zone")
	}
	off := int(hhmm/100)*3600 + int(hhmm%100)*60
	if zone[0] == '-' {
		off = -off
	}
	loc := time.UTC
	if off != 0 {
		loc = time.FixedZone(zone, off)
	}
	sig.When = time.Unix(n, 0).In(loc)
	return sig, nil
}
