// Runs as their refs hold them, without a project directory: for hooks, which
// must not believe working files, and for bare repositories, which have none.

package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RunRecord is one run at the tip of its ref.
type RunRecord struct {
	Run string
	Op  OID
	rec *recorded

	repo *Repository
}

// Believe refuses a run whose operations do not hold (record_unproven). Whoever
// builds on what a record says asks this first.
func (x *RunRecord) Believe() error {
	v, err := VerifyRun(x.rec.r.ctx, x.repo, x.Run, x.Op)
	if err != nil {
		return err
	}
	return v.Err()
}

// RunRecords returns the runs of the repository, the one that moved last first.
// One git process; nothing of a run is read before it is asked for.
func RunRecords(ctx context.Context, r *Repository) ([]*RunRecord, error) {
	out, err := r.Git.Run(ctx, nil, "for-each-ref", "--sort=-committerdate", "--format=%(objectname) %(objecttype) %(refname)", RunRefPrefix)
	if err != nil {
		return nil, err
	}
	var runs []*RunRecord
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) != 3 || f[1] != KindCommit {
			continue // no run of ours; fsck names it
		}
		runs = append(runs, RunRecordAt(ctx, r, strings.TrimPrefix(f[2], RunRefPrefix), OID(f[0])))
	}
	return runs, nil
}

// RunRecordAt is a run as one operation recorded it.
func RunRecordAt(ctx context.Context, r *Repository, run string, op OID) *RunRecord {
	return &RunRecord{Run: run, Op: op, rec: &recorded{run: run, op: op, r: readTree(ctx, r)}, repo: r}
}

func readTree(ctx context.Context, r *Repository) *treeReader {
	return &treeReader{ctx: ctx, objects: r.Objects(), format: r.ObjectFormat, known: make(map[OID][]byte), parsed: make(map[OID][]TreeEntry)}
}

// root loads the tree of the operation once.
func (x *RunRecord) root() (OID, error) {
	if x.rec.root == "" {
		c, err := x.rec.r.commit(x.Op)
		if err != nil {
			return "", err
		}
		x.rec.root = c.Tree
	}
	return x.rec.root, nil
}

