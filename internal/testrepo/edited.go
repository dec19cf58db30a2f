// Texts that change like files.

package testrepo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// Edited changes a text the way histories change files: lines appear, disappear and move.
func Edited(rnd *rand.Rand, data []byte) []byte {
	out := bytes.Clone(data)
	for range 1 + rnd.IntN(4) {
		at := rnd.IntN(len(out) + 1)
		switch rnd.IntN(4) {
		case 0:
			out = append(out, []byte(fmt.Sprintf("line %d that is added at the end\n", rnd.IntN(1e6)))...)
		case 1:
			out = append(out[:at:at], append([]byte(fmt.Sprint("in between ", rnd.IntN(1e6), "\n")), out[at:]...)...)
		case 2:
			out = append(out[:at:at], out[min(len(out), at+rnd.IntN(80)):]...)
		case 3:
			to := rnd.IntN(len(out) + 1)
			out = append(out[:to:to], append(bytes.Clone(out[at:]), out[min(at, to):]...)...)
		}
	}
	return out[:min(len(out), 9000)]
}
