// The content of a file entry, and whether its data agrees (docs/export.md#what-verification-proves).

package restore

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

// base64 decodes the content of an entry into v.content.
func (v *verifier) base64(e *entry) error {
	kind, err := v.r.Kind()
	if err != nil {
		return err
	}
	if kind != "string" {
		if e.content = any(false); kind == "null" {
			e.content = nil
		}
		return v.r.Skip()
	}
	e.content = true
	// The declared length avoids reallocation; a false one only costs address space.
	n, ok := integer(e.bytes)
	if !ok || n < 0 || n > min(v.opt.MaxFile, 1<<30) {
		n = 0
	}
	room(&v.content, n+4)
	var tail []byte // up to three characters of an incomplete group
	ended := false
	group := func(p []byte) {
		switch {
		case e.broken != "" || len(p) == 0:
			return
		case ended:
			e.broken = "something follows its end"
			return
		}
		at := len(v.content)
		v.content = slices.Grow(v.content, len(p)/4*3)
		n, err := base64.StdEncoding.Strict().Decode(v.content[at:cap(v.content)], p)
		ended = p[len(p)-1] == '='
		padding := len(p) - len(bytes.TrimRight(p[len(p)-2:], "=")) - (len(p) - 2)
		if err != nil {
			e.broken = "it has other characters, or unused bits set"
			return
		}
		if n != len(p)/4*3-padding {
			e.broken = "it has white space in it" // the decoder skips line ends
		}
		v.content = v.content[:at+n]
	}
	err = v.r.Text(func(p []byte) error {
		if int64(len(v.content)+len(p)/4*3) > v.opt.MaxFile+3 {
			return &scan.ReadError{Err: fmt.Errorf("%s has more than %d bytes", e.path, v.opt.MaxFile)}
		}
		if len(tail) > 0 {
			n := min(4-len(tail), len(p))
			tail, p = append(tail, p[:n]...), p[n:]
			if len(tail) < 4 {
				return nil
			}
			group(tail)
			tail = tail[:0]
		}
		whole := len(p) &^ 3
		group(p[:whole])
		tail = append(tail, p[whole:]...)
		return nil
	})
	if err != nil {
		return err
	}
	if len(tail) > 0 && e.broken == "" {
		e.broken = "it ends in the middle of a group"
	}
	e.size = int64(len(v.content))
	// The digest is computed while the data is read and compared.
	content, done := v.content, make(chan [sha256.Size]byte, 1)
	e.hashed = done
	go func() { done <- sha256.Sum256(content) }()
	return nil
}

// compare reads the data of an entry, passes it to the collector and, if asked, compares it with the content.
func (v *verifier) compare(e *entry, c collector, proven bool) error {
	var err error
	if e.data, err = v.r.Kind(); err != nil {
		return err
	}
	switch {
	case e.data == "array" && (!proven || e.format == formatJSONL):
		return v.items(e, c, proven)
	case c.document != nil:
		raw, err := v.r.Raw(maxValue)
		if err != nil {
			return err
		}
		c.document(raw)
		if !proven {
			return nil
		}
		outer := v.r
		defer func() { v.r = outer }()
		v.r = scan.Bytes(raw, scan.Limits{})
	case c.array != nil && e.data == "array":
		// An array in a file that is called json still counts.
		raw, err := v.r.Raw(maxValue)
		if err != nil {
			return err
		}
		outer := v.r
		defer func() { v.r = outer }()
		v.r = scan.Bytes(raw, scan.Limits{})
		if err := v.items(e, c, false); err != nil {
			return err
		}
		v.r = scan.Bytes(raw, scan.Limits{})
	case !proven:
		return v.r.Skip()
	}
	switch e.format {
	case formatText:
		return v.compareText(e)
	case formatJSON:
		return v.compareJSON(e)
	}
	e.mismatch = "the content is JSON lines, the data is not an array"
	if _, _, err := countLines(v.content); err != nil {
		e.mismatch = err.Error()
	}
	return v.r.Skip()
}

// compareText compares the data with the content as text.
func (v *verifier) compareText(e *entry) error {
	if e.data != "string" {
		e.mismatch = "the content is text, the data is not"
		return v.r.Skip()
	}
	rest, valid := v.content, utf8.Valid(v.content)
	same := true
	var text []byte // the decoded content, if it is not valid UTF-8
	err := v.r.Text(func(p []byte) error {
		for same && len(p) > 0 {
			if valid {
				same = len(p) <= len(rest) && bytes.Equal(p, rest[:len(p)])
				if same {
					rest = rest[len(p):]
				}
				return nil
			}
			if len(text) == 0 {
				v.lossy, rest = lossy(v.lossy[:0], rest, 16<<10)
				text = v.lossy
			}
			n := min(len(p), len(text))
			same = n > 0 && bytes.Equal(p[:n], text[:n])
			p, text = p[n:], text[n:]
		}
		return nil
	})
	if err == nil && !(same && len(rest) == 0 && len(text) == 0) {
		e.mismatch = "the data is not the text of the content"
	}
	return err
}

