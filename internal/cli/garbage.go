// Most commands are over before there is garbage worth collecting.

package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstCollection is four times the runtime's own 4 MiB. Before that a command that has 10 MiB in all would collect
// two or three times, for a twentieth of the processor time of accept and a seventh of that of status.
const firstCollection = 400

// collectLater puts the first garbage collection off. From then on garbage is collected as usual, unless
// the command has decided otherwise.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(firstCollection)
	runtime.SetFinalizer(&[16]byte{}, func(*[16]byte) {
		if now := debug.SetGCPercent(usual); now != firstCollection {
			debug.SetGCPercent(now)
		}
	})
}
