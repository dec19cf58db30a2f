package ojson

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Limits bounds what a decoder accepts. Hostile documents end in an
// error, never in exhausted memory or stack.
type Limits struct {
	Bytes     int  // longest document; 0 means DefaultBytes
	Depth     int  // deepest nesting; 0 means DefaultDepth
	LastWins  bool // accept duplicate keys, the last one wins; otherwise they are an error
	AllowTail bool // if false, only white space may follow the value; if true, stop at the value's end
}

// Defaults for limits that a caller leaves zero.
const (
	DefaultBytes = 64 << 20
	DefaultDepth = 128
)

// SyntaxError says what is wrong with a document and where.
type SyntaxError struct {
	Offset int // byte offset
	Line   int // 1-based
	Msg    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, byte %d: %s", e.Line, e.Offset, e.Msg)
}

// Decode reads one JSON document: strict UTF-8, bounded size and depth, no
// duplicate keys, nothing after the value. Every error is a *SyntaxError.
func Decode(data []byte) (Value, error) { return DecodeLimited(data, Limits{}) }

// DecodeObject is Decode for documents whose top level must be an object.
func DecodeObject(data []byte) (*Object, error) {
	v, err := Decode(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, &SyntaxError{Line: 1, Msg: "the document must be a JSON object, not " + TypeName(v)}
	}
	return o, nil
}

// TypeName names the JSON type of v for messages.
func TypeName(v Value) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	case *Object:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// DecodeLimited is Decode with explicit limits.
func DecodeLimited(data []byte, lim Limits) (Value, error) {
	if lim.Bytes == 0 {
		lim.Bytes = DefaultBytes
	}
	if lim.Depth == 0 {
		lim.Depth = DefaultDepth
	}
	d := &decoder{data: data, lim: lim}
	if len(data) > lim.Bytes {
		return nil, &SyntaxError{
			Line: 1,
			Msg:  fmt.Sprintf("the document has %d bytes; at most %d are read", len(data), lim.Bytes),
		}
	}
	d.space()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if !lim.AllowTail && d.pos < len(d.data) {
		return nil, d.errorf("unexpected %s after the end of the document", d.show())
	}
	return v, nil
}

type decoder struct {
	data []byte
	pos  int
	lim  Limits

	// The contents of the open objects and arrays, so that each is allocated once, with the right size.
	keys []string
	vals []any
}

func (d *decoder) errorf(format string, args ...any) *SyntaxError {
	line := 1
	for _, b := range d.data[:min(d.pos, len(d.data))] {
		if b == '\n' {
			line++
		}
	}
	return &SyntaxError{Offset: d.pos, Line: line, Msg: fmt.Sprintf(format, args...)}
}

func (d *decoder) show() string {
	if d.pos >= len(d.data) {
		return "end of input"
	}
	r, _ := utf8.DecodeRune(d.data[d.pos:])
	return strconv.QuoteRune(r)
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoder) value(depth int) (Value, error) {
	if depth > d.lim.Depth {
		return nil, d.errorf("nested deeper than %d levels", d.lim.Depth)
	}
	if d.pos >= len(d.data) {
		return nil, d.errorf("unexpected end of input")
	}
	switch c := d.data[d.pos]; {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		return d.str()
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	case c == 't':
		return true, d.literal("true")
	case c == 'f':
		return false, d.literal("false")
	case c == 'n':
		return nil, d.literal("null")
	}
	return nil, d.errorf("unexpected %s", d.show())
}

func (d *decoder) literal(word string) error {
	if len(d.data)-d.pos < len(word) || string(d.data[d.pos:d.pos+len(word)]) != word {
		return d.errorf("unexpected %s", d.show())
	}
	d.pos += len(word)
	return nil
}

