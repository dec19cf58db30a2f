package shared

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// After the first collection garbage is collected as usual; a command that has set something else keeps it.
func TestCollectLater(t *testing.T) {
	t.Setenv("GOGC", "")
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	percent := func() int {
		now := debug.SetGCPercent(50)
		debug.SetGCPercent(now)
		return now
	}
	collected := func(until int) int {
		for end := time.Now().Add(10 * time.Second); percent() != until && time.Now().Before(end); {
			runtime.GC()
		}
		return percent()
	}
	CollectLater()
	if got := percent(); got != firstCollection {
		t.Errorf("before the first collection: %d", got)
	}
	if got := collected(100); got != 100 {
		t.Errorf("after it: %d", got)
	}
	for want, own := range map[int]func() func(){20: Frugal, 400: Roomy} {
		CollectLater()
		back := own()
		for range 20 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		if got := percent(); got != want {
			t.Errorf("a command's own setting of %d became %d", want, got)
		}
		back()
	}
	debug.SetGCPercent(20)
	t.Setenv("GOGC", "77")
	CollectLater()
	if got := percent(); got != 20 {
		t.Errorf("GOGC is set, and the percentage became %d", got)
	}
}

// A server has a limit, which the environment may override.
func TestServing(t *testing.T) {
	usual := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(usual)
	t.Setenv("GOMEMLIMIT", "1GiB")
	Serving()
	if got := debug.SetMemoryLimit(-1); got != usual {
		t.Errorf("GOMEMLIMIT is set, and the limit became %d", got)
	}
	t.Setenv("GOMEMLIMIT", "")
	Serving()
	if got := debug.SetMemoryLimit(-1); got != servingMemory {
		t.Errorf("the limit is %d, expected %d", got, servingMemory)
	}
}
