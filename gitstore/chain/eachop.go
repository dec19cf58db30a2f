// The operations of a run one by one, each with its inputs.

package chain

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RecordedOp is an operation with what it was decided on.
type RecordedOp struct {
	OpInfo
	Record   *protocol.Record // its Op is nil for an operation that cannot be applied again
	Config   *config.Config   // the configuration in force
	ConfigID object.OID       // of the configuration document; equal bytes have equal ids
	Before   *protocol.Snapshot
}

// ConfigBytes reads the configuration of an operation by its blob id.
func ConfigBytes(ctx context.Context, repo *git.Repository, id object.OID) ([]byte, error) {
	return record.NewReader(ctx, repo).Blob(id)
}

// EachOp passes the operations ops[from:to] to visit, with their index. ops is a chain from its beginning.
// Operations are visited concurrently, in no order; several goroutines may call visit at once, and it may be called
// again for operations near one that does not yield what it recorded. visit may return what the operation yields
// when applied again, which saves reading the recorded result.
//
// EachOp writes nothing and takes no lock.
func EachOp(
	ctx context.Context, repo *git.Repository, ops []OpInfo, from, to int, visit func(i int,
		op *RecordedOp) (*protocol.Transition, error),
) error {
	work := make(chan opSpan, (to-from)/spanOps+1)
	for i := from; i < to; i += spanOps {
		work <- opSpan{ops, i, min(i+spanOps, to), visit}
	}
	close(work)
	return visitSpans(ctx, repo, work)
}

// OneOp reads ops[i] with what it was decided on. ops is a chain from its beginning.
func OneOp(ctx context.Context, repo *git.Repository, ops []OpInfo, i int) (op *RecordedOp, err error) {
	err = EachOp(ctx, repo, ops, i, i+1, func(_ int, o *RecordedOp) (*protocol.Transition, error) {
		op = o
		return nil, nil
	})
	return op, err
}

// EachOpBack is EachOp over the whole chain that ends with tip, started while the chain is still being listed.
// Operations are counted from the newest, which is 0. It returns the chain from its first operation.
func EachOpBack(
	ctx context.Context, repo *git.Repository, tip object.OID, visit func(back int,
		op *RecordedOp) (*protocol.Transition,
		error),
) ([]OpInfo, error) {
	work := make(chan opSpan)
	var ops []OpInfo // newest first
	sent := 0        // how many of them were sent
	send := func(n int) {
		part := slices.Clone(ops[sent:min(sent+n+1, len(ops))])
		slices.Reverse(part)
		last := sent + len(part) - 1
		work <- opSpan{part, len(part) - n, len(part), func(i int, op *RecordedOp) (*protocol.Transition, error) {
			return visit(last-i, op)
		}}
		sent += n
	}
	listed := make(chan error, 1)
	go func() {
		defer close(work)
		for op, err := range Back(ctx, repo, tip) {
			if err != nil {
				listed <- err
				return
			}
			if ops = append(ops, op); len(ops)-sent > spanOps {
				send(spanOps) // with their predecessor
			}
		}
		if len(ops) > sent {
			send(len(ops) - sent)
		}
		listed <- nil
	}()
	err := visitSpans(ctx, repo, work)
	if lerr := <-listed; lerr != nil {
		return nil, lerr
	}
	slices.Reverse(ops)
	return ops, err
}

// spanOps is how many operations one worker visits in a row. For the first of them it reads the state and the
// index, which takes as long as about ten others.
const spanOps = 128

// opSpan is a span of operations, ops[from:to], that one worker visits in order.
type opSpan struct {
	ops      []OpInfo
	from, to int
	visit    visitor
}

// visitSpans visits until there is no more work. After an error it drains the rest.
func visitSpans(ctx context.Context, repo *git.Repository, work <-chan opSpan) error {
	errs := make([]error, min(runtime.GOMAXPROCS(0), 8))
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			p := &opReader{r: record.NewReader(ctx, repo), ctx: ctx}
			p.r.RememberBlobs()
			for c := range work {
				if errs[w] == nil {
					errs[w] = p.span(c.ops, c.from, c.to, c.visit)
				}
			}
		})
	}
	wg.Wait()
	return failures.All(errs...)
}

// opReader reads operations in order. It keeps what does not change between them.
type opReader struct {
	r   *record.Reader
	ctx context.Context

	configs   Configs
	repo      []run.Line // of the ledger at repoOID
	repoOID   object.OID
	repoStays bool                 // the ledger is the same before every operation of the span
	last      *protocol.Transition // what the previous operation yielded, nil when unknown
}

// stretch is how many consecutive operations are applied before the resulting state is compared with the recorded
// one: encoding it for every operation would be a tenth of the work.
const stretch = 16

type visitor func(i int, op *RecordedOp) (*protocol.Transition, error)

