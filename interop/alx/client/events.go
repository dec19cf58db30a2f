// Following a run's events through lost connections.

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/sse"
)

// Events yields a run's events as they happen, those after the id in after, from the first one when
// after is "". It ends after run.completed or run.failed.
//
// Each event comes once and in order: a lost connection is resumed where it was lost, repetitions
// are skipped, and a gap counts as a lost connection. Events of unknown types are yielded too
// (RunEventType.Known) unless the client is strict. It ends after an error.
func (c *Client) Events(ctx context.Context, runID, after string) iter.Seq2[*alx.RunEvent, error] {
	return func(yield func(*alx.RunEvent, error) bool) {
		f := &follower{c: c, path: alx.RunEventsPath(runID), id: after}
		for failures := 0; ; {
			came, err := f.connection(ctx, yield)
			if f.over {
				return
			}
			if came > 0 {
				failures = 0
			}
			failures++
			var refused *Failure
			var malformed *MalformedError
			final := errors.As(err, &malformed) || errors.As(err, &refused) && !passing(refused.Status)
			if ctx.Err() != nil {
				err, final = ctx.Err(), true
			}
			if final || failures > max(c.opt.Retries, 0) {
				yield(nil, err)
				return
			}
			if !f.rest(ctx, failures, refused) {
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// follower is the position in a stream.
type follower struct {
	c     *Client
	path  string
	id    string // of the last event
	seq   int64  // its sequence, 0 when it is not known
	retry time.Duration
	over  bool // the run has ended, or the caller has seen enough
}

// errGap says that events are missing between two that arrived.
var errGap = errors.New("alx: the stream left events out")

// connection follows one connection to its end and returns how many events arrived.
func (f *follower) connection(ctx context.Context, yield func(*alx.RunEvent, error) bool) (came int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	header := map[string]string{"Accept": alx.MediaEventStream}
	if f.id != "" {
		header[alx.HeaderLastEventID] = f.id
	}
	idle := time.AfterFunc(f.c.opt.Idle, func() { cancel(errors.New("alx: the service fell silent")) })
	defer idle.Stop()
	res, err := f.c.send(ctx, request{method: "GET", path: f.path, header: header})
	if err != nil {
		return 0, causeOf(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); res.StatusCode != http.StatusOK ||
		strings.TrimSpace(media) != alx.MediaEventStream {
		return 0, f.c.refused(res)
	}
	r := sse.NewReader(&watched{res.Body, func() { idle.Reset(f.c.opt.Idle) }}, alx.MaxRunEventBytes)
	for {
		raw, err := r.Next()
		f.retry = r.Retry
		if errors.Is(err, sse.ErrTooLarge) {
			return came, &MalformedError{Status: res.StatusCode, Why: err.Error()}
		}
		if err != nil {
			return came, causeOf(ctx, err)
		}
		e, err := f.c.decoder().RunEvent([]byte(raw.Data))
		if err != nil {
			return came, &MalformedError{Status: res.StatusCode, Why: err.Error()}
		}
		switch {
		case f.seq > 0 && e.Sequence <= f.seq:
			continue // a repetition
		case f.seq > 0 && e.Sequence != f.seq+1:
			return came, errGap
		}
		came++
		f.id, f.seq = e.ID, e.Sequence
		if f.over = !yield(e, nil) || e.Type.Ends(); f.over {
			return came, nil
		}
	}
}

// refused reads an answer that is not a stream.
func (c *Client) refused(res *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(res.Body, alx.MaxBodyBytes))
	if err != nil {
		return fmt.Errorf("alx: the answer broke off: %w", err)
	}
	failure, err := c.decoder().Failure(data)
	switch {
	case err == nil:
		return c.failure(res, failure.Error)
	case passing(res.StatusCode): // a proxy's page
		return c.failure(res, alx.Errorf(alx.CodeUnavailable, "status %d without a document", res.StatusCode))
	}
	return &MalformedError{Status: res.StatusCode, Why: "no event stream: " + err.Error()}
}

// passing reports whether a refusal may be temporary.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	}
	return false
}

// rest waits before the next attempt; false when the context is over. Clients that lost the same
// service do not come back all at once.
func (f *follower) rest(ctx context.Context, failures int, refused *Failure) bool {
	pause := f.c.opt.Pause << min(failures-1, 10)
	pause = min(pause, 100*f.c.opt.Pause)
	pause = pause/2 + rand.N(pause/2+1)
	if f.retry > 0 {
		pause = max(pause, min(f.retry, time.Minute))
	}
	if refused != nil {
		pause = max(pause, min(refused.RetryAfter, time.Minute))
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// retryAfter reads the header of that name, in seconds.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// causeOf prefers the cause of a context's end to the resulting error.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if errors.Is(err, io.EOF) {
		return errors.New("alx: the stream ended before the run")
	}
	return err
}

// watched reports every read that returned data.
type watched struct {
	io.Reader
	came func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.came()
	}
	return n, err
}
