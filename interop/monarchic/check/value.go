// One document: its type, its schema, its rules.

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Value judges a document as a type, whatever it looks like. An unknown type is an error.
func Value(t Type, v ojson.Value) ([]Finding, error) {
	r, err := read(t, v, Options{})
	if err != nil {
		return nil, err
	}
	return r.judge().findings, nil
}

// Valid reports whether a document with these findings is valid: warnings are allowed.
func Valid(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == Error })
}

// reading is a document read as a type: in canonical spelling, and the
// library's verdict on it.
type reading struct {
	j     *judge
	place place
	v     ojson.Value
	value any
	err   error // of the library
}

// read reads a document as a type; only an unknown type is an error.
func read(t Type, v ojson.Value, o Options) (*reading, error) {
	r := &reading{j: newJudge(o)}
	var err error
	if r.place, err = r.j.st.root(t); err != nil {
		return nil, err
	}
	r.v = r.j.canonical([]place{r.place}, v, "")
	r.value = r.j.st.instance([]place{r.place}, r.v)
	r.err = r.j.st.accepts(r.place, r.value)
	return r, nil
}

// judge finds everything that is wrong: the places behind the library's verdict, then what the
// rules find.
func (r *reading) judge() *judge {
	if isOdd(r.v) {
		r.j.oddities(r.v, "")
	}
	if r.err != nil {
		r.j.explain(r.place, r.value, "")
	}
	r.j.visit([]place{r.place}, r.v, "", "")
	return r.j
}

// document finds the type of v unless it is given, and judges it. When no type matches, the
// findings are those of the nearest.
func document(v ojson.Value, o Options) (*judge, Detection) {
	d, r := Detection{Type: o.Type}, (*reading)(nil)
	if o.Type == "" {
		d, r = detect(v, o)
	}
	j := newJudge(o)
	switch {
	case d.ambiguous():
		j.fail("", "type.ambiguous",
			fmt.Sprintf("the document is valid as each of %s; --type says which is meant", names(d.Matched)))
		return j, d
	case d.Type == "":
		j.fail("", "type.none", fmt.Sprintf("%s matches none of the types; choose one with --type", ojson.TypeName(v)))
		return j, d
	case r == nil:
		var err error
		if r, err = read(d.Type, v, o); err != nil {
			j.fail("", "schema", err.Error())
			return j, d
		}
	}
	if d.Nearest {
		r.j.fail("", "type.none", fmt.Sprintf(
			"the document matches none of the types; the findings below say how it differs from %s, the nearest",
			d.Type,
		))
	}
	j = r.judge()
	if o.Type != "" && j.errors() > 0 {
		if other, asIt := detect(v, Options{Lenient: o.Lenient}); asIt != nil && other.Type != o.Type &&
			asIt.judge().errors() == 0 {
			j.warn("", "type.other", fmt.Sprintf("the document is valid as %s", other.Type))
		}
	}
	return j, d
}

func names(types []Type) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = string(t)
	}
	return strings.Join(words, ", ")
}
