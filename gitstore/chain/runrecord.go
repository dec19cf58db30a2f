// Runs as their refs hold them, without a project directory: for hooks, which must not believe working files, and
// for bare repositories, which have none.

package chain

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RunRecord is one run at the tip of its ref.
type RunRecord struct {
	Run string
	Op  object.OID
	rec *RecordedRun
}

// RunRecords returns the runs of the repository, including archived ones whose operations are here, most recently
// moved first. It starts one git process and reads nothing of a run until asked.
func RunRecords(ctx context.Context, r *git.Repository) ([]*RunRecord, error) {
	out, err := r.Git.Run(ctx, nil, "for-each-ref", "--sort=-committerdate",
		"--format=%(objectname) %(objecttype) %(refname)", git.RunRefPrefix, archive.PastPrefix)
	if err != nil {
		return nil, err
	}
	var runs []*RunRecord
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) != 3 || f[1] != object.KindCommit {
			continue // not a run of ours; fsck reports it
		}
		run := strings.TrimPrefix(strings.TrimPrefix(f[2], git.RunRefPrefix), archive.PastPrefix)
		runs = append(runs, RunRecordAt(ctx, r, run, object.OID(f[0])))
	}
	return runs, nil
}

// EveryRunRecord is RunRecords, but a run whose ref does not lead to an operation is an error (ref_broken) instead
// of skipped: a caller that asks which turn did something must not get the answer "none".
func EveryRunRecord(ctx context.Context, r *git.Repository) ([]*RunRecord, error) {
	refs, err := r.ListRefs(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	runs, err := RunRecords(ctx, r)
	if err != nil {
		return nil, err
	}
	read := make(map[string]bool, len(runs))
	for _, rec := range runs {
		read[rec.Run] = true
	}
	for _, ref := range refs {
		run := strings.TrimPrefix(ref.Name, git.RunRefPrefix)
		if read[run] || git.BadRunID(run) != "" {
			continue
		}
		if ref.OID == "" {
			return nil, git.Broken(ref.Name)
		}
		// A ref deleted in the meantime led to an operation.
		kind, err := r.Git.Run(ctx, nil, "cat-file", "-t", string(ref.OID))
		if err != nil || strings.TrimSpace(string(kind)) != object.KindCommit {
			return nil, fail.Errorf(fail.CodeRefBroken, err, "the ref %s does not lead to an operation", ref.Name).
				WithHint("run git agentxchain fsck; git reflog %s shows where it was", ref.Name)
		}
	}
	return runs, nil
}

// ArchivedRecords returns the runs in a server's archive, most recently ended first.
func ArchivedRecords(ctx context.Context, r *git.Repository) ([]*RunRecord, error) {
	list, err := archive.ReadAll(ctx, r, archive.KeepPrefix)
	if err != nil {
		return nil, err
	}
	entries := slices.Collect(maps.Values(list))
	slices.SortFunc(entries, func(a, b *archive.Entry) int {
		return cmp.Or(cmp.Compare(b.Ended, a.Ended), cmp.Compare(a.Run, b.Run))
	})
	out := make([]*RunRecord, len(entries))
	for i, e := range entries {
		out[i] = RunRecordAt(ctx, r, e.Run, object.OID(e.Op))
	}
	return out, nil
}

// RunRecordAt returns a run as one operation recorded it.
func RunRecordAt(ctx context.Context, r *git.Repository, run string, op object.OID) *RunRecord {
	return &RunRecord{Run: run, Op: op, rec: &RecordedRun{Run: run, Op: op, Reader: record.NewReader(ctx, r)}}
}

// root loads the tree of the operation once.
func (x *RunRecord) root() (object.OID, error) {
	if x.rec.Root == "" {
		c, err := x.rec.Reader.Commit(x.Op)
		if err != nil {
			return "", err
		}
		x.rec.Root = c.Tree
	}
	return x.rec.Root, nil
}

// State returns the recorded state, repaired as the engine does on reading.
func (x *RunRecord) State(c *config.Config) (*run.State, error) {
	data, err := x.Document(wire.DocState)
	if err != nil {
		return nil, err
	}
	s, err := decodeState(data)
	if err != nil {
		return nil, err
	}
	s, _ = run.RepairState(s, c)
	return s, nil
}

// Document returns the bytes of a recorded document, nil when there is none.
func (x *RunRecord) Document(d wire.Document) ([]byte, error) {
	root, err := x.root()
	if err != nil {
		return nil, err
	}
	data, _, err := x.rec.Reader.File(root, record.DocumentFile(d))
	return data, err
}

// Index returns the recorded digest of the ledgers.
func (x *RunRecord) Index() (*run.Index, error) {
	if _, err := x.root(); err != nil {
		return nil, err
	}
	return x.rec.ReadIndex()
}

// Ledger returns the bytes of a recorded ledger, nil when it is empty.
func (x *RunRecord) Ledger(l wire.Ledger) ([]byte, error) {
	root, err := x.root()
	if err != nil {
		return nil, err
	}
	return x.rec.Reader.Ledger(root, l)
}

// CheckChain checks the operations from the run's tip back to since ("" is the first one), at most limit of them:
// each has one parent, a record and a state, and ledgers only grew. This is what can be checked without applying
// the rules; fsck does that. A finding is an *Error with code ledger_tampered or object_corrupt. The walk must
// reach since unless since is "" or the limit ends it.
func (x *RunRecord) CheckChain(since object.OID, limit int) error {
	r := x.rec.Reader
	for op := x.Op; op != since; limit-- {
		if limit == 0 {
			return nil
		}
		c, err := r.Commit(op)
		if err != nil {
			return err
		}
		if len(c.Parents) > 1 {
			return fail.Errorf(record.CodeLedgerTampered, nil,
				"operation %.12s of run %s has %d parents; a run is one line", op, x.Run, len(c.Parents))
		}
		for _, name := range []string{record.FileRecord, record.FileState} {
			if e, ok, err := r.Lookup(c.Tree, name); err != nil || !ok || e.IsTree() {
				return fail.Errorf(record.CodeLedgerTampered, err, "operation %.12s of run %s has no %s", op, x.Run,
					name)
			}
		}
		if len(c.Parents) == 0 {
			if since != "" {
				return fail.Errorf(record.CodeLedgerTampered, nil,
					"run %s does not go back to the operation %.12s it had", x.Run, since)
			}
			return nil
		}
		before, err := r.Commit(c.Parents[0])
		if err != nil {
			return err
		}
		for _, l := range wire.Ledgers() {
			d, err := r.DiffLedger(before.Tree, c.Tree, l)
			if err != nil {
				return err
			}
			if d.Kind == record.Foreign {
				return fail.Errorf(record.CodeLedgerTampered, nil,
					"operation %.12s of run %s does not continue the ledger %s: %s", op, x.Run, l, d.Why)
			}
		}
		op = c.Parents[0]
	}
	return nil
}

// FileAt returns a file of a commit's tree by its path in the repository, and its mode; nil without an error when
// there is no such file.
func FileAt(ctx context.Context, r *git.Repository, commit object.OID, name string) ([]byte, object.Mode, error) {
	t := record.NewReader(ctx, r)
	c, err := t.Commit(commit)
	if err != nil {
		return nil, 0, err
	}
	e, ok, err := t.Lookup(c.Tree, name)
	if err != nil || !ok || e.IsTree() || e.Mode == object.ModeGitlink {
		return nil, 0, err
	}
	data, err := t.Blob(e.OID)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, e.Mode, err
}

// Parents returns the parents of a commit.
func Parents(ctx context.Context, r *git.Repository, commit object.OID) ([]object.OID, error) {
	c, err := record.NewReader(ctx, r).Commit(commit)
	if err != nil {
		return nil, err
	}
	return c.Parents, nil
}

// StateAt returns state.json as an operation recorded it.
func StateAt(ctx context.Context, repo *git.Repository, op object.OID) (*run.State, error) {
	data, _, err := FileAt(ctx, repo, op, record.FileState)
	if err != nil {
		return nil, err
	}
	return decodeState(data)
}

// CodeHead returns the project commit at which an operation was made, "" for none.
func CodeHead(ctx context.Context, repo *git.Repository, op object.OID) object.OID {
	c, err := record.NewReader(ctx, repo).Commit(op)
	if err != nil {
		return ""
	}
	head := object.OID(record.Trailer(c.Message, record.TrailerHead))
	if !head.Valid(repo.ObjectFormat) {
		return ""
	}
	return head
}

// ProjectAt returns the project id in an operation's configuration, "" when the configuration cannot be decoded.
func ProjectAt(ctx context.Context, r *git.Repository, op object.OID) (string, error) {
	data, _, err := FileAt(ctx, r, op, record.FileConfig)
	if err != nil {
		return "", err
	}
	return ProjectOf(data), nil
}