func (p *opReader) span(ops []OpInfo, from, to int, visit visitor) error {
	p.last = nil
	if err := p.repoSpan(ops, from, to); err != nil {
		return err
	}
	for a := from; a < to; a += stretch {
		b := min(a+stretch, to)
		start := p.last
		ok, err := p.follow(ops, a, b, visit, false)
		if err == nil && !ok {
			// One of them does not yield what was recorded: repeat all, comparing each.
			p.last = start
			_, err = p.follow(ops, a, b, visit, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow visits ops[from:to]. The state before an operation is what its predecessor yielded. It is compared with
// the record after every operation if each is set, else at the end of the stretch; ok reports whether it matched.
func (p *opReader) follow(ops []OpInfo, from, to int, visit visitor, each bool) (ok bool, err error) {
	for i := from; i < to; i++ {
		if err := p.ctx.Err(); err != nil {
			return false, err
		}
		prev := object.OID("")
		if i > 0 {
			prev = ops[i-1].Tree
		}
		op, err := p.read(ops[i], prev)
		if err != nil {
			return false, fmt.Errorf("operation %s: %w", ops[i].Op.Short(), err)
		}
		next, err := visit(i, op)
		if err != nil {
			return false, err
		}
		switch {
		case each && next != nil && !yields(next, &ops[i]):
			next = nil
		case each:
		case next == nil && i > from && p.last != nil && !yields(p.last, &ops[i-1]):
			return false, nil
		case next != nil && i == to-1 && !yields(next, &ops[i]):
			return false, nil
		}
		p.last = next
		p.r.NextOperation()
		tree := ops[i].Tree // the next operation starts from it
		p.r.Keep(tree)
	}
	return true, nil
}

// yields reports whether the operation arrived at its recorded state.
func yields(next *protocol.Transition, op *OpInfo) bool {
	return wire.Digest(next.State.Encode()) == op.StateDigest
}

// read reads one operation; prev is the tree of its predecessor, "" for a run's first operation.
func (p *opReader) read(info OpInfo, prev object.OID) (*RecordedOp, error) {
	root, err := p.r.Entries(info.Tree)
	if err != nil {
		return nil, err
	}
	op := &RecordedOp{OpInfo: info}
	doc, err := p.r.Required(info.Tree, record.FileRecord)
	if err != nil {
		return nil, err
	}
	op.Record, err = protocol.DecodeRecord(doc, func(digest string) ([]byte, error) {
		data, ok, err := p.r.File(info.Tree, record.DirEvidence+"/"+digest)
		if err == nil && !ok {
			err = fmt.Errorf("it is not recorded")
		}
		return data, err
	})
	if err != nil {
		return nil, UnreadableRecord(info.Op, err)
	}
	if op.Config, op.ConfigID, err = p.configs.Of(p.r, root, info.Tree); err != nil {
		return nil, err
	}
	if op.Record.Op == nil {
		return op, nil
	}
	op.Before, err = p.before(op, prev)
	return op, err
}

// before returns the snapshot the operation was decided on.
func (p *opReader) before(op *RecordedOp, prev object.OID) (*protocol.Snapshot, error) {
	snap := &protocol.Snapshot{Config: op.Config}
	if prev == "" {
		begin, ok := op.Record.Op.(*protocol.InitRun)
		if !ok || begin.Prior == nil {
			return nil, record.Malformed(op.Tree, "a run cannot begin with the operation %s", op.Record.Name)
		}
		prior, perr := run.DecodeState(begin.Prior.Data)
		if perr != nil {
			return nil, perr
		}
		snap.Index = &run.Index{Run: prior.Run()}
		snap.State, _ = run.RepairState(prior, op.Config)
		return snap, p.repoRows(snap, op.Tree)
	}
	if p.last != nil {
		snap.State, _ = run.RepairState(p.last.State, op.Config)
		snap.Index = p.last.Index
		return snap, p.repoRows(snap, prev)
	}
	data, _, err := p.r.File(prev, record.FileState)
	if err != nil {
		return nil, err
	}
	st, perr := run.DecodeState(data)
	if perr != nil {
		return nil, perr
	}
	snap.State, _ = run.RepairState(st, op.Config)
	if data, _, err = p.r.File(prev, record.FileIndex); err != nil {
		return nil, err
	}
	if snap.Index, err = run.DecodeIndex(data); err != nil {
		return nil, err
	}
	return snap, p.repoRows(snap, prev)
}

// repoSpan compares the repository decisions at both ends of a span. A ledger only grows, and an amended row does
// not change back unless another tool's change was recorded: if both ends are equal, the ledger is the same
// throughout and need not be looked up each time.
func (p *opReader) repoSpan(ops []OpInfo, from, to int) error {
	p.repoStays = false
	if slices.ContainsFunc(ops[from:to], func(op OpInfo) bool { return op.Name == protocol.OpExternal }) {
		return nil
	}
	first, err := p.repoAt(ops[max(from-1, 0)].Tree)
	if err != nil {
		return nil // the operation that needs it reports the error
	}
	last, err := p.repoAt(ops[to-1].Tree)
	p.repoStays = err == nil && first == last && first == p.repoOID
	return nil
}

// repoRows reads the repository decisions, which rarely change.
func (p *opReader) repoRows(snap *protocol.Snapshot, tree object.OID) error {
	if !p.repoStays {
		if _, err := p.repoAt(tree); err != nil {
			return err
		}
	}
	snap.RepoDecisions = p.repo
	return nil
}

// repoAt reads the rows of a tree, and returns the id of their ledger, "" for none.
func (p *opReader) repoAt(tree object.OID) (object.OID, error) {
	e, _, err := p.r.Lookup(tree, record.LedgerDir(wire.LedgerRepoDecisions))
	if err != nil || e.OID == p.repoOID {
		return e.OID, err
	}
	data, err := p.r.Ledger(tree, wire.LedgerRepoDecisions)
	if err != nil {
		return "", err
	}
	p.repo, p.repoOID = slices.Collect(record.RowsOf(data)), e.OID
	return e.OID, nil
}

// CodeRecordInvalid means that the record of an operation cannot be decoded.
const CodeRecordInvalid = "record_invalid"

// UnreadableRecord reports that the record of an operation cannot be decoded.
func UnreadableRecord(op object.OID, cause error) *fail.Error {
	return fail.Errorf(CodeRecordInvalid, cause, "operation %s cannot be read",
		op.Short()).WithHint("git agentxchain fsck --replay")
}
