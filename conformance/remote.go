// The verifier's side of a remote endpoint, http-fixture-v1 (docs/conformance.md#the-endpoint).

package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/listen"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// maxReply bounds the body of a reply: an outcome is a few kilobytes, and a server must not be able to fill the
// verifier's memory or its report.
const (
	maxReply     = 16 << 20 // bytes read from a reply
	maxReplyText = 64 << 10 // bytes of a reply that is not JSON, as a report shows it
)

// Remote is a conformance endpoint reached over HTTP. It is safe for concurrent use.
// Requests go straight to the endpoint's host: they use no proxy and follow no
// redirect, so the token reaches no other host.
type Remote struct {
	base    string
	token   string
	timeout time.Duration
	client  *http.Client
}

var _ Target = (*Remote)(nil)

// NewRemote prepares the endpoint below base, an http or https URL without user, query or fragment; it removes one
// trailing slash and keeps a path. It sends a non-empty token as a bearer token. timeout is the total time of one
// request, from the connection to the last byte of the reply. NewRemote sends nothing.
func NewRemote(base, token string, timeout time.Duration) (*Remote, error) {
	clean, err := remoteBase(base)
	if err != nil {
		return nil, err
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return nil, errors.New("the token must be visible ASCII characters without spaces")
		}
	}
	if timeout <= 0 {
		return nil, fmt.Errorf("the timeout of a request must be positive, not %s", timeout)
	}
	return &Remote{base: clean, token: token, timeout: timeout, client: &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives:      true, // sends "connection: close"
			DisableCompression:     true, // a small body must not expand into a large one
			MaxResponseHeaderBytes: 64 << 10,
			// HTTP/2 has no connection header, and a single request does not need it.
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// remoteBase checks and normalises the URL of an endpoint. Its errors never show a password from the URL.
func remoteBase(base string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	reason := ""
	switch {
	case err != nil:
		// The parser's error repeats the whole input.
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		if strings.Contains(base, "@") {
			return "",
				wireError("Invalid remote URL: it cannot be parsed, and is not shown because it may hold a password")
		}
		reason = err.Error()
	case u.User != nil:
		base, reason = u.Redacted(), "it must not hold a user name or password; give a token with --token"
	case u.Scheme != "http" && u.Scheme != "https":
		reason = "it must start with http:// or https://"
	case u.Hostname() == "":
		reason = "it names no host"
	case u.RawQuery != "" || u.ForceQuery:
		reason = "it must not have a query"
	case u.Fragment != "":
		reason = "it must not have a fragment"
	}
	if reason != "" {
		return "", wireError("Invalid remote URL %q: %s", text.Clip(base, 200), reason)
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// wireError returns an error with a sentence that every verifier prints the same way, including its capital letter.
func wireError(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Base returns the endpoint's URL without trailing slash, as reports name it.
func (r *Remote) Base() string { return r.base }

// Exposed reports whether the token would be sent unencrypted to another machine.
func (r *Remote) Exposed() bool {
	u, err := url.Parse(r.base)
	return err == nil && r.token != "" && u.Scheme == "http" && !listen.Local(u.Hostname())
}

// Capabilities fetches the capabilities document. It returns whatever JSON the endpoint sent; the caller checks its
// content.
func (r *Remote) Capabilities(ctx context.Context) (ojson.Value, error) {
	status, body, err := r.request(ctx, http.MethodGet, "/conform/capabilities", nil)
	switch {
	case err != nil:
		return nil, wireError("Failed to fetch remote capabilities %w", err)
	case status != http.StatusOK:
		return nil, wireError("Failed to fetch remote capabilities: HTTP %d", status)
	}
	doc, err := ojson.DecodeLimited(body, ojson.Limits{Bytes: maxReply, LastWins: true})
	if err != nil {
		return nil, wireError("Invalid capabilities response: %w", err)
	}
	return doc, nil
}

// Execute sends one fixture, compact and without a newline.
func (r *Remote) Execute(ctx context.Context, f *Fixture) Outcome {
	status, body, err := r.request(ctx, http.MethodPost, "/conform/execute", ojson.Compact(f.Raw))
	if err != nil {
		return errored("HTTP fixture execution "+err.Error(), nil)
	}
	blankBody := len(bytes.TrimSpace(body)) == 0
	reply, err := ojson.DecodeLimited(body, ojson.Limits{Bytes: maxReply, LastWins: true})
	switch {
	case status != http.StatusOK:
		return refused(status, body, reply, err == nil)
	case blankBody:
		return answer(ojson.NewObject(), nil)
	case err != nil:
		return errored("Malformed response: "+err.Error(), ojson.NewObject("body", replyText(body)))
	}
	return answer(reply, nil)
}

// refused returns the Outcome of a status other than 200.
func refused(status int, body []byte, reply ojson.Value, isJSON bool) Outcome {
	whole := strings.TrimSpace(replyText(body))
	said := text.Clip(whole, 2000)
	var actual ojson.Value
	switch {
	case whole == "":
		said = fmt.Sprintf("HTTP %d", status)
	case isJSON:
		actual = reply
		if o, ok := reply.(*ojson.Object); ok && !blank(o.String("message")) {
			said = strings.TrimSpace(o.String("message"))
		}
	default:
		actual = ojson.NewObject("body", replyText(body))
	}
	return errored(fmt.Sprintf("HTTP %d: %s", status, said), actual)
}

// replyText converts a body to text for a report.
func replyText(body []byte) string {
	return strings.ToValidUTF8(text.Clip(string(body), maxReplyText), "\ufffd")
}

// request sends one request and reads the whole reply within the timeout. The
// error says "timeout after <ms>ms" or "network error: <reason>", without URL
// and token; a caller that gave up gets its own error.
func (r *Remote) request(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	status, reply, err := r.roundTrip(limited, method, path, body)
	if inURL, ok := errors.AsType[*url.Error](err); ok {
		err = inURL.Err
	}
	switch {
	case err == nil:
		return status, reply, nil
	case ctx.Err() != nil:
		return 0, nil, fmt.Errorf("ended early: %w", ctx.Err())
	case limited.Err() != nil:
		return 0, nil, fmt.Errorf("timeout after %dms", r.timeout.Milliseconds())
	}
	return 0, nil, fmt.Errorf("network error: %w", err)
}

func (r *Remote) roundTrip(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, content)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err == nil && len(reply) > maxReply {
		err = fmt.Errorf("the reply is larger than %d bytes", maxReply)
	}
	return resp.StatusCode, reply, err
}
