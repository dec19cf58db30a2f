// Keeping a limited part of an output stream.

package process

import "io"

// capture is a writer that keeps the first or the last limit bytes written to it and accepts any amount in constant
// memory.
type capture struct {
	limit    int
	tail     bool
	buf      []byte
	start    int // for KeepTail: the position of the oldest byte, once buf is full
	total    int64
	overflow chan<- struct{} // signalled once when more than limit was written; may be nil
}

func newCapture(s Spec, overflow chan<- struct{}) *capture {
	c := &capture{limit: max(s.Limit, 0), tail: s.KeepTail}
	if s.KillOnOverflow {
		c.overflow = overflow
	}
	return c
}

// Write never fails: a program must not notice that its output is dropped.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	c.total += int64(n)
	if c.total > int64(c.limit) && c.overflow != nil {
		select {
		case c.overflow <- struct{}{}:
		default: // the other stream signalled first
		}
		c.overflow = nil
	}
	if room := c.limit - len(c.buf); room > 0 {
		k := min(room, len(p))
		c.buf = append(c.buf, p[:k]...)
		p = p[k:]
	}
	if !c.tail || c.limit <= 0 {
		return n, nil
	}
	if len(p) > c.limit {
		p = p[len(p)-c.limit:]
	}
	for len(p) > 0 { // buf is full: it is now a ring
		k := copy(c.buf[c.start:], p)
		c.start = (c.start + k) % c.limit
		p = p[k:]
	}
	return n, nil
}

// over reports whether more was written than is kept.
func (c *capture) over() bool { return c.total > int64(c.limit) }

// bytes returns what was kept, oldest first.
func (c *capture) bytes() []byte {
	if c.start == 0 {
		return c.buf
	}
	out := make([]byte, 0, len(c.buf))
	return append(append(out, c.buf[c.start:]...), c.buf[:c.start]...)
}

// tee returns a writer that also passes everything on to w, if w is set.
func (c *capture) tee(w io.Writer) io.Writer {
	if w == nil {
		return c
	}
	return teeWriter{c, w}
}

type teeWriter struct {
	c *capture
	w io.Writer
}

func (t teeWriter) Write(p []byte) (int, error) {
	_, _ = t.w.Write(p)
	return t.c.Write(p)
}