// State returns the recorded state, repaired as the engine reads it.
func (x *RunRecord) State(c *config.Config) (*run.State, error) {
	data, err := x.Document(wire.DocState)
	if err != nil {
		return nil, err
	}
	s, perr := run.DecodeState(data)
	if perr != nil {
		return nil, perr
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
	data, _, err := x.rec.r.file(root, docTreePath(d))
	return data, err
}

// Index returns the recorded digest of the ledgers.
func (x *RunRecord) Index() (*run.Index, error) {
	if _, err := x.root(); err != nil {
		return nil, err
	}
	return x.rec.readIndex()
}

// Ledger returns the bytes of a recorded ledger, nil when it is empty.
func (x *RunRecord) Ledger(l wire.Ledger) ([]byte, error) {
	root, err := x.root()
	if err != nil {
		return nil, err
	}
	return x.rec.r.readLedger(root, l)
}

// CheckChain checks the operations from the run's tip back to since ("" is the
// first one), at most limit of them: one parent each, a record, a state, and
// ledgers that only grew. It is what can be told without applying the rules;
// fsck does that. A finding is an *Error with code ledger_tampered or
// object_corrupt; since must be met unless it is "" or the limit ends the walk.
func (x *RunRecord) CheckChain(since OID, limit int) error {
	r := x.rec.r
	for op := x.Op; op != since; limit-- {
		if limit == 0 {
			return nil
		}
		c, err := r.commit(op)
		if err != nil {
			return err
		}
		if len(c.Parents) > 1 {
			return errorf(CodeLedgerTampered, nil, "operation %.12s of run %s has %d parents; a run is one line", op, x.Run, len(c.Parents))
		}
		for _, name := range []string{treeRecord, treeState} {
			if e, ok, err := r.lookup(c.Tree, name); err != nil || !ok || e.IsTree() {
				return errorf(CodeLedgerTampered, err, "operation %.12s of run %s has no %s", op, x.Run, name)
			}
		}
		if len(c.Parents) == 0 {
			if since != "" {
				return errorf(CodeLedgerTampered, nil, "run %s does not go back to the operation %.12s it had", x.Run, since)
			}
			return nil
		}
		before, err := r.commit(c.Parents[0])
		if err != nil {
			return err
		}
		for _, l := range wire.Ledgers() {
			d, err := r.diffLedger(before.Tree, c.Tree, l)
			if err != nil {
				return err
			}
			if d.kind == diffForeign {
				return errorf(CodeLedgerTampered, nil, "operation %.12s of run %s does not continue the ledger %s: %s", op, x.Run, l, d.why)
			}
		}
		op = c.Parents[0]
	}
	return nil
}

// FileAt returns a file of a commit's tree by its path in the repository, and
// its mode; nil without an error when there is none.
func FileAt(ctx context.Context, r *Repository, commit OID, name string) ([]byte, Mode, error) {
	t := readTree(ctx, r)
	c, err := t.commit(commit)
	if err != nil {
		return nil, 0, err
	}
	e, ok, err := t.lookup(c.Tree, name)
	if err != nil || !ok || e.IsTree() || e.Mode == ModeGitlink {
		return nil, 0, err
	}
	data, err := t.blob(e.OID)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, e.Mode, err
}

// Parents returns the parents of a commit.
func Parents(ctx context.Context, r *Repository, commit OID) ([]OID, error) {
	c, err := readTree(ctx, r).commit(commit)
	if err != nil {
		return nil, err
	}
	return c.Parents, nil
}

// TreeChange is one path that differs between two trees, or a tree and the index.
type TreeChange struct {
	Status           byte // A, D, M, T; U for an unmerged path
	OldMode, NewMode Mode // 0 when the path is not there
	OldOID, NewOID   OID  // "" when the path is not there
	Path             string
}

// StagedChanges returns how the index differs from a commit, "" for no commit
// yet. The index is the one git tells this process to use (GIT_INDEX_FILE).
// Nothing of the work tree is looked at.
func (r *Repository) StagedChanges(ctx context.Context, commit string) ([]TreeChange, error) {
	if commit == "" {
		commit = string(HashObject(r.ObjectFormat, KindTree, nil))
	}
	out, err := r.Git.Run(ctx, nil, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty", commit, "--")
	if err != nil {
		return nil, err
	}
	changes, rest, err := parseRaw(out, r.ObjectFormat)
	if err == nil && len(rest) > 0 {
		err = errorf(CodeGitFailed, nil, "git diff-index answered %q", clipBytes(rest))
	}
	return changes, err
}

// CommitChange is what a commit changed against one of its parents, "" for none.
type CommitChange struct {
	Commit, Parent OID
	Changes        []TreeChange
}

// CommitChanges returns what each commit changed against each of its parents,
// which parents gives; a commit without any is compared with nothing. One git
// process for all. That a commit is odd in other ways is no error.
func (r *Repository) CommitChanges(ctx context.Context, commits []OID, parents map[OID][]OID) ([]CommitChange, error) {
	var in bytes.Buffer
	var out []CommitChange
	for _, c := range commits {
		for _, p := range parents[c] {
			fmt.Fprintf(&in, "%s %s\n", c, p)
			out = append(out, CommitChange{Commit: c, Parent: p})
		}
		if len(parents[c]) == 0 {
			fmt.Fprintf(&in, "%s\n", c)
			out = append(out, CommitChange{Commit: c})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	// --always: each line is answered by its commit, differences or not.
	data, err := r.Git.Run(ctx, in.Bytes(), "diff-tree", "--stdin", "--root", "--always", "-r", "--raw", "-z", "--no-renames", "--no-abbrev")
	if err != nil {
		return nil, err
	}
	for i := range out {
		head, rest, ok := bytes.Cut(data, []byte{0})
		if !ok || OID(head) != out[i].Commit {
			return nil, errorf(CodeGitFailed, nil, "git diff-tree answered %q where %s was to come", clipBytes(head), out[i].Commit)
		}
		if out[i].Changes, data, err = parseRaw(rest, r.ObjectFormat); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parseRaw reads the raw differences of diff-index and diff-tree -z up to
// something that is none.
func parseRaw(out []byte, format string) (changes []TreeChange, rest []byte, err error) {
	for len(out) > 0 && out[0] == ':' {
		head, after, ok := bytes.Cut(out[1:], []byte{0})
		name, after, ok2 := bytes.Cut(after, []byte{0})
		f := strings.Fields(string(head))
		bad := func() ([]TreeChange, []byte, error) {
			return nil, nil, errorf(CodeGitFailed, nil, "git answered %q for a difference", clipBytes(head))
		}
		if !ok || !ok2 || len(f) != 5 || len(f[4]) == 0 || len(name) == 0 {
			return bad()
		}
		c := TreeChange{Status: f[4][0], Path: string(name)}
		for i, m := range []*Mode{&c.OldMode, &c.NewMode} {
			if f[i] == "000000" {
				continue
			}
			if *m, err = parseMode([]byte(f[i])); err != nil {
				return bad()
			}
		}
		for i, o := range []*OID{&c.OldOID, &c.NewOID} {
			if !OID(f[i+2]).Valid(format) {
				return bad()
			}
			if oid := OID(f[i+2]); !oid.IsZero() {
				*o = oid
			}
		}
		changes = append(changes, c)
		out = after
	}
	return changes, out, nil
}

func clipBytes(b []byte) []byte { return b[:min(len(b), 200)] }
