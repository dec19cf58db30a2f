// Comparing a published JSON Schema with the code that judges the same documents.

package schematest

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Load resolves a schema file of docs/schemas, with the schemas it refers to.
func Load(file string) (*jsonschema.Resolved, error) {
	top, rest, _ := strings.Cut(filepath.ToSlash(file), "docs/schemas/")
	at := func(name string) (*jsonschema.Schema, error) {
		data, err := os.ReadFile(filepath.Join(top, "docs", "schemas", filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		var s jsonschema.Schema
		return &s, json.Unmarshal(data, &s)
	}
	s, err := at(rest)
	if err != nil {
		return nil, err
	}
	return s.Resolve(&jsonschema.ResolveOptions{Loader: func(u *url.URL) (*jsonschema.Schema, error) {
		return at(strings.TrimPrefix(u.String(), Address("")))
	}})
}

// Read is Load for tests.
func Read(t testing.TB, file string) *jsonschema.Resolved {
	t.Helper()
	r, err := Load(file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r
}

// Validate judges a document.
func Validate(s *jsonschema.Resolved, doc ojson.Value) error {
	var v any
	if err := json.Unmarshal(ojson.Compact(doc), &v); err != nil {
		return err
	}
	return s.Validate(v)
}

// Agree changes each place of a document in several ways. Whatever the schema refuses, the code must refuse.
// Whatever the code refuses, the schema must refuse, except for findings with one of the words in beyond, which a
// schema cannot express. The document itself must pass both.
func Agree(t *testing.T, s *jsonschema.Resolved, document string, judge func(*ojson.Object) []string,
	beyond ...string) {
	t.Helper()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	base, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	if found := judge(base); len(found) > 0 {
		t.Fatalf("%s is refused: %v", document, found)
	}
	if err := Validate(s, base); err != nil {
		t.Fatalf("%s is refused: %v", document, err)
	}
	sayable := func(finding string) bool {
		return !slices.ContainsFunc(beyond, func(words string) bool { return strings.Contains(finding, words) })
	}
	tried, refused := 0, 0
	for _, place := range places(base, nil) {
		for _, value := range []string{"", "null", "true", `""`, `"no such word"`, "-1", "1.5", "1000000", "[]",
			`["x"]`, "{}"} {
			doc := base.Clone()
			put(doc, place, value)
			found, err := judge(doc), Validate(s, doc)
			tried++
			if err != nil {
				refused++
			}
			switch {
			case err != nil && len(found) == 0:
				t.Errorf("%v = %s: the schema refuses what the code takes: %v", place, value, err)
			case err == nil && slices.ContainsFunc(found, sayable):
				t.Errorf("%v = %s: the schema takes what the code refuses: %v", place, value, found)
			}
		}
	}
	if tried < 100 || refused < tried/3 {
		t.Errorf("%d documents, %d refused: the test lacks its subject", tried, refused)
	}
}

// places returns the paths of all members and entries of a document.
func places(v ojson.Value, at []any) (out [][]any) {
	step := func(key any, v ojson.Value) {
		here := append(slices.Clip(at), key)
		out = append(out, here)
		out = append(out, places(v, here)...)
	}
	switch v := v.(type) {
	case *ojson.Object:
		for k, e := range v.All() {
			step(k, e)
		}
	case []any:
		for i, e := range v {
			step(i, e)
		}
	}
	return out
}

// put sets a place to a JSON text; "" removes a member and makes an entry null.
func put(doc *ojson.Object, place []any, text string) {
	var at ojson.Value = doc
	last := len(place) - 1
	for _, step := range place[:last] {
		switch v := at.(type) {
		case *ojson.Object:
			at, _ = v.Get(step.(string))
		case []any:
			at = v[step.(int)]
		}
	}
	value, _ := ojson.Decode([]byte(text))
	switch v := at.(type) {
	case []any:
		v[place[last].(int)] = value
	case *ojson.Object:
		if key := place[last].(string); text == "" {
			v.Delete(key)
		} else {
			v.Set(key, value)
		}
	}
}
