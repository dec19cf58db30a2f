// Turns carried out by providers: the request, the answer, and errors in both.

package apiproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func TestRequestAndResult(t *testing.T) {
	// None of these may be read: only auth_env names a key, only base_url an address.
	for _, k := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID"} {
		t.Setenv(k, "ambient-"+k)
	}
	for _, k := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"} {
		t.Setenv(k, "http://127.0.0.1:1/")
	}
	each(t, func(t *testing.T, p provider) {
		b := newBench(t, p, says(p, goodResult))
		out := b.dispatch(context.Background())
		if out.Kind != runtimes.Returned || !sameButCost(out.Result, goodResult) {
			t.Fatalf("outcome %+v %s", out, out.Result)
		}
		r, body := b.requests[0], b.bodies[0]
		if len(b.requests) != 1 || r.Method != http.MethodPost || r.URL.Path != p.path {
			t.Errorf("%d requests, %s %s", len(b.requests), r.Method, r.URL)
		}
		var m map[string]any
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatal(err)
		}
		user := "# Prompt\n\n---\n\n# Execution Context\n"
		switch p.name {
		case anthropicName:
			msg := m["messages"].([]any)[0].(map[string]any)
			if r.Header.Get("X-Api-Key") != secret || r.Header.Get("Anthropic-Version") != "2023-06-01" ||
				m["system"] != systemText || msg["content"] != user || msg["role"] != "user" ||
				m["max_tokens"] != 4096.0 || m["model"] != "some-model" {
				t.Errorf("%v %s", r.Header, body)
			}
		case openaiName, ollamaName:
			msgs := m["messages"].([]any)
			limit := map[string]string{openaiName: "max_completion_tokens", ollamaName: "max_tokens"}[p.name]
			if r.Header.Get("Authorization") != "Bearer "+secret || m[limit] != 4096.0 ||
				m["response_format"].(map[string]any)["type"] != "json_object" ||
				msgs[0].(map[string]any)["role"] != "developer" || msgs[1].(map[string]any)["content"] != user ||
				msgs[1].(map[string]any)["role"] != "user" {
				t.Errorf("%v %s", r.Header, body)
			}
			if (m["max_tokens"] != nil) != (p.name == ollamaName) {
				t.Errorf("limits: %s", body)
			}
		case googleName:
			gen := m["generationConfig"].(map[string]any)
			if r.Header.Get("X-Goog-Api-Key") != secret || r.URL.RawQuery != "" || gen["maxOutputTokens"] != 4096.0 ||
				gen["responseMimeType"] != "application/json" || m["systemInstruction"] == nil ||
				!bytes.Contains(body, []byte(`"role":"user"`)) {
				t.Errorf("%v %s", r.Header, body)
			}
		}
		for name, v := range r.Header {
			if strings.HasPrefix(name, "X-Stainless") || strings.Contains(strings.Join(v, ""), "ambient") {
				t.Errorf("header %s: %s", name, v)
			}
		}
		if b.staged("provider-response.json") == "" || b.staged("api-error.json") != "" ||
			b.staged("turn-result.json") != "" {
			t.Error("artifacts of the staging directory")
		}
		req, err := ojson.DecodeObject([]byte(b.bundled("API_REQUEST.json")))
		if err != nil || strings.Join(req.Keys(),
			" ") != "provider model endpoint max_output_tokens retry_policy preflight_tokenization timestamp" ||
			req.String("endpoint") != b.srv.URL+p.path {
			t.Errorf("API_REQUEST.json: %s %v", b.bundled("API_REQUEST.json"), err)
		}
		in, _ := out.Usage.Int("input_tokens")
		if n, _ := out.Usage.Int("output_tokens"); in != 1000 || n != 500 || *out.CostUSD != 0 {
			t.Errorf("usage %s", ojson.Compact(out.Usage))
		}
	})
}

// sameButCost compares a result with the model's words; only cost may differ.
func sameButCost(got []byte, want string) bool {
	a, err := ojson.DecodeObject(got)
	b, err2 := ojson.DecodeObject([]byte(want))
	if err != nil || err2 != nil || a.Object("cost").Len() == 0 {
		return false
	}
	a.Delete("cost")
	return string(ojson.Compact(a)) == string(ojson.Compact(b))
}

func TestBaseURLIsTheWholeAddress(t *testing.T) {
	p := providers()[0]
	b := newBench(t, p, says(p, goodResult))
	b.req.Runtime.Raw.Set("base_url", b.srv.URL+"/gateway/{model}/ask?team=a%20b")
	if out := b.dispatch(context.Background()); out.Kind != runtimes.Returned ||
		b.requests[0].URL.String() != "/gateway/some-model/ask?team=a%20b" {
		t.Errorf("asked %s: %+v", b.requests[0].URL, out)
	}
	if strings.Contains(b.bundled("API_REQUEST.json"), "team") {
		t.Error("the query is in API_REQUEST.json")
	}
}

