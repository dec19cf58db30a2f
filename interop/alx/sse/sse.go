// Server-sent events for both sides of the wire: reading a stream, writing one.

// Package sse reads and writes text/event-stream. The reader is bounded, because
// the stream may come from anywhere.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// ErrTooLarge ends a stream with an event larger than the reader's limit.
var ErrTooLarge = errors.New("sse: the stream has a larger event than can be taken")

// Event is one event of a stream.
type Event struct {
	ID   string // the last id that the stream set, this event's own or an earlier one's
	Type string // "message" when the stream names none
	Data string
}

// Reader reads a stream.
type Reader struct {
	// Retry is how long the stream last asked to wait before reconnecting, 0 for
	// never.
	Retry time.Duration

	src  *bufio.Reader
	max  int
	id   string
	head bool
	cr   bool // the last line ended with CR: a line feed now is its second half
}

// NewReader reads events of at most maxEvent bytes from r.
func NewReader(r io.Reader, maxEvent int) *Reader {
	return &Reader{src: bufio.NewReaderSize(r, 16<<10), max: maxEvent}
}

// Next returns the next event and skips comments. An event that the end of the stream cuts short
// does not count; the error is then io.EOF.
func (r *Reader) Next() (Event, error) {
	e := Event{}
	var data []string
	size := 0
	for {
		line, err := r.line(r.max - size)
		if err != nil {
			return Event{}, err
		}
		size += len(line)
		if len(line) == 0 {
			if data == nil {
				e, size = Event{}, 0
				continue
			}
			e.ID, e.Data = r.id, strings.Join(data, "\n")
			if e.Type == "" {
				e.Type = "message"
			}
			return e, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "": // a comment: it must not fill up the event
			size -= len(line)
		case "id":
			if !bytes.ContainsRune(value, 0) {
				r.id = string(value)
			}
		case "event":
			e.Type = string(value)
		case "data":
			data = append(data, string(value))
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				r.Retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// line reads one line of at most limit bytes; CR, LF and both together end it.
func (r *Reader) line(limit int) ([]byte, error) {
	var line []byte
	for {
		c, err := r.src.ReadByte()
		if err != nil {
			return nil, err
		}
		second := r.cr && c == '\n'
		r.cr = c == '\r'
		switch {
		case second:
			continue
		case c == '\r' || c == '\n':
			return r.begun(line), nil
		}
		if line = append(line, c); len(line) > limit {
			return nil, ErrTooLarge
		}
	}
}

// begun removes the byte order mark from the very first line.
func (r *Reader) begun(line []byte) []byte {
	if !r.head {
		r.head = true
		return bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	return line
}

// Append appends one event in its wire form to b. Line breaks in data become several data lines; in
// id and type they are left out, as the format cannot represent them.
func Append(b []byte, e Event) []byte {
	flat := strings.NewReplacer("\r", "", "\n", "", "\x00", "")
	if e.ID != "" {
		b = append(append(append(b, "id: "...), flat.Replace(e.ID)...), '\n')
	}
	if e.Type != "" {
		b = append(append(append(b, "event: "...), flat.Replace(e.Type)...), '\n')
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(e.Data)
	for line := range strings.SplitSeq(text, "\n") {
		b = append(append(append(b, "data: "...), line...), '\n')
	}
	return append(b, '\n')
}
