// One buffer for one file at a time.

package restore

import "runtime/debug"

// large is the size from which a buffer that has become too small is freed before a larger one is allocated: two of
// the largest files must not be in memory at once.
const large = 8 << 20

// room makes *buf empty with capacity for n bytes.
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
