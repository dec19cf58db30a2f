// How the bytes of a ledger relate to the recorded ones.

package record

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	Same     Kind = iota // byte for byte
	Extended             // the recorded bytes, then more lines
	Amended              // like Extended, and lines were amended as the protocol allows
	Shorter              // a proper prefix of the recorded bytes, or absent
	Foreign              // anything else
)

// Kind is how a working ledger relates to a recorded one.
type Kind int

// LedgerDiff is the result of a comparison.
type LedgerDiff struct {
	Kind     Kind
	Mark     LedgerMark     // of the recorded ledger; Stat is the working file's
	Appended []byte         // Extended, Amended
	Amends   []ledger.Amend // Amended
	Data     []byte         // the working file, when it had to be read
	Line     int            // Foreign: 1-based line of the first difference, 0 when there is none
	Why      string         // Foreign: what is wrong with it
}

// CompareSegments compares data with the recorded segments. It recognises unamended segments by hash without
// reading them.
func CompareSegments(r *Reader, l wire.Ledger, segs []object.OID, data []byte) (*LedgerDiff, error) {
	d := &LedgerDiff{Mark: LedgerMark{Segments: len(segs)}}
	off := 0
	for i, oid := range segs {
		rest := data[off:]
		n := guessSegment(rest)
		if r.BlobID(rest[:n]) != oid {
			seg, err := r.Blob(oid)
			if err != nil {
				return nil, err
			}
			if !bytes.HasPrefix(rest, seg) {
				if bytes.HasPrefix(seg, rest) {
					d.Kind = Shorter
					return d, nil
				}
				return compareLines(r, l, segs, i, off, data)
			}
			n = len(seg)
		}
		off += n
		d.Mark.Tail = n
	}
	d.Mark.Size = int64(off)
	if len(data) > off || len(segs) == 0 {
		// A ledger that did not exist before is a change even when empty.
		d.Kind, d.Appended = Extended, data[off:]
	}
	return d, nil
}

// compareLines looks for permitted amendments from segment i on, whose bytes
// begin at off and differ.
func compareLines(r *Reader, l wire.Ledger, segs []object.OID, i, off int, data []byte) (*LedgerDiff, error) {
	var old []byte
	d := &LedgerDiff{Kind: Foreign, Mark: LedgerMark{Segments: len(segs), Size: int64(off)}}
	for _, oid := range segs[i:] {
		seg, err := r.Blob(oid)
		if err != nil {
			return nil, err
		}
		old = append(old, seg...)
		d.Mark.Tail = len(seg)
	}
	d.Mark.Size += int64(len(old))
	line := bytes.Count(data[:off], []byte("\n"))
	rest := data[off:]
	for _, was := range Lines(old) {
		line++
		if len(rest) == 0 {
			d.Line, d.Why = line, "this and later lines are gone"
			return d, nil
		}
		end := lineEnd(rest)
		now := bytes.TrimSuffix(rest[:end], []byte("\n"))
		rest = rest[end:]
		if bytes.Equal(was, now) {
			continue
		}
		if !l.JSONL() {
			d.Line, d.Why = line, "recorded text was rewritten"
			return d, nil
		}
		if why := amendment(l, was, now); why != "" {
			d.Line, d.Why = line, why
			return d, nil
		}
		d.Amends = append(d.Amends, ledger.Amend{Ledger: l, Old: was, New: now})
	}
	d.Kind, d.Appended = Amended, rest
	return d, nil
}

// amendment says why now may not replace was, or "" when it may: a checkpoint adds members to a history row
// (docs/spec/lifecycle.md#checkpoints), an override marks a repo decision
// (docs/spec/state.md#repository-decisions), and a writer may spell the same values differently.
func amendment(l wire.Ledger, was, now []byte) string {
	a, errA := ojson.DecodeObject(was)
	b, errB := ojson.DecodeObject(now)
	switch {
	case errB != nil:
		return "the recorded row was replaced by something that is not a JSON object (" + errB.Error() + ")"
	case errA != nil:
		return "the recorded row was rewritten"
	}
	a, b = a.Clone(), b.Clone()
	switch l {
	case wire.LedgerHistory:
		if b.Has("files_changed_recovered_at") && !a.Has("files_changed_recovered_at") {
			if !keepsFiles(a, b) ||
				!keepsFiles(a.Object("observed_artifact"), b.Object("observed_artifact")) {
				return "a recovery removed files from the recorded row"
			}
			for _, o := range []*ojson.Object{a, b, a.Object("observed_artifact"), b.Object("observed_artifact")} {
				o.Delete("files_changed")
			}
		}
		for _, key := range []string{"checkpoint_sha", "checkpointed_at", "files_changed_recovered_at",
			"files_changed_recovery_source"} {
			if a.Has(key) && b.Has(key) {
				continue
			}
			b.Delete(key)
		}
	case wire.LedgerRepoDecisions:
		if a.String("status") == "active" && b.String("status") == "overridden" && b.String("overridden_by") != "" {
			for _, key := range []string{"status", "overridden_by"} {
				a.Delete(key)
				b.Delete(key)
			}
		}
	}
	if !ojson.Equal(a, b) {
		return "the recorded row was rewritten"
	}
	return ""
}

