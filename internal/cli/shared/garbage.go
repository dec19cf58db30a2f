// When garbage is collected. Most commands are over before there is any worth collecting.

package shared

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// firstCollection is four times the runtime's own 4 MiB. Before that a command that has 10 MiB in all would collect
// two or three times, for a twentieth of the processor time of accept and a seventh of that of status.
const firstCollection = 400

// chosen says that the command has a percentage of its own.
var chosen atomic.Bool

// CollectLater puts the first garbage collection off. From then on garbage is collected as usual, unless
// the command has decided otherwise.
func CollectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(firstCollection)
	runtime.SetFinalizer(&[16]byte{}, func(*[16]byte) {
		if !chosen.Load() {
			debug.SetGCPercent(usual)
		}
	})
}

// Frugal keeps garbage small beside the one large file that is held at a time, and
// returns how to go back. Collecting costs little: that file has no pointers in it.
func Frugal() func() { return choose(20) }

// Roomy lets garbage gather where much is made and little is kept, and returns how to go
// back: to judge ten thousands of operations again takes a quarter less time.
func Roomy() func() { return choose(400) }

// servingMemory is how much a server may have before it collects garbage without pause.
const servingMemory = 256 << 20

// Serving has a server that many clients ask at once collect garbage early rather than grow: what a crowd of them
// leaves behind between two collections would otherwise be as much again as is in use. GOMEMLIMIT of the environment
// goes before.
func Serving() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(servingMemory)
	}
}

func choose(percent int) func() {
	chosen.Store(true)
	before := debug.SetGCPercent(percent)
	return func() {
		debug.SetGCPercent(before)
		chosen.Store(false)
	}
}
