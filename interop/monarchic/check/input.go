// Files and streams: JSON, lists of documents, JSONL.

package check

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// TypeCount is how many documents of an input were judged as a type.
type TypeCount struct {
	Type Type // "" means no type
	N    int
}

// Result is the verdict on one input.
type Result struct {
	Name       string
	Format     string // "json" or "jsonl"
	Records    int    // documents judged
	Types      []TypeCount
	Matched    []Type // of a single document: every type it satisfies
	Findings   []Finding
	More       int    // findings beyond those kept
	errors     int    // findings of severity Error, kept or not
	Unreadable string // why nothing, or not everything, could be judged; "" when all was read
}

// Valid reports whether everything was read and there are at most warnings.
func (r *Result) Valid() bool { return r.Unreadable == "" && r.errors == 0 }

func (r *Result) add(f Finding) {
	if f.Severity == Error {
		r.errors++
	}
	if len(r.Findings) >= maxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}

// Session judges inputs one after the other; with Options.Log they form one log, in that order.
type Session struct {
	opts   Options
	log    *log      // of the whole session, with Options.Log
	beside []*record // otherwise of one input: its records that may contradict each other
}

// New starts a session.
func New(o Options) *Session {
	s := &Session{opts: o}
	if o.Log {
		s.log = newLog()
	}
	return s
}

// Close judges what needs the whole log, adding to results returned before.
func (s *Session) Close() {
	if s.log != nil {
		s.log.finish(s.opts.Complete)
	}
}

// Input judges the content of a file or stream; name is shown, and its ending identifies JSONL. A
// document that is a list is judged item by item.
func (s *Session) Input(name string, data []byte) *Result {
	r := &Result{Name: name, Format: "json"}
	if why := unreadable(data); why != "" {
		r.Unreadable = why
		return r
	}
	lines := isLines(name, data)
	if !lines && len(bytes.TrimSpace(data)) == 0 {
		r.Unreadable = "there is nothing in it"
		return r
	}
	if lines {
		s.lines(r, data)
		s.advise()
		return r
	}
	v, doubles, err := decode(data)
	if err != nil {
		r.Unreadable = err.Error()
		return r
	}
	for _, f := range doubles {
		r.add(f)
	}
	s.documents(r, v, 0)
	s.advise()
	return r
}

// documents judges what one JSON document holds: itself, or the documents of a list or a
// collection. No type is a list.
func (s *Session) documents(r *Result, v ojson.Value, line int) {
	list := func(list []any, at string) {
		for i, e := range list {
			s.record(r, e, line, ojson.Item(at, i))
		}
	}
	switch v := v.(type) {
	case []any:
		list(v, "")
		return
	case *ojson.Object:
		if s.opts.Type != "" || !isCollection(v) {
			break
		}
		for k, e := range v.All() {
			if items, ok := e.([]any); ok {
				list(items, ojson.Member("", k))
			} else {
				s.record(r, e, line, ojson.Member("", k))
			}
		}
		return
	}
	s.record(r, v, line, "")
}

// isCollection distinguishes an object that holds documents by kind, as written by "monarchic
// export --type all", from a document.
func isCollection(o *ojson.Object) bool {
	for k, v := range o.All() {
		switch k {
		case "intent", "plan", "tasks", "events", "gates", "artifacts", "receipt", "verification", "reviews", "reruns",
			"blocked", "outcome", "messages", "leases", "recovery", "manifest", "contract", "pipeline", "roles",
			"role_bundles":
		default:
			return false
		}
		switch v.(type) {
		case *ojson.Object, []any:
		default:
			return false
		}
	}
	return o.Len() > 0
}

// unreadable returns what keeps bytes from being judged; "" for nothing.
func unreadable(data []byte) string {
	switch {
	case len(data) > wire.MaxBytes:
		return fmt.Sprintf("there are more than %d MiB", wire.MaxBytes>>20)
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return "a byte order mark comes before the document; save it as UTF-8 without one"
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "the document is UTF-16; save it as UTF-8"
	}
	return ""
}

// isLines reports whether an input is JSONL: by its name, or because its first line is a whole
// document and not the last one.
func isLines(name string, data []byte) bool {
	if lower := strings.ToLower(name); strings.HasSuffix(lower, ".jsonl") || strings.HasSuffix(lower, ".ndjson") {
		return true
	}
	data = bytes.TrimSpace(data)
	first, rest, more := bytes.Cut(data, []byte("\n"))
	if !more || len(bytes.TrimSpace(rest)) == 0 {
		return false
	}
	_, _, err := decode(first)
	return err == nil
}

func (s *Session) lines(r *Result, data []byte) {
	r.Format = "jsonl"
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, doubles, err := decode(line)
		if err != nil {
			why := err.Error()
			if syntax, ok := errors.AsType[*ojson.SyntaxError](err); ok {
				why = fmt.Sprintf("byte %d: %s", syntax.Offset, syntax.Msg)
			}
			r.add(Finding{Line: n, Rule: "json.syntax", Severity: Error, Message: why})
			if r.Unreadable == "" {
				r.Unreadable = fmt.Sprintf("line %d is not JSON", n)
			}
			continue
		}
		for _, f := range doubles {
			f.Line = n
			r.add(f)
		}
		s.documents(r, v, n)
	}
}

// record judges one document of an input.
func (s *Session) record(r *Result, v ojson.Value, line int, at string) {
	j, d := document(v, s.opts)
	for _, f := range j.findings {
		f.Line, f.Pointer = line, at+f.Pointer
		r.add(f)
	}
	r.More += j.more
	if j.more > 0 {
		r.errors++ // findings that were not kept may be errors; the kept ones suffice
	}
	r.Records++
	r.count(d.Type)
	if r.Records == 1 {
		r.Matched = d.Matched
	} else {
		r.Matched = nil
	}
	o, ok := v.(*ojson.Object)
	if !ok || d.Nearest || !logged(d.Type) {
		return
	}
	entry := &record{
		obj:    canonicalObject(d.Type, o, s.opts),
		typ:    d.Type,
		result: r,
		line:   line,
		at:     at,
		advice: s.log == nil,
	}
	if s.log != nil {
		s.log.take(entry)
	} else {
		s.beside = append(s.beside, entry)
	}
}

// advise warns about records of one input that contradict each other. The input may be only part of
// a log, so that is not an error unless the whole log is requested.
func (s *Session) advise() {
	if len(s.beside) > 1 {
		l := newLog()
		for _, r := range s.beside {
			l.take(r)
		}
		l.finish(false)
	}
	s.beside = nil
}

// canonicalObject returns a record in the spelling that the log's rules read.
func canonicalObject(t Type, o *ojson.Object, opts Options) *ojson.Object {
	j := newJudge(opts)
	p, err := j.st.root(t)
	if err != nil {
		return o
	}
	c, ok := j.canonical([]place{p}, o, "").(*ojson.Object)
	if !ok {
		return o
	}
	return c
}

func (r *Result) count(t Type) {
	for i := range r.Types {
		if r.Types[i].Type == t {
			r.Types[i].N++
			return
		}
	}
	r.Types = append(r.Types, TypeCount{t, 1})
}
