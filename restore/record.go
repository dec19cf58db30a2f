// The record of a run inside its artifact: the operations behind the files, as a git bundle
// (docs/export.md#the-record).

package restore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	recordMember = "record"
	recordFormat = "git-bundle"

	// maxRecord bounds the bundle, both our own and another exporter's.
	maxRecord = 32 << 20
)

// ExportedRecord describes the record in an artifact.
type ExportedRecord struct {
	Op    string // its newest operation
	Bytes int    // of the bundle
}

// record adds the run's record after the files. The caller holds the run's lock, so the record matches the state in
// the artifact. If the record is left out, a notice says why.
func (r *runExport) record(ctx context.Context, run string) error {
	data, tip, why, err := r.packRecord(ctx, run)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil: // a missing object, a partial clone without its remote: the files are here
		why = fmt.Sprintf("it cannot be read as a whole: %v; git agentxchain fsck says more", err)
	}
	switch {
	case why != "":
		r.e.Notices = append(r.e.Notices,
			"The record of the run is not in the artifact, so that a restore takes its files as one operation: "+why)
		return nil
	case data == nil:
		return nil
	}
	r.e.Record = &ExportedRecord{Op: string(tip), Bytes: len(data)}
	return r.writeRecord(string(tip), data)
}

// packRecord returns the record as a bundle with its newest operation, or why it is left out. All results are empty
// when nothing is recorded.
func (r *runExport) packRecord(ctx context.Context, run string) (data []byte, tip object.OID, why string, err error) {
	repo := r.store.Repository()
	refs, err := bundle.CarriedRefs(ctx, repo, run)
	if err != nil || len(refs) == 0 {
		return nil, "", "", err
	}
	most := cmp.Or(r.opt.MaxRecord, maxRecord)
	data, fits, err := bundle.PackRefs(ctx, repo, refs, most)
	if err != nil {
		return nil, "", "", err
	}
	if !fits {
		why = fmt.Sprintf("it has more than %d bytes; --bundle FILE writes it beside the artifact", most)
		return nil, "", why, nil
	}
	found := secretSearch{allowed: r.opt.AllowSecrets}
	if err := found.lookBack(ctx, repo, refs); err != nil {
		return nil, "", "", err
	}
	if len(found.found) > 0 {
		why = fmt.Sprintf("it holds what looks like secrets: %s. Revoke them; or, when they are none: "+
			"git agentxchain export --allow-secret %s", found.places(), strings.Join(found.prints, " --allow-secret "))
		return nil, "", why, nil
	}
	// The refs as packed.
	if refs, err = bundle.Head(bytes.NewReader(data)); err != nil {
		return nil, "", "", err
	}
	if tip, err = bundle.CarriedTip(refs, run); err != nil {
		return nil, "", "", err
	}
	state, err := chain.RunRecordAt(ctx, repo, run, tip).Document(wire.DocState)
	if err != nil {
		return nil, "", "", err
	}
	if !bytes.Equal(state, r.w.documents[statePath]) {
		why = fmt.Sprintf("its newest operation %s recorded another state; git agentxchain fsck says more",
			tip.Short())
	}
	return data, tip, why, nil
}

// writeRecord ends the files in the spool and writes the member.
func (r *runExport) writeRecord(tip string, data []byte) error {
	head := ojson.Compact(ojson.NewObject("format", recordFormat, "tip", tip, "bytes", len(data),
		"sha256", wire.SHA256(data)))
	start := append([]byte("\n}"), memberName(false, recordMember)...)
	start = append(append(start, head[:len(head)-1]...), `,"content_base64":"`...)
	if _, err := r.w.spool.Write(start); err != nil {
		return err
	}
	if err := r.w.encode(data); err != nil {
		return err
	}
	_, err := io.WriteString(r.w.spool, `"}`)
	return err
}

// recordRead is the member as read.
type recordRead struct {
	entry

	tip  any
	refs []git.Ref // from the head of the bundle
	head error     // error in the head
}

// record reads the member; content goes to keep if that is not nil.
func (v *verifier) record(a *artifact, keep func(content []byte) error) error {
	no := absent{}
	x := &recordRead{
		entry: entry{path: recordMember, format: no, bytes: no, sha256: no, content: no},
		tip:   no,
	}
	a.record = x
	before := v.opt.MaxFile
	v.opt.MaxFile = min(before, maxRecord)
	defer func() { v.opt.MaxFile = before }()
	var err error
	x.isObject, err = v.r.Members(func(key string) (err error) {
		if key == "tip" {
			x.tip, err = v.r.Value(maxEntryValue)
			return err
		}
		return v.entryMember(&x.entry, key)
	})
	if err != nil || x.content != true {
		return err
	}
	digest := <-x.hashed
	x.digest = hex.EncodeToString(digest[:])
	x.refs, x.head = bundle.Head(bytes.NewReader(v.content))
	if keep == nil {
		return nil
	}
	return keep(v.content)
}

