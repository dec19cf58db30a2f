// What providers refuse, and what happens to answers in transit.

package apiproxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func TestErrorClasses(t *testing.T) {
	byName := make(map[string]provider)
	for _, p := range providers() {
		byName[p.name] = p
	}
	for _, c := range []struct {
		provider string
		status   int
		message  string
		class    string
		again    bool
	}{
		{anthropicName, 401, "invalid x-api-key " + secret, ClassAuth, false},
		{anthropicName, 403, "", ClassAuth, false},
		{anthropicName, 404, "model: some-model", ClassModel, false},
		{anthropicName, 400, "messages: field required", ClassInvalid, false},
		{anthropicName, 400, "prompt is too long: 300000 tokens", ClassOverflow, false},
		{anthropicName, 429, "slow down", ClassRateLimited, true},
		{anthropicName, 429, "Your daily spend limit is reached", ClassRateLimited, false},
		{anthropicName, 529, "Overloaded", ClassOverloaded, true},
		{anthropicName, 500, "oops", ClassUnknown, true},
		{anthropicName, 503, "no backend", ClassUnknown, true},
		{openaiName, 401, "Incorrect API key provided: " + secret, ClassAuth, false},
		{openaiName, 404, "no such model", ClassModel, false},
		{openaiName, 429, "the budget of patience", ClassRateLimited, true},
		{openaiName, 500, "oops", ClassUnknown, true},
		{openaiName, 400, "maximum context length is 8", ClassOverflow, false},
		{googleName, 403, "denied", ClassAuth, false},
		{googleName, 400, "API key not valid. Please pass a valid API key.", ClassAuth, false},
		{googleName, 400, "bad field", ClassInvalid, false},
		{googleName, 429, "quota", ClassRateLimited, true},
		{googleName, 503, "overloaded", ClassOverloaded, true},
		{googleName, 500, "internal", ClassUnknown, true},
		{ollamaName, 404, "model not found, try pulling it", ClassModel, false},
		{ollamaName, 418, "teapot", ClassUnknown, false},
	} {
		t.Run(c.provider+" "+strconv.Itoa(c.status)+" "+c.class, func(t *testing.T) {
			p := byName[c.provider]
			b := newBench(t, p, fails(p, c.status, c.message))
			out := b.dispatch(context.Background())
			e, err := ojson.DecodeObject([]byte(b.staged("api-error.json")))
			if err != nil {
				t.Fatal(err, out)
			}
			status, _ := e.Int("http_status")
			if out.Kind != runtimes.Blocked || out.Class != c.class || e.String("error_class") != c.class ||
				e.Bool("retryable") != c.again || status != c.status {
				t.Errorf("outcome %+v\n%s", out, b.staged("api-error.json"))
			}
			if len(b.requests) != 1 || !strings.HasSuffix(out.Recovery, "git agentxchain unblock") ||
				strings.Join(e.Keys(),
					" ") != "error_class message recovery retryable http_status raw_detail provider_error_type provider_error_code" {
				t.Errorf("%d requests; %s", len(b.requests), ojson.Compact(e))
			}
			if out.CostUSD != nil {
				t.Error("a refused request costs nothing")
			}
		})
	}
}

func TestFaultsOfTheWire(t *testing.T) {
	testrepo.Serving(t)
	type fault struct {
		name, class, kind string
		handle            func(p provider) http.HandlerFunc
	}
	faults := []fault{
		{"not json", ClassParse, runtimes.Blocked, func(provider) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello "+secret) }
		}},
		{"empty", ClassParse, runtimes.Blocked,
			func(provider) http.HandlerFunc { return func(http.ResponseWriter, *http.Request) {} }},
		{"truncated", ClassNetwork, runtimes.Blocked, func(p provider) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100000")
				_, _ = io.WriteString(w, p.reply(goodResult)[:50])
			}
		}},
		{"hung up", ClassNetwork, runtimes.Blocked, func(provider) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				c, _, err := w.(http.Hijacker).Hijack()
				if err == nil {
					_ = c.Close()
				}
			}
		}},
		{"redirect", ClassInvalid, runtimes.Blocked, func(provider) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
			}
		}},
		{"a gigabyte", ClassParse, runtimes.Blocked, func(provider) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				junk := bytes.Repeat([]byte("x"), 1<<20)
				for range 1024 {
					if _, err := w.Write(junk); err != nil {
						return
					}
				}
			}
		}},
		{"wrong shape", "", "", func(provider) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w,
					`{"content":7,"choices":{"a":[]},"candidates":"none","usage":{"input_tokens":"many","prompt_tokens":-5},"usageMetadata":[]}`)
			}
		}},
		{"a list", "", "", func(provider) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[[[[]]]]`) }
		}},
		{"null", "", "", func(provider) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `null`) }
		}},
		{"slow headers", ClassTimeout, runtimes.Blocked, func(provider) http.HandlerFunc {
			return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		}},
		{"slow body", ClassTimeout, runtimes.Blocked, func(provider) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "{")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
		}},
	}
	each(t, func(t *testing.T, p provider) {
		for _, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, p, f.handle(p), "timeout_seconds", 30)
				if strings.HasPrefix(f.name, "slow") {
					b.req.Runtime.Raw.Set("timeout_seconds", 0.2)
				}
				out := b.dispatch(context.Background())
				if f.class == "" {
					if out.Class != ClassParse && out.Class != ClassExtraction {
						t.Errorf("outcome %+v", out)
					}
				} else if out.Kind != f.kind || out.Class != f.class {
					t.Errorf("outcome %+v", out)
				}
			})
		}
	})
}
