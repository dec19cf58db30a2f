// Strings, piece by piece: escapes, runes, surrogates.

package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// pieceSize is approximately how much of a string with escapes is decoded at a time.
const pieceSize = 16 << 10

// openString consumes the opening quote.
func (r *Reader) openString() error {
	c, err := r.Peek()
	if err != nil {
		return err
	}
	if c != '"' {
		return r.unexpected(c)
	}
	r.pos++
	r.lone = false
	return nil
}

// piece returns the next piece of a string, decoded, valid until the next use of the Reader. done is true with the
// last one, which may be empty.
func (r *Reader) piece() (text []byte, done bool, err error) {
	// If nothing has to be decoded the piece is a part of the window itself.
	n := plainRun(r.buf[r.pos:r.end])
	if at := r.pos + n; at < r.end && r.buf[at] == '"' {
		text, r.pos = r.buf[r.pos:at], at+1
		return text, true, nil
	} else if n >= pieceSize || n > 0 && at == r.end {
		text, r.pos = r.buf[r.pos:at], at
		return text, false, nil
	}
	out := r.scratch[:0]
	for len(out) < pieceSize {
		n := plainRun(r.buf[r.pos:r.end])
		out = append(out, r.buf[r.pos:r.pos+n]...)
		r.pos += n
		if r.pos == r.end {
			if more, err := r.fill(); err != nil {
				return nil, false, err
			} else if !more {
				return nil, false, r.errorf("the document ends inside a string")
			}
			continue
		}
		switch c := r.buf[r.pos]; {
		case c == '"':
			r.pos++
			r.scratch = out
			return out, true, nil
		case c == '\\':
			if out, err = r.escape(out); err != nil {
				return nil, false, err
			}
		case c < 0x20:
			return nil, false, r.errorf("there is a control character inside a string")
		default:
			if err := r.need(utf8.UTFMax); err != nil {
				return nil, false, err
			}
			_, n := utf8.DecodeRune(r.buf[r.pos:r.end])
			if n == 1 {
				return nil, false, r.errorf("a string is not valid UTF-8")
			}
			out = append(out, r.buf[r.pos:r.pos+n]...)
			r.pos += n
		}
	}
	r.scratch = out
	return out, false, nil
}

// plainRun returns how many of the first bytes need no decoding. It examines eight bytes at a time, and four such
// words before it checks which differ: most of an artifact passes through here.
func plainRun(b []byte) int {
	i := 0
	for ; i+32 <= len(b); i += 32 {
		p := b[i : i+32 : i+32]
		if special(binary.LittleEndian.Uint64(p))|special(binary.LittleEndian.Uint64(p[8:]))|
			special(binary.LittleEndian.Uint64(p[16:]))|special(binary.LittleEndian.Uint64(p[24:])) != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if hit := special(binary.LittleEndian.Uint64(b[i:])); hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// special sets the high bit of each byte of w that is below a space, a quote, a backslash, or not ASCII. Borrows
// only falsify bytes after a genuine hit.
func special(w uint64) uint64 {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	return (w | (w - ones*0x20) | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)) & high
}

func (r *Reader) escape(out []byte) ([]byte, error) {
	if err := r.need(12); err != nil { // a surrogate pair
		return nil, err
	}
	out, n, err := ojson.Unescape(out, r.buf[r.pos:r.end])
	switch {
	case err == nil:
	case r.end-r.pos < 2:
		return nil, r.errorf("the document ends inside a string")
	case r.buf[r.pos+1] == 'u':
		return nil, r.errorf("an escape is malformed")
	default:
		return nil, r.errorf("there is an unknown escape in a string")
	}
	r.pos += n
	if n == 6 && !r.lone {
		_, r.lone = ojson.LoneSurrogate(out[max(0, len(out)-3):])
	}
	return out, nil
}

// short reads a string of at most max bytes, valid until the next use.
func (r *Reader) short(max int) ([]byte, error) {
	if err := r.openString(); err != nil {
		return nil, err
	}
	text, done, err := r.piece()
	if err != nil || done && len(text) <= max {
		return text, err
	}
	all := append([]byte(nil), text...)
	lone := r.lone
	for !done {
		if len(all) > max {
			return nil, r.errorf("a string is longer than %d bytes", max)
		}
		if text, done, err = r.piece(); err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	r.lone = r.lone || lone
	if len(all) > max {
		return nil, r.errorf("a string is longer than %d bytes", max)
	}
	return all, nil
}

// Lone reports whether the last name or string contained a lone surrogate, which is not a character.
func (r *Reader) Lone() bool { return r.lone }

// Text passes the next string to f, decoded, in pieces that are valid during the call. An error of f ends the
// reading and is returned.
func (r *Reader) Text(f func(piece []byte) error) error {
	if err := r.openString(); err != nil {
		return err
	}
	for {
		text, done, err := r.piece()
		if err != nil {
			return err
		}
		if len(text) > 0 {
			if err := f(text); err != nil {
				return err
			}
		}
		if done {
			return nil
		}
	}
}
