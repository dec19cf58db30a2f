// The published schemas, read when first needed and kept.

package check

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	published "github.com/git-agentxchain/git-agentxchain/docs/schemas"
)

// baseURI is the $id of the directory of the schemas; a file's $id is this and its path.
const baseURI = "https://github.com/git-agentxchain/git-agentxchain/blob/main/docs/schemas/monarchic/v1/"

const schemaRoot = "monarchic/v1"

// place is a schema and its file, against which its references are resolved.
type place struct {
	*jsonschema.Schema
	file string
}

// typ returns the type of a place that is a whole file; "" for a part of one.
func (p place) typ(st *store) Type {
	if root, err := st.load(p.file); err == nil && root == p.Schema {
		return Type(strings.TrimSuffix(p.file, ".json"))
	}
	return ""
}

// store reads schemas by file name. A schema of the published directory that
// cannot be read is a defect of the program; its error is passed on as such.
type store struct {
	mu       sync.Mutex
	files    map[string]*jsonschema.Schema
	resolved map[*jsonschema.Schema]*jsonschema.Resolved
}

var schemas = sync.OnceValue(func() *store {
	return &store{files: map[string]*jsonschema.Schema{}, resolved: map[*jsonschema.Schema]*jsonschema.Resolved{}}
})

// load returns the schema in a file below the root, such as "plan.json".
func (st *store) load(file string) (*jsonschema.Schema, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if s, ok := st.files[file]; ok {
		return s, nil
	}
	data, err := published.Monarchic.ReadFile(schemaRoot + "/" + file)
	if err != nil {
		return nil, fmt.Errorf("there is no schema %s", file)
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("the schema %s cannot be read: %w", file, err)
	}
	st.files[file] = s
	return s, nil
}

func (st *store) root(t Type) (place, error) {
	s, err := st.load(fileOf(t))
	return place{s, fileOf(t)}, err
}

// fetch loads a referenced file by its $id, for the library.
func (st *store) fetch(uri *url.URL) (*jsonschema.Schema, error) {
	file, ok := strings.CutPrefix(uri.String(), baseURI)
	if !ok {
		return nil, fmt.Errorf("there is no schema %s", uri)
	}
	return st.load(file)
}

// compiled returns the library's validator of a place.
func (st *store) compiled(p place) (*jsonschema.Resolved, error) {
	st.mu.Lock()
	r, ok := st.resolved[p.Schema]
	st.mu.Unlock()
	if ok {
		return r, nil
	}
	opts := &jsonschema.ResolveOptions{Loader: st.fetch}
	if p.ID == "" {
		// A part of a file: its references are relative to the file's directory.
		opts.BaseURI = baseURI + dirOf(p.file)
	}
	r, err := p.Resolve(opts)
	if err != nil {
		return nil, fmt.Errorf("the schema %s cannot be used: %w", p.file, err)
	}
	st.mu.Lock()
	st.resolved[p.Schema] = r
	st.mu.Unlock()
	return r, nil
}

func dirOf(file string) string {
	if d := path.Dir(file); d != "." {
		return d + "/"
	}
	return ""
}

// accepts returns the library's verdict on a value; the error is its text.
func (st *store) accepts(p place, value any) error {
	r, err := st.compiled(p)
	if err != nil {
		return err
	}
	return r.Validate(value)
}

// deref follows a reference: "plan_step.json", "../x/y.json", "role.json#/$defs/z".
func (st *store) deref(p place) (place, bool) {
	file, fragment, _ := strings.Cut(p.Ref, "#")
	if file == "" {
		file = p.file
	} else {
		file = path.Join(path.Dir(p.file), file)
	}
	s, err := st.load(file)
	if err != nil {
		return place{}, false
	}
	if name, ok := strings.CutPrefix(fragment, "/$defs/"); ok {
		s = s.Defs[name]
	}
	return place{s, file}, s != nil
}

// flat returns the place and all places that apply to the same value: those it refers to and the
// members of allOf, anyOf and oneOf.
func (st *store) flat(p place) []place {
	out := []place{p}
	if p.Ref != "" {
		if q, ok := st.deref(p); ok {
			out = append(out, st.flat(q)...)
		}
	}
	for _, list := range [][]*jsonschema.Schema{p.AllOf, p.AnyOf, p.OneOf} {
		for _, s := range list {
			out = append(out, st.flat(place{s, p.file})...)
		}
	}
	return out
}

func (st *store) allFlat(places []place) []place {
	var out []place
	for _, p := range places {
		out = append(out, st.flat(p)...)
	}
	return out
}

// member returns the places that describe a member of an object which all of
// the given places describe.
func member(places []place, name string) []place {
	var out []place
	for _, p := range places {
		if s, ok := p.Properties[name]; ok {
			out = append(out, place{s, p.file})
		} else if s := p.AdditionalProperties; s != nil && !isTrivial(s) {
			out = append(out, place{s, p.file})
		}
	}
	return out
}

// items returns the places that describe an item of an array.
func items(places []place) []place {
	var out []place
	for _, p := range places {
		if p.Items != nil {
			out = append(out, place{p.Items, p.file})
		}
	}
	return out
}

// isTrivial reports whether a schema is true or false.
func isTrivial(s *jsonschema.Schema) bool {
	return s.Type == "" && s.Types == nil && s.Ref == "" && s.Properties == nil && s.Enum == nil && s.Const == nil &&
		s.AllOf == nil && s.AnyOf == nil && s.OneOf == nil && s.Items == nil
}

// jsonTypes returns the types that a place admits; nil means any.
func (p place) jsonTypes() []string {
	if p.Type != "" {
		return []string{p.Type}
	}
	return p.Types
}
