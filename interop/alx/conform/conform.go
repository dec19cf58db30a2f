// Checking any endpoint against the wire-level guarantees WG-01 to WG-10 (docs/alx.md#alx-conformance).

package conform

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Defaults of Options.
const (
	DefaultRequestTime = 10 * time.Second
	DefaultWait        = 2 * time.Minute
	DefaultIntent      = "Conformance check of the ALX protocol: change nothing, and say that you did."
)

// Options says what to check.
type Options struct {
	URL     string        // http or https; with or without the path /alx/v1
	Token   string        // bearer token, "" for none
	Intent  string        // of the run to start; "" for DefaultIntent
	Request time.Duration // limit of one exchange; 0 for DefaultRequestTime
	Wait    time.Duration // how long to wait for the run's end; 0 for DefaultWait
	Now     func() time.Time
}

// Base reads a URL that a person typed: scheme, host and an optional prefix before /alx/v1. Errors:
// *alx.Error, invalid_request.
func Base(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	switch {
	case err != nil:
		return nil, alx.Errorf(alx.CodeInvalidRequest, "%q is not a URL", s)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, alx.Errorf(alx.CodeInvalidRequest, "%q is not an http or https URL", s)
	case u.User != nil:
		return nil, alx.Errorf(alx.CodeInvalidRequest, "a URL must not hold a password; put a token into a file")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, alx.Errorf(alx.CodeInvalidRequest, "%q has a query or fragment, which an endpoint must not have",
			s)
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), alx.PathService)
	u.RawPath = ""
	return u, nil
}

// Check talks to an endpoint and judges it. The error says that the endpoint cannot be reached
// (*alx.Error, unavailable) or that the URL is not valid.
func Check(ctx context.Context, o Options) (*Report, error) {
	base, err := Base(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Intent == "" {
		o.Intent = DefaultIntent
	}
	if o.Request == 0 {
		o.Request = DefaultRequestTime
	}
	if o.Wait == 0 {
		o.Wait = DefaultWait
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &survey{prober: newProber(base, o.Token, o.Request), intent: o.Intent}
	defer s.close()
	r := &Report{URL: base.String(), Started: o.Now()}
	// Every single wait is bounded; this bounds their sum.
	bounded, cancel := context.WithTimeout(ctx, o.Wait+30*o.Request)
	defer cancel()
	s.explore(bounded, o.Wait)
	r.Took = o.Now().Sub(r.Started)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.info.Status == 0 {
		return nil, alx.Errorf(alx.CodeUnavailable, "%s does not answer: %s", base, s.info.Err)
	}
	if s.info.Status == 401 {
		return nil, alx.Errorf(alx.CodeUnauthorized, "%s asks for a bearer token, or for another", base)
	}
	r.Exchanges, r.Execution = len(s.all), s.executed
	r.Version = s.info.doc().Object("protocol").String("protocol_version")
	for _, rule := range rules() {
		x := &Rule{ID: rule.id, Requirement: rule.requirement}
		rule.judge(s, &judge{rule: x})
		switch {
		case len(x.Failures()) > 0:
			x.Verdict = Fail
		case len(x.Observations) == 0 && (!rule.conditional || len(s.seen) == 0):
			x.Verdict = Unproven
		default:
			x.Verdict = Pass
		}
		r.Rules = append(r.Rules, x)
	}
	return r, nil
}

func queryEscape(s string) string { return url.QueryEscape(s) }
