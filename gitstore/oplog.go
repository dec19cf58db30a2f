// The operation chain of a run as a log, and one operation in detail.

package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpInfo is what the commit of an operation says about it.
type OpInfo struct {
	Op          git.OID
	Parents     []git.OID // one, or none for a run's first operation
	Tree        git.OID
	Run         string
	Name        string    // wire name: accept_turn, external, ...
	Time        time.Time // to the second; the record has milliseconds
	Actor       string
	Email       string
	Turn        string
	Role        string
	Subject     string
	StateDigest string // sha256:<hex> of state.json after it
	CodeHead    string // HEAD of the project's own history at the time
	Dropped     []string
	Unstaged    []string
	Previous    git.OID // last operation of the run before, in a run's first
	Origin      git.OID // the operation it was before it was decided again, "" for none
}

// Runs lists the recorded runs of the repository in ref order. Refs that cannot
// be a run are left out; fsck names them.
func (s *Store) Runs(ctx context.Context) ([]git.Ref, error) {
	refs, err := s.repo.ListRefs(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	out := refs[:0]
	for _, r := range refs {
		if r.OID != "" && r.Target == "" && !r.Broken {
			out = append(out, r)
		}
	}
	return out, nil
}

// CurrentRun returns the run of this work tree: the one state.json names, else
// the one the cache remembers.
func (s *Store) CurrentRun() string {
	if data, _, ok, err := s.work.read(string(wire.DocState), maxDocument); err == nil {
		if run, err := runOf(document{data, ok}); err == nil && run != "" {
			return run
		}
	}
	if c := s.readCache(); c != nil {
		return c.Run
	}
	return ""
}

// Log returns the operations of a run, newest first, at most limit (0: all). An
// empty run is the current one. One git process reads the commits.
func (s *Store) Log(ctx context.Context, run string, limit int) ([]OpInfo, error) {
	_, tip, err := s.newestOf(ctx, run)
	if err != nil {
		return nil, err
	}
	return s.logFrom(ctx, tip, limit)
}

const logFields = 7

func (s *Store) logFrom(ctx context.Context, tip git.OID, limit int) ([]OpInfo, error) {
	args := []string{"--first-parent"}
	if limit > 0 {
		args = append(args, "--max-count="+strconv.Itoa(limit))
	}
	return s.readOps(ctx, nil, append(args, string(tip), "--")...)
}

// logArgs ask git log for operations in the form that opInfo reads.
func logArgs(which ...string) []string {
	return append([]string{"log", "-z", "--no-show-signature", "--no-color", "--no-decorate", "--encoding=UTF-8",
		"--format=tformat:%H%x00%P%x00%T%x00%at%x00%an%x00%ae%x00%B"}, which...)
}

var errLogForm = git.Errorf(git.CodeGitFailed, nil, "git log answered in a form that is not understood")

// readOps reads the operations that git log is asked for.
func (s *Store) readOps(ctx context.Context, stdin []byte, which ...string) ([]OpInfo, error) {
	out, err := s.repo.Git.Run(ctx, stdin, logArgs(which...)...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(fields)%logFields != 0 {
		return nil, errLogForm
	}
	ops := make([]OpInfo, 0, len(fields)/logFields)
	for ; len(fields) > 0; fields = fields[logFields:] {
		ops = append(ops, opInfo(fields))
	}
	return ops, nil
}

// walk hands the operations from tip back to take, in this process: git log takes longer, and what it
// prints is to be read.
func (s *Store) walk(ctx context.Context, tip git.OID, take func(OpInfo)) error {
	r := s.reader(ctx)
	ends := s.repo.ShallowCommits()
	for id := tip; ; {
		c, err := r.commit(id)
		if err != nil {
			return err
		}
		op := OpInfo{
			Op:      id,
			Parents: c.Parents,
			Tree:    c.Tree,
			Time:    c.Author.When.UTC(),
			Actor:   c.Author.Name,
			Email:   c.Author.Email,
		}
		if ends[id] {
			op.Parents = nil
		}
		op.readMessage(c.Message)
		take(op)
		if len(op.Parents) == 0 {
			return nil
		}
		id = op.Parents[0]
	}
}

func opInfo(f [][]byte) OpInfo {
	sec, _ := strconv.ParseInt(string(f[3]), 10, 64)
	op := OpInfo{Op: git.OID(f[0]), Tree: git.OID(f[2]), Time: time.Unix(sec, 0).UTC(), Actor: string(f[4]), Email: string(f[5])}
	for p := range strings.FieldsSeq(string(f[1])) {
		op.Parents = append(op.Parents, git.OID(p))
	}
	op.readMessage(string(f[6]))
	return op
}

// readMessage takes the subject and the trailers, which message wrote.
func (op *OpInfo) readMessage(msg string) {
	var rest string
	op.Subject, rest, _ = strings.Cut(msg, "\n")
	for line := range strings.SplitSeq(rest, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		switch key {
		case trailerRun:
			op.Run = value
		case trailerOp:
			op.Name = value
		case trailerTurn:
			op.Turn = value
		case trailerRole:
			op.Role = value
		case trailerState:
			op.StateDigest = value
		case trailerHead:
			op.CodeHead = value
		case trailerDropped:
			op.Dropped = strings.Fields(value)
		case trailerUnstaged:
			op.Unstaged = strings.Fields(value)
		case trailerPrevious:
			op.Previous = git.OID(value)
		case trailerOrigin:
			op.Origin = git.OID(value)
		}
	}
}

// LedgerChange is what an operation did to one ledger.
type LedgerChange struct {
	Ledger   wire.Ledger
	Appended []string       // lines, without line feeds
	Amended  []ledger.Amend // lines replaced in place
	// Rewritten says how the ledger differs when it is not the one before with
	// lines added or amended; a person accepted that, or fsck has a finding.
	Rewritten string
}

// OpDetail is one operation in full.
type OpDetail struct {
	OpInfo
	Record      *ojson.Object  // the operation's record, protocol.Record
	Evidence    map[string]int // SHA-256 of each evidence blob -> size in bytes
	Ledgers     []LedgerChange
	StateBefore []byte // state.json before it, nil for a run's first operation
	StateAfter  []byte
	Files       []string // files the operation wrote, project-relative
}

// Show returns one operation. name is a commit of a run's chain, abbreviated or
// any other way git knows.
func (s *Store) Show(ctx context.Context, name string) (*OpDetail, error) {
	if name == "" || strings.HasPrefix(name, "-") {
		return nil, git.Errorf(wire.CodeNotFound, nil, "%q names no operation", name)
	}
	out, err := s.repo.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if err != nil {
		if git.ExitCode(err) >= 0 {
			return nil, git.Errorf(wire.CodeNotFound, nil, "%q names no operation", name).WithHint("git agentxchain log")
		}
		return nil, err
	}
	ops, err := s.logFrom(ctx, git.OID(bytes.TrimSpace(out)), 1)
	if err != nil {
		return nil, err
	}
	if len(ops) != 1 || ops[0].Name == "" || ops[0].Run == "" {
		return nil, git.Errorf(wire.CodeNotFound, nil, "%s is a commit, but not an operation of a run", name).WithHint("git agentxchain log")
	}
	return s.detail(ctx, ops[0])
}

func (s *Store) detail(ctx context.Context, op OpInfo) (*OpDetail, error) {
	r := s.reader(ctx)
	d := &OpDetail{OpInfo: op, Evidence: make(map[string]int)}
	before := git.OID("")
	if len(op.Parents) > 0 {
		parent, err := r.commit(op.Parents[0])
		if err != nil {
			return nil, err
		}
		before = parent.Tree
		if d.StateBefore, _, err = r.file(before, treeState); err != nil {
			return nil, err
		}
	}
	doc, ok, err := r.file(op.Tree, treeRecord)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, malformed(op.Tree, "there is no %s", treeRecord)
	}
	if d.Record, err = ojson.DecodeObject(doc); err != nil {
		return nil, malformed(op.Tree, "%s: %v", treeRecord, err)
	}
	if d.StateAfter, _, err = r.file(op.Tree, treeState); err != nil {
		return nil, err
	}
	evidence, err := r.list(op.Tree, treeEvidence)
	if err != nil {
		return nil, err
	}
	for _, e := range evidence {
		data, err := r.blob(e.OID)
		if err != nil {
			return nil, err
		}
		d.Evidence[e.Name] = len(data)
	}
	if err := d.ledgers(r, before); err != nil {
		return nil, err
	}
	return d, d.files(r, before)
}

func (d *OpDetail) ledgers(r *treeReader, before git.OID) error {
	for _, l := range wire.Ledgers() {
		diff, err := r.diffLedger(before, d.Tree, l)
		if err != nil {
			return err
		}
		if diff.kind == diffSame {
			continue
		}
		c := LedgerChange{Ledger: l}
		if diff.kind == diffForeign || diff.kind == diffShorter {
			c.Rewritten = cmp.Or(diff.why, "recorded rows are gone")
			d.Ledgers = append(d.Ledgers, c)
			continue
		}
		c.Amended = diff.amends
		for _, line := range lines(diff.appended) {
			c.Appended = append(c.Appended, string(line))
		}
		d.Ledgers = append(d.Ledgers, c)
	}
	return nil
}

func (d *OpDetail) files(r *treeReader, before git.OID) error {
	groups, err := r.slots(d.Tree, treeFiles, true)
	if err != nil {
		return err
	}
	n := 0
	if before != "" {
		if n, _, err = r.lastSlot(before, treeFiles); err != nil {
			return err
		}
	}
	for _, g := range groups[min(n, len(groups)):] {
		err := r.walkFiles(g, projectDir, func(name string, _ git.OID) error {
			d.Files = append(d.Files, name)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// diffLedger relates a ledger in tree after to the one in tree before ("" for
// none), reading only segments that differ.
func (r *treeReader) diffLedger(before, after git.OID, l wire.Ledger) (*ledgerDiff, error) {
	var old []git.OID
	if before != "" {
		a, _, err := r.lookup(before, ledgerTreePath(l))
		if err != nil {
			return nil, err
		}
		b, _, err := r.lookup(after, ledgerTreePath(l))
		if err != nil {
			return nil, err
		}
		if a.OID == b.OID {
			return &ledgerDiff{}, nil
		}
		if old, err = r.slots(before, ledgerTreePath(l), false); err != nil {
			return nil, err
		}
	}
	now, err := r.slots(after, ledgerTreePath(l), false)
	if err != nil {
		return nil, err
	}
	if len(now) == 0 && len(old) == 0 {
		return &ledgerDiff{}, nil
	}
	same := 0
	for same < len(old) && same < len(now) && old[same] == now[same] {
		same++
	}
	var data []byte
	for _, oid := range now[same:] {
		seg, err := r.blob(oid)
		if err != nil {
			return nil, err
		}
		data = append(data, seg...)
	}
	if len(now) < len(old) {
		return &ledgerDiff{kind: diffForeign, why: fmt.Sprintf("%d recorded segments are gone", len(old)-len(now))}, nil
	}
	if same == len(old) {
		return &ledgerDiff{kind: diffExtended, appended: data, data: data}, nil
	}
	return compareSegments(r, l, old[same:], data)
}
