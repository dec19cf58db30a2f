// The reader: a window of the document, the position in it, and what is kept.

package scan

import (
	"errors"
	"fmt"
	"io"
)

// Limits bounds what a Reader accepts; a zero member means its default.
type Limits struct {
	Depth   int // deepest nesting; 256
	Members int // most members of one object; 1<<20
	Key     int // longest member name in bytes; 64 KiB
	Mark    int // maximum number of bytes kept from a mark on; 32 MiB
}

func (l Limits) filled() Limits {
	if l.Depth == 0 {
		l.Depth = 256
	}
	if l.Members == 0 {
		l.Members = 1 << 20
	}
	if l.Key == 0 {
		l.Key = 64 << 10
	}
	if l.Mark == 0 {
		l.Mark = 32 << 20
	}
	return l
}

// SyntaxError says what is wrong with a document and where.
type SyntaxError struct {
	Offset int64 // byte offset, from 0
	Msg    string
	r      *Reader
}

const endsEarly = "the document ends too early"

// Empty reports whether there is no document at all.
func (e *SyntaxError) Empty() bool { return e.Offset == 0 && e.Msg == endsEarly }

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s (at byte %d)", e.Msg, e.Offset) }

// ReadError is a failure of the source, not of the document.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// window is how much of a document is held when nothing is marked. Tokens that must be read whole (a number, an
// escape, a rune) are much shorter.
const window = 256 << 10

// Reader reads one document. Methods that read a value leave the position after it. After an error the Reader is
// useless.
type Reader struct {
	src  io.Reader // nil when buf is the whole document
	buf  []byte
	pos  int
	end  int
	base int64 // offset of buf[0] in the document
	lim  Limits

	stack   []frame
	names   []*names // one set for each open object, reused
	open    int      // number of open objects
	scratch []byte   // decoded pieces of strings
	quote   []byte   // spelled names
	lone    bool     // the string just read had a lone surrogate

	mark    int // start of what is kept, -1 for none
	lost    bool
	depth   int // of the stack at the mark
	capture io.Writer
	from    int // start of what the capture has not received yet
}

type frame struct {
	object bool
	n      int // members or items so far
}

// New returns a Reader of a document that is read on demand.
func New(src io.Reader, lim Limits) *Reader {
	return &Reader{src: src, buf: make([]byte, window), mark: -1, lim: lim.filled()}
}

// Bytes returns a Reader of a document in memory, which it does not copy.
func Bytes(data []byte, lim Limits) *Reader {
	r := &Reader{lim: lim.filled()}
	r.Reset(data)
	return r
}

// Reset makes a Reader made by Bytes read another document.
func (r *Reader) Reset(data []byte) {
	r.src, r.buf, r.pos, r.end, r.base = nil, data, 0, len(data), 0
	r.stack, r.open, r.mark, r.lost, r.capture = r.stack[:0], 0, -1, false, nil
}

// Offset returns how far the document has been read.
func (r *Reader) Offset() int64 { return r.base + int64(r.pos) }

// Owns reports whether err says that this Reader's document is not JSON.
func (r *Reader) Owns(err error) bool {
	var s *SyntaxError
	return errors.As(err, &s) && s.r == r
}

func (r *Reader) errorf(format string, args ...any) error {
	return &SyntaxError{Offset: r.Offset(), Msg: fmt.Sprintf(format, args...), r: r}
}

// fill reads more of the document after what is held. It returns false at the end of the document.
func (r *Reader) fill() (bool, error) {
	if r.src == nil {
		return false, nil
	}
	keep := r.pos
	if r.mark >= 0 {
		if r.end-r.mark > r.lim.Mark {
			r.mark, r.lost = -1, true
		} else {
			keep = r.mark
		}
	}
	if err := r.drain(); err != nil {
		return false, err
	}
	if keep > 0 {
		copy(r.buf, r.buf[keep:r.end])
		r.base += int64(keep)
		r.pos, r.end, r.from = r.pos-keep, r.end-keep, r.from-keep
		if r.mark >= 0 {
			r.mark = 0
		}
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	} else if r.mark < 0 && len(r.buf) > 8*window && r.end < window {
		r.buf = append(make([]byte, 0, window), r.buf[:r.end]...)[:window]
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		switch {
		case n > 0:
			return true, nil
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, &ReadError{err}
		}
	}
	return false, &ReadError{io.ErrNoProgress}
}

// need makes n bytes available if the document has as many.
func (r *Reader) need(n int) error {
	for r.end-r.pos < n {
		if more, err := r.fill(); err != nil {
			return err
		} else if !more {
			return nil
		}
	}
	return nil
}

// drain passes what was read since the last call to the capture.
func (r *Reader) drain() error {
	if r.capture == nil || r.from == r.pos {
		return nil
	}
	_, err := r.capture.Write(r.buf[r.from:r.pos])
	r.from = r.pos
	if err != nil {
		return &ReadError{err}
	}
	return nil
}

// Capture copies to w every byte that the Reader consumes until Stop is called. w must handle pieces of any size
// efficiently.
func (r *Reader) Capture(w io.Writer) { r.capture, r.from = w, r.pos }

// Stop ends a capture.
func (r *Reader) Stop() error {
	err := r.drain()
	r.capture = nil
	return err
}

// Mark keeps the document from here on, so that it can be read again or examined in its original spelling. There is
// one mark at a time. It is lost if the text exceeds Limits.Mark.
func (r *Reader) Mark() { r.mark, r.lost, r.depth = r.pos, false, len(r.stack) }

// Marked returns the bytes since the mark, valid until the next use of the Reader; false when they were too many.
func (r *Reader) Marked() ([]byte, bool) {
	if r.lost || r.mark < 0 {
		return nil, false
	}
	return r.buf[r.mark:r.pos], true
}

// Unmark drops the mark.
func (r *Reader) Unmark() { r.mark, r.lost = -1, false }

// Rewind goes back to the mark and keeps it; false when it was lost.
func (r *Reader) Rewind() bool {
	if r.lost || r.mark < 0 {
		return false
	}
	r.pos = r.mark
	for len(r.stack) > r.depth {
		r.pop()
	}
	return true
}
