// Limiting the time that a client may take for an answer.

package dashboard

import (
	"net/http"
	"time"
)

// pace gives a client wait for each piece of an answer, counted from when the piece is written: the time in which a
// page is made, or waits for its turn on a busy machine, is not the client's. A client that does not read is
// disconnected.
func pace(h http.Handler, wait time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &pieces{ResponseWriter: w, control: http.NewResponseController(w), wait: wait}
		defer p.begin() // the server sends what is left in its buffer
		h.ServeHTTP(p, r)
	})
}

type pieces struct {
	http.ResponseWriter
	control *http.ResponseController
	wait    time.Duration
}

// begin starts the time of the next piece. When the connection has no deadlines, as in a test recorder, there is
// nothing to start.
func (p *pieces) begin() { _ = p.control.SetWriteDeadline(time.Now().Add(p.wait)) }

func (p *pieces) Write(b []byte) (int, error) {
	p.begin()
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush.
func (p *pieces) Unwrap() http.ResponseWriter { return p.ResponseWriter }
