// One exchange with a provider, bounded in time and size (docs/runtimes.md#api_proxy).

package apiproxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// maxAnswer bounds how much of an answer is read, in bytes.
const maxAnswer = 16 << 20

// answer is a provider's answer, with the key removed everywhere.
type answer struct {
	status     int
	body       []byte
	err        error
	timedOut   bool
	invalid    bool // nothing was sent
	overflow   bool
	retryAfter time.Duration
	took       time.Duration

	message, errorType, errorCode string // of an error, in the provider's words

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
		return x.anthropic(ctx, p)
	case googleName:
		return x.google(ctx, p)
	default:
		return x.openai(ctx, p)
	}
}

// exchange is one request to a provider and its answer. It is the only place where the key leaves
// this process.
type exchange struct {
	c      *settings
	key    string
	within time.Duration
}

// post sends a request as JSON to the configured endpoint.
func (x *exchange) post(ctx context.Context, request any, headers ...webpost.Header) *answer {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(request); err != nil {
		return &answer{invalid: true, err: err}
	}
	r := webpost.Post(ctx, webpost.Request{
		URL:     x.c.endpoint,
		Headers: headers,
		Body:    bytes.TrimSuffix(body.Bytes(), []byte("\n")),
		Timeout: x.within,
		MaxBody: maxAnswer,
	})
	a := &answer{
		status:     r.Status,
		body:       x.redact(r.Body),
		err:        r.Err,
		timedOut:   r.TimedOut || errors.Is(ctx.Err(), context.DeadlineExceeded),
		invalid:    r.Invalid,
		overflow:   r.Overflow,
		retryAfter: r.RetryAfter,
		took:       r.Duration,
	}
	if a.err != nil && !errors.Is(a.err, context.Canceled) {
		a.err = errors.New(string(x.redact([]byte(a.err.Error()))))
	}
	if a.err == nil && a.status >= 300 {
		a.readError()
	}
	return a
}

// redact removes the key from the provider's words, also where it is escaped.
func (x *exchange) redact(data []byte) []byte {
	if x.key == "" {
		return data
	}
	data = secrets.Mask(data, x.key)
	return bytes.ReplaceAll(data, []byte(url.QueryEscape(x.key)), []byte("***"))
}

// readError reads the provider's own words for an error: {"error": {"message", "type", "code",
// "status"}}, or an error that is a text.
func (a *answer) readError() {
	v, err := ojson.DecodeLimited(a.body, ojson.Limits{LastWins: true})
	if err != nil {
		a.message = text.CutRunes(runtimes.OneLine(detail(a.body)), maxDetail)
		return
	}
	if list, ok := v.([]any); ok && len(list) > 0 { // as Google sometimes does
		v = list[0]
	}
	o, _ := v.(*ojson.Object)
	e := o.Object("error")
	if e == nil {
		e = o
	}
	a.message = runtimes.OneLine(e.String("message"))
	if text, ok := o.Value("error").(string); ok {
		a.message = runtimes.OneLine(text)
	}
	if a.errorType = e.String("type"); a.errorType == "" || e.Has("status") {
		a.errorType = cmp.Or(e.String("status"), a.errorType)
	}
	a.errorType = text.CutRunes(runtimes.OneLine(a.errorType), 100)
	switch code := e.Value("code").(type) {
	case string:
		a.errorCode = text.CutRunes(runtimes.OneLine(code), 100)
	case ojson.Number:
		a.errorCode = string(code)
	}
}

// reach dials the host of an address.
func reach(ctx context.Context, address string) error {
	host, err := webpost.HostPort(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	return conn.Close()
}
