// The server's measurements of itself.

package server

import (
	"net/http"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Meter takes the measurements of a server. Many goroutines call its methods.
type Meter interface {
	// Watch is called once, before anything else.
	Watch(Gauges)
	// Handler answers GET /metrics; nil for none.
	Handler() http.Handler
	Answered(route, method string, status int, took time.Duration, timed bool)
	Session()
	Drove(status alx.SessionStatus, took time.Duration)
	Turn(event string)
	Stream(delta int)
	Sent(events int)
	Dropped()
}

// Gauges holds what can be counted at any time.
type Gauges struct {
	Running, Waiting func() int
	Sessions         func() map[alx.SessionStatus]int
}

func (s *Server) gauges() Gauges {
	return Gauges{Running: s.running, Waiting: s.waiting, Sessions: func() map[alx.SessionStatus]int {
		n := make(map[alx.SessionStatus]int)
		for _, x := range s.index.all() {
			n[x.look().session.Status]++
		}
		return n
	}}
}

// unmeasured is a Meter that takes none.
type unmeasured struct{}

func (unmeasured) Watch(Gauges)                                      {}
func (unmeasured) Handler() http.Handler                             { return nil }
func (unmeasured) Answered(string, string, int, time.Duration, bool) {}
func (unmeasured) Session()                                          {}
func (unmeasured) Drove(alx.SessionStatus, time.Duration)            {}
func (unmeasured) Turn(string)                                       {}
func (unmeasured) Stream(int)                                        {}
func (unmeasured) Sent(int)                                          {}
func (unmeasured) Dropped()                                          {}
