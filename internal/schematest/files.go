// Schema files: their layout, and keeping them equal to generated ones.

package schematest

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

var update = flag.Bool("update-schemas", false, "write the schemas of docs/schemas that are made from code")

// Updating reports whether the flag -update-schemas is given.
func Updating() bool { return *update }

// Address returns the URL of a published schema.
func Address(name string) string {
	return "https://raw.githubusercontent.com/git-agentxchain/git-agentxchain/main/docs/schemas/" + name
}

// Head returns the beginning of a schema: its id and title.
func Head(name, title string) *ojson.Object {
	return ojson.NewObject("$schema", "https://json-schema.org/draft/2020-12/schema", "$id", Address(name),
		"title", title)
}

// Same requires that a file holds the schema, or with -update-schemas writes it.
func Same(t *testing.T, file string, schema *ojson.Object) {
	t.Helper()
	want := Layout(schema)
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is made from the code; the same test with -update-schemas writes it", file)
	}
}

// Layout prints a schema with short values on one line.
func Layout(v ojson.Value) []byte { return append(layout(nil, v, ""), '\n') }

func layout(b []byte, v ojson.Value, indent string) []byte {
	one := ojson.Compact(v)
	if len(one)+len(indent) <= 110 {
		return append(b, one...)
	}
	inner := indent + "  "
	switch v := v.(type) {
	case *ojson.Object:
		b = append(b, '{')
		for i, k := range v.Keys() {
			e, _ := v.Get(k)
			b = ojson.AppendString(append(b, between(i)+inner...), k)
			b = layout(append(b, ": "...), e, inner)
		}
		return append(b, "\n"+indent+"}"...)
	case []any:
		if text, ok := filled(v, inner); ok {
			return append(append(b, text...), "\n"+indent+"]"...)
		}
		b = append(b, '[')
		for i, e := range v {
			b = layout(append(b, between(i)+inner...), e, inner)
		}
		return append(b, "\n"+indent+"]"...)
	}
	return append(b, one...)
}

// filled puts many short words on each line.
func filled(list []any, indent string) (string, bool) {
	text, width := "[", 120
	for i, e := range list {
		word, ok := e.(string)
		if !ok {
			return "", false
		}
		if i > 0 {
			text += ","
		}
		if width += len(word) + 4; width > 110 {
			text, width = text+"\n"+indent, len(indent)+len(word)+3
		} else {
			text += " "
		}
		text += string(ojson.AppendString(nil, word))
	}
	return text, true
}

func between(i int) string { return strings.Repeat(",", min(i, 1)) + "\n" }
