// The document, the strict decoders and the client against a real service that carries out a real
// run.

package openapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-agentxchain/git-agentxchain/internal/demo"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/client"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/openapi"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// TestMain is also the program that carries out turns.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "turn" {
		if err := turn(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testrepo.Isolate()
	_ = os.Unsetenv(runner.TurnMarker)
	os.Exit(m.Run())
}

func turn() error {
	ctx := context.Background()
	r, err := runner.Open(ctx, ".", runner.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	fmt.Println("at work")
	return demo.Turn(ctx, r, r.InsideTurn())
}

// live serves a scratch project.
func live(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := demo.Automatic(t.Context(), dir, []string{self, "turn"}); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(context.Background(), dir, server.Options{
		MaxRuns: 1,
		OpenAPI: openapi.Document,
		Runner:  runner.Options{Trust: true},
		Service: alx.Service{Name: "test", Version: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.Listen(context.Background(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		end()
		if err := errors.Join(<-served, s.Close()); err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

func TestARealServiceIsWhatItsDocumentSays(t *testing.T) {
	testrepo.Thorough(t)
	url := live(t)
	ctx := t.Context()
	c, err := client.New(url, client.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Info(ctx)
	if err != nil || len(info.Endpoints) != len(alx.Endpoints()) {
		t.Fatalf("%+v %v", info, err)
	}
	req := &alx.SolveRequest{Intent: "Change nothing, 🎌 and say so.", IdempotencyKey: "k", UserID: "ada"}
	started, err := c.SolveAsync(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	var last int64
	for e, err := range c.Events(ctx, started.ExecutionID, "") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Sequence != last+1 || e.RunID != started.ExecutionID {
			t.Fatalf("event %+v after %d", e, last)
		}
		if e.Type == alx.RunBlocked || e.Type == alx.RunPaused {
			t.Fatalf("the run does not get on: %s", ojson.Compact(e.Data))
		}
		last = e.Sequence
		types = append(types, string(e.Type))
	}
	if story := strings.Join(types, " "); !strings.HasPrefix(story, "run.started ") ||
		!strings.HasSuffix(story, " run.completed") || strings.Count(story, "turn.accepted") != 2 {
		t.Errorf("%s", story)
	}
	done, err := c.Solve(ctx, req)
	if err != nil || !done.Success || done.ExecutionID != started.ExecutionID || done.Cached == nil || !*done.Cached ||
		done.Artifact == nil {
		t.Fatalf("%+v %v", done, err)
	}
	block := ojson.Marshal(done.Artifact)
	if v, err := kb.Validate(block); err != nil || len(v.Findings) > 0 || v.Declared != v.Hash ||
		len(done.Artifact.Sources) != 2 {
		t.Errorf("%+v %v\n%s", v, err, ojson.Pretty(block))
	}
	n := 0
	for s, err := range c.Sessions(ctx, client.Filter{UserID: "ada"}) {
		if n++; err != nil || s.Intent != req.Intent || s.Status != alx.StatusCompleted || s.Progress != 1 {
			t.Errorf("%+v %v", s, err)
		}
	}
	if n != 1 {
		t.Errorf("%d sessions", n)
	}

	// Every answer on the wire against its schema in the served document.
	doc := fetched(t, "GET", url+alx.PathOpenAPI, "", 200)
	for _, x := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", alx.PathService, "", 200},
		{"POST", alx.PathSolve, string(alx.Encode(req)), 200},
		{"POST", alx.PathSolve, `{"intent":7}`, 400},
		{"POST", alx.PathSolve, `{`, 400},
		{"POST", alx.PathSolve, `{"intent":"another","idempotencyKey":"k","userId":"ada"}`, 409},
		{"POST", alx.PathSolve, `{"intent":"a","protocol":{"protocol_version":"2.0"}}`, 400},
		{"GET", alx.PathSessions, "", 200},
		{"GET", alx.PathSessions + "?cursor=nonsense", "", 400},
		{"GET", alx.SessionPath(done.Execution.SessionID), "", 200},
		{"GET", alx.SessionPath("unknown"), "", 404},
		{"GET", alx.RunEventsPath(done.ExecutionID), "", 200},
		{"GET", alx.RunEventsPath("run_0"), "", 404},
		{"DELETE", alx.PathSessions, "", 405},
	} {
		answer := fetched(t, x.method, url+x.path, x.body, x.status)
		operation := doc["paths"].(map[string]any)[template(x.path)].(map[string]any)[strings.ToLower(x.method)]
		if operation == nil {
			// a method that is not served
			operation = doc["paths"].(map[string]any)[alx.PathService].(map[string]any)["get"]
		}
		schema := dig(t, operation, "responses", fmt.Sprint(x.status), "content", alx.MediaJSON, "schema")
		if err := judge(t, doc, schema, answer); err != nil {
			t.Errorf("%s %s answered %d: %v\n%v", x.method, x.path, x.status, err, answer)
		}
	}
	dig(t, doc, "paths", alx.PathRuns+"/{id}/events", "get", "responses", "204") // docs/serve.md: ends an EventSource
}

// template returns the path of the document that an address belongs to.
func template(path string) string {
	path, _, _ = strings.Cut(path, "?")
	switch {
	case strings.HasPrefix(path, alx.PathSessions+"/"):
		return alx.PathSessions + "/{id}"
	case strings.HasPrefix(path, alx.PathRuns+"/"):
		return alx.PathRuns + "/{id}/events"
	}
	return path
}

func dig(t *testing.T, v any, path ...string) any {
	t.Helper()
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok || m[p] == nil {
			t.Fatalf("the document has no %s of %v", p, path)
		}
		v = m[p]
	}
	return v
}

func fetched(t *testing.T, method, url, body string, status int) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", alx.MediaJSON)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		t.Fatalf("%s %s: %d %v\n%s", method, url, res.StatusCode, err, data)
	}
	doc := map[string]any{}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%s %s: %v\n%s", method, url, err, data)
	}
	return doc
}

// judge validates an answer against a schema of the document.
func judge(t *testing.T, doc map[string]any, schema, answer any) error {
	t.Helper()
	text, err := json.Marshal(map[string]any{"allOf": []any{schema}, "$defs": dig(t, doc, "components", "schemas")})
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "#/components/schemas/", "#/$defs/")),
		&s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Validate(answer)
}
