// One buffer for one file at a time.

package restore

import "runtime/debug"

// large is when the memory of a buffer that has become too small is given back
// before a larger one is made: two of the largest files must not be held at once.
const large = 8 << 20

// room makes *buf empty with room for n bytes.
func room(buf *[]byte, n int64) {
	if *buf = (*buf)[:0]; int64(cap(*buf)) >= n {
		return
	}
	if cap(*buf) >= large {
		*buf = nil
		debug.FreeOSMemory()
	}
	*buf = make([]byte, 0, n)
}
