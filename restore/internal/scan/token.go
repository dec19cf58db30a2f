// Tokens: the kind of the next value, members, items, numbers, literals.

package scan

import (
	"bytes"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Peek skips white space and returns the first byte of what follows: one of { [ " t f n - 0..9 for a value. The end
// of the document is an error.
func (r *Reader) Peek() (byte, error) {
	if r.pos < r.end {
		if c := r.buf[r.pos]; c > ' ' {
			return c, nil
		}
	}
	return r.peek()
}

func (r *Reader) peek() (byte, error) {
	for {
		for r.pos < r.end {
			switch c := r.buf[r.pos]; c {
			case ' ', '\t', '\n', '\r':
				r.pos++
			default:
				return c, nil
			}
		}
		if more, err := r.fill(); err != nil {
			return 0, err
		} else if !more {
			return 0, r.errorf(endsEarly)
		}
	}
}

// Kind is Peek in words: object, array, string, number, boolean, null.
func (r *Reader) Kind() (string, error) {
	c, err := r.Peek()
	if err != nil {
		return "", err
	}
	switch {
	case c == '{':
		return "object", nil
	case c == '[':
		return "array", nil
	case c == '"':
		return "string", nil
	case c == 't' || c == 'f':
		return "boolean", nil
	case c == 'n':
		return "null", nil
	case c == '-' || c >= '0' && c <= '9':
		return "number", nil
	}
	return "", r.unexpected(c)
}

func (r *Reader) unexpected(c byte) error {
	if c < 0x20 || c >= 0x7f {
		return r.errorf("there is byte 0x%02x where a value should be", c)
	}
	return r.errorf("there is %q where a value should be", string(rune(c)))
}

// End checks that nothing follows the document.
func (r *Reader) End() error {
	for {
		if c, err := r.Peek(); err == nil {
			if c < 0x20 || c >= 0x7f {
				return r.errorf("byte 0x%02x follows the document", c)
			}
			return r.errorf("%q follows the document", string(rune(c)))
		} else if r.Owns(err) {
			return nil
		} else {
			return err
		}
	}
}

// enter enters the object or array that comes next: c is '{' or '['.
func (r *Reader) enter(c byte) error {
	have, err := r.Peek()
	if err != nil {
		return err
	}
	if have != c {
		return r.unexpected(have)
	}
	if len(r.stack) >= r.lim.Depth {
		return r.errorf("values are nested deeper than %d levels", r.lim.Depth)
	}
	r.pos++
	r.stack = append(r.stack, frame{object: c == '{'})
	if c == '{' {
		if r.open == len(r.names) {
			r.names = append(r.names, &names{})
		}
		r.names[r.open].clear()
		r.open++
	}
	return nil
}

func (r *Reader) pop() {
	if r.stack[len(r.stack)-1].object {
		r.open--
	}
	r.stack = r.stack[:len(r.stack)-1]
}

// key returns the name of the next member of the object entered last, valid until the next use of the Reader; after
// the last member it returns false and leaves the object.
func (r *Reader) key() (key []byte, more bool, err error) {
	if key := r.plainKey(); key != nil {
		return key, true, nil
	}
	if more, err = r.next('}'); err != nil || !more {
		return nil, false, err
	}
	c, err := r.Peek()
	if err != nil {
		return nil, false, err
	}
	if c != '"' {
		return nil, false, r.errorf("a member has no name")
	}
	if key, err = r.short(r.lim.Key); err != nil {
		return nil, false, err
	}
	top := &r.stack[len(r.stack)-1]
	if top.n > r.lim.Members {
		return nil, false, r.errorf("an object has more than %d members", r.lim.Members)
	}
	if !r.names[r.open-1].add(key) {
		return nil, false, r.errorf("the member %.80q is there twice in one object", key)
	}
	key = r.names[r.open-1].last(key)
	if c, err = r.Peek(); err != nil {
		return nil, false, err
	}
	if c != ':' {
		return nil, false, r.errorf("there is no colon behind a member's name")
	}
	r.pos++
	return key, true, nil
}

// plainKey is Key for a name as programs write it, entirely in the window, without escapes and with at most one
// space before it; it returns nil and consumes nothing for any other. Names are most of the tokens of an artifact.
func (r *Reader) plainKey() []byte {
	top := &r.stack[len(r.stack)-1]
	b := r.buf[r.pos:r.end]
	at := 0
	if top.n > 0 {
		if len(b) < 2 || b[0] != ',' {
			return nil
		}
		if at = 1; b[1] == ' ' {
			at = 2
		}
	}
	if len(b) <= at || b[at] != '"' || top.n >= r.lim.Members {
		return nil
	}
	at++
	n := plainRun(b[at:])
	if behind := at + n; behind+1 >= len(b) || b[behind] != '"' || b[behind+1] != ':' || n == 0 || n > r.lim.Key {
		return nil
	}
	set := r.names[r.open-1]
	if !set.add(b[at : at+n]) {
		return nil
	}
	top.n++
	r.pos += at + n + 2
	r.lone = false
	return set.last(b[at : at+n])
}

// item advances to the next item of the array entered last; after the last item it returns false and leaves the
// array.
func (r *Reader) item() (bool, error) { return r.next(']') }

func (r *Reader) next(closing byte) (bool, error) {
	c, err := r.Peek()
	if err != nil {
		return false, err
	}
	top := &r.stack[len(r.stack)-1]
	switch {
	case c == closing:
		r.pos++
		r.pop()
		return false, nil
	case top.n > 0 && c != ',':
		return false, r.errorf("there is no comma between two members or items")
	case top.n > 0:
		r.pos++
		// A comma must be followed by something.
		if c, err = r.Peek(); err == nil && c == closing {
			err = r.errorf("there is a comma behind the last member or item")
		}
		if err != nil {
			return false, err
		}
	}
	top.n++
	return true, nil
}

// Members consumes the next value. If that is an object, it calls member for each name, to consume its value;
// otherwise it skips the value, and object is false.
func (r *Reader) Members(member func(name string) error) (object bool, err error) {
	if kind, err := r.Kind(); err != nil || kind != "object" {
		if err == nil {
			err = r.Skip()
		}
		return false, err
	}
	if err := r.enter('{'); err != nil {
		return true, err
	}
	for {
		name, more, err := r.key()
		if err != nil || !more {
			return true, err
		}
		if err := member(string(name)); err != nil {
			return true, err
		}
	}
}

// Items is Members for an array.
func (r *Reader) Items(item func() error) (array bool, err error) {
	if kind, err := r.Kind(); err != nil || kind != "array" {
		if err == nil {
			err = r.Skip()
		}
		return false, err
	}
	if err := r.enter('['); err != nil {
		return true, err
	}
	for {
		if more, err := r.item(); err != nil || !more {
			return true, err
		}
		if err := item(); err != nil {
			return true, err
		}
	}
}

// Skip consumes and checks a value.
func (r *Reader) Skip() error {
	c, err := r.Peek()
	if err != nil {
		return err
	}
	switch c {
	case '{':
		if err := r.enter('{'); err != nil {
			return err
		}
		for {
			if _, more, err := r.key(); err != nil || !more {
				return err
			}
			if err := r.Skip(); err != nil {
				return err
			}
		}
	case '[':
		if err := r.enter('['); err != nil {
			return err
		}
		for {
			if more, err := r.item(); err != nil || !more {
				return err
			}
			if err := r.Skip(); err != nil {
				return err
			}
		}
	case '"':
		if err := r.openString(); err != nil {
			return err
		}
		for {
			if _, done, err := r.piece(); err != nil || done {
				return err
			}
		}
	}
	_, err = r.plainToken(c)
	return err
}

// Value reads a value of at most max bytes.
func (r *Reader) Value(max int) (ojson.Value, error) {
	raw, err := r.Raw(max)
	if err != nil {
		return nil, err
	}
	v, err := ojson.DecodeLimited(raw, ojson.Limits{Bytes: max, Depth: r.lim.Depth})
	if err != nil {
		return nil, r.errorf("%s", err)
	}
	return v, nil
}

// Raw reads a value of at most max bytes and returns its spelling, valid until the next use of the Reader. It uses
// the mark.
func (r *Reader) Raw(max int) ([]byte, error) {
	if _, err := r.Peek(); err != nil {
		return nil, err
	}
	r.Mark()
	defer r.Unmark()
	at := r.Offset()
	if err := r.Skip(); err != nil {
		return nil, err
	}
	raw, ok := r.Marked()
	if !ok || len(raw) > max {
		return nil, &SyntaxError{Offset: at, Msg: "a value is longer than can be read", r: r}
	}
	return raw, nil
}

// plainToken reads a number or a literal that starts with c.
func (r *Reader) plainToken(c byte) ([]byte, error) {
	if c == '-' || c >= '0' && c <= '9' {
		return r.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if c != word[0] {
			continue
		}
		if err := r.need(len(word)); err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(r.buf[r.pos:r.end], []byte(word)) {
			break
		}
		r.pos += len(word)
		return r.buf[r.pos-len(word) : r.pos], nil
	}
	return nil, r.unexpected(c)
}

func (r *Reader) number() ([]byte, error) {
	if err := r.need(ojson.MaxNumber + 1); err != nil {
		return nil, err
	}
	b := r.buf[r.pos:r.end]
	n, ok := ojson.NumberPrefix(b)
	switch {
	case !ok:
		return nil, r.errorf("a number is malformed")
	case n > ojson.MaxNumber:
		return nil, r.errorf("a number has more than %d characters", ojson.MaxNumber)
	}
	r.pos += n
	return b[:n], nil
}

// names holds the member names of one object.
type names struct {
	arena []byte
	ends  []int
	many  map[string]struct{}
}

// few is how many names are compared one by one: most objects have fewer, and comparing twenty short names is
// cheaper than hashing one.
const few = 24

func (n *names) clear() {
	n.arena, n.ends = n.arena[:0], n.ends[:0]
	if len(n.many) > 1024 {
		n.many = nil // a map does not shrink
	}
	clear(n.many)
}

// add reports whether key is new.
func (n *names) add(key []byte) bool {
	if len(n.ends) < few {
		start := 0
		for _, end := range n.ends {
			if end-start == len(key) && bytes.Equal(n.arena[start:end], key) {
				return false
			}
			start = end
		}
		n.arena = append(n.arena, key...)
		n.ends = append(n.ends, len(n.arena))
		return true
	}
	if n.many == nil {
		n.many = make(map[string]struct{})
	}
	if len(n.many) == 0 {
		start := 0
		for _, end := range n.ends {
			n.many[string(n.arena[start:end])] = struct{}{}
			start = end
		}
		n.arena = n.arena[:start]
	}
	if _, ok := n.many[string(key)]; ok {
		return false
	}
	n.many[string(key)] = struct{}{}
	return true
}

// last returns a copy of key that stays valid while its object is open and no other member is requested.
func (n *names) last(key []byte) []byte {
	if len(n.ends) <= few && len(n.many) == 0 {
		start := 0
		if len(n.ends) > 1 {
			start = n.ends[len(n.ends)-2]
		}
		return n.arena[start:n.ends[len(n.ends)-1]]
	}
	kept := n.arena[:n.ends[len(n.ends)-1]]
	n.arena = append(kept, key...)
	return n.arena[len(kept):]
}