// sideBySide is the maximum length of content whose data is compared during reading: the data must be kept to be
// read again if only the order of members differs.
const sideBySide = 8 << 20

// sameValue compares the next value of the artifact with a document, and consumes it. wrong says what is wrong with
// the document, "" if it is fine.
func (v *verifier) sameValue(content *scan.Reader, doc []byte, keep bool) (same bool, wrong string, err error) {
	content.Reset(doc)
	if len(doc) <= sideBySide {
		if !keep {
			if _, err := v.r.Peek(); err != nil {
				return false, "", err
			}
			v.r.Mark()
			defer v.r.Unmark()
		}
		same, err = scan.Same(v.r, content)
		if err == nil && same {
			err = content.End()
		}
		if err == nil && same || v.r.Owns(err) {
			return same, "", err
		}
		if !v.r.Rewind() {
			return false, "", &scan.ReadError{Err: fmt.Errorf("a value is longer than can be read")}
		}
		content.Reset(doc)
	}
	mine, err := scan.Sum(v.r)
	if err != nil {
		return false, "", err
	}
	theirs, err := scan.Sum(content)
	if err == nil {
		err = content.End()
	}
	if err != nil {
		return v.sameRepeated(mine, doc, err)
	}
	return mine == theirs, "", nil
}

// compareJSON compares the data with the content as one document.
func (v *verifier) compareJSON(e *entry) error {
	same, wrong, err := v.sameValue(scan.Bytes(nil, scan.Limits{}), v.content, false)
	switch {
	case err != nil:
		return err
	case wrong != "":
		e.mismatch = "the content is not JSON: " + wrong
	case !same:
		e.mismatch = "the data is not the document in the content"
	}
	return nil
}

// items reads data that is an array, and compares it with the lines of the content if asked.
func (v *verifier) items(e *entry, c collector, proven bool) error {
	if c.array != nil {
		c.array()
	}
	next := func() ([]byte, bool) { return nil, false }
	if proven {
		next = lines(v.content)
	}
	content := scan.Bytes(nil, scan.Limits{})
	number := 0
	_, err := v.r.Items(func() error {
		e.dataLen++
		number++
		compare := proven && e.mismatch == ""
		var line []byte
		if compare {
			var more bool
			if line, more = next(); !more {
				e.mismatch = fmt.Sprintf("the data has more entries than the content, which has %d", number-1)
				compare = false
			}
		}
		if c.item == nil && !compare {
			return v.r.Skip()
		}
		if _, err := v.r.Peek(); err != nil {
			return err
		}
		v.r.Mark()
		defer v.r.Unmark()
		if !compare {
			if err := v.r.Skip(); err != nil {
				return err
			}
		} else if same, wrong, err := v.sameValue(content, line, true); err != nil {
			return err
		} else if wrong != "" {
			e.mismatch = fmt.Sprintf("line %d of the content is not JSON: %s", number, wrong)
		} else if !same {
			e.mismatch = fmt.Sprintf("entry %d of the data is not that of the content", number)
		}
		if c.item == nil {
			return nil
		}
		raw, ok := v.r.Marked()
		if !ok {
			return &scan.ReadError{Err: fmt.Errorf("an entry of %s is longer than can be read", e.path)}
		}
		c.item(raw)
		return nil
	})
	if err == nil && proven && e.mismatch == "" {
		if line, more := next(); more {
			e.mismatch = fmt.Sprintf("the content has more entries than the data, which has %d", number)
			content.Reset(line)
			if err := content.Skip(); err != nil {
				e.mismatch = fmt.Sprintf("line %d of the content is not JSON: %s", number+1, err)
			}
		}
	}
	return err
}

// lines returns a function that returns the next non-blank line of a file.
func lines(data []byte) func() (line []byte, more bool) {
	return func() ([]byte, bool) {
		for len(data) > 0 {
			line, rest, _ := bytes.Cut(data, []byte{'\n'})
			data = rest
			if !blank(line) {
				return line, true
			}
		}
		return nil, false
	}
}

// blank reports whether JavaScript's trim leaves nothing of a line.
func blank(line []byte) bool {
	for len(line) > 0 {
		if c := line[0]; c > ' ' && c < utf8.RuneSelf {
			return false
		}
		r, n := utf8.DecodeRune(line)
		if r != '\ufeff' && (r == 0x85 || !unicode.IsSpace(r)) {
			return false
		}
		line = line[n:]
	}
	return true
}