func TestExtraction(t *testing.T) {
	p := providers()[1]
	for name, text := range map[string]string{
		"plain":  goodResult,
		"spaced": "\n\n" + goodResult + "\n",
		"fenced": "Here it is:\n```json\n" + goodResult + "\n```\nThat was all {really}.",
		"prose":  "I have done it. " + goodResult + " Good bye.",
		"nested": "```json\n" + strings.Replace(goodResult, "fine", "see ```code``` there", 1) + "\n```",
	} {
		t.Run(name, func(t *testing.T) {
			out := newBench(t, p, says(p, text)).dispatch(context.Background())
			o, err := ojson.DecodeObject(out.Result)
			if out.Kind != runtimes.Returned || err != nil || o.String("turn_id") != "turn_1" {
				t.Errorf("outcome %+v", out)
			}
		})
	}
	for name, text := range map[string]string{
		"empty":      "",
		"words":      "I could not do it.",
		"array":      "[1,2]",
		"other JSON": `{"hello":"world"}`,
		"no ids":     `{"schema_version":"1.0","status":"completed"}`,
		"cut off":    goodResult[:60],
		"null":       "null",
		"deep":       strings.Repeat("[", 100000),
	} {
		t.Run("no result: "+name, func(t *testing.T) {
			out := newBench(t, p, says(p, text)).dispatch(context.Background())
			if out.Kind != runtimes.Rejected || out.Reason == "" || out.CostUSD == nil {
				t.Errorf("outcome %+v", out)
			}
		})
	}
}

func TestDeadlineAndCancel(t *testing.T) {
	testrepo.Serving(t)
	each(t, func(t *testing.T, p provider) {
		hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		b := newBench(t, p, hang)
		b.req.Deadline = time.Now().Add(200 * time.Millisecond)
		if out := b.dispatch(context.Background()); out.Kind != runtimes.TimedOut {
			t.Errorf("deadline: %+v", out)
		}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		if out := newBench(t, p, hang).dispatch(ctx); out.Kind != runtimes.Aborted {
			t.Errorf("canceled: %+v", out)
		}
	})
}

func TestRetries(t *testing.T) {
	policy := func(more ...any) *ojson.Object {
		return ojson.NewObject(append([]any{"enabled", true, "max_attempts", 4, "base_delay_ms", 100, "max_delay_ms",
			250, "backoff_multiplier", 2}, more...)...)
	}
	each(t, func(t *testing.T, p provider) {
		n := 0
		answers := []http.HandlerFunc{fails(p, 429, "slow"), fails(p, 500, "oops"), says(p, "not yet"),
			says(p, strings.Replace(goodResult, `"status"`, `"cost":{"usd":0,"total_usd":-7},"status"`, 1))}
		b := newBench(t, p, func(w http.ResponseWriter, r *http.Request) { n++; answers[n-1](w, r) }, "retry_policy",
			policy())
		b.req.Config.Budget = &config.Budget{}
		b.req.Config.Budget.CostRates.Set("some-model", config.CostRate{InputPer1M: 10, OutputPer1M: 20})
		out := b.dispatch(context.Background())
		if out.Kind != runtimes.Returned || len(b.requests) != 4 {
			t.Fatalf("%d requests: %+v", len(b.requests), out)
		}
		if want := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 250 * time.Millisecond}; len(
			b.slept) != 3 || b.slept[0] != want[0] || b.slept[1] != want[1] || b.slept[2] != want[2] {
			t.Errorf("slept %v", b.slept)
		}
		if doc, _ := ojson.DecodeObject(out.Result); string(
			ojson.Compact(doc.Object(
				"cost"))) != `{"usd":0.04,"input_tokens":2000,"output_tokens":1000,"source":"provider_usage","provider":"`+p.name+`","model":"some-model"}` {
			t.Errorf("result %s", out.Result)
		}
		if *out.CostUSD != 0.04 { // two answers of 1000 and 500 tokens
			t.Errorf("cost %v", *out.CostUSD)
		}
		trace, err := ojson.DecodeObject([]byte(b.staged("retry-trace.json")))
		made, _ := trace.Int("attempts_made")
		rows := trace.Objects("attempts")
		if err != nil || made != 4 || trace.String("final_outcome") != "success" ||
			rows[2].String("error_class") != ClassExtraction || rows[3].String("outcome") != "success" {
			t.Errorf("trace %s", b.staged("retry-trace.json"))
		}
	})
	p := providers()[0]
	for _, c := range []struct {
		name     string
		policy   *ojson.Object
		handle   http.HandlerFunc
		requests int
		slept    time.Duration // the first pause
	}{
		{"off", ojson.NewObject("enabled", false, "max_attempts", 5), fails(p, 500, ""), 1, 0},
		{"used up", policy(), fails(p, 500, ""), 4, 100 * time.Millisecond},
		{"not of this class", policy("retry_on", []any{"timeout"}), fails(p, 500, ""), 1, 0},
		{"of this class", policy("retry_on", []any{"unknown_api_error"}), fails(p, 500, ""), 4,
			100 * time.Millisecond},
		{"never for a bad key", policy(), fails(p, 401, ""), 1, 0},
		{"jitter", policy("jitter", "full"), fails(p, 500, ""), 4, 50 * time.Millisecond},
		{"as asked", policy(), fails(p, 429, "", "Retry-After", "3"), 4, 3 * time.Second},
		{"asked for too much", policy(), fails(p, 429, "", "Retry-After", "3600"), 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, p, c.handle, "retry_policy", c.policy)
			out := b.dispatch(context.Background())
			if out.Kind != runtimes.Blocked || len(b.requests) != c.requests || c.slept > 0 && b.slept[0] != c.slept {
				t.Errorf("%d requests, slept %v: %+v", len(b.requests), b.slept, out)
			}
			if out.Retryable {
				t.Error("the policy has decided; nobody else tries again")
			}
			if c.name == "asked for too much" && out.RetryAfter != time.Hour {
				t.Errorf("retry after %s", out.RetryAfter)
			}
		})
	}
	t.Run("not beyond the deadline", func(t *testing.T) {
		b := newBench(t, p, fails(p, 429, "", "Retry-After", "60"), "retry_policy", policy())
		b.req.Deadline = time.Now().Add(10 * time.Second)
		if out := b.dispatch(context.Background()); out.Kind != runtimes.Blocked || len(b.requests) != 1 {
			t.Errorf("%d requests: %+v", len(b.requests), out)
		}
	})
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		provider int
		key      string
		sent     bool
	}{{0, "", false}, {0, "   ", false}, {1, "a\nb-long-enough", false}, {3, "", false}, {2, "", true},
		{1, " " + secret + "\n", true}} {
		p := providers()[c.provider]
		b := newBench(t, p, says(p, goodResult))
		b.req.Getenv = func(string) string { return c.key }
		out := b.dispatch(context.Background())
		if sent := len(b.requests) == 1; sent != c.sent ||
			!sent && (out.Kind != runtimes.Blocked || out.Class != ClassCredentials) {
			t.Errorf("%s with %q: %+v", p.name, c.key, out)
		}
		if c.key == "" && c.sent && b.requests[0].Header.Get("Authorization") != "" {
			t.Errorf("a key of nobody: %v", b.requests[0].Header)
		}
		findings := b.rt.Probe(context.Background(), &runtimes.ProbeRequest{Getenv: b.req.Getenv, Online: true})
		if ok := findings[0].OK; ok != c.sent && p.name != ollamaName {
			t.Errorf("%s: findings %+v", p.name, findings)
		}
	}
}

