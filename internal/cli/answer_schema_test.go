// The schemas of --json answers (docs/schemas/answers): each answer to a script is checked against
// the schema of its command, and with -update-schemas the schema is extended from it.

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/schematest"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// schemaDepth is how deep an answer is described: its members, theirs, and theirs.
const schemaDepth = 3

// answerSchemas holds the schemas of docs/schemas/answers by command, each read once.
type answerSchemas struct {
	mu       sync.Mutex
	dir      string
	byName   map[string]*ojson.Object
	resolved map[string]*jsonschema.Resolved
}

func newAnswerSchemas() *answerSchemas {
	return &answerSchemas{dir: filepath.Join("..", "..", "docs", "schemas", "answers"),
		byName: make(map[string]*ojson.Object), resolved: make(map[string]*jsonschema.Resolved)}
}

func (s *answerSchemas) file(command string) string {
	return filepath.Join(s.dir, strings.ReplaceAll(command, " ", "-")+".json")
}

// of returns the schema of a command, an empty one when there is none.
func (s *answerSchemas) of(command string) (*ojson.Object, error) {
	if o, ok := s.byName[command]; ok {
		return o, nil
	}
	data, err := os.ReadFile(s.file(command))
	if os.IsNotExist(err) {
		o := schematest.Head("answers/"+filepath.Base(s.file(command)), "git agentxchain "+command+" --json")
		o.Set("$ref", "../answer.json")
		return o, nil
	}
	if err != nil {
		return nil, err
	}
	return ojson.DecodeObject(data)
}

// judge checks an answer against the schema of its command. With -update-schemas it only extends the
// schema; without, an answer that would extend it is an error.
func (s *answerSchemas) judge(command string, answer *ojson.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.of(command)
	if err != nil {
		return err
	}
	was := ojson.Compact(o)
	s.byName[command] = o
	learn(o, answer)
	if schematest.Updating() {
		return nil
	}
	if now := ojson.Compact(o); string(now) != string(was) {
		s.byName[command], _ = ojson.DecodeObject(was)
		return fmt.Errorf("%s does not describe an answer; -update-schemas makes it\n%s", s.file(command), now)
	}
	if s.resolved[command] == nil {
		if s.resolved[command], err = schematest.Load(s.file(command)); err != nil {
			return err
		}
	}
	return schematest.Validate(s.resolved[command], answer)
}