// keepsFiles reports whether b names every changed file that a names.
func keepsFiles(a, b *ojson.Object) bool {
	have := make(map[string]bool)
	for _, s := range b.Strings("files_changed") {
		have[s] = true
	}
	return !slices.ContainsFunc(a.Strings("files_changed"), func(s string) bool { return !have[s] })
}

// CheckAppended is CheckAppended for the lines appended after the recorded ones.
func (d *LedgerDiff) CheckAppended(l wire.Ledger) *fail.Error {
	return CheckAppended(l, bytes.Count(d.Data, []byte("\n"))-bytes.Count(d.Appended, []byte("\n")), d.Appended)
}

// CheckAppended validates lines that another tool added after line number before.
func CheckAppended(l wire.Ledger, before int, data []byte) *fail.Error {
	if !l.JSONL() {
		return nil
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return Tampered(l, before+bytes.Count(data, []byte("\n"))+1,
			"the last line has no end; another tool was interrupted while writing it")
	}
	for n, line := range Lines(data) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if _, err := ojson.DecodeObject(line); err != nil {
			return Tampered(l, before+n, "the added line is not a JSON object (%v)", err)
		}
	}
	return nil
}

// AbsorbLedger puts the changes of one ledger into the edit.
func (r *Reader) AbsorbLedger(edit *Edit, root object.OID, l wire.Ledger, diff *LedgerDiff) (LedgerMark, error) {
	le, err := r.EditLedger(root, l)
	if err != nil {
		return LedgerMark{}, err
	}
	for _, a := range diff.Amends {
		if err := le.amend(a.Old, a.New); err != nil {
			return LedgerMark{}, err
		}
	}
	if err := le.append(diff.Appended); err != nil {
		return LedgerMark{}, err
	}
	n, tail, err := le.write(edit)
	return LedgerMark{Size: int64(len(diff.Data)), Segments: n, Tail: tail, Stat: diff.Mark.Stat}, err
}

// DiffLedger compares a ledger in tree after with that in tree before ("" for none), reading only segments that
// differ.
func (r *Reader) DiffLedger(before, after object.OID, l wire.Ledger) (*LedgerDiff, error) {
	var old []object.OID
	if before != "" {
		a, _, err := r.Lookup(before, LedgerDir(l))
		if err != nil {
			return nil, err
		}
		b, _, err := r.Lookup(after, LedgerDir(l))
		if err != nil {
			return nil, err
		}
		if a.OID == b.OID {
			return &LedgerDiff{}, nil
		}
		if old, err = r.Slots(before, LedgerDir(l), false); err != nil {
			return nil, err
		}
	}
	now, err := r.Slots(after, LedgerDir(l), false)
	if err != nil {
		return nil, err
	}
	if len(now) == 0 && len(old) == 0 {
		return &LedgerDiff{}, nil
	}
	same := 0
	for same < len(old) && same < len(now) && old[same] == now[same] {
		same++
	}
	var data []byte
	for _, oid := range now[same:] {
		seg, err := r.Blob(oid)
		if err != nil {
			return nil, err
		}
		data = append(data, seg...)
	}
	if len(now) < len(old) {
		return &LedgerDiff{Kind: Foreign, Why: fmt.Sprintf("%d recorded segments are gone", len(old)-len(now))}, nil
	}
	if same == len(old) {
		return &LedgerDiff{Kind: Extended, Appended: data, Data: data}, nil
	}
	return CompareSegments(r, l, old[same:], data)
}
