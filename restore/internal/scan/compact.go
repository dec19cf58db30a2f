// Copying a document without its white space.

package scan

import (
	"io"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Compact copies the next value of a document in memory (see Bytes) to w without white space between tokens.
// Numbers and strings keep their spelling, member names get JavaScript's. It checks the value while copying: what
// was written before an error is useless. w should be buffered.
func (r *Reader) Compact(w io.Writer) error {
	c, err := r.Peek()
	if err != nil {
		return err
	}
	switch c {
	case '{':
		return r.compactObject(w)
	case '[':
		return r.compactArray(w)
	}
	start := r.pos
	if err := r.Skip(); err != nil {
		return err
	}
	_, err = w.Write(r.buf[start:r.pos])
	return err
}

func (r *Reader) compactObject(w io.Writer) error {
	if err := r.enter('{'); err != nil {
		return err
	}
	b := append(r.quote[:0], '{')
	for {
		key, more, err := r.key()
		if err != nil {
			return err
		}
		if !more {
			r.quote = append(b, '}')
			_, err = w.Write(r.quote)
			return err
		}
		b = append(ojson.AppendString(b, string(key)), ':')
		r.quote = b
		if _, err := w.Write(b); err != nil {
			return err
		}
		if err := r.Compact(w); err != nil {
			return err
		}
		if b = r.quote[:0]; !r.last('}') {
			b = append(b, ',')
		}
	}
}

func (r *Reader) compactArray(w io.Writer) error {
	if err := r.enter('['); err != nil {
		return err
	}
	b := append(r.quote[:0], '[')
	for {
		more, err := r.item()
		if err != nil {
			return err
		}
		if !more {
			b = append(b, ']')
		}
		r.quote = b
		if _, err := w.Write(b); err != nil || !more {
			return err
		}
		if err := r.Compact(w); err != nil {
			return err
		}
		if b = r.quote[:0]; !r.last(']') {
			b = append(b, ',')
		}
	}
}

// last reports whether the object or array ends here.
func (r *Reader) last(closing byte) bool {
	c, err := r.Peek()
	return err == nil && c == closing
}
