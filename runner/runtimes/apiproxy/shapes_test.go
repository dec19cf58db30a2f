// Requests as loopback servers recorded them, and answers in the shapes of the providers.

package apiproxy

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var record = flag.Bool("record", false, "write testdata/wire anew from what is sent and read")

// recordedRequest is a provider's request.json: what its loopback server received.
type recordedRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body"`
}

// reading is how an answer is read; a provider's read.json has one for each of its answers.
type reading struct {
	Text       string `json:"text"`
	Stopped    string `json:"stopped,omitempty"`
	Unreadable string `json:"unreadable,omitempty"`
	Input      int64  `json:"input_tokens"`
	Output     int64  `json:"output_tokens"`
}

func TestRecordedShapes(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		dir := filepath.Join("testdata", "wire", p.name)
		answers, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		readings := make(map[string]reading)
		var sent recordedRequest
		for _, file := range answers {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			if name == "request" || name == "read" {
				continue
			}
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, p, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(body)
			})
			rt, err := New(b.req.Runtime)
			if err != nil {
				t.Fatal(err)
			}
			a := rt.cfg.send(context.Background(), secret, prompt{
				system: "be <brief> & \"plain\"",
				user:   "# Ask\u2028\n\tin \\ two\x01 words, é \xff",
			}, rt.cfg.timeout)
			if a.err != nil || a.status != http.StatusOK {
				t.Fatalf("%s: status %d, %v", name, a.status, a.err)
			}
			readings[name] = reading{
				Text:       a.text,
				Stopped:    a.stopped,
				Unreadable: a.unreadable,
				Input:      a.usage.input,
				Output:     a.usage.output,
			}
			sent = requestAt(t, b)
		}
		if len(readings) == 0 {
			t.Fatal("no answers in " + dir)
		}
		var wantSent recordedRequest
		wantReadings := make(map[string]reading)
		recorded(t, filepath.Join(dir, "request.json"), sent, &wantSent)
		recorded(t, filepath.Join(dir, "read.json"), readings, &wantReadings)
		if d := cmp.Diff(wantSent, sent); d != "" {
			t.Error("the request differs from the recorded one (-recorded +sent):\n" + d)
		}
		if d := cmp.Diff(wantReadings, readings); d != "" {
			t.Error("the answers are read differently (-recorded +read):\n" + d)
		}
	})
}

// requestAt returns the last request that the loopback server of b received.
func requestAt(t *testing.T, b *bench) recordedRequest {
	t.Helper()
	last := len(b.requests) - 1
	r := recordedRequest{Method: b.requests[last].Method, Path: b.urls[last], Headers: make(map[string]string)}
	for name, values := range b.requests[last].Header {
		if name != "Content-Length" {
			r.Headers[name] = strings.ReplaceAll(strings.Join(values, ", "), secret, "KEY")
		}
	}
	if err := json.Unmarshal(b.bodies[last], &r.Body); err != nil {
		t.Fatal(err)
	}
	return r
}

// recorded reads a file of testdata/wire into want, with -record after writing got there.
func recorded(t *testing.T, file string, got, want any) {
	t.Helper()
	if *record {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(got); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, want); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// An answer of another shape has no text; anything but a JSON object cannot be read.
func TestOtherShapes(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		for body, readable := range map[string]bool{
			"null":     false,
			"[]":       false,
			"3":        false,
			`"x"`:      false,
			"":         false,
			`{"a":1,}`: false,
			"{} {}":    false,
			"{}":       true,
			`{"content":3,"choices":3,"candidates":3}`:                                                                   true,
			`{"content":[3],"choices":[3],"candidates":[3]}`:                                                             true,
			`{"content":null,"choices":[null],"candidates":[{"content":[]}]}`:                                            true,
			`{"content":[{"type":3}],"choices":[{"message":[]}],"candidates":[{"content":{"parts":[{"text":3},null]}}]}`: true,
			`{"usage":{"input_tokens":-1,"prompt_tokens":true},"usageMetadata":{"promptTokenCount":1e400}}`:              true,
			`{"usage":{"output_tokens":"many","completion_tokens":{}},"usageMetadata":{"candidatesTokenCount":-9e99}}`:   true,
			`{"stop_reason":null,"choices":[{"finish_reason":null}],"candidates":[{"finishReason":null}]}`:               true,
		} {
			b := newBench(t, p, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
			rt, err := New(b.req.Runtime)
			if err != nil {
				t.Fatal(err)
			}
			a := rt.cfg.send(context.Background(), secret, prompt{system: "s", user: "u"}, rt.cfg.timeout)
			if a.err != nil || a.text != "" || a.stopped != "" || tokenCount(a.usage.input) != 0 ||
				tokenCount(a.usage.output) != 0 {
				t.Errorf("%s: %+v, want nothing read", body, a)
			}
			if (a.unreadable == "") != readable {
				t.Errorf("%s: unreadable %q, want readable %t", body, a.unreadable, readable)
			}
		}
	})
}
