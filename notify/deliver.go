// Delivery to one webhook: attempts, waiting, and the audit row (docs/notifications.md#webhooks).

package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
)

// Limits of deliveries.
const (
	DefaultAttempts = 3 // attempts at one delivery
	// time for all deliveries of one command together; the caller's context enforces it
	TotalTime  = 60 * time.Second
	StatusTime = 10 * time.Second // the same when only looking, as status does

	firstWait   = 500 * time.Millisecond
	waitFactor  = 4
	longestWait = 10 * time.Second // an answer that asks for more is the last one

	maxAnswer  = 64 << 10 // bytes read of an answer; only its beginning is ever shown
	maxExcerpt = 200      // bytes of it in an audit row
	maxMessage = 1000     // bytes of the message there: errors may quote the server
)

// delivery is the outcome of all attempts at one webhook.
type delivery struct {
	delivered bool
	status    int // 0 when no answer came
	timedOut  bool
	took      time.Duration
	message   string
	excerpt   string
	attempts  int
}

// row returns the line for the notification audit.
func (d *delivery) row(eventID, event, webhook, at string) *ojson.Object {
	var status any
	if d.status > 0 {
		status = d.status
	}
	o := ojson.NewObject("event_id", eventID, "event_type", event, "notification_name", webhook,
		"transport", "webhook", "delivered", d.delivered, "status_code", status, "timed_out", d.timedOut,
		"duration_ms", d.took.Milliseconds(), "message", d.message, "emitted_at", at)
	if d.excerpt != "" {
		o.Set("stderr_excerpt", d.excerpt)
	}
	o.Set("attempts", d.attempts)
	return o
}

// deliver tries until the webhook has the event, says that it does not want it, or the attempts or
// ctx are used up. It repeats failures that may pass by themselves: no connection, 429 and 5xx. It
// does not repeat one that used up its time: the command waits meanwhile, and the webhook may well
// have the event.
func (s *Sender) deliver(ctx context.Context, w *Webhook, body []byte) (d delivery) {
	start := time.Now()
	defer func() { d.took = time.Since(start) }()
	headers, missing := webpost.Resolve(w.Headers, s.lookup(w))
	if len(missing) > 0 {
		d.message = oneLine("Unresolved HTTP hook header variables: "+strings.Join(missing, ", "), maxMessage)
		return d
	}
	req := webpost.Request{URL: w.URL, Headers: headers, Body: body, Timeout: w.Timeout, MaxBody: maxAnswer}
	for wait := firstWait; ; wait *= waitFactor {
		if err := ctx.Err(); err != nil {
			if d.attempts == 0 {
				d.message = unsent(err)
			}
			return d
		}
		resp := webpost.Post(ctx, req)
		d.attempts++
		d.answer(&resp, req, w)
		if d.delivered || d.attempts >= s.tries(w) || !passing(&resp) || resp.RetryAfter > longestWait {
			return d
		}
		if s.wait(ctx, max(wait, resp.RetryAfter)) != nil {
			return d
		}
	}
}

// unsent returns why a webhook was never asked.
func unsent(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "Not sent: the time for notifications was used up"
	}
	return "Not sent: the command was interrupted"
}

// answer records the outcome of one attempt. The texts are part of the wire format.
func (d *delivery) answer(r *webpost.Response, req webpost.Request, w *Webhook) {
	d.delivered, d.status, d.timedOut, d.excerpt = false, r.Status, r.TimedOut, ""
	switch {
	case r.TimedOut:
		d.status = 0
		d.message = fmt.Sprintf("Timed out after %dms",
			min(w.Timeout, r.Duration.Truncate(time.Millisecond)).Milliseconds())
	case errors.Is(r.Err, context.Canceled):
		d.status = 0
		d.message = "Interrupted before the webhook answered"
	case r.Err != nil:
		d.status = 0
		d.message = oneLine(r.Err.Error(), maxMessage)
	case r.OK():
		d.delivered, d.message = true, "Delivered"
	default:
		d.message = fmt.Sprintf("Webhook returned HTTP %d", r.Status)
		d.excerpt = oneLine(req.Redact(string(r.Body)), maxExcerpt)
	}
}

// passing reports whether another attempt may succeed.
func passing(r *webpost.Response) bool {
	switch {
	case r.TimedOut || r.Invalid:
		return false
	case r.Err != nil:
		return !errors.Is(r.Err, context.Canceled)
	}
	return r.Status == 429 || r.Status >= 500
}

// oneLine returns the beginning of a foreign text, at most n bytes of it, on one line.
func oneLine(s string, n int) string { return text.Cut(text.OneLine(s), n) }

// Missing returns the unset variables that its headers need, as "<Header>:<NAME>".
func (w *Webhook) Missing(lookup func(name string) (string, bool)) []string {
	s := Sender{Lookup: lookup}
	_, missing := webpost.Resolve(w.Headers, s.lookup(w))
	return missing
}

// lookup returns the environment of the webhook's headers: its own env first.
func (s *Sender) lookup(w *Webhook) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if v, ok := w.Env.Get(name); ok {
			if text, ok := v.(string); ok {
				return text, true
			}
		}
		if s.Lookup == nil {
			return "", false
		}
		return s.Lookup(name)
	}
}

// wear remembers a webhook that used up all its attempts: a command sends several events in a row,
// and a webhook that is down must not make it wait for each of them.
func (s *Sender) wear(w *Webhook, d *delivery) {
	switch {
	case d.delivered:
		delete(s.worn, w.Name)
	case d.attempts > 1 && d.attempts >= s.attempts():
		if s.worn == nil {
			s.worn = make(map[string]bool)
		}
		s.worn[w.Name] = true
	}
}

// tries returns how often a delivery to the webhook is attempted.
func (s *Sender) tries(w *Webhook) int {
	if s.worn[w.Name] {
		return 1
	}
	return s.attempts()
}

func (s *Sender) attempts() int {
	if s.Attempts <= 0 {
		return DefaultAttempts
	}
	return s.Attempts
}

func (s *Sender) wait(ctx context.Context, d time.Duration) error {
	if s.Wait != nil {
		return s.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
