// When garbage is collected. Most commands end before there is any worth collecting.

package shared

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// firstCollection is a percentage: the first collection comes at four times the runtime's own 4 MiB. Below that, a
// command that uses 10 MiB in all would collect two or three times, for a twentieth of the processor time of accept
// and a seventh of that of status.
const firstCollection = 400

// chosen says that the command has set a percentage of its own.
var chosen atomic.Bool

// CollectLater delays the first garbage collection. After it garbage is collected as usual, unless the command
// has decided otherwise.
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

// Frugal keeps garbage small beside the one large file that is held at a time, and returns a
// function to undo that. Collecting costs little: that file has no pointers in it.
func Frugal() func() { return choose(20) }

// Roomy lets garbage accumulate where much is made and little is kept, and returns a function to
// undo that: judging tens of thousands of operations again takes a quarter less time.
func Roomy() func() { return choose(400) }

// servingMemory is how much memory a server may use before it collects garbage without pause.
const servingMemory = 256 << 20

// Serving makes a server that many clients call at once collect garbage early rather than grow: the garbage of a
// crowd between two collections would otherwise be as much again as is in use. GOMEMLIMIT of the environment has
// precedence.
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
