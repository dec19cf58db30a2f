// One bounded JSON POST: total deadline, body cap, no redirects, no secrets in errors (docs/hooks.md#fields).

package webpost

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Default limits of a request.
const (
	DefaultTimeout = 30 * time.Second
	DefaultMaxBody = 1 << 20

	maxHeaderBytes = 64 << 10 // of a response
	userAgent      = "git-agentxchain"
)

// Request is one POST. Zero Timeout and MaxBody mean the defaults.
type Request struct {
	URL     string   // http or https
	Headers []Header // as configured; Content-Type is ignored
	Body    []byte
	Timeout time.Duration // total: from dialling to the last byte of the answer
	MaxBody int64         // maximum of the answer that is read, in bytes
}

// Response is the answer. Err is set when no complete answer was read: the request could not be made or sent, or
// the time was up; Status is then what had arrived, usually 0. A status outside 200..299 is not an error. Overflow
// means that the answer was longer than MaxBody: Body holds its beginning, the rest was not read.
type Response struct {
	Status   int
	Body     []byte
	Overflow bool
	TimedOut bool
	Invalid  bool  // nothing was sent: the address or a header is unusable
	Err      error // without header values, userinfo and query of the address
	Duration time.Duration

	RetryAfter time.Duration // how long the answer asks to wait before another try; 0 if unspecified
}

// OK reports whether a complete answer with a status of 200..299 arrived in time.
func (r *Response) OK() bool {
	return r.Err == nil && !r.TimedOut && r.Status >= 200 && r.Status <= 299
}

// errTimeout is the error of a request whose time was up.
var errTimeout = errors.New("timeout")

// Post sends r. Ending ctx ends the request: Err is then ctx's error.
func Post(ctx context.Context, r Request) Response {
	if r.Timeout <= 0 {
		r.Timeout = DefaultTimeout
	}
	if r.MaxBody <= 0 {
		r.MaxBody = DefaultMaxBody
	}
	start := time.Now()
	own, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	var out Response
	req, err := newRequest(own, r)
	if err != nil {
		return Response{Invalid: true, Err: r.scrub(err), Duration: time.Since(start)}
	}
	out, err = exchange(req, r.MaxBody)
	out.Duration = time.Since(start)
	switch {
	case err != nil && ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		out.Err = ctx.Err()
	case err != nil && own.Err() != nil, out.Duration > r.Timeout:
		out.TimedOut, out.Err = true, errTimeout
	case err != nil:
		out.Err = r.scrub(err)
	}
	return out
}

// newRequest checks and builds the request.
func newRequest(ctx context.Context, r Request) (*http.Request, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the address is not a valid http or https URL")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Close = true
	req.Header.Set("User-Agent", userAgent)
	for _, h := range r.Headers {
		if err := h.check(); err != nil {
			return nil, err
		}
		if strings.EqualFold(h.Name, "Host") {
			req.Host = h.Value
			continue
		}
		req.Header.Set(h.Name, h.Value)
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// exchange sends req over its own connection and reads at most limit bytes of the answer.
func exchange(req *http.Request, limit int64) (Response, error) {
	transport := &http.Transport{
		Proxy:                  proxy,
		DisableKeepAlives:      true,
		DisableCompression:     true, // the limit is for the bytes sent
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	defer transport.CloseIdleConnections()
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := Switched(resp); err != nil {
		return Response{Status: resp.StatusCode}, err
	}
	out := Response{Status: resp.StatusCode, RetryAfter: RetryAfter(resp.Header, time.Now())}
	out.Body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if int64(len(out.Body)) > limit {
		out.Body, out.Overflow = out.Body[:limit], true
	}
	return out, err
}

// Switched returns an error for an answer that switches to another protocol, which was not requested. Its body is
// the bare connection: no deadline ends a read of it.
func Switched(resp *http.Response) error {
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil
	}
	return errors.New("the answer is not HTTP: it changes to another protocol (status 101)")
}

// maxRetryAfter is the value for any longer wait: it is beyond every deadline, and can still be added to a time.
const maxRetryAfter = math.MaxInt32 * time.Second

// RetryAfter returns how long the header of an answer asks to wait, in seconds or until a date (RFC 9110 §10.2.3);
// 0 if unspecified.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	switch n, err := strconv.ParseUint(v, 10, 31); {
	case err == nil:
		return time.Duration(n) * time.Second
	case errors.Is(err, strconv.ErrRange):
		return maxRetryAfter
	}
	if at, err := http.ParseTime(v); err == nil {
		return min(max(0, at.Sub(now)), maxRetryAfter)
	}
	return 0
}

// proxy is http.ProxyFromEnvironment with an error that does not repeat the setting, which may contain a password.
func proxy(req *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(req)
	if err != nil {
		return nil, errors.New("the proxy named in the environment is not a valid address")
	}
	return u, nil
}

// scrub removes the address and every configured value from an error.
func (r Request) scrub(err error) error {
	var ue *url.Error
	for errors.As(err, &ue) {
		err = ue.Err
	}
	return errors.New(r.Redact(inWords(err)))
}

// inWords describes an invalid answer: the library's wording is for programmers.
func inWords(err error) string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer ends in the middle"
	case errors.Is(err, io.EOF):
		return "the connection was closed without an answer"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return unreached(op)
	}
	text := err.Error()
	why, broken := strings.CutPrefix(text, "net/http: HTTP/1.x transport connection broken: ")
	if broken || strings.HasPrefix(text, "malformed HTTP ") {
		return "the answer is not HTTP: " + strings.TrimPrefix(why, "net/http: ")
	}
	return text
}

// unreached explains why a connection failed.
func unreached(op *net.OpError) string {
	var name *net.DNSError
	var errno syscall.Errno
	switch {
	case errors.As(op, &name) && name.IsNotFound:
		return "there is no host " + name.Name
	case errors.As(op, &name):
		return "the host " + name.Name + " cannot be looked up: " + name.Err
	case errors.As(op, &errno) && op.Addr != nil:
		return "no connection to " + op.Addr.String() + ": " + errno.Error()
	}
	return op.Err.Error()
}

// The minimum length of texts that Redact takes for secrets: shorter ones occur in every sentence. A long part of a
// path counts: many webhook addresses carry their key there.
const (
	minSecret     = 6
	minPathSecret = 16
)

// Redact masks in text what r must not reveal: header values, their words, and the credentials, keys and query of
// the address. It is for texts that quote the other side, which may repeat what it received.
func (r Request) Redact(text string) string {
	for _, h := range r.Headers {
		text = mask(text, h.Value)
		for word := range strings.FieldsSeq(h.Value) {
			text = mask(text, word)
		}
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return mask(text, r.URL)
	}
	if password, ok := u.User.Password(); ok {
		text = mask(text, password)
	}
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if len(part) >= minPathSecret {
			text = mask(text, part)
		}
	}
	text = mask(text, u.User.String())
	text = mask(text, u.User.Username())
	text = mask(text, u.RawQuery)
	for _, values := range u.Query() {
		for _, v := range values {
			text = mask(text, v)
		}
	}
	return text
}

func mask(text, secret string) string {
	if len(secret) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, secret, "***")
}
