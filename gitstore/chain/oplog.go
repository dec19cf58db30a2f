// The operation chain of a run as a log, and one operation in detail.

package chain

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpInfo is the information in an operation's commit.
type OpInfo struct {
	Op          object.OID
	Parents     []object.OID // one parent; none for a run's first operation
	Tree        object.OID
	Run         string
	Name        string    // wire name: accept_turn, external, ...
	Time        time.Time // to the second; the record has it in milliseconds
	Actor       string
	Email       string
	Turn        string
	Role        string
	Subject     string
	StateDigest string // sha256:<hex> of state.json after it
	CodeHead    string // HEAD of the project's own history at the time
	Dropped     []string
	Unstaged    []string
	Previous    object.OID // last operation of the previous run, in a run's first operation
	Origin      object.OID // the original operation if it was decided again, "" for none
}

// Log returns the operations from tip back, newest first, at most limit (0: all). With an error it returns those
// read so far.
func Log(ctx context.Context, repo *git.Repository, tip object.OID, limit int) (ops []OpInfo, err error) {
	for op, err := range Back(ctx, repo, tip) {
		if err != nil {
			return ops, err
		}
		if ops = append(ops, op); len(ops) == limit {
			break
		}
	}
	return ops, nil
}

// Back yields the operations from tip back, newest first, and reads no further than its user takes them. It reads them
// in this process and verifies each against its id: git trusts a pack index even if it leads to the wrong commit.
func Back(ctx context.Context, repo *git.Repository, tip object.OID) iter.Seq2[OpInfo, error] {
	return newWalker(ctx, repo).back(tip)
}

// walker walks chains of operations.
type walker struct {
	r    *record.Reader
	ends map[object.OID]bool // where a shallow history ends
}

func newWalker(ctx context.Context, repo *git.Repository) walker {
	return walker{record.NewReader(ctx, repo), history.ShallowCommits(repo)}
}

// back yields the operations from tip back; an error is the last.
func (w walker) back(tip object.OID) iter.Seq2[OpInfo, error] {
	return func(yield func(OpInfo, error) bool) {
		for id := tip; ; {
			op, err := Operation(w.r, id)
			if err = cmp.Or(w.r.Context().Err(), err); err != nil {
				yield(OpInfo{}, err)
				return
			}
			if w.ends[id] {
				op.Parents = nil
			}
			if !yield(op, nil) || len(op.Parents) == 0 {
				return
			}
			id = op.Parents[0]
		}
	}
}

// Operation reads the information in an operation's commit.
func Operation(r *record.Reader, id object.OID) (OpInfo, error) {
	c, err := r.Commit(id)
	if err != nil {
		return OpInfo{}, err
	}
	op := OpInfo{
		Op:      id,
		Parents: c.Parents,
		Tree:    c.Tree,
		Time:    c.Author.When.UTC(),
		Actor:   c.Author.Name,
		Email:   c.Author.Email,
	}
	op.ReadMessage(c.Message)
	return op, nil
}

// ReadMessage parses the subject and the trailers that message wrote.
func (op *OpInfo) ReadMessage(msg string) {
	var rest string
	op.Subject, rest, _ = strings.Cut(msg, "\n")
	for line := range strings.SplitSeq(rest, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		switch key {
		case record.TrailerRun:
			op.Run = value
		case record.TrailerOp:
			op.Name = value
		case record.TrailerTurn:
			op.Turn = value
		case record.TrailerRole:
			op.Role = value
		case record.TrailerState:
			op.StateDigest = value
		case record.TrailerHead:
			op.CodeHead = value
		case record.TrailerDropped:
			op.Dropped = strings.Fields(value)
		case record.TrailerUnstaged:
			op.Unstaged = strings.Fields(value)
		case record.TrailerPrevious:
			op.Previous = object.OID(value)
		case record.TrailerOrigin:
			op.Origin = object.OID(value)
		}
	}
}

// LedgerChange is the change that an operation made to one ledger.
type LedgerChange struct {
	Ledger   wire.Ledger
	Appended []string       // lines, without line feeds
	Amended  []ledger.Amend // lines replaced in place
	// Rewritten says how the ledger differs when lines were not only added or amended; either a person accepted
	// that, or fsck has a finding.
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

// Show returns one operation. name is a commit of a run's chain, abbreviated or in any form that git resolves.
func Show(ctx context.Context, repo *git.Repository, name string) (*OpDetail, error) {
	if name == "" || strings.HasPrefix(name, "-") {
		return nil, fail.Errorf(wire.CodeNotFound, nil, "%q names no operation", name)
	}
	out, err := repo.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if err != nil {
		if git.ExitCode(err) >= 0 {
			return nil, fail.Errorf(wire.CodeNotFound, nil, "%q names no operation",
				name).WithHint("git agentxchain log")
		}
		return nil, err
	}
	ops, err := Log(ctx, repo, object.OID(bytes.TrimSpace(out)), 1)
	if err != nil {
		return nil, err
	}
	if len(ops) != 1 || ops[0].Name == "" || ops[0].Run == "" {
		return nil, fail.Errorf(wire.CodeNotFound, nil, "%s is a commit, but not an operation of a run",
			name).WithHint("git agentxchain log")
	}
	return detail(ctx, repo, ops[0])
}

func detail(ctx context.Context, repo *git.Repository, op OpInfo) (*OpDetail, error) {
	r := record.NewReader(ctx, repo)
	d := &OpDetail{OpInfo: op, Evidence: make(map[string]int)}
	before := object.OID("")
	if len(op.Parents) > 0 {
		parent, err := r.Commit(op.Parents[0])
		if err != nil {
			return nil, err
		}
		before = parent.Tree
		if d.StateBefore, _, err = r.File(before, record.FileState); err != nil {
			return nil, err
		}
	}
	doc, err := r.Required(op.Tree, record.FileRecord)
	if err != nil {
		return nil, err
	}
	if d.Record, err = ojson.DecodeObject(doc); err != nil {
		return nil, record.Malformed(op.Tree, "%s: %v", record.FileRecord, err)
	}
	if d.StateAfter, _, err = r.File(op.Tree, record.FileState); err != nil {
		return nil, err
	}
	evidence, err := r.List(op.Tree, record.DirEvidence)
	if err != nil {
		return nil, err
	}
	for _, e := range evidence {
		data, err := r.Blob(e.OID)
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

func (d *OpDetail) ledgers(r *record.Reader, before object.OID) error {
	for _, l := range wire.Ledgers() {
		diff, err := r.DiffLedger(before, d.Tree, l)
		if err != nil {
			return err
		}
		if diff.Kind == record.Same {
			continue
		}
		c := LedgerChange{Ledger: l}
		if diff.Kind == record.Foreign || diff.Kind == record.Shorter {
			c.Rewritten = cmp.Or(diff.Why, "recorded rows are gone")
			d.Ledgers = append(d.Ledgers, c)
			continue
		}
		c.Amended = diff.Amends
		for _, line := range record.Lines(diff.Appended) {
			c.Appended = append(c.Appended, string(line))
		}
		d.Ledgers = append(d.Ledgers, c)
	}
	return nil
}

func (d *OpDetail) files(r *record.Reader, before object.OID) error {
	groups, err := r.Slots(d.Tree, record.DirFiles, true)
	if err != nil {
		return err
	}
	n := 0
	if before != "" {
		if n, _, err = r.LastSlot(before, record.DirFiles); err != nil {
			return err
		}
	}
	for _, g := range groups[min(n, len(groups)):] {
		err := r.WalkFiles(g, record.ProjectDir, func(name string, _ object.OID) error {
			d.Files = append(d.Files, name)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
