package yamljson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Limits, in bytes of YAML, in levels, and in bytes of JSON after expanding aliases.
const (
	maxBytes = 1 << 20
	maxDepth = 200
	maxJSON  = 16 << 20
)

// Error says what is wrong with a document, and where.
type Error struct {
	Line int // counted from 1; 0 if the parser does not say
	Msg  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}

// Convert returns the JSON text of a YAML document. Every value begins on the same line as in the YAML, so that
// errors about the JSON name the line of the file. Texts and numbers keep their spelling.
//
// Plain scalars follow the core schema of YAML 1.2. Those that YAML 1.1 reads differently (no, 010) or that JSON
// cannot express (.inf, 0x1f) are refused, and so are tags, merge keys, duplicate names and a second document.
// Errors are of type *Error.
func Convert(data []byte) ([]byte, error) {
	if len(data) > maxBytes {
		return nil, &Error{0, fmt.Sprintf("%d bytes are more than a YAML document may have (%d); write it as JSON",
			len(data), maxBytes)}
	}
	in := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := in.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{0, "the document is empty"}
	case err != nil:
		return nil, located(err)
	}
	w := &writer{line: 1, named: make(map[string]span)}
	if err := w.value(doc.Content[0], 0); err != nil {
		return nil, err
	}
	switch err := in.Decode(&second); {
	case err == nil:
		return nil, &Error{second.Line, "a file holds one document, this is a second one"}
	case !errors.Is(err, io.EOF):
		return nil, located(err)
	}
	return w.out, nil
}

// located converts an error of the parser, "yaml: line 3: ...".
func located(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if at, rest, ok := strings.Cut(strings.TrimPrefix(text, "line "), ": "); ok {
		if n, err := strconv.Atoi(at); err == nil {
			return &Error{n, rest}
		}
	}
	return &Error{0, text}
}

func refuse(n *yaml.Node, format string, args ...any) error {
	return &Error{n.Line, fmt.Sprintf(format, args...)}
}

// writer appends the JSON of nodes.
type writer struct {
	out   []byte
	line  int // at the end of out
	named map[string]span
}

// span is the range of output of a value with an anchor.
type span struct{ from, to int }

func (w *writer) value(n *yaml.Node, depth int) error {
	if depth > maxDepth {
		return refuse(n, "it is nested deeper than %d levels", maxDepth)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		return refuse(n, "the tag %s is not taken; leave it out, and put text into quotes", n.Tag)
	}
	w.begin(n)
	delete(w.named, n.Anchor)
	from := len(w.out)
	var err error
	switch n.Kind {
	case yaml.MappingNode:
		err = w.mapping(n, depth)
	case yaml.SequenceNode:
		w.out = append(w.out, '[')
		for i := 0; i < len(n.Content) && err == nil; i++ {
			w.comma(i)
			err = w.value(n.Content[i], depth+1)
		}
		w.out = append(w.out, ']')
	case yaml.AliasNode:
		err = w.alias(n)
	default:
		err = w.scalar(n)
	}
	if n.Anchor != "" {
		w.named[n.Anchor] = span{from, len(w.out)}
	}
	return err
}

// begin adds line ends up to the line of the node.
func (w *writer) begin(n *yaml.Node) {
	for ; w.line < n.Line; w.line++ {
		w.out = append(w.out, '\n')
	}
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.out = append(w.out, ',')
	}
}

func (w *writer) mapping(n *yaml.Node, depth int) error {
	first := make(map[string]int, len(n.Content)/2) // name -> line
	w.out = append(w.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Tag == "!!merge":
			return refuse(key, "merge keys are not taken; write the members out")
		case key.Kind != yaml.ScalarNode || key.Style&yaml.TaggedStyle != 0 || key.Anchor != "" || key.Tag == "!!null":
			return refuse(key, "the name of a member is text: NAME: VALUE")
		}
		if line, twice := first[key.Value]; twice {
			return refuse(key, "%s is there twice, first in line %d; take one out", strconv.Quote(key.Value), line)
		}
		first[key.Value] = key.Line
		w.comma(i)
		w.begin(key)
		w.out = append(ojson.AppendString(w.out, key.Value), ':')
		if err := w.value(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// alias repeats the value that it refers to.
func (w *writer) alias(n *yaml.Node) error {
	at, ok := w.named[n.Value]
	if !ok {
		return refuse(n, "the value named &%s contains itself", n.Value)
	}
	if len(w.out)+at.to-at.from > maxJSON {
		return refuse(n, "the aliases make more than %d bytes of the document; write it as JSON", maxJSON)
	}
	w.out = append(w.out, bytes.ReplaceAll(w.out[at.from:at.to], []byte("\n"), nil)...)
	return nil
}

// scalar writes a text, or the value of a plain scalar.
func (w *writer) scalar(n *yaml.Node) error {
	if n.Style != 0 {
		w.out = ojson.AppendString(w.out, n.Value)
		return nil
	}
	k, number := ojson.NumberPrefix([]byte(n.Value))
	switch {
	case number && k == len(n.Value) && k <= ojson.MaxNumber:
		w.out = append(w.out, n.Value...)
	case n.Tag == "!!int" || n.Tag == "!!float":
		return refuse(n, "%s is not a number in JSON; write it in decimal, or in quotes for text", n.Value)
	case n.Tag == "!!null":
		w.out = append(w.out, "null"...)
	case n.Tag == "!!bool":
		w.out = append(w.out, strings.ToLower(n.Value)...)
	default:
		switch strings.ToLower(n.Value) {
		case "yes", "on":
			return refuse(n, "%s is text in YAML 1.2 and true in YAML 1.1; write true, or %q", n.Value, n.Value)
		case "no", "off":
			return refuse(n, "%s is text in YAML 1.2 and false in YAML 1.1; write false, or %q", n.Value, n.Value)
		}
		w.out = ojson.AppendString(w.out, n.Value)
	}
	return nil
}
