// Dispatches leave nothing behind.

package apiproxy

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"
)

func TestNothingIsLeftBehind(t *testing.T) {
	n := 5
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		n = 125
	}
	var all []*bench
	for _, p := range providers() {
		all = append(all, newBench(t, p, says(p, goodResult)), newBench(t, p, fails(p, 500, "oops")))
	}
	round := func() {
		for _, b := range all {
			b.log.Reset()
			b.requests, b.bodies = nil, nil
			b.rt = nil
			b.dispatch(context.Background())
		}
	}
	round()
	goroutines, files := runtime.NumGoroutine(), descriptors()
	for range n {
		round()
	}
	for range 100 {
		if runtime.NumGoroutine() <= goroutines+2 && descriptors() <= files+2 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d goroutines after %d, %d descriptors after %d", runtime.NumGoroutine(), goroutines, descriptors(),
		files)
}

func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
