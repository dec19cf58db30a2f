// Making a stream visible.

package text

import (
	"io"
	"unicode/utf8"
)

// Writer makes what is written to it visible and passes it to To. It holds an incomplete character until the rest
// arrives.
type Writer struct {
	To io.Writer

	part []byte // an incomplete character, at most three bytes
}

// Write returns an error of To. It counts bytes as they arrived.
func (w *Writer) Write(p []byte) (int, error) {
	data := p
	if len(w.part) > 0 {
		data = append(w.part, p...)
	}
	end := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if at := len(data) - back; utf8.RuneStart(data[at]) {
			if !utf8.FullRune(data[at:]) {
				end = at
			}
			break
		}
	}
	_, err := io.WriteString(w.To, Visible(string(data[:end])))
	w.part = append([]byte(nil), data[end:]...)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}
