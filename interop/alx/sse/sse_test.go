// Reading and writing event streams.

package sse

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func read(r io.Reader, most int) (out []Event, reader *Reader, err error) {
	reader = NewReader(r, most)
	for {
		e, err := reader.Next()
		if err != nil {
			return out, reader, err
		}
		out = append(out, e)
	}
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []Event
	}{
		"one": {"id: 1\nevent: a\ndata: x\n\n", []Event{{"1", "a", "x"}}},
		"line ends of all kinds": {"data: x\r\n\r\ndata: y\r\rdata: z\n\n", []Event{
			{"", "message", "x"},
			{"", "message", "y"},
			{"", "message", "z"},
		}},
		"several lines": {"data: a\ndata:b\ndata\ndata:  c\n\n", []Event{{"", "message", "a\nb\n\n c"}}},
		"an id stays": {"id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []Event{
			{"7", "message", "a"},
			{"7", "message", "b"},
			{"", "message", "c"},
		}},
		"an id without data stays": {"id: 7\n\ndata: b\n\n", []Event{{"7", "message", "b"}}},
		"a type does not":          {"event: a\n\ndata: b\n\n", []Event{{"", "message", "b"}}},
		"comments":                 {": hello\n\n:\ndata: a\n: in between\n\n", []Event{{"", "message", "a"}}},
		"unknown fields":           {"colour: red\ndata: a\nDATA: b\n data: c\n\n", []Event{{"", "message", "a"}}},
		"cut short":                {"data: a\n\ndata: b\n", []Event{{"", "message", "a"}}},
		"a byte order mark":        {"\ufeffdata: a\n\n", []Event{{"", "message", "a"}}},
		"an id with NUL":           {"id: a\x00b\ndata: a\n\n", []Event{{"", "message", "a"}}},
		"colons":                   {"data: a: b:c\n\n", []Event{{"", "message", "a: b:c"}}},
		"empty data":               {"data\n\ndata:\n\n", []Event{{"", "message", ""}, {"", "message", ""}}},
		"nothing":                  {"", nil},
	} {
		for _, src := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			got, _, err := read(src, 1<<10)
			if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF {
				t.Errorf("%s: %v\n%s", name, err, diff)
			}
		}
	}
	_, r, _ := read(strings.NewReader("retry: 1500\ndata: a\n\nretry: soon\nretry: -1\n\n"), 100)
	if r.Retry != 1500*time.Millisecond {
		t.Errorf("%v", r.Retry)
	}
}

func TestLimits(t *testing.T) {
	endless := func(s string) io.Reader { return &repeat{s, 0} }
	for _, s := range []string{"x", "data: x\n", "data: " + strings.Repeat("x", 50) + "\n"} {
		if _, _, err := read(endless(s), 100); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%q: %v", s, err)
		}
	}
	got, _, err := read(io.MultiReader(strings.NewReader(strings.Repeat(": heartbeat\n", 1000)+"data: a\n\n")), 100)
	if err != io.EOF || len(got) != 1 {
		t.Errorf("heartbeats fill the event up: %v", err)
	}
}

type repeat struct {
	s  string
	at int
}

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.s[r.at%len(r.s)]
		r.at++
	}
	return len(p), nil
}

// FuzzWritten: everything that is written is read again, except line breaks in names, which the
// format cannot represent.
func FuzzWritten(f *testing.F) {
	f.Add("1", "a", "x\r\ny")
	f.Add("a\nb", "data: x\n\n", "\r")
	f.Fuzz(func(t *testing.T, id, kind, data string) {
		flat := strings.NewReplacer("\r", "", "\n", "", "\x00", "")
		want := Event{flat.Replace(id), flat.Replace(kind),
			strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(data)}
		if want.Type == "" {
			want.Type = "message"
		}
		got, _, err := read(strings.NewReader(string(Append(nil, Event{id, kind, data}))), 1<<20)
		if err != io.EOF || len(got) != 1 || got[0] != want {
			t.Fatalf("%q %v, not %q", got, err, want)
		}
	})
}