// write writes the extended schemas.
func (s *answerSchemas) write(t *testing.T) {
	for command, o := range s.byName {
		if !schematest.Updating() || !o.Has("anyOf") { // it has only failed
			continue
		}
		if err := os.WriteFile(s.file(command), schematest.Layout(o), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// learn widens the schema of a command so that it describes an answer: a new member gets a schema,
// an absent one is no longer required. An answer with an error may lack any member.
func learn(schema, answer *ojson.Object) {
	if !answer.Has("correlationId") {
		schema.Delete("$ref") // a document that the command prints bare
	}
	payload := answer.Clone()
	for _, k := range []string{"ok", "correlationId", "protocol", "error"} {
		payload.Delete(k)
	}
	// The payload as if it were a document of its own.
	seen := &ojson.Object{}
	var required []string
	if either := schema.Array("anyOf"); either != nil {
		required = either[1].(*ojson.Object).Strings("required")
		seen = ojson.NewObject("type", "object", "required", required)
	}
	if members := schema.Object("properties"); members != nil {
		seen.Set("properties", members)
	}
	widen(seen, payload, schemaDepth)
	if !answer.Has("error") {
		required = seen.Strings("required")
		schema.Set("anyOf", []*ojson.Object{ojson.NewObject("required", []string{"error"}),
			ojson.NewObject("required", wire.NonNil(required))})
	}
	if members := seen.Object("properties"); members != nil {
		schema.Set("properties", members)
	}
}

// widen makes a schema also describe a value, objects down to depth. It leaves alone what refers to
// another schema or is described in words.
func widen(schema *ojson.Object, v ojson.Value, depth int) {
	if schema.Has("$ref") || schema.Has("anyOf") || schema.Has("description") {
		return
	}
	types, kind := schemaTypes(schema), kindOf(v)
	first := !slices.Contains(types, kind)
	if first && !(kind == "integer" && slices.Contains(types, "number")) {
		if types = append(types, kind); kind == "number" {
			types = slices.DeleteFunc(types, func(k string) bool { return k == "integer" })
		}
		if slices.Sort(types); len(types) == 1 {
			schema.Set("type", types[0])
		} else {
			schema.Set("type", types)
		}
	}
	switch v := v.(type) {
	case *ojson.Object:
		if depth > 0 {
			widenObject(schema, v, first, depth-1)
		}
	case []any:
		if len(v) > 0 && !schema.Has("items") {
			schema.Set("items", &ojson.Object{})
		}
		for _, e := range v {
			widen(schema.Object("items"), e, depth)
		}
	}
}

func widenObject(schema, v *ojson.Object, first bool, depth int) {
	if of := schema.Object("additionalProperties"); of != nil { // its names are data
		for _, e := range v.All() {
			widen(of, e, depth)
		}
		return
	}
	if v.Len() > 0 && !schema.Has("properties") {
		schema.Set("properties", &ojson.Object{})
	}
	members := schema.Object("properties")
	for k, e := range v.All() {
		if !members.Has(k) {
			members.Set(k, &ojson.Object{})
		}
		widen(members.Object(k), e, depth)
	}
	required := schema.Strings("required")
	if first {
		required = slices.Clone(v.Keys())
	}
	required = slices.DeleteFunc(required, func(k string) bool { return !v.Has(k) })
	if len(required) == 0 {
		schema.Delete("required")
	} else {
		schema.Set("required", required)
	}
}

func schemaTypes(schema *ojson.Object) []string {
	if list := schema.Strings("type"); len(list) > 0 {
		return slices.Clone(list)
	}
	if one := schema.String("type"); one != "" {
		return []string{one}
	}
	return nil
}

func kindOf(v ojson.Value) string {
	switch v := v.(type) {
	case *ojson.Object:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case ojson.Number:
		if _, ok := v.Int64(); ok {
			return "integer"
		}
		return "number"
	}
	return "null"
}

// withoutSchema returns the commands whose answer is described elsewhere, or is not an answer of
// theirs.
func withoutSchema() map[string]string {
	return map[string]string{
		"__complete":               "words for a shell",
		"at":                       "the answer of the command that it runs",
		"attest":                   "statements of in-toto and Agent Trace",
		"conformance check":        "the report of the protocol's verifier",
		"conformance adapter":      "the protocol of the verifier",
		"conformance capabilities": "the protocol of the verifier",
		"mcp":                      "the Model Context Protocol",
		"textconv":                 "a ledger as text, for git",
	}
}

// TestEveryCommandHasAnAnswerSchema finds commands without one, and schemas without a command.
func TestEveryCommandHasAnAnswerSchema(t *testing.T) {
	s, files := newAnswerSchemas(), map[string]bool{}
	list, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil || len(list) == 0 {
		t.Fatal(err, len(list))
	}
	for _, file := range list {
		files[file] = true
	}
	without := withoutSchema()
	for _, l := range leaves(newCommands(&term.Factory{}), nil) {
		name := term.PathName(l.path)
		file := s.file(name)
		if _, ok := without[name]; ok == files[file] {
			t.Errorf("%s: its schema is there: %v; it is named as one without: %v", name, files[file], ok)
		}
		if files[file] {
			schematest.Read(t, file)
		}
		delete(files, file)
		delete(without, name)
	}
	for file := range files {
		t.Errorf("%s is of no command", file)
	}
	for name := range without {
		t.Errorf("%s is no command", name)
	}
}
