// Notifying open pages of changes: server-sent events.

package dashboard

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const (
	maxListeners = 1500
	heartbeat    = 15 * time.Second
)

// hub passes the newest change to every listener. It waits for none: a slow listener gets the
// newest change when it comes back, not each one.
type hub struct {
	mu        sync.Mutex
	listeners map[*listener]struct{}
	closed    bool
}

// listener is one open page.
type listener struct {
	wake    chan struct{} // holds at most one
	changed map[string]bool
	version uint64
}

func newHub() *hub { return &hub{listeners: make(map[*listener]struct{})} }

// tell notes what has changed for every listener.
func (h *hub) tell(version uint64, resources []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		l.version = version
		for _, r := range resources {
			l.changed[r] = true
		}
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

func (h *hub) join() *listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.listeners) >= maxListeners {
		return nil
	}
	l := &listener{wake: make(chan struct{}, 1), changed: make(map[string]bool)}
	h.listeners[l] = struct{}{}
	return l
}

func (h *hub) leave(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.listeners, l)
}

// take returns what has changed since the last call.
func (h *hub) take(l *listener) (uint64, []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]string, 0, len(l.changed))
	for r := range l.changed {
		out = append(out, r)
	}
	clear(l.changed)
	return l.version, out
}

// serve answers GET /events: "change" events {version, resources}, a comment now and then to detect
// a dead connection. A client that does not read is disconnected after writeWait.
func (h *hub) serve(w http.ResponseWriter, r *http.Request, version uint64, done <-chan struct{}) {
	l := h.join()
	if l == nil {
		w.Header().Set("Retry-After", "30")
		apiError(w, http.StatusServiceUnavailable, "too_many_listeners",
			"Too many pages listen for changes; reload to see them.")
		return
	}
	defer h.leave(l)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	if r.Method == http.MethodHead {
		return
	}
	if !send("retry: 2000\nevent: hello\ndata: {\"version\":%d}\n\n", version) {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-done:
			return
		case <-beat.C:
			if !send(": still here\n\n") {
				return
			}
		case <-l.wake:
			v, resources := h.take(l)
			if !send("event: change\ndata: %s\n\n",
				ojson.Compact(ojson.NewObject("version", int(v), "resources", resources))) {
				return
			}
		}
	}
}
