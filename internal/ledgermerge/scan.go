// Indexing one version of a ledger: the identity and time of each line.

package ledgermerge

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Limits of a ledger to be merged.
const (
	maxLine = 32 << 20
	maxRows = 4 << 20
)

type digest [16]byte

func digestOf(b []byte) digest {
	sum := sha256.Sum256(b)
	return digest(sum[:16])
}

// row is one record; its text remains in the file.
type row struct {
	id    digest // the record's identity
	text  digest // of its exact bytes
	at    string // its timestamp, "" when it has none
	start int64
	size  int32 // without the newline
	line  int32
}

// file is an indexed version. byID maps to the position of each record.
type file struct {
	side Side
	src  io.ReaderAt
	rows []row
	byID map[digest]int
}

func (f *file) copy(w *bufio.Writer, r *row) error {
	if _, err := io.Copy(w, io.NewSectionReader(f.src, r.start, int64(r.size))); err != nil {
		return fmt.Errorf("%s: %w", f.side, err)
	}
	return w.WriteByte('\n')
}

// scan indexes a version. The conflict is the first line that is not a record.
func scan(ledger string, side Side, src Source) (*file, *Conflict, error) {
	f := &file{side: side, src: src, byID: make(map[digest]int)}
	in := bufio.NewReaderSize(io.NewSectionReader(src, 0, src.Size()), 256<<10)
	seen := make(map[digest]int) // occurrences of each identity: the second one is another record
	var offset int64
	var long []byte
	for n := int32(1); ; n++ {
		line, err := readLine(in, &long)
		if err == io.EOF {
			return f, nil, nil
		}
		bad := func(format string, args ...any) (*file, *Conflict, error) {
			return f, &Conflict{Line: int(n), Side: side, Why: fmt.Sprintf(format, args...)}, nil
		}
		switch {
		case err == io.ErrUnexpectedEOF:
			return bad("the last line is not ended, so it may have been cut off")
		case err == bufio.ErrTooLong:
			return bad("the line is longer than %d bytes", maxLine)
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", side, err)
		case len(f.rows) == maxRows:
			return bad("there are more than %d records", maxRows)
		}
		o, err := ojson.DecodeObject(line)
		if err != nil {
			return bad("it holds no record: %v", err)
		}
		r := row{text: digestOf(line), at: timestamp(o), start: offset, size: int32(len(line)), line: n}
		id := identity(ledger, o)
		if id == "" {
			r.id = r.text
		} else {
			r.id = digestOf([]byte(id))
		}
		if seen[r.id]++; seen[r.id] > 1 {
			r.id = digestOf(append(r.id[:], strconv.Itoa(seen[r.id])...))
		}
		f.byID[r.id] = len(f.rows)
		f.rows = append(f.rows, r)
		offset += int64(len(line)) + 1
	}
}

// readLine returns the next line without its newline; it is valid until the next call. io.ErrUnexpectedEOF is
// returned with a last line that has no newline.
func readLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], nil
	}
	if err == io.EOF {
		if len(line) == 0 {
			return nil, io.EOF
		}
		return line, io.ErrUnexpectedEOF
	}
	*long = append((*long)[:0], line...)
	for err == bufio.ErrBufferFull {
		if len(*long) > maxLine {
			return nil, bufio.ErrTooLong
		}
		line, err = in.ReadSlice('\n')
		*long = append(*long, line...)
	}
	switch err {
	case nil:
		return (*long)[:len(*long)-1], nil
	case io.EOF:
		return *long, io.ErrUnexpectedEOF
	}
	return nil, err
}

// timestamp returns the time of a record, whatever its ledger calls it. Records of one ledger use the same notation
// of UTC with milliseconds, so that text order is time order.
func timestamp(o *ojson.Object) string {
	for _, key := range []string{"timestamp", "accepted_at", "created_at", "resolved_at", "recorded_at", "emitted_at",
		"completed_at", "started_at"} {
		if s := o.String(key); s != "" {
			return s
		}
	}
	return ""
}

// identity returns what identifies a record of the ledger, "" when only its whole text does
// (docs/spec/state.md#events, docs/spec/gates.md#policies, docs/notifications.md#human-escalations). ledger is the
// base name of the file, such as "history.jsonl".
func identity(ledger string, o *ojson.Object) string {
	join := func(keys ...string) string {
		id := ledger
		for _, k := range keys {
			v := o.String(k)
			if v == "" {
				return ""
			}
			id += "\x00" + v
		}
		return id
	}
	switch ledger {
	case "events.jsonl":
		return join("event_id")
	case "history.jsonl":
		if o.String("status") == "reissued" {
			return join("turn_id", "status") // the turn in question may be accepted later
		}
		return join("turn_id")
	case "decision-ledger.jsonl":
		return join("id", "turn_id")
	case "repo-decisions.jsonl":
		return join("id")
	case "human-escalations.jsonl":
		return join("escalation_id", "kind")
	}
	return ""
}