// A provider that repeats the key does not leak it.
func TestEchoedKey(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		text := strings.Replace(goodResult, "fine", "your key is "+secret, 1)
		b := newBench(t, p, says(p, text))
		if out := b.dispatch(context.Background()); out.Kind != runtimes.Returned ||
			!bytes.Contains(out.Result, []byte("your key is ***")) {
			t.Errorf("outcome %+v %s", out, out.Result)
		}
	})
}

func TestBlockedByTheProvider(t *testing.T) {
	p := providers()[3]
	b := newBench(t, p, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"promptFeedback":{"blockReason":"SAFETY"}}`)
	})
	if out := b.dispatch(context.Background()); out.Kind != runtimes.Rejected ||
		!strings.Contains(out.Reason, "SAFETY") {
		t.Errorf("outcome %+v", out)
	}
	p = providers()[1]
	b = newBench(t, p, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Replace(p.reply(goodResult[:70]), `"stop"`, `"length"`, 1))
	})
	if out := b.dispatch(context.Background()); out.Kind != runtimes.Rejected ||
		!strings.Contains(out.Reason, "length") {
		t.Errorf("outcome %+v", out)
	}
}

func TestSettings(t *testing.T) {
	for _, raw := range []string{`{"provider":"skynet","model":"m"}`, `{"provider":"openai"}`,
		`{"provider":"openai","model":"m","base_url":"gopher://x"}`,
		`{"provider":"google","model":"m","base_url":"://"}`} {
		o, _ := ojson.DecodeObject([]byte(raw))
		if _, err := New(&config.Runtime{ID: "r", Raw: o}); err == nil {
			t.Errorf("%s is taken", raw)
		}
	}
	c, err := readSettings(&config.Runtime{
		ID:  "r",
		Raw: ojson.NewObject("provider", "google", "model", "models/../../x y"),
	})
	if err != nil ||
		c.endpoint != "https://generativelanguage.googleapis.com/v1beta/models/..%2F..%2Fx%20y:generateContent" {
		t.Errorf("endpoint %+v, %v", c, err)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add(goodResult)
	f.Add("```\n" + goodResult + "\n```")
	f.Add("{ } ``` { `````` }")
	f.Fuzz(func(t *testing.T, text string) {
		result, why := extract(text)
		if (result == nil) == (why == "") {
			t.Fatalf("result %q, why %q", result, why)
		}
		if result != nil {
			if v, err := ojson.Decode(result); err != nil || !runtimes.HasEnvelope(v) {
				t.Fatalf("%q: %v", result, err)
			}
		}
	})
}
