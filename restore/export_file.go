// Writing file entries (docs/export.md#what-is-in-it).

package restore

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

// entryWriter writes file entries to a spool, and keeps what the summary needs.
type entryWriter struct {
	spool *spool
	max   int // maximum entries of a ledger, 0 for all

	paths     []string // written so far
	cut       []string
	content   []byte
	scratch   []byte
	reader    *scan.Reader      // of what is written, reused
	documents map[string][]byte // bytes of state and configuration
	rows      map[string]int
	history   delegations
	decisions []*ojson.Object
	events    []event
	wantRepo  string // collect events, for this repository
}

func newEntryWriter(spool *spool, max int) *entryWriter {
	return &entryWriter{
		spool:     spool,
		max:       max,
		reader:    scan.Bytes(nil, scan.Limits{}),
		documents: make(map[string][]byte),
		rows:      make(map[string]int),
	}
}

// entry writes the entry of one file.
func (w *entryWriter) entry(f *fileRead) error {
	if f.err != nil {
		return failed(f.path, "cannot be read: %v", f.err)
	}
	path, format, total, strict, wrong := f.path, formatOf(f.path), f.total, f.strict, f.wrong
	w.content = f.content
	if wrong != nil {
		if !mayBeText(path) {
			return &wire.Error{
				Code:    CodeContent,
				Field:   path,
				Message: fmt.Sprintf("%s is not what its name says: %v.", path, wrong),
				Hint:    "git agentxchain fsck says what is recorded of it; git agentxchain repair --from-ref puts the recorded file back",
			}
		}
		format = formatText
	}
	b := append(w.scratch[:0], ",\n"...)
	if len(w.paths) == 0 {
		b = append(b[:0], '\n')
	}
	w.paths = append(w.paths, path)
	b = ojson.AppendString(b, path)
	b = append(b, `:{"format":"`+format+`","bytes":`...)
	b = strconv.AppendInt(b, int64(len(w.content)), 10)
	b = append(b, `,"sha256":"`...)
	b = hex.AppendEncode(b, f.digest[:])
	b = append(b, `","content_base64":`...)
	skip := 0
	if format == formatJSONL && w.max > 0 && total > w.max && path != wire.LedgerRepoDecisions.Path() {
		skip = total - w.max
		w.cut = append(w.cut, fmt.Sprintf("%s: the last %d of %d entries", path, w.max, total))
	}
	w.scratch = b
	if _, err := w.spool.Write(b); err != nil {
		return err
	}
	if err := w.base64(skip > 0); err != nil {
		return err
	}
	var err error
	switch format {
	case formatJSON:
		err = w.document(f)
	case formatJSONL:
		err = w.lines(path, skip, strict)
	default:
		err = w.text()
	}
	if err != nil {
		return err
	}
	b = w.scratch[:0]
	if skip > 0 {
		b = append(b, `,"truncated":true,"total_entries":`...)
		b = strconv.AppendInt(b, int64(total), 10)
		b = append(b, `,"retained_entries":`...)
		b = strconv.AppendInt(b, int64(total-skip), 10)
	}
	_, err = w.spool.Write(append(b, '}'))
	return err
}

