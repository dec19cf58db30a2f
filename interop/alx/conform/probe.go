// One exchange with an endpoint, bounded in time and size, kept for the report.

package conform

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

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Limits on what an endpoint can make us read. It may be hostile or broken.
const (
	maxBody    = 8 << 20
	maxEvents  = 5000
	maxHeaders = 64 << 10
)

// exchange is one request with its answer.
type exchange struct {
	Purpose  string // "solve", "a session that does not exist"
	Method   string
	Path     string // with the query
	Sent     string // the body, or the headers that matter
	Sid      string // the correlation id sent
	MustFail bool   // the request cannot succeed

	Status int // 0: no answer came
	Header http.Header
	Body   []byte
	Doc    *ojson.Object // nil when the body is not a JSON object
	Err    string        // why there is no answer, or no document
	Stream bool          // the answer is an event stream
}

// line returns the exchange's name in a report.
func (x *exchange) line() string { return x.Method + " " + x.Path }

// failed reports whether the endpoint answered with a failure, by its status or its own statement.
func (x *exchange) failed() bool {
	ok, has := x.Doc.Get("ok")
	return x.Status >= 400 || has && ok == false
}

// sent and received return what a report shows of an exchange.
func (x *exchange) sent() string {
	if x.Sent == "" {
		return x.line()
	}
	return x.line() + "  " + shorten(x.Sent)
}

func (x *exchange) received() string {
	if x.Status == 0 {
		return x.Err
	}
	return fmt.Sprintf("%d %s", x.Status, shorten(string(x.Body)))
}

func shorten(s string) string {
	return text.ClipRunes(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD"), 400)
}

// prober sends requests to one endpoint.
type prober struct {
	base    *url.URL
	token   string
	client  *http.Client
	request time.Duration // limit of one exchange
	all     []*exchange
}

func newProber(base *url.URL, token string, request time.Duration) *prober {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: maxHeaders,
		ResponseHeaderTimeout: request, TLSHandshakeTimeout: request, MaxIdleConns: 4, ForceAttemptHTTP2: true,
	}
	return &prober{base: base, token: token, request: request, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (p *prober) close() { p.client.CloseIdleConnections() }

// ask holds the parts of a request.
type ask struct {
	Purpose  string
	Method   string
	Path     string
	Body     string
	Header   map[string]string
	MustFail bool
}

// do sends one request and reads the whole answer.
func (p *prober) do(ctx context.Context, a ask) *exchange {
	ctx, cancel := context.WithTimeout(ctx, p.request)
	defer cancel()
	x, res := p.start(ctx, a)
	if res == nil {
		return x
	}
	defer func() { _ = res.Body.Close() }()
	x.read(res)
	return x
}

// read reads the whole answer.
func (x *exchange) read(res *http.Response) {
	data, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	x.Body = data
	switch {
	case x.Stream:
		// The endpoint answers a request for a page with a stream: what came is all there is.
	case err != nil:
		x.Err = "the answer broke off: " + reason(err)
	case len(data) > maxBody:
		x.Body = data[:maxBody]
		x.Err = fmt.Sprintf("the answer is larger than %d bytes", maxBody)
	case x.Status >= 300 && x.Status < 400:
		x.Err = "the endpoint redirects to " + shorten(res.Header.Get("Location")) + ", which is not followed"
	default:
		x.decode()
	}
}

// start sends a request; the caller reads the body of the response. The exchange is noted either
// way.
func (p *prober) start(ctx context.Context, a ask) (*exchange, *http.Response) {
	x := &exchange{
		Purpose:  a.Purpose,
		Method:   a.Method,
		Path:     a.Path,
		Sent:     a.Body,
		MustFail: a.MustFail,
		Sid:      alx.NewCorrelationID(),
	}
	p.all = append(p.all, x)
	var body io.Reader
	if a.Body != "" {
		body = strings.NewReader(a.Body)
	}
	req, err := http.NewRequestWithContext(ctx, a.Method, p.base.String()+a.Path, body)
	if err != nil {
		x.Err = err.Error()
		return x, nil
	}
	req.Header.Set("User-Agent", "git-agentxchain-alx-conformance")
	req.Header.Set("Accept", alx.MediaJSON)
	req.Header.Set(alx.HeaderCorrelationID, x.Sid)
	if a.Body != "" {
		req.Header.Set("Content-Type", alx.MediaJSON)
	}
	for k, v := range a.Header {
		req.Header.Set(k, v)
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	res, err := p.client.Do(req)
	if err != nil {
		x.Err = reason(err)
		return x, nil
	}
	x.Status, x.Header = res.StatusCode, res.Header
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	x.Stream = x.Status == http.StatusOK && strings.EqualFold(strings.TrimSpace(media), alx.MediaEventStream)
	return x, res
}

// decode reads the document of the body.
func (x *exchange) decode() {
	v, err := ojson.DecodeLimited(bytes.TrimSpace(x.Body), ojson.Limits{Bytes: maxBody, Depth: alx.MaxDepth * 2})
	if err != nil {
		x.Err = "the answer is not JSON: " + err.Error()
		return
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		x.Err = "the answer is not a JSON object but " + ojson.TypeName(v)
		return
	}
	x.Doc = o
}

// reason returns the cause of a failed request without the URL, which is known.
func reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}
