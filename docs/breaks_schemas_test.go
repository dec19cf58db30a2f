// What a change of a JSON Schema breaks: a reader of what the program writes, or a document that the program
// accepted.

package docs_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// direction says whose documents a schema describes.
type direction int

const (
	written direction = 1 << iota // the program writes such documents: they may not become wider
	read                          // the program reads them: they may not become narrower
)

// directionOf returns the direction of a file of docs/schemas.
func directionOf(name string) direction {
	switch {
	case name == "answer.json", strings.HasPrefix(name, "answers/"):
		return written
	case name == "agentxchain.json", name == "turn-result.json", name == "range-policy.json":
		return read
	}
	return written | read
}

// schemaBreaks compares every JSON file below two directories.
func schemaBreaks(t *testing.T, old, now string) []string {
	t.Helper()
	var rows []string
	files := 0
	err := filepath.WalkDir(old, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".json" {
			return err
		}
		files++
		name, err := filepath.Rel(old, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		was, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		is, err := os.ReadFile(filepath.Join(now, name))
		if os.IsNotExist(err) {
			rows = append(rows, "schema "+name+": the file is gone")
			return nil
		} else if err != nil {
			return err
		}
		c := comparison{name: name, direction: directionOf(name)}
		if err := c.documents(was, is); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, c.rows...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("there is no schema in %s", old)
	}
	return rows
}

// comparison collects what breaks in one file.
type comparison struct {
	name      string
	direction direction
	rows      []string
}

func (c *comparison) add(at, format string, arg ...any) {
	c.rows = append(c.rows, "schema "+c.name+": "+strings.TrimPrefix(at, "/")+": "+fmt.Sprintf(format, arg...))
}

// wider notes a change that allows more to be written, narrower one that allows less to be read.
func (c *comparison) wider(at, format string, arg ...any) {
	if c.direction&written != 0 {
		c.add(at, format, arg...)
	}
}

func (c *comparison) narrower(at, format string, arg ...any) {
	if c.direction&read != 0 {
		c.add(at, format, arg...)
	}
}

func (c *comparison) documents(was, is []byte) error {
	var old, now map[string]any
	if err := json.Unmarshal(was, &old); err != nil {
		return err
	}
	if err := json.Unmarshal(is, &now); err != nil {
		return err
	}
	if old["openapi"] != nil {
		c.service(old, now)
		return nil
	}
	c.schema("", old, now)
	return nil
}

// service compares OpenAPI documents: no path, method or schema may be removed.
func (c *comparison) service(old, now map[string]any) {
	for _, path := range sorted(object(old["paths"])) {
		is := object(object(now["paths"])[path])
		for _, method := range sorted(object(object(old["paths"])[path])) {
			if is[method] == nil {
				c.add(path, "%s is gone", method)
			}
		}
	}
	c.members("", "components", object(object(old["components"])["schemas"]),
		object(object(now["components"])["schemas"]))
}

// schema compares one place of two schemas.
func (c *comparison) schema(at string, old, now any) {
	was, isObject := old.(map[string]any)
	is, isStill := now.(map[string]any)
	if !isObject || !isStill {
		c.trivial(at, old, now)
		return
	}
	c.kinds(at, was, is)
	c.values(at, was, is)
	c.required(at, texts(was["required"]), texts(is["required"]))
	for _, keyword := range []string{"properties", "$defs", "patternProperties", "dependentSchemas"} {
		c.members(at, keyword, object(was[keyword]), object(is[keyword]))
	}
	for _, keyword := range []string{"items", "additionalProperties", "propertyNames", "contains", "not", "if", "then",
		"else"} {
		c.below(at, keyword, was[keyword], is[keyword])
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		c.choices(at, keyword, list(was[keyword]), list(is[keyword]))
	}
	for _, keyword := range limits {
		switch before, after := was[keyword], is[keyword]; {
		case reflect.DeepEqual(before, after):
		case before == nil:
			c.narrower(at, "%s is new", keyword)
		case after == nil:
			c.wider(at, "%s is gone", keyword)
		default:
			c.add(at, "%s was %v, is %v", keyword, before, after)
		}
	}
}

// limits lists keywords whose value is compared as a whole.
var limits = []string{
	"$ref", "const", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength",
	"maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "dependentRequired",
}

// trivial compares schemas of which one is true, false or missing.
func (c *comparison) trivial(at string, old, now any) {
	switch {
	case reflect.DeepEqual(old, now):
	case now == false:
		c.narrower(at, "nothing may stand here any more")
	case old == false:
		c.wider(at, "something may stand here now")
	case old == nil || old == true:
		c.narrower(at, "what stands here has rules now")
	default:
		c.wider(at, "what stands here has no rules any more")
	}
}

func (c *comparison) below(at, keyword string, old, now any) {
	if old == nil {
		old = true
	}
	if now == nil {
		now = true
	}
	c.schema(at+"/"+keyword, old, now)
}

// kinds compares the allowed JSON types; none named means all.
func (c *comparison) kinds(at string, was, is map[string]any) {
	old, now := texts(was["type"]), texts(is["type"])
	has := func(kinds []string, kind string) bool {
		return len(kinds) == 0 || slices.Contains(kinds, kind) || kind == "integer" && slices.Contains(kinds, "number")
	}
	if len(old) == 0 && len(now) > 0 {
		c.narrower(at, "only %s is allowed now", strings.Join(now, ", "))
	}
	if len(now) == 0 && len(old) > 0 {
		c.wider(at, "every type is allowed now")
	}
	for _, kind := range old {
		if !has(now, kind) {
			c.narrower(at, "the type %s is not allowed any more", kind)
		}
	}
	for _, kind := range now {
		if !has(old, kind) {
			c.wider(at, "the type %s is new", kind)
		}
	}
}

// values compares enumerations. A program may write new values, as stability.md says about codes.
func (c *comparison) values(at string, was, is map[string]any) {
	old, now := list(was["enum"]), list(is["enum"])
	if old == nil && now != nil {
		c.narrower(at, "enum is new")
	}
	if now == nil {
		return
	}
	for _, value := range old {
		if !slices.ContainsFunc(now, func(v any) bool { return reflect.DeepEqual(v, value) }) {
			c.narrower(at, "the value %v is not allowed any more", value)
		}
	}
}

func (c *comparison) required(at string, old, now []string) {
	for _, name := range old {
		if !slices.Contains(now, name) {
			c.wider(at, "%s may be missing", name)
		}
	}
	for _, name := range now {
		if !slices.Contains(old, name) {
			c.narrower(at, "%s may not be missing any more", name)
		}
	}
}

// members compares named parts: properties and definitions.
func (c *comparison) members(at, keyword string, old, now map[string]any) {
	for _, name := range sorted(old) {
		below := at + "/" + keyword + "/" + name
		if _, still := now[name]; !still {
			c.add(below, "is gone")
			continue
		}
		c.schema(below, old[name], now[name])
	}
}

// choices compares lists of schemas, place by place.
func (c *comparison) choices(at, keyword string, old, now []any) {
	for i := range min(len(old), len(now)) {
		c.schema(fmt.Sprintf("%s/%s/%d", at, keyword, i), old[i], now[i])
	}
	if len(old) != len(now) {
		c.add(at, "%s had %d schemas, has %d", keyword, len(old), len(now))
	}
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// texts returns a list of strings, or a single one as a list.
func texts(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	var all []string
	for _, item := range list(v) {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

func sorted(o map[string]any) []string { return slices.Sorted(maps.Keys(o)) }

func TestBreaksOfSchemasAreFound(t *testing.T) {
	for _, tt := range []struct {
		old, now      string
		written, read string // the break in each direction, "" where there is none
	}{
		{`{"properties":{"a":{}}}`, `{"properties":{}}`, "properties/a: is gone", "properties/a: is gone"},
		{`{"properties":{"a":{}}}`, `{"properties":{"a":{},"b":{}}}`, "", ""},
		{`{"required":["a"]}`, `{}`, ": a may be missing", ""},
		{`{}`, `{"required":["a"]}`, "", ": a may not be missing any more"},
		{`{"type":"string"}`, `{"type":["string","null"]}`, ": the type null is new", ""},
		{`{"type":["string","null"]}`, `{"type":"string"}`, "", ": the type null is not allowed any more"},
		{`{"type":"integer"}`, `{"type":"number"}`, ": the type number is new", ""},
		{`{"type":"number"}`, `{"type":"integer"}`, "", ": the type number is not allowed any more"},
		{`{}`, `{"type":"string"}`, "", ": only string is allowed now"},
		{`{"type":"string"}`, `{}`, ": every type is allowed now", ""},
		{`{"enum":["a","b"]}`, `{"enum":["a"]}`, "", ": the value b is not allowed any more"},
		{`{"enum":["a"]}`, `{"enum":["a","b"]}`, "", ""},
		{`{}`, `{"maxLength":3}`, "", ": maxLength is new"},
		{`{"maxLength":3}`, `{"maxLength":2}`, ": maxLength was 3, is 2", ": maxLength was 3, is 2"},
		{`{"maxLength":3}`, `{}`, ": maxLength is gone", ""},
		{`{}`, `{"additionalProperties":false}`, "", "additionalProperties: nothing may stand here any more"},
		{`{"additionalProperties":false}`, `{}`, "additionalProperties: something may stand here now", ""},
		{`{"items":{"type":"string"}}`, `{"items":{"type":"number"}}`,
			"items: the type number is new", "items: the type string is not allowed any more"},
		{`{"$defs":{"a":{"type":"string"}}}`, `{"$defs":{"a":{"type":["string","null"]}}}`,
			"$defs/a: the type null is new", ""},
		{`{"anyOf":[{},{}]}`, `{"anyOf":[{}]}`, ": anyOf had 2 schemas, has 1", ": anyOf had 2 schemas, has 1"},
		{`{"title":"a","description":"b"}`, `{"title":"c"}`, "", ""},
		{`{"openapi":"3","paths":{"/v1/runs":{"get":{},"post":{}}}}`,
			`{"openapi":"3","paths":{"/v1/runs":{"get":{}}}}`,
			"v1/runs: post is gone", "v1/runs: post is gone"},
	} {
		for d, want := range map[direction]string{written: tt.written, read: tt.read} {
			c := comparison{name: "x.json", direction: d}
			if err := c.documents([]byte(tt.old), []byte(tt.now)); err != nil {
				t.Fatal(err)
			}
			if want != "" {
				want = "schema x.json: " + want
			}
			if got := strings.Join(c.rows, "; "); got != want {
				t.Errorf("%s to %s, direction %d: expected %q, got %q", tt.old, tt.now, d, want, got)
			}
		}
	}
}
