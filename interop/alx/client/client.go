// A client of the ALX protocol over HTTP.

package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Options configures New; the zero value is fine.
type Options struct {
	Token     string       // bearer token
	HTTP      *http.Client // sends requests; one with sane limits when nil
	UserAgent string
	Strict    bool // refuse what is outside the closed vocabularies

	// Idle is how long an event stream may be silent, heartbeats included, before the connection
	// counts as dead; a minute when 0.
	Idle time.Duration
	// Retries is how often in a row following events may fail to connect, or receive nothing,
	// before it gives up; 10 when 0, negative for no retries.
	Retries int
	// Pause is the first pause between attempts, which doubles up to a hundred times that; 100 ms
	// when 0.
	Pause time.Duration
}

// Client talks to one service. Several goroutines may use it.
type Client struct {
	base string
	opt  Options
	http *http.Client
}

// New makes a client of the service at base, an http or https URL with or
// without the path /alx/v1.
func New(base string, opt Options) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("alx: %q is not an http or https URL of a service", base)
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), alx.PathService)
	u.RawPath = ""
	if opt.Idle == 0 {
		opt.Idle = time.Minute
	}
	if opt.Retries == 0 {
		opt.Retries = 10
	}
	if opt.Pause == 0 {
		opt.Pause = 100 * time.Millisecond
	}
	h := http.Client{}
	if opt.HTTP != nil {
		h = *opt.HTTP
	}
	// The token belongs to this service, and so do the answers.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: u.String(), opt: opt, http: &h}, nil
}

// Failure is a refusal by the service. errors.As also finds the *alx.Error in it.
type Failure struct {
	Status        int
	CorrelationID string
	RetryAfter    time.Duration // 0 when the service named none
	Err           *alx.Error
}

func (f *Failure) Error() string {
	return fmt.Sprintf("alx: %s: %s (status %d, correlation id %s)", f.Err.Code, f.Err.Message, f.Status,
		f.CorrelationID)
}

func (f *Failure) Unwrap() error { return f.Err }

// MalformedError is an answer that does not conform to the protocol.
type MalformedError struct {
	Status int
	Why    string
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("alx: the answer (status %d) is not of the protocol: %s", e.Status, e.Why)
}

// Info returns the service's description of itself.
func (c *Client) Info(ctx context.Context) (*alx.ServiceInfo, error) {
	return ask(ctx, c, request{method: "GET", path: alx.PathService}, c.decoder().ServiceInfo)
}

// Solve requests a run and waits until it has ended, waits for a person, or the service stops
// waiting: Execution.Status says which. A run that ended badly gives both the response and a
// *Failure.
func (c *Client) Solve(ctx context.Context, r *alx.SolveRequest) (*alx.SolveResponse, error) {
	return c.solve(ctx, r, nil)
}

// SolveAsync requests a run and returns at once.
func (c *Client) SolveAsync(ctx context.Context, r *alx.SolveRequest) (*alx.SolveResponse, error) {
	return c.solve(ctx, r, map[string]string{alx.HeaderPrefer: alx.PreferAsync})
}

func (c *Client) solve(ctx context.Context, r *alx.SolveRequest,
	header map[string]string) (*alx.SolveResponse, error) {
	with := *r
	if with.Protocol == nil {
		with.Protocol = &alx.Protocol{Version: alx.Version, Capabilities: alx.Capabilities()}
	}
	return ask(ctx, c, request{
		method:      "POST",
		path:        alx.PathSolve,
		body:        alx.Encode(&with),
		header:      header,
		correlation: r.CorrelationID,
	}, c.decoder().SolveResponse)
}

// Session returns a session.
func (c *Client) Session(ctx context.Context, id string) (*alx.SessionResponse, error) {
	return ask(ctx, c, request{method: "GET", path: alx.SessionPath(id)}, c.decoder().SessionResponse)
}

func (c *Client) decoder() alx.Decoder { return alx.Decoder{Strict: c.opt.Strict} }

// request holds the parts of an exchange.
type request struct {
	method, path string
	body         []byte
	header       map[string]string
	correlation  string
}

// ask sends a request and decodes the answer. A failure that has the shape of the operation is
// returned together with the document.
func ask[T any](ctx context.Context, c *Client, r request, decode func([]byte) (*T, error)) (*T, error) {
	res, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, alx.MaxResponseBytes+1))
	if err != nil {
		return nil, fmt.Errorf("alx: the answer broke off: %w", err)
	}
	doc, wrong := decode(data)
	if res.StatusCode < 300 && wrong == nil {
		if why := refusalOf(doc); why != nil {
			return doc, c.failure(res, why)
		}
		return doc, nil
	}
	if failure, err := c.decoder().Failure(data); err == nil {
		if wrong != nil {
			doc = nil
		}
		return doc, c.failure(res, failure.Error)
	}
	if wrong == nil {
		wrong = errors.New("it says ok, and its status does not")
	}
	return nil, &MalformedError{Status: res.StatusCode, Why: wrong.Error()}
}

// refusalOf returns the error of a document with ok false and a status of success.
func refusalOf(doc any) *alx.Error {
	switch d := doc.(type) {
	case *alx.SolveResponse:
		return d.Error
	case *alx.SessionResponse:
		return d.Error
	case *alx.SessionList:
		return d.Error
	case *alx.RunEventPage:
		return d.Error
	case *alx.ServiceInfo:
		return d.Error
	}
	return nil
}

func (c *Client) failure(res *http.Response, why *alx.Error) *Failure {
	return &Failure{
		Status:        res.StatusCode,
		CorrelationID: res.Header.Get(alx.HeaderCorrelationID),
		RetryAfter:    retryAfter(res.Header),
		Err:           why,
	}
}

// send sends a request; the caller closes the body of the answer.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("alx: %w", err)
	}
	if r.body == nil {
		req.Body, req.GetBody = http.NoBody, nil
	} else {
		req.Header.Set("Content-Type", alx.MediaJSON)
	}
	req.Header.Set("Accept", alx.MediaJSON)
	if alx.SaneCorrelationID(r.correlation) {
		req.Header.Set(alx.HeaderCorrelationID, r.correlation)
	}
	if c.opt.UserAgent != "" {
		req.Header.Set("User-Agent", c.opt.UserAgent)
	}
	if c.opt.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opt.Token)
	}
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("alx: %w", err)
	}
	return res, nil
}
