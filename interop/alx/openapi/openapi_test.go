// The document is complete, equals the published one, and accepts what our encoder writes.

package openapi

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

var update = flag.Bool("update", false, "write docs/schemas/alx/openapi.json")

func decoded(t *testing.T) (*ojson.Object, []byte) {
	t.Helper()
	data, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	return doc, data
}

func TestThePublishedDocumentIsThisOne(t *testing.T) {
	_, data := decoded(t)
	path := filepath.Join("..", "..", "..", "docs", "schemas", "alx", "openapi.json")
	if *update {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != string(data) {
		t.Errorf("docs/schemas/alx/openapi.json is not what the types say (%v); run: go test ./interop/alx/openapi -update",
			err)
	}
}

func TestEveryReferenceResolves(t *testing.T) {
	doc, _ := decoded(t)
	refs := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case *ojson.Object:
			if to := v.String("$ref"); to != "" {
				refs++
				at := doc
				for part := range strings.SplitSeq(strings.TrimPrefix(to, "#/"), "/") {
					at = at.Object(part)
				}
				if at == nil {
					t.Errorf("%s leads nowhere", to)
				}
			}
			for _, e := range v.All() {
				walk(e)
			}
		}
	}
	walk(doc)
	if refs < 50 {
		t.Errorf("%d references", refs)
	}
}

func TestEveryPathAndCodeIsThere(t *testing.T) {
	doc, data := decoded(t)
	for _, e := range alx.Endpoints() {
		op := doc.Object("paths").Object(e.Path).Object(strings.ToLower(e.Method))
		if op == nil || op.Object("responses").Object("200") == nil {
			t.Errorf("%s %s is not described", e.Method, e.Path)
			continue
		}
		if strings.Contains(e.Path, "{id}") != strings.Contains(string(ojson.Compact(op)), "parameters/Id\"") {
			t.Errorf("%s: the parameter of the path", e.Path)
		}
	}
	for _, c := range alx.ErrorCodes() {
		if !strings.Contains(string(data), c.Code) {
			t.Errorf("%s is not described", c.Code)
		}
	}
	ids := map[string]bool{}
	for _, p := range doc.Object("paths").All() {
		for _, op := range p.(*ojson.Object).All() {
			id := op.(*ojson.Object).String("operationId")
			if id == "" || ids[id] {
				t.Errorf("operation id %q", id)
			}
			ids[id] = true
		}
	}
}

