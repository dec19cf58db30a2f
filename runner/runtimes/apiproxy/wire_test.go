// Providers as loopback servers that speak their wire formats.

package apiproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

const secret = "sk-test-0123456789-SECRET/+="

const goodResult = `{"schema_version":"1.0","run_id":"run_1","turn_id":"turn_1","role":"qa","runtime_id":"model","status":"completed","summary":"fine","unknown":12345678901234567890}`

// provider answers as one provider does.
type provider struct {
	name  string
	path  string
	reply func(text string) string
	error func(status int, message string) string
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

func providers() []provider {
	openaiReply := func(text string) string {
		return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` + quote(text) + `}}],"usage":{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500}}`
	}
	openaiError := func(status int, message string) string {
		return `{"error":{"message":` + quote(message) + `,"type":"` + map[int]string{
			400: "invalid_request_error",
			404: "invalid_request_error",
		}[status] + `","param":null,"code":null}}`
	}
	return []provider{
		{anthropicName, "/v1/messages", func(text string) string {
			return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":` + quote(text) + `}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1000,"output_tokens":500}}`
		}, func(status int, message string) string {
			kind := map[int]string{
				400: "invalid_request_error",
				401: "authentication_error",
				404: "not_found_error",
				429: "rate_limit_error",
				529: "overloaded_error",
			}[status]
			return `{"type":"error","error":{"type":"` + kind + `","message":` + quote(message) + `}}`
		}},
		{openaiName, "/v1/chat/completions", openaiReply, openaiError},
		{ollamaName, "/v1/chat/completions", openaiReply, openaiError},
		{googleName, "/v1beta/models/some-model:generateContent", func(text string) string {
			return `{"candidates":[{"content":{"parts":[{"text":` + quote(text) +
				`}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":400,"thoughtsTokenCount":100}}`
		}, func(status int, message string) string {
			kind := map[int]string{
				400: "INVALID_ARGUMENT",
				401: "UNAUTHENTICATED",
				404: "NOT_FOUND",
				429: "RESOURCE_EXHAUSTED",
				503: "UNAVAILABLE",
			}[status]
			return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":"%s"}}`, status, quote(message), kind)
		}},
	}
}

// bench is one dispatch against one server.
type bench struct {
	t      *testing.T
	p      provider
	srv    *httptest.Server
	handle http.HandlerFunc
	req    *runtimes.Request
	rt     *Runtime
	log    bytes.Buffer
	slept  []time.Duration

	mu       sync.Mutex
	requests []*http.Request
	urls     []string
	bodies   [][]byte
}

// newBench serves the answers of handle; options are the runtime's.
func newBench(t *testing.T, p provider, handle http.HandlerFunc, options ...any) *bench {
	t.Helper()
	b := &bench{t: t, p: p, handle: handle}
	b.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.requests, b.urls, b.bodies = append(b.requests, r), append(b.urls, r.URL.String()), append(b.bodies, body)
		b.mu.Unlock()
		b.handle(w, r)
	}))
	t.Cleanup(func() { b.srv.CloseClientConnections(); b.srv.Close() })
	raw := ojson.NewObject("type", "api_proxy", "provider", p.name, "model", "some-model", "auth_env", "TEST_KEY",
		"base_url", b.srv.URL)
	for i := 0; i+1 < len(options); i += 2 {
		raw.Set(options[i].(string), options[i+1])
	}
	root := t.TempDir()
	rt := &config.Runtime{ID: "model", Type: "api_proxy", Raw: raw}
	b.req = &runtimes.Request{
		Root:        root,
		RunID:       "run_1",
		TurnID:      "turn_1",
		Role:        "qa",
		Phase:       "build",
		Attempt:     1,
		Runtime:     rt,
		Config:      &config.Config{},
		BundleDir:   ".agentxchain/dispatch/turns/turn_1",
		StagingPath: ".agentxchain/staging/turn_1/turn-result.json",
		Prompt:      []byte("# Prompt"),
		Context:     []byte("# Execution Context\n"),
		Deadline: time.Now().Add(
			time.Minute),
		Log:      &b.log,
		Activity: func(runtimes.Activity) {},
		Getenv: func(k string) string {
			if k == "TEST_KEY" {
				return secret
			}
			return ""
		},
	}
	if err := os.MkdirAll(filepath.Join(root, b.req.BundleDir), 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) dispatch(ctx context.Context) *runtimes.Outcome {
	b.t.Helper()
	if b.rt == nil {
		rt, err := New(b.req.Runtime)
		if err != nil {
			b.t.Fatal(err)
		}
		b.rt = rt
	}
	b.rt.Sleep = func(_ context.Context, d time.Duration) error { b.slept = append(b.slept, d); return nil }
	b.rt.Rand = func() float64 { return 0.5 }
	out := b.rt.Dispatch(ctx, b.req)
	b.noSecret(out)
	return out
}

// noSecret looks for the key in everything that a dispatch leaves behind.
func (b *bench) noSecret(out *runtimes.Outcome) {
	b.t.Helper()
	texts := map[string]string{
		"log":      b.log.String(),
		"reason":   out.Reason,
		"recovery": out.Recovery,
		"result":   string(out.Result),
	}
	_ = filepath.WalkDir(b.req.Root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			texts[path] = string(data)
		}
		return err
	})
	for where, text := range texts {
		if strings.Contains(text, secret) || strings.Contains(text, "0123456789-SECRET") {
			b.t.Errorf("the key is in the %s: %s", where, text)
		}
	}
	b.mu.Lock() // a server whose client hung up may still be at work
	defer b.mu.Unlock()
	for _, url := range b.urls {
		if strings.Contains(url, "SECRET") {
			b.t.Errorf("the key is in the address %s", url)
		}
	}
}

func (b *bench) file(name string) string {
	data, err := os.ReadFile(filepath.Join(b.req.Root, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(data)
}

func (b *bench) staged(name string) string { return b.file(".agentxchain/staging/turn_1/" + name) }

func (b *bench) bundled(name string) string { return b.file(b.req.BundleDir + "/" + name) }

// says answers 200 with a text of the model.
func says(p provider, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, p.reply(text))
	}
}

// fails answers with an error of the provider.
func fails(p provider, status int, message string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, p.error(status, message))
	}
}

func each(t *testing.T, f func(t *testing.T, p provider)) {
	for _, p := range providers() {
		t.Run(p.name, func(t *testing.T) { f(t, p) })
	}
}
