// Recorded dispatch bundles: which of their files belong to the run, so that they can be put in place and removed
// without touching anyone else's files.

package gitstore

import (
	"context"
	"io"
	"path"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Limits on another tool's bundle that is recorded.
const (
	maxCapturedFiles = 1000
	maxCapturedFile  = 4 << 20
	maxCapturedBytes = 64 << 20
)

// RecordedSeal returns the MANIFEST.json of a turn's bundle as operation op of run
// recorded it; false when the operation has no bundle of that turn.
func (s *Store) RecordedSeal(ctx context.Context, run string, op object.OID, turn string) ([]byte, bool, error) {
	if !record.SafeName(turn) {
		return nil, false, nil
	}
	rec, err := chain.At(s.reader(ctx), run, op)
	if err != nil {
		return nil, false, err
	}
	return rec.Reader.File(rec.Root, record.DirBundles+"/"+turn+"/"+record.BundleSeal)
}

// supplements adds the supplementary files of a turn's recorded bundle to the removals of a plan.
func supplements(rec *chain.RecordedRun, p *workdir.Plan, turn string) error {
	if rec == nil || !record.SafeName(turn) {
		return nil
	}
	files, err := rec.BundleFilesAt(turn)
	if err == nil {
		p.Supplements(turn, files, rec.Reader.Format)
	}
	return err
}

// sealedNames lists the files that another tool's seal names, none if the seal cannot be read.
func sealedNames(seal []byte) []string {
	doc, err := ojson.DecodeObject(seal)
	if err != nil {
		return nil
	}
	var out []string
	for _, f := range doc.Objects("files") {
		if name := f.String("path"); record.SafeBundleName(name) && len(out) < maxCapturedFiles {
			out = append(out, name)
		}
	}
	return out
}

// logTail is how much of an actor's output is kept after its turn, in bytes.
const logTail = 64 << 10

// KeepLog copies the end of the log in a turn's bundle directory (docs/bundles.md#where, stdout.log) to file, both
// project-relative, because the bundle is removed when the turn is accepted and the next reviewer is shown the log
// (docs/compatibility.md#where-we-differ-on-purpose). The copy stays in this work tree; quotes from it are recorded
// with the reviewer's bundle. Without a log it does nothing.
func (s *Store) KeepLog(log, file string) error {
	f, st, err := s.work.Open(log)
	if err != nil {
		return nil // there is no usable log
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(max(0, st.Size-logTail), io.SeekStart); err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(f, logTail))
	if err != nil {
		return err
	}
	if err := s.work.Mkdirs(path.Dir(file)); err != nil {
		return err
	}
	return durable.WriteFileRoot(s.work.Root, file, data, 0o600)
}