// resolve returns the schema of a component, ready to judge documents.
func resolve(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	doc, _ := decoded(t)
	root := ojson.NewObject("$ref", "#/$defs/"+name, "$defs", doc.Object("components").Object("schemas"))
	text := strings.ReplaceAll(string(ojson.Compact(root)), "#/components/schemas/", "#/$defs/")
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func accepts(t *testing.T, name string, doc any) error {
	t.Helper()
	var v any
	if err := json.Unmarshal(alx.Encode(doc), &v); err != nil {
		t.Fatal(err)
	}
	return resolve(t, name).Validate(v)
}

func TestTheSchemasTakeWhatWeWriteAndNothingElse(t *testing.T) {
	head, bad := alx.NewEnvelope(true, "c-1"), alx.NewEnvelope(false, "c-1")
	sum := strings.Repeat("0a", 32)
	block := &alx.KnowledgeBlock{
		Kind:      alx.BlockKindRun,
		KBHash:    sum,
		Intent:    "i",
		Artifacts: []alx.BlockArtifact{{Path: "a", SHA256: sum}},
		Decisions: []alx.BlockDecision{{ID: "DEC-1", Statement: "s"}},
		Sources:   []alx.BlockSource{{TurnID: "t", SHA256: sum}, {KBHash: sum}},
	}
	yes := true
	score := 0.5
	event := func(kind alx.RunEventType) alx.RunEvent {
		return *(&alx.RunEvent{
			Type:          kind,
			ID:            "1",
			Sequence:      1,
			RunID:         "r",
			CorrelationID: "c",
			Data:          &ojson.Object{},
		}).SetOK()
	}
	failure := alx.Errorf(alx.CodeNotFound, "no").With("a", 1)
	for i, c := range []struct {
		schema string
		doc    any
		ok     bool
	}{
		{"SolveResponse", &alx.SolveResponse{Envelope: head, Execution: alx.Execution{Status: alx.StatusActive}},
			true},
		{"SolveResponse", &alx.SolveResponse{
			Envelope:  bad,
			Execution: alx.Execution{Status: alx.StatusFailed},
			Error:     failure,
		}, true},
		{"SolveResponse", &alx.SolveResponse{
			Envelope:        head,
			Artifact:        block,
			Confidence:      1,
			ConfidenceScore: &score,
			Cached:          &yes,
			Steps:           []alx.Step{{Status: alx.StepAccepted}},
			Execution: alx.Execution{
				Status:     alx.StatusCompleted,
				Settlement: &alx.Settlement{Roles: []alx.Share{{ID: "dev", MicroUSD: 1}}},
			},
		}, true},
		{"SolveResponse", &alx.SolveResponse{
			Envelope:   head,
			Confidence: 2,
			Execution:  alx.Execution{Status: alx.StatusActive},
		}, false},
		{"SolveResponse", &alx.SolveResponse{Envelope: head, Execution: alx.Execution{Status: "strange"}}, false},
		{"SolveResponse", alx.NewFailure("c", failure), false},
		{"SessionResponse", &alx.SessionResponse{
			Envelope: head,
			Session:  alx.Session{SessionID: "s", Status: alx.StatusPaused},
			Timeline: []alx.TimelineEvent{{Type: alx.SessionCreated}},
		}, true},
		{"SessionResponse", &alx.SessionResponse{
			Envelope: head,
			Session:  alx.Session{Status: alx.StatusPaused},
			Timeline: []alx.TimelineEvent{{Type: "session.tea"}},
		}, false},
		{"SessionList", &alx.SessionList{
			Envelope:   head,
			Sessions:   []alx.SessionItem{{Session: alx.Session{SessionID: "s", Status: alx.StatusActive}}},
			NextCursor: "x",
		}, true},
		{"SessionList", &alx.SessionList{
			Envelope: head,
			Sessions: []alx.SessionItem{{Session: alx.Session{Status: alx.StatusActive, Progress: 1.5}}},
		}, false},
		{"RunEventPage", &alx.RunEventPage{
			Envelope: head,
			Events:   []alx.RunEvent{event(alx.RunStarted), event(alx.RunCompleted), event(alx.RunFailed)},
		}, true},
		{"RunEvent", &alx.RunEvent{Type: alx.RunFailed, OK: &yes, Data: &ojson.Object{}}, false},
		{"RunEvent", &alx.RunEvent{Type: alx.RunCompleted, Data: &ojson.Object{}}, false},
		{"ServiceInfo", alx.NewServiceInfo("c", alx.Service{Name: "n", Version: "1"}), true},
		{"FailureResponse", alx.NewFailure("c", failure), true},
		{"FailureResponse", &alx.FailureResponse{Envelope: head, Error: failure}, false},
		{"FailureResponse", &alx.FailureResponse{Envelope: bad}, false},
		{"SolveRequest", &alx.SolveRequest{Intent: "x", Protocol: &alx.Protocol{Version: "1.0"}}, true},
		{"SolveRequest", &alx.SolveRequest{}, false},
		{"SolveRequest", &alx.SolveRequest{Intent: "x", SessionID: "../x"}, false},
		{"KnowledgeBlock", block, true},
		{"KnowledgeBlock", &alx.KnowledgeBlock{KBHash: "ABC"}, false},
	} {
		if err := accepts(t, c.schema, c.doc); (err == nil) != c.ok {
			t.Errorf("%s", fmt.Sprintf("%d %s: %v\n%s", i, c.schema, err, alx.Encode(c.doc)))
		}
	}
}
