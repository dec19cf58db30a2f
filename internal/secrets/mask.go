// Removing a known value from a JSON document, however it is escaped there.

package secrets

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Mask replaces a value by *** in JSON, or in JSON inside its strings: there each of its characters may be escaped, and
// the backslash of the escape too.
func Mask(data []byte, value string) []byte {
	if value == "" {
		return data
	}
	var out []byte
	last := 0
	for i := 0; i < len(data); {
		n := 0
		switch {
		case data[i] == '\\' && (i == 0 || data[i-1] != '\\'), // a run of backslashes is scanned once
			data[i] == value[0]:
			n = spelled(data[i:], value)
		}
		if n == 0 {
			i++
			continue
		}
		out = append(append(out, data[last:i]...), "***"...)
		i += n
		last = i
	}
	if last == 0 {
		return data
	}
	return append(out, data[last:]...)
}

// spelled returns how many bytes at the beginning of data encode value, 0 when they do not.
func spelled(data []byte, value string) int {
	var buf [utf8.UTFMax]byte
	i := 0
	for _, r := range value {
		at := i
		for i < len(data) && data[i] == '\\' {
			i++
		}
		if r == '\\' && i > at {
			continue
		}
		if i > at && len(data) >= i+5 && data[i] == 'u' {
			if code, err := strconv.ParseUint(string(data[i+1:i+5]), 16, 16); err == nil && rune(code) == r {
				i += 5
				continue
			}
		}
		c := buf[:utf8.EncodeRune(buf[:], r)]
		if !bytes.HasPrefix(data[i:], c) {
			return 0
		}
		i += len(c)
	}
	return i
}
