// Fuzz tests of reading notes of turns.

package tamper

import "testing"

// FuzzNote checks that no note makes its reader panic.
func FuzzNote(f *testing.F) {
	f.Add([]byte(`{"turn_id":"t","owner":"{\"owner_pid\":1}","branch":"b","files":{"a":{"kind":"file","data":"YQ==","mode":1}},"refs":{"x":"y"},"hidden":{"YQ==":"S"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = decodeNote(data)
	})
}