func (d *decoder) object(depth int) (Value, error) {
	o := &Object{}
	d.pos++
	d.space()
	if d.pos < len(d.data) && d.data[d.pos] == '}' {
		d.pos++
		return o, nil
	}
	k, v := len(d.keys), len(d.vals)
	for {
		d.space()
		if d.pos >= len(d.data) || d.data[d.pos] != '"' {
			return nil, d.errorf("expected a member name, found %s", d.show())
		}
		at := d.pos
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		d.space()
		if d.pos >= len(d.data) || d.data[d.pos] != ':' {
			return nil, d.errorf("expected ':' after %q, found %s", key, d.show())
		}
		d.pos++
		d.space()
		val, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if i := o.among(d.keys[k:], key); i < 0 {
			d.keys, d.vals = append(d.keys, key), append(d.vals, val)
			o.note(d.keys[k:])
		} else if d.lim.LastWins {
			d.vals[v+i] = val
		} else {
			d.pos = at
			return nil, d.errorf("duplicate member %q", key)
		}
		d.space()
		if d.pos >= len(d.data) {
			return nil, d.errorf("unexpected end of input inside an object")
		}
		switch d.data[d.pos] {
		case ',':
			d.pos++
		case '}':
			d.pos++
			o.keys, o.vals = slices.Clone(d.keys[k:]), slices.Clone(d.vals[v:])
			d.keys, d.vals = d.keys[:k], d.vals[:v]
			return o, nil
		default:
			return nil, d.errorf("expected ',' or '}', found %s", d.show())
		}
	}
}

func (d *decoder) array(depth int) (Value, error) {
	d.pos++
	d.space()
	if d.pos < len(d.data) && d.data[d.pos] == ']' {
		d.pos++
		return []any{}, nil
	}
	from := len(d.vals)
	for {
		d.space()
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		d.vals = append(d.vals, v)
		d.space()
		if d.pos >= len(d.data) {
			return nil, d.errorf("unexpected end of input inside an array")
		}
		switch d.data[d.pos] {
		case ',':
			d.pos++
		case ']':
			d.pos++
			a := slices.Clone(d.vals[from:])
			d.vals = d.vals[:from]
			return a, nil
		default:
			return nil, d.errorf("expected ',' or ']', found %s", d.show())
		}
	}
}

func (d *decoder) number() (Value, error) {
	n, ok := NumberPrefix(d.data[d.pos:])
	switch {
	case !ok:
		d.pos += n
		return nil, d.errorf("malformed number")
	case n > MaxNumber:
		return nil, d.errorf("a number with more than %d characters", MaxNumber)
	}
	d.pos += n
	return Number(d.data[d.pos-n : d.pos]), nil
}

func (d *decoder) str() (string, error) {
	d.pos++
	start := d.pos
	// Fast path: no escapes. UTF-8 is checked once over the whole run.
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		if c == '"' {
			s := d.data[start:d.pos]
			if !utf8.Valid(s) {
				d.pos = start
				return "", d.errorf("a string is not valid UTF-8")
			}
			d.pos++
			return string(s), nil
		}
		if c == '\\' {
			break
		}
		if c < 0x20 {
			return "", d.errorf("a control character inside a string")
		}
		d.pos++
	}
	buf := append([]byte(nil), d.data[start:d.pos]...)
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		switch {
		case c == '"':
			d.pos++
			if !validWTF8(buf) {
				d.pos = start
				return "", d.errorf("a string is not valid UTF-8")
			}
			return string(buf), nil
		case c < 0x20:
			return "", d.errorf("a control character inside a string")
		case c != '\\':
			if c >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(d.data[d.pos:])
				if r == utf8.RuneError && n == 1 {
					return "", d.errorf("a string is not valid UTF-8")
				}
				buf = append(buf, d.data[d.pos:d.pos+n]...)
				d.pos += n
				continue
			}
			buf = append(buf, c)
			d.pos++
		default:
			var err error
			if buf, err = d.escape(buf); err != nil {
				return "", err
			}
		}
	}
	return "", d.errorf("unexpected end of input inside a string")
}

func (d *decoder) escape(buf []byte) ([]byte, error) {
	buf, n, err := Unescape(buf, d.data[d.pos:])
	d.pos += n
	if err != nil {
		return nil, d.errorf("%s", err)
	}
	return buf, nil
}
