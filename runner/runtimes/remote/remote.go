// Runtime remote_agent: an agent behind an HTTP address (docs/runtimes.md#remote_agent).

// Package remote passes a turn to a server: one POST with prompt and context, the turn result as
// the answer.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

const (
	defaultTimeout = 2 * time.Minute
	maxLogged      = 500 // characters of a refusal that are logged
	minKey         = 8   // bytes; shorter values occur in other text too
)

// Classes of a blocked dispatch besides those of package runtimes.
const (
	classStatus = "http_error"
	classConfig = "remote_agent_invalid"
)

// Runtime makes one request for each turn.
type Runtime struct{}

// New returns the runtime; it has no state.
func New() *Runtime { return &Runtime{} }

// Dispatch posts the turn and reads the result. No redirect is followed: the
// prompt and the headers go to the configured address and nowhere else.
func (*Runtime) Dispatch(ctx context.Context, req *runtimes.Request) *runtimes.Outcome {
	d := &exchange{req: req, id: req.Runtime.ID}
	post, refusal := d.build()
	if refusal != nil {
		return refusal
	}
	d.logf("POST %s", d.shownURL)
	for _, h := range post.Headers {
		d.logf("header %s: [REDACTED]", h.Name)
	}
	d.logf("request %d bytes, at most %s", len(post.Body), post.Timeout.Round(time.Millisecond))
	req.Activity(runtimes.Activity{Type: "request", Summary: "sent to " + d.shownURL, Stream: "request"})
	res := webpost.Post(ctx, post)
	d.logf("answer: status %d, %d bytes, after %s", res.Status, len(res.Body), res.Duration.Round(time.Millisecond))
	if ctx.Err() != nil && !res.OK() {
		return &runtimes.Outcome{Kind: runtimes.Aborted}
	}
	for _, key := range d.keys() {
		res.Body = secrets.Mask(res.Body, key)
	}
	out := d.judge(post, &res)
	if out.Reason != "" {
		out.Reason = post.Redact(out.Reason)
		d.logf("%s", out.Reason)
	}
	return out
}

// exchange is one dispatch.
type exchange struct {
	req      *runtimes.Request
	id       string
	shownURL string // without credentials and query
	bounded  bool   // the turn's deadline comes before the configured timeout
}

// build makes the request; the outcome is what prevents it.
func (d *exchange) build() (webpost.Request, *runtimes.Outcome) {
	raw := d.req.Runtime.Raw
	post := webpost.Request{URL: raw.String("url"), MaxBody: protocol.MaxStagedBytes}
	d.shownURL = post.Redact(webpost.ShownURL(post.URL))
	var missing []string
	post.Headers, missing = webpost.Resolve(raw.Object("headers"), func(name string) (string, bool) {
		v := d.req.Getenv(name)
		return v, v != ""
	})
	if len(missing) > 0 {
		names := make([]string, len(missing))
		for i, m := range missing {
			_, names[i], _ = strings.Cut(m, ":")
		}
		return post, d.blocked(runtimes.ClassCredentials,
			fmt.Sprintf("Headers of runtime %s need variables that are not set: %s.", d.id, strings.Join(names, ", ")),
			"export "+strings.Join(names, " ")+", then: git agentxchain unblock")
	}
	post.Timeout = defaultTimeout
	if n, ok := raw.Int("timeout_ms"); ok && n > 0 {
		post.Timeout = time.Duration(min(int64(n), int64(1<<43))) * time.Millisecond
	}
	if !d.req.Deadline.IsZero() {
		left := time.Until(d.req.Deadline)
		if left <= 0 {
			return post, &runtimes.Outcome{
				Kind:   runtimes.TimedOut,
				Reason: "The time of the turn was up before it was sent.",
			}
		}
		if left < post.Timeout {
			post.Timeout, d.bounded = left, true
		}
	}
	r := d.req
	post.Body = ojson.Compact(
		ojson.NewObject("run_id", r.RunID, "turn_id", r.TurnID, "role", r.Role, "phase", r.Phase, "runtime_id", d.id,
			"dispatch_dir", filepath.Join(r.Root, filepath.FromSlash(r.BundleDir)),
			"prompt", strings.ToValidUTF8(string(r.Prompt), "\ufffd"),
			"context", strings.ToValidUTF8(string(r.Context), "\ufffd")))
	return post, nil
}

// keys returns the credentials that the headers take from the environment. The agent has them too,
// and a result that repeats one would be recorded with it.
func (d *exchange) keys() (keys []string) {
	_, used := webpost.Resolve(d.req.Runtime.Raw.Object("headers"), func(string) (string, bool) { return "", false })
	for _, u := range used {
		header, name, _ := strings.Cut(u, ":")
		if v := d.req.Getenv(name); len(v) >= minKey && (secrets.Names(header) || secrets.Names(name)) {
			keys = append(keys, v)
		}
	}
	return keys
}

