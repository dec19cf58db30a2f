// A thousand dispatches leave nothing behind.

package mcp

import (
	"context"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// settled waits until there are no more goroutines and descriptors than before.
func settled(t *testing.T, goroutines, files int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= goroutines && descriptors() <= files {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines after %d, %d descriptors after %d\n%.4000s", runtime.NumGoroutine(), goroutines,
		descriptors(), files, buf[:runtime.Stack(buf, true)])
}

func TestNothingIsLeftBehind(t *testing.T) {
	n := 10
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		n = 250
	}
	srv := webServer(t, "structured", nil)
	broken := webServer(t, "other-tool", nil)
	kinds := []func() *world{
		func() *world { return local(t, "structured") },
		func() *world { return local(t, "crash") },
		func() *world { return newWorld(t, "transport", "streamable_http", "url", srv.URL) },
		func() *world { return newWorld(t, "transport", "streamable_http", "url", broken.URL) },
	}
	for _, k := range kinds {
		k().dispatch(context.Background())
	}
	closeIdle(srv, broken)
	goroutines, files := runtime.NumGoroutine(), descriptors()
	for range n {
		for i, k := range kinds {
			if out := k().dispatch(context.Background()); (out.Kind == runtimes.Returned) != (i%2 == 0) {
				t.Fatalf("kind %d: %+v", i, out)
			}
		}
	}
	closeIdle(srv, broken)
	settled(t, goroutines+2, files+2)
}

// closeIdle closes the servers' side of connections, which is not counted.
func closeIdle(list ...*httptest.Server) {
	for _, s := range list {
		s.CloseClientConnections()
	}
}
