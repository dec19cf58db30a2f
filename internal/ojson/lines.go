// Line numbers of the members of a document.

package ojson

import (
	"bytes"
	"encoding/json"
)

// Lines finds the line of every member and element, by JSON Pointer (RFC 6901); the document itself is "". In
// invalid JSON it finds what comes before the error. Lines are counted from 1.
func Lines(data []byte) map[string]int {
	out := map[string]int{"": 1}
	dec := json.NewDecoder(bytes.NewReader(data))
	line, read := 1, 0
	here := func() int {
		at := min(int(dec.InputOffset()), len(data))
		line += bytes.Count(data[read:at], []byte{'\n'})
		read = at
		return line
	}
	var value func(at string, depth int) bool
	value = func(at string, depth int) bool {
		token, err := dec.Token()
		if err != nil || depth > 200 {
			return false
		}
		if _, ok := out[at]; !ok {
			out[at] = here()
		}
		open, ok := token.(json.Delim)
		if !ok {
			return true
		}
		for i := 0; dec.More(); i++ {
			in := Item(at, i)
			if open == '{' {
				key, err := dec.Token()
				name, ok := key.(string)
				if err != nil || !ok {
					return false
				}
				in = Member(at, name)
				out[in] = here()
			}
			if !value(in, depth+1) {
				return false
			}
		}
		_, err = dec.Token()
		return err == nil
	}
	value("", 0)
	return out
}