// judge returns the problems of a run's record.
func (x *recordRead) judge(run any) []Finding {
	switch {
	case !x.isObject:
		x.add("the record is not an object")
		return x.list
	case x.format != any(recordFormat):
		x.add("the format must be %s and is %s", recordFormat, show(x.format))
		return x.list
	case x.content != true:
		x.add("content_base64 must be text")
		return x.list
	case x.broken != "":
		x.add("content_base64 is not standard base64: %s", x.broken)
		return x.list
	}
	if n, ok := integer(x.bytes); !ok || n != x.size {
		x.add("bytes says %s, the content has %d", show(x.bytes), x.size)
	}
	if x.sha256 != any(x.digest) {
		x.add("sha256 is not that of the content, which is %s", x.digest)
	}
	if x.head != nil {
		x.add("the content is not a bundle of a run: %s", x.head)
		return x.list
	}
	id, _ := run.(string)
	tip, err := bundle.CarriedTip(x.refs, id)
	switch {
	case err != nil:
		x.add("the bundle is not that of the artifact's run: %s", err)
	case x.tip != any(string(tip)):
		x.add("tip says %s, and the bundle has the run at %s", show(x.tip), tip)
	}
	return x.list
}

// keepRecord keeps the record of an artifact being received.
func (in *taken) keepRecord(content []byte) error {
	in.hasRecord, in.recordAt, in.recordSize = true, in.spool.n, int64(len(content))
	if _, err := in.spool.Write(content); err != nil {
		return temporary(err)
	}
	return nil
}

// recordFile writes the record to a separate file, which done removes.
func (in *taken) recordFile() (file string, done func(), err error) {
	dir, err := scratch.New("agentxchain-record-")
	if err != nil {
		return "", nil, temporary(err)
	}
	done = func() { _ = dir.Remove() }
	file = filepath.Join(dir.Path, "bundle")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(f, io.NewSectionReader(in.spool.file, in.recordAt, in.recordSize))
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		done()
		return "", nil, temporary(err)
	}
	return file, done, nil
}

// openHistory unpacks the history to be restored: the named bundle, else the record in the artifact.
func (t *restoring) openHistory(ctx context.Context) (done func(), err error) {
	file, remove := t.opt.Bundle, func() {}
	if file == "" && t.a != nil && t.a.hasRecord && !t.opt.NoRecord {
		if file, remove, err = t.a.recordFile(); err != nil {
			return nil, err
		}
		t.inside = true
	}
	if file == "" {
		return remove, nil
	}
	b, err := bundle.Judge(ctx, t.store.Repository(), file)
	if err != nil {
		remove()
		return nil, t.archivedHint(ctx, t.insideHint(err))
	}
	t.out.Bundle = b
	return func() { b.Close(); remove() }, nil
}

// insideHint adds a hint about a record inside an artifact.
func (t *restoring) insideHint(err error) error {
	var e *fail.Error
	if !t.inside || !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case bundle.CodeHistoryDiverged:
		_ = e.WithHint("the records have no operation in common, or what was settled differs: git agentxchain sync brings " +
			"what a server has; restore --no-record records the artifact's files on top of what is here and overwrites nothing")
	case bundle.CodeHistoryInvalid:
		_ = e.WithHint("export it again where it was made; restore --no-record takes its files without the record")
	}
	return err
}

// archivedHint adds a hint about a run that is archived here: nothing is joined with it there.
func (t *restoring) archivedHint(ctx context.Context, err error) error {
	var e *fail.Error
	if t.a == nil || !errors.As(err, &e) || e.Code != bundle.CodeHistoryDiverged {
		return err
	}
	run := wire.ShellWord(t.a.run())
	if past, rerr := t.store.Repository().ReadRef(ctx, archive.PastPrefix+t.a.run()); rerr == nil && past != "" {
		_ = e.WithHint("the run is archived here: git agentxchain runs unarchive %s, then git agentxchain repair --from-ref %s, "+
			"then try again", run, run)
	}
	return err
}

// agrees refuses a record that does not match the files beside it.
func (t *restoring) agrees(ctx context.Context) error {
	if !t.inside {
		return nil
	}
	state, err := t.out.Bundle.Document(ctx, t.out.Run, wire.DocState)
	if err != nil {
		return err
	}
	if f, ok := incoming.Find(t.a.files, statePath); ok && f.SHA256 == wire.SHA256(state) {
		return t.takeTasks(ctx)
	}
	return &wire.Error{
		Code:    bundle.CodeHistoryInvalid,
		Field:   recordMember,
		Message: "The record in the artifact is not that of its files: its newest operation recorded another state.",
		Hint:    "export it again where it was made; restore --no-record takes its files without the record",
	}
}

// takeTasks takes HUMAN_TASKS.md from the record: it is in no artifact, and without it the files would not be those of
// the newest operation, so that the restore would be one of its own.
func (t *restoring) takeTasks(ctx context.Context) error {
	tasks, err := t.out.Bundle.Document(ctx, t.out.Run, wire.DocHumanTasks)
	if err != nil || tasks == nil {
		return err
	}
	name := string(wire.DocHumanTasks)
	t.more[name] = tasks
	t.in.Roots = append(t.in.Roots, name)
	t.in.Files = append(t.in.Files,
		incoming.File{Path: name, Size: int64(len(tasks)), SHA256: wire.SHA256(tasks)})
	incoming.Sort(t.in.Files)
	return nil
}
