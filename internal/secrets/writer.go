// Removing secrets from a stream.

package secrets

import (
	"bytes"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Writer passes what is written to it on to To, without secrets. Text that could be the beginning of a secret is
// held until more follows, at most until the line ends, so a secret that arrives in pieces is found; for a private
// key only the end is held. It is safe for concurrent use.
type Writer struct {
	To io.Writer
	// Known are values that are secret whatever they look like. Longer ones are replaced first.
	Known []string

	mu    sync.Mutex
	held  []byte
	inKey bool // within a private key whose end has not arrived
}

// heldMost is how many bytes of an unfinished line are held, twice the length of a token.
const heldMost = 2 * 2048

// Write only fails with an error of To. It counts bytes as they arrived.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, p...)
	end := bytes.LastIndexByte(w.held, '\n') + 1
	if rest := len(w.held) - end; rest > heldMost {
		// Split between two tokens, if possible.
		end = len(w.held) - heldMost/2
		if at := bytes.LastIndexAny(w.held[:end], " \t,;\"'<>|"); at > len(w.held)-heldMost {
			end = at + 1
		}
	}
	if end == 0 {
		return len(p), nil
	}
	err := w.pass(w.held[:end])
	w.held = append(w.held[:0], w.held[end:]...)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush passes on the held text.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held
	w.held = nil
	return w.pass(held)
}

func (w *Writer) pass(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	out := make([]byte, 0, len(data))
	if w.inKey {
		end := bytes.Index(data, []byte("-----END "))
		if end < 0 {
			return nil
		}
		w.inKey = false
		data = data[end+len("-----END "):]
		if at := bytes.IndexByte(data, '\n'); at >= 0 {
			data = data[at:]
		} else {
			data = nil
		}
	}
	last := 0
	for _, f := range Find(data) {
		out = append(append(out, data[last:f.from]...), mark(f.Rule)...)
		last = f.to
		if f.Rule == "private-key" && !bytes.Contains(data[f.from:f.to], []byte("-----END ")) {
			w.inKey, last = true, len(data)
			break
		}
	}
	out = append(out, data[last:]...)
	if w.inKey {
		out = append(out, '\n')
	}
	for _, v := range w.Known {
		if bytes.Contains(out, []byte(v)) {
			out = bytes.ReplaceAll(out, []byte(v), []byte(mark("environment-value")))
		}
	}
	_, err := w.To.Write(out)
	return err
}

// Names reports whether the name of a variable or of a header says that its value is secret.
func Names(name string) bool {
	name = strings.ToUpper(name)
	ends := []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS", "AUTHORIZATION", "COOKIE"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// FromEnvironment returns, for Writer.Known, the values of the named variables and of those whose names say that
// they are secret. Values shorter than eight bytes are too common to distinguish from other text.
func FromEnvironment(environ []string, named ...string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if len(value) < 8 || strings.ContainsAny(value, "\n\r") {
			continue
		}
		if Names(name) || slices.Contains(named, name) {
			out = append(out, value)
		}
	}
	sort.Slice(out, func(i, j int) bool { return len(out[i]) > len(out[j]) })
	return out
}
