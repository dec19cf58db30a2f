// A server reached over streamable HTTP.

package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

const maxHeaderBytes = 64 << 10

// web is a server elsewhere. It is also the HTTP transport of the SDK's client: it adds the
// configured headers, for that server only, limits how much is read, and remembers how requests
// went.
type web struct {
	c    *settings
	host string
	base *http.Transport
	stop context.CancelCauseFunc

	mu         sync.Mutex
	version    string
	status     int // of the last error answer
	retryAfter time.Duration
	refused    error // the last request that got no answer
	left       int64 // bytes that may still be read in this turn
}

func newHTTP(c *settings, stop context.CancelCauseFunc) *web {
	w := &web{
		c:    c,
		stop: stop,
		left: maxOutput,
		base: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			MaxResponseHeaderBytes: maxHeaderBytes,
			DisableCompression:     true,
		},
	}
	if u, err := url.Parse(c.url); err == nil {
		w.host = u.Scheme + "://" + u.Host
	}
	return w
}

func (w *web) transport() mcp.Transport {
	client := &http.Client{Transport: w, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if req.URL.Scheme+"://"+req.URL.Host != w.host || len(via) > 5 {
			return http.ErrUseLastResponse // it would send headers and prompt elsewhere
		}
		return nil
	}}
	return &mcp.StreamableClientTransport{
		Endpoint:             w.c.url,
		HTTPClient:           client,
		MaxRetries:           3,
		DisableStandaloneSSE: true,
		MaxEventSize:         maxMessage,
	}
}

func (w *web) initialized(version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = version
}

// RoundTrip sends one request.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme+"://"+req.URL.Host != w.host {
		return nil, errors.New("a request to another host is not made")
	}
	req = req.Clone(req.Context())
	for _, h := range w.c.headers {
		if strings.EqualFold(h.Name, "Host") {
			req.Host = h.Value
			continue
		}
		req.Header.Set(h.Name, h.Value)
	}
	w.mu.Lock()
	if w.version != "" && req.Header.Get("Mcp-Protocol-Version") == "" {
		req.Header.Set("Mcp-Protocol-Version", w.version)
	}
	w.mu.Unlock()
	resp, err := w.base.RoundTrip(req)
	if err == nil {
		if err = webpost.Switched(resp); err != nil {
			_ = resp.Body.Close()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = err
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 && req.Method == http.MethodPost {
		w.status, w.retryAfter = resp.StatusCode, webpost.RetryAfter(resp.Header, time.Now())
	}
	b := &body{ReadCloser: resp.Body, w: w}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		b.streamOf, _ = req.Context().Value(askedKey{}).(*asked)
	}
	resp.Body = b
	return resp, nil
}

// body is a bounded answer. A stream of events that breaks off before its request is answered,
// without a way to resume it, ends the conversation: the SDK would wait for the rest for ever.
type body struct {
	io.ReadCloser
	w        *web
	streamOf *asked // the request whose answer comes as events; nil for every other body
	resume   bool   // an event had an id
	line     []byte // beginning of the line being read
	once     sync.Once
}

var (
	errBroken     = errors.New("the server ended the stream before it had answered")
	errUnfollowed = errors.New(
		"the server's stream of events cannot be followed: it broke off, or an event is too long")
)

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.w.mu.Lock()
	b.w.left -= int64(n)
	over := b.w.left < 0
	b.w.mu.Unlock()
	if over {
		b.w.stop(errFlood)
		return n, errFlood
	}
	if b.streamOf != nil {
		b.look(p[:n])
		if err != nil && !b.resume {
			// The last data read may be the answer; it gets a moment to be understood.
			why := errUnfollowed
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				why = errBroken
			}
			b.once.Do(func() {
				time.AfterFunc(lastWords, func() {
					if !b.streamOf.answered.Load() {
						b.w.stop(why)
					}
				})
			})
		}
	}
	return n, err
}

// look notices lines that give an event an id.
func (b *body) look(p []byte) {
	for _, c := range p {
		if c == '\n' || c == '\r' {
			b.resume = b.resume || bytes.HasPrefix(b.line, []byte("id:"))
			b.line = b.line[:0]
		} else if len(b.line) < 4 {
			b.line = append(b.line, c)
		}
	}
}

func (w *web) end(context.Context) { w.base.CloseIdleConnections() }

func (w *web) process() (int, *int, string) { return 0, nil, "" }

func (w *web) explain(err error) *failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.status == 401 || w.status == 403:
		return &failure{
			class:    runtimes.ClassAuth,
			message:  fmt.Sprintf("the server answered HTTP %d", w.status),
			recovery: "Correct the headers of the runtime in agentxchain.json, then: git agentxchain unblock",
		}
	case w.status == 429:
		return &failure{
			class:      runtimes.ClassRateLimited,
			message:    "the server answered HTTP 429",
			retryable:  true,
			retryAfter: w.retryAfter,
		}
	case w.status >= 300 && w.status < 400:
		return &failure{
			class: ClassConnection,
			message: fmt.Sprintf(
				"the server answered with a redirect to another host (HTTP %d), which is not followed", w.status),
		}
	case w.status != 0:
		return &failure{
			class:     ClassConnection,
			message:   fmt.Sprintf("the server answered HTTP %d", w.status),
			retryable: w.status >= 500 || w.status == 408,
		}
	case w.refused != nil:
		var u *url.Error
		cause := w.refused
		for errors.As(cause, &u) {
			cause = u.Err
		}
		return &failure{class: ClassConnection, message: cause.Error(), retryable: true}
	}
	return nil
}