// judge returns the outcome of an answer.
func (d *exchange) judge(post webpost.Request, res *webpost.Response) *runtimes.Outcome {
	again := "see whether the agent at " + d.shownURL + " works, then: git agentxchain unblock"
	switch {
	case res.Invalid:
		return d.blocked(classConfig, fmt.Sprintf("Nothing could be sent to runtime %s: %s.", d.id, res.Err),
			"correct runtimes."+d.id+" in "+wire.ConfigPath+", then: git agentxchain unblock")
	case res.TimedOut && d.bounded:
		return &runtimes.Outcome{
			Kind: runtimes.TimedOut,
			Reason: fmt.Sprintf("The remote agent had not answered after %dms, when the time of the turn was up.",
				post.Timeout.Milliseconds()),
		}
	case res.TimedOut:
		return d.retryable(runtimes.ClassTimeout, fmt.Sprintf("The remote agent had not answered after %dms.",
			post.Timeout.Milliseconds()), "raise runtimes."+d.id+".timeout_ms or "+again, 0)
	case res.Err != nil:
		return d.retryable(runtimes.ClassNetwork, fmt.Sprintf("The remote agent could not be reached: %s.",
			strings.TrimSuffix(res.Err.Error(), ".")), again, 0)
	case !res.OK():
		return d.refused(post, res, again)
	case res.Overflow:
		return rejected(fmt.Sprintf("The answer of the remote agent is longer than %d bytes.",
			protocol.MaxStagedBytes))
	}
	d.req.Activity(runtimes.Activity{
		Type:    "response",
		Summary: fmt.Sprintf("answered with %d bytes", len(res.Body)),
		Stream:  "request",
	})
	doc, err := ojson.DecodeObject(res.Body)
	if err != nil {
		return rejected(fmt.Sprintf("The answer of the remote agent is not a JSON object: %s.",
			strings.TrimSuffix(err.Error(), ".")))
	}
	if !runtimes.HasEnvelope(doc) {
		return rejected("The answer of the remote agent is not a turn result: schema_version, the ids or the status are missing.")
	}
	for key, want := range map[string]string{"run_id": d.req.RunID, "turn_id": d.req.TurnID} {
		if got := doc.String(key); got != "" && got != want {
			return rejected(fmt.Sprintf("The answer of the remote agent is about another turn: its %s is %q.", key,
				runtimes.Shown([]byte(got))))
		}
	}
	return &runtimes.Outcome{Kind: runtimes.Returned, Result: ojson.Pretty(doc)}
}

// refused handles a status that is not a success.
func (d *exchange) refused(post webpost.Request, res *webpost.Response, again string) *runtimes.Outcome {
	if body := post.Redact(string(res.Body)); strings.TrimSpace(body) != "" {
		if r := []rune(body); len(r) > maxLogged {
			body = string(r[:maxLogged])
		}
		d.logf("body: %s", strings.ReplaceAll(strings.ToValidUTF8(body, "\ufffd"), "\n", "\\n"))
	}
	reason := fmt.Sprintf("The remote agent answered with HTTP status %d.", res.Status)
	switch {
	case res.Status == http.StatusTooManyRequests:
		return d.retryable(runtimes.ClassRateLimited, reason,
			"wait until the limit is lifted, then: git agentxchain unblock", res.RetryAfter)
	case res.Status == http.StatusUnauthorized, res.Status == http.StatusForbidden:
		return d.blocked(runtimes.ClassAuth, reason,
			"correct the credentials in runtimes."+d.id+".headers, then: git agentxchain unblock")
	case res.Status >= 300 && res.Status <= 399:
		return d.blocked(classStatus, reason+" Redirects are not followed.",
			"put the address it leads to into runtimes."+d.id+".url in "+wire.ConfigPath+
				", then: git agentxchain unblock")
	case res.Status == http.StatusServiceUnavailable, res.Status == 529:
		return d.retryable(runtimes.ClassOverloaded, reason, again, res.RetryAfter)
	case res.Status >= 500:
		return d.retryable(classStatus, reason, again, res.RetryAfter)
	}
	return d.blocked(classStatus, reason, again)
}

func (d *exchange) blocked(class, reason, recovery string) *runtimes.Outcome {
	return &runtimes.Outcome{Kind: runtimes.Blocked, Class: class, Reason: reason, Recovery: recovery}
}

func (d *exchange) retryable(class, reason, recovery string, after time.Duration) *runtimes.Outcome {
	out := d.blocked(class, reason, recovery)
	out.Retryable, out.RetryAfter = true, after
	return out
}

func rejected(reason string) *runtimes.Outcome {
	return &runtimes.Outcome{Kind: runtimes.Rejected, Reason: reason}
}

func (d *exchange) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(d.req.Log, "[remote] "+format+"\n", args...)
}

// Probe checks address and variables; online it also checks that a server listens. It sends
// nothing: a request would be a turn.
func (*Runtime) Probe(ctx context.Context, req *runtimes.ProbeRequest) []runtimes.Finding {
	raw, at := req.Runtime.Raw, "runtimes."+req.Runtime.ID
	_, missing := webpost.Resolve(raw.Object("headers"), func(name string) (string, bool) {
		v := req.Getenv(name)
		return v, v != ""
	})
	var out []runtimes.Finding
	for _, m := range missing {
		_, name, _ := strings.Cut(m, ":")
		out = append(out, runtimes.Finding{
			Code:    "auth_env_missing",
			Message: "the environment variable " + name + " is not set",
			Hint:    "export " + name + " before the runtime is used",
		})
	}
	host, err := webpost.HostPort(raw.String("url"))
	if err != nil {
		return append(out, runtimes.Finding{
			Code:    "url_invalid",
			Message: "its address is not a valid http or https URL",
			Hint:    "correct " + at + ".url in " + wire.ConfigPath,
		})
	}
	if req.Online {
		dialer := net.Dialer{Timeout: 5 * time.Second}
		conn, err := dialer.DialContext(ctx, "tcp", host)
		if err != nil {
			var op *net.OpError
			if errors.As(err, &op) && op.Err != nil {
				err = op.Err
			}
			return append(out, runtimes.Finding{
				Code:    "unreachable",
				Message: fmt.Sprintf("no answer from %s: %s", host, err),
				Hint:    "start the agent, or correct " + at + ".url",
			})
		}
		_ = conn.Close()
	}
	if len(out) == 0 {
		out = append(out, runtimes.Finding{OK: true, Code: "configured", Message: "address and headers are complete"})
	}
	return out
}
