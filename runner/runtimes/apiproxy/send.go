// One exchange with a provider, bounded in time and size (spec/06 §14.3).

package apiproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// maxAnswer is the most that is read of an answer, in bytes.
const maxAnswer = 16 << 20

// answer is what came back, with the key taken out of all of it.
type answer struct {
	status     int
	body       []byte
	err        error
	timedOut   bool
	invalid    bool // nothing was sent
	overflow   bool
	retryAfter time.Duration
	took       time.Duration

	message, errorType, errorCode string // of an error, as the provider puts it

	text       string // what the model said
	stopped    string // why it stopped, when that is not the ordinary end
	unreadable string // why text could not be read
	usage      usage
}

func (a *answer) describe() string {
	switch {
	case a.timedOut:
		return "nothing in time"
	case a.err != nil:
		return "with an error"
	}
	return fmt.Sprintf("HTTP %d, %d bytes,", a.status, len(a.body))
}

// send asks once.
func (c *settings) send(ctx context.Context, key string, p prompt, within time.Duration) *answer {
	x := &exchange{c: c, key: key, within: within}
	switch c.provider {
	case anthropicName:
		x.anthropic(ctx, p)
	case googleName:
		x.google(ctx, p)
	default:
		x.openai(ctx, p)
	}
	if x.a == nil {
		x.a = &answer{invalid: true, err: errors.New("nothing was sent")}
	}
	return x.a
}

// exchange posts a request on behalf of an SDK, or of nobody. It is the only
// place where the key leaves this process.
type exchange struct {
	c      *settings
	key    string
	within time.Duration
	a      *answer // of the one request that was made
}

// Do sends what an SDK has made of a request: its body and the headers that the
// provider's interface asks for, to the configured endpoint. What else an SDK adds
// (the machine's system, its language) stays here.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	var headers []webpost.Header
	for _, name := range []string{"Accept", "Authorization", "X-Api-Key", "Anthropic-Version", "X-Goog-Api-Key"} {
		if v := req.Header.Get(name); v != "" {
			headers = append(headers, webpost.Header{Name: name, Value: v})
		}
	}
	x.post(req.Context(), headers, body)
	if x.a.err != nil {
		return nil, x.a.err
	}
	// Whatever it is called, it is read as JSON.
	return &http.Response{StatusCode: x.a.status, Status: http.StatusText(x.a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(x.a.body)), ContentLength: int64(len(x.a.body))}, nil
}

func (x *exchange) post(ctx context.Context, headers []webpost.Header, body []byte) {
	if x.a != nil {
		return // once is once, whatever an SDK thinks of it
	}
	r := webpost.Post(ctx, webpost.Request{URL: x.c.endpoint, Headers: headers, Body: body, Timeout: x.within, MaxBody: maxAnswer})
	a := &answer{status: r.Status, body: x.redact(r.Body), err: r.Err, timedOut: r.TimedOut, invalid: r.Invalid, overflow: r.Overflow, retryAfter: r.RetryAfter, took: r.Duration}
	if a.err != nil && !errors.Is(a.err, context.Canceled) {
		a.err = errors.New(string(x.redact([]byte(a.err.Error()))))
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		a.timedOut = true
	}
	x.a = a
	if a.err == nil && a.status >= 300 {
		x.readError()
	}
}

// redact takes the key out of what the other side said, also where it is escaped.
func (x *exchange) redact(data []byte) []byte {
	if x.key == "" {
		return data
	}
	quoted, _ := json.Marshal(x.key)
	for _, form := range []string{x.key, url.QueryEscape(x.key), strings.Trim(string(quoted), `"`)} {
		data = bytes.ReplaceAll(data, []byte(form), []byte("***"))
	}
	return data
}

// readError reads the provider's own words for an error:
// {"error": {"message", "type", "code", "status"}}, or an error that is a text.
func (x *exchange) readError() {
	v, err := ojson.DecodeLimited(x.a.body, ojson.Limits{LastWins: true})
	if err != nil {
		x.a.message = runtimes.Cut(runtimes.OneLine(detail(x.a.body)), maxDetail)
		return
	}
	if list, ok := v.([]any); ok && len(list) > 0 { // as Google does at times
		v = list[0]
	}
	o, _ := v.(*ojson.Object)
	e := o.Object("error")
	if e == nil {
		e = o
	}
	x.a.message = runtimes.OneLine(e.String("message"))
	if text, ok := member(o, "error").(string); ok {
		x.a.message = runtimes.OneLine(text)
	}
	if x.a.errorType = e.String("type"); x.a.errorType == "" || e.Has("status") {
		x.a.errorType = orWord(e.String("status"), x.a.errorType)
	}
	x.a.errorType = runtimes.Cut(runtimes.OneLine(x.a.errorType), 100)
	switch code := member(e, "code").(type) {
	case string:
		x.a.errorCode = runtimes.Cut(runtimes.OneLine(code), 100)
	case ojson.Number:
		x.a.errorCode = string(code)
	}
}

// guarded calls an SDK. What a provider answers must never end this process.
func (x *exchange) guarded(call func() error) {
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the provider's SDK gave up: %v", p)
			}
		}()
		return call()
	}()
	switch {
	case err == nil:
	case x.a == nil:
		x.a = &answer{invalid: true, err: errors.New(string(x.redact([]byte(runtimes.OneLine(err.Error())))))}
	case x.a.err == nil && x.a.status >= 200 && x.a.status < 300:
		x.a.unreadable = x.unreadable(err)
	}
}

// unreadable says what is wrong with an answer of status 2xx.
func (x *exchange) unreadable(err error) string {
	if _, bad := ojson.DecodeLimited(x.a.body, ojson.Limits{LastWins: true}); bad != nil {
		return "it is not JSON (" + runtimes.OneLine(bad.Error()) + ")"
	}
	return runtimes.OneLine(err.Error())
}

// reach dials the host of an address.
func reach(ctx context.Context, u *url.URL) error {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}
