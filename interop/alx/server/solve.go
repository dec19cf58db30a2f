// POST /alx/v1/solve (docs/serve.md#asking).

package server

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/derive"
)

func (s *Server) solve(c *call) *alx.Error {
	if why := c.wantsJSON(); why != nil {
		return why
	}
	req, why := s.request(c)
	if why != nil {
		return why
	}
	if !alx.SaneCorrelationID(c.r.Header.Get(alx.HeaderCorrelationID)) && req.CorrelationID != "" {
		c.correlation = req.CorrelationID
	}
	x, cached, why := s.admit(c.r.Context(), req, c.correlation)
	if why != nil {
		return why
	}
	c.attrs = append(c.attrs, "sessionId", x.id(), "executionId", x.facts.Run, "cached", cached)
	wait, async := prefer(c.r.Header.Values(alx.HeaderPrefer))
	if async {
		c.w.Header().Set("Preference-Applied", alx.PreferAsync)
		s.sendSolve(c, x, cached)
		return nil
	}
	release, ok := take(s.busyIO.waits)
	if !ok {
		s.sendSolve(c, x, cached) // accepted; the client may look later
		return nil
	}
	defer release()
	c.free()
	c.untimed = true
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Time{})
	if wait <= 0 || wait > s.opt.Wait {
		wait = s.opt.Wait
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), wait)
	defer cancel()
	s.await(ctx, x)
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTime))
	s.sendSolve(c, x, cached)
	return nil
}

// await returns when a session has come as far as it goes without a person, when ctx ends, or when
// the server does.
func (s *Server) await(ctx context.Context, x *session) {
	for {
		snap := x.look()
		if snap.settled {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.ending:
			return
		case <-snap.next:
		}
	}
}

// sendSolve answers with the state of the execution.
func (s *Server) sendSolve(c *call, x *session, cached bool) {
	x.mu.Lock()
	events := slices.Clip(x.log.Events)
	origin, facts, live := x.origin, x.facts, x.live
	settled := x.look().settled
	x.mu.Unlock()
	answer, err := derive.Solve(&origin, &facts, live, events, s.opt.Now())
	if err != nil {
		c.fail(failure(err))
		return
	}
	answer.CorrelationID, answer.Cached = c.correlation, &cached
	status := http.StatusOK
	switch {
	case answer.Error != nil && settled:
		status = alx.HTTPStatus(answer.Error.Code)
		c.attrs = append(c.attrs, "code", answer.Error.Code)
	case answer.Execution.Status != alx.StatusCompleted:
		// A run that is being continued was blocked once, but no longer is.
		answer.OK, answer.Error = true, nil
		status = http.StatusAccepted
		c.w.Header().Set("Location", alx.SessionPath(x.id()))
	}
	c.send(status, alx.Encode(answer))
}

// request reads and judges the body. While the body arrives the request takes no slot of those that are being
// answered: clients that send slowly delay only each other.
func (s *Server) request(c *call) (*alx.SolveRequest, *alx.Error) {
	media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || media != alx.MediaJSON {
		return nil, alx.Errorf(alx.CodeUnsupportedMediaType, "The body must be %s.", alx.MediaJSON)
	}
	if enc := c.r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, alx.Errorf(alx.CodeUnsupportedMediaType, "The body must not be encoded.")
	}
	if c.r.ContentLength > alx.MaxBodyBytes {
		return nil, tooLarge()
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(bodyTime))
	arriving, ok := take(s.busyIO.bodies)
	if !ok {
		return nil, tooMany()
	}
	c.free()
	body, done := s.busyIO.bytes.Read(c.w, c.r.Body, alx.MaxBodyBytes)
	data, err := io.ReadAll(body)
	arriving()
	defer done()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge()
	case errors.Is(err, errBodies):
		return nil, tooMany()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, alx.Errorf(alx.CodeRequestTimeout, "The body did not arrive in time.")
	case err != nil:
		return nil, alx.Errorf(alx.CodeInvalidRequest, "The body could not be read to its end.")
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	c.w.Header().Del("Connection") // all of it was read
	if c.release, ok = take(s.busyIO.requests); !ok {
		return nil, tooMany()
	}
	req, why := alx.DecodeSolveRequest(data)
	if why != nil {
		return nil, why
	}
	if key := c.r.Header.Get(alx.HeaderIdempotencyKey); key != "" {
		if why := alx.CheckLabel(alx.HeaderIdempotencyKey, key); why != nil {
			return nil, why
		}
		if req.IdempotencyKey != "" && req.IdempotencyKey != key {
			return nil, alx.Errorf(alx.CodeInvalidRequest, "The body's idempotencyKey and the header %s differ.",
				alx.HeaderIdempotencyKey).With("field", "idempotencyKey")
		}
		req.IdempotencyKey = key
	}
	return req, nil
}

func tooLarge() *alx.Error {
	return alx.Errorf(alx.CodeBodyTooLarge, "The body is larger than %d bytes.", alx.MaxBodyBytes).With("limit",
		alx.MaxBodyBytes)
}

// prefer reads the supported parts of Prefer (RFC 7240): respond-async, and wait=SECONDS, which
// bounds the wait for an answer. Both together answer at once.
func prefer(headers []string) (wait time.Duration, async bool) {
	for _, h := range headers {
		for part := range strings.SplitSeq(h, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			name, value = strings.ToLower(strings.TrimSpace(name)), strings.Trim(strings.TrimSpace(value), `"`)
			name, _, _ = strings.Cut(name, ";")
			switch name {
			case alx.PreferAsync:
				async = true
			case "wait":
				if n, err := strconv.Atoi(value); err == nil && n > 0 && n < 1<<20 {
					wait = time.Duration(n) * time.Second
				}
			}
		}
	}
	return wait, async
}