// mayBeText reports whether people write the file: one that is not JSON despite its name must not keep a run from
// being exported (docs/compatibility.md#where-we-differ-on-purpose).
func mayBeText(path string) bool {
	for _, dir := range [...]string{".planning/", wire.ProposedDir + "/", wire.ReviewsDir + "/", wire.StagingDir + "/",
		wire.DispatchDir + "/", wire.RejectedDir + "/", ".agentxchain/reports/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

func (w *entryWriter) base64(left bool) error {
	if left {
		_, err := io.WriteString(w.spool, `null,"data":`)
		return err
	}
	if _, err := io.WriteString(w.spool, `"`); err != nil {
		return err
	}
	if err := w.encode(w.content); err != nil {
		return err
	}
	_, err := io.WriteString(w.spool, `","data":`)
	return err
}

// encode writes content in base64.
func (w *entryWriter) encode(content []byte) error {
	const chunk = 48 << 10
	for len(content) > 0 {
		n := min(chunk, len(content))
		w.scratch = base64.StdEncoding.AppendEncode(w.scratch[:0], content[:n])
		if _, err := w.spool.Write(w.scratch); err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

func (w *entryWriter) text() error {
	if _, err := io.WriteString(w.spool, `"`); err != nil {
		return err
	}
	var piece []byte
	valid := utf8.Valid(w.content)
	for rest := w.content; len(rest) > 0; {
		if valid {
			n := min(16<<10, len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			piece, rest = rest[:n], rest[n:]
		} else {
			piece, rest = lossy(nil, rest, 16<<10)
		}
		w.scratch = ojson.AppendString(w.scratch[:0], string(piece))
		if _, err := w.spool.Write(w.scratch[1 : len(w.scratch)-1]); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w.spool, `"`)
	return err
}

func (w *entryWriter) document(f *fileRead) error {
	if p := f.path; p == statePath || p == wire.ConfigPath || p == coordinatorFile ||
		strings.HasPrefix(p, multiDir+"/") {
		w.documents[p] = slices.Clone(w.content)
	}
	if f.compact != nil {
		_, err := w.spool.Write(f.compact)
		return err
	}
	return writeJSON(w.spool, w.reader, w.content, f.strict)
}

// lines writes the entries of a file of JSON lines except the first skip ones.
func (w *entryWriter) lines(path string, skip int, strict bool) error {
	separator := "["
	next := lines(w.content)
	n := 0
	for line, more := next(); more; line, more = next() {
		if n++; n <= skip {
			continue
		}
		if _, err := io.WriteString(w.spool, separator); err != nil {
			return err
		}
		separator = ","
		start := w.spool.n
		if err := writeJSON(w.spool, w.reader, line, strict); err != nil {
			return err
		}
		if err := w.row(path, line, start); err != nil {
			return err
		}
	}
	w.rows[path] = n - skip
	if separator == "[" {
		separator = "[]"
	} else {
		separator = "]"
	}
	_, err := io.WriteString(w.spool, separator)
	return err
}

// row keeps what the summary needs from an entry.
func (w *entryWriter) row(path string, line []byte, start int64) error {
	switch path {
	case wire.LedgerHistory.Path():
		if !mayDelegate(line) {
			return nil
		}
	case wire.LedgerRepoDecisions.Path():
	case wire.LedgerEvents.Path():
		if w.wantRepo == "" {
			return nil
		}
	default:
		return nil
	}
	v, err := lenient(line)
	if err != nil {
		return err
	}
	o := objectOf(v)
	switch path {
	case wire.LedgerHistory.Path():
		w.history.add(o)
	case wire.LedgerRepoDecisions.Path():
		w.decisions = append(w.decisions, o)
	default:
		if o != nil {
			e := newEvent(w.wantRepo, o)
			e.start, e.length = start, int(w.spool.n-start)
			w.events = append(w.events, e)
		}
	}
	return nil
}

// checkJSON reports whether doc is one JSON document; strict is false if only lenient readers accept it.
func checkJSON(doc []byte) (strict bool, err error) {
	r := scan.Bytes(doc, scan.Limits{})
	err = r.Skip()
	if err == nil {
		err = r.End()
	}
	if err == nil {
		return true, nil
	}
	if _, e := lenient(doc); e == nil {
		return false, nil
	}
	return false, err
}

// writeJSON writes a document without white space. Numbers and strings keep their spelling: another spelling might
// mean another value to other readers. strict is the result of checkJSON.
func writeJSON(w io.Writer, r *scan.Reader, doc []byte, strict bool) error {
	if strict {
		r.Reset(doc)
		return r.Compact(w)
	}
	v, err := lenient(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(ojson.Compact(v))
	return err
}

// compact is writeJSON to memory.
func compact(doc []byte) ([]byte, error) {
	strict, err := checkJSON(doc)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = writeJSON(&b, scan.Bytes(nil, scan.Limits{}), doc, strict)
	return b.Bytes(), err
}
