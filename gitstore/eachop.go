// The operations of a run one by one, each with what it was decided on.

package gitstore

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RecordedOp is an operation as it was decided.
type RecordedOp struct {
	OpInfo
	Record   *protocol.Record // its Op is nil for what cannot be applied again
	Config   *config.Config   // it was decided under
	ConfigID git.OID          // of the document, the same for the same bytes
	Before   *protocol.Snapshot
}

// ConfigBytes reads a configuration that an operation was decided under.
func (s *Store) ConfigBytes(ctx context.Context, id git.OID) ([]byte, error) {
	return s.reader(ctx).blob(id)
}

// Chain lists the operations of a run from the first to op, its newest when op is "".
// An empty run is the one of this work tree.
func (s *Store) Chain(ctx context.Context, run string, op git.OID) ([]OpInfo, error) {
	if run == "" && op == "" {
		if run = s.currentRun(); run == "" {
			return nil, s.noRunHere(ctx)
		}
	}
	if op == "" {
		var err error
		if op, err = s.newest(ctx, run); err != nil {
			return nil, err
		}
	}
	ops, err := s.logFrom(ctx, op, 0)
	slices.Reverse(ops)
	return ops, err
}

// EachOp hands the operations ops[from:to] to visit, with their index. ops is a chain
// from its beginning. Operations are visited side by side, in no order; visit may be
// called by several goroutines at once. It may return what the operation yields when
// applied again, which saves reading what it recorded.
//
// Nothing is written, and no lock taken.
func (s *Store) EachOp(
	ctx context.Context, ops []OpInfo, from, to int, visit func(i int, op *RecordedOp) (*protocol.Transition, error),
) error {
	type chunk struct{ from, to int }
	var chunks []chunk
	for i := from; i < to; i += fsckChunk {
		chunks = append(chunks, chunk{i, min(i+fsckChunk, to)})
	}
	work := make(chan chunk, len(chunks))
	for _, c := range chunks {
		work <- c
	}
	close(work)
	errs := make([]error, max(1, min(runtime.GOMAXPROCS(0), 8, len(chunks))))
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			p := &opReader{r: s.reader(ctx), ctx: ctx}
			p.r.recent = git.NewRecentBlobs()
			for c := range work {
				if errs[w] == nil {
					errs[w] = p.span(ops, c.from, c.to, visit)
				}
			}
		})
	}
	wg.Wait()
	return failures.All(errs...)
}

// opReader reads operations in order. It holds what does not change between them.
type opReader struct {
	r   *treeReader
	ctx context.Context

	config    *config.Config
	configOID git.OID
	repo      []run.Line // of the ledger at repoOID
	repoOID   git.OID
	last      *protocol.Transition // what the operation before yielded, nil when not known
}

func (p *opReader) span(ops []OpInfo, from, to int, visit func(int, *RecordedOp) (*protocol.Transition, error)) error {
	p.last = nil
	for i := from; i < to; i++ {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		prev := git.OID("")
		if i > 0 {
			prev = ops[i-1].Tree
		}
		op, err := p.read(ops[i], prev)
		if err != nil {
			return fmt.Errorf("operation %s: %w", ops[i].Op.Short(), err)
		}
		next, err := visit(i, op)
		if err != nil {
			return err
		}
		p.last = nil
		if next != nil && stateDigest(next.State.Encode()) == ops[i].StateDigest {
			p.last = next
		}
		p.r.recent.Next()
		clear(p.r.known)
		clear(p.r.parsed)
	}
	return nil
}

// read reads one operation; prev is the tree of the one before, "" for a run's first.
func (p *opReader) read(info OpInfo, prev git.OID) (*RecordedOp, error) {
	root, err := p.r.entries(info.Tree)
	if err != nil {
		return nil, err
	}
	op := &RecordedOp{OpInfo: info}
	doc, ok, err := p.r.file(info.Tree, treeRecord)
	if err == nil && !ok {
		err = malformed(info.Tree, "there is no %s", treeRecord)
	}
	if err != nil {
		return nil, err
	}
	op.Record, err = protocol.DecodeRecord(doc, func(digest string) ([]byte, error) {
		data, ok, err := p.r.file(info.Tree, treeEvidence+"/"+digest)
		if err == nil && !ok {
			err = fmt.Errorf("it is not recorded")
		}
		return data, err
	})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(root, func(e git.TreeEntry) bool { return e.Name == treeConfig })
	if i < 0 {
		return nil, malformed(info.Tree, "there is no %s", treeConfig)
	}
	if p.config == nil || p.configOID != root[i].OID {
		data, err := p.r.blob(root[i].OID)
		if err != nil {
			return nil, err
		}
		cfg, _, err := config.Decode(data)
		if err != nil {
			return nil, malformed(info.Tree, "%s: %v", treeConfig, err)
		}
		p.config, p.configOID = cfg, root[i].OID
	}
	op.Config, op.ConfigID = p.config, p.configOID
	if op.Record.Op == nil {
		return op, nil
	}
	op.Before, err = p.before(op, prev)
	return op, err
}

// before is the snapshot the operation was decided on.
func (p *opReader) before(op *RecordedOp, prev git.OID) (*protocol.Snapshot, error) {
	snap := &protocol.Snapshot{Config: op.Config}
	if prev == "" {
		begin, ok := op.Record.Op.(*protocol.InitRun)
		if !ok || begin.Prior == nil {
			return nil, malformed(op.Tree, "a run cannot begin with the operation %s", op.Record.Name)
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
	data, _, err := p.r.file(prev, treeState)
	if err != nil {
		return nil, err
	}
	st, perr := run.DecodeState(data)
	if perr != nil {
		return nil, perr
	}
	snap.State, _ = run.RepairState(st, op.Config)
	if data, _, err = p.r.file(prev, treeIndex); err != nil {
		return nil, err
	}
	if snap.Index, err = run.DecodeIndex(data); err != nil {
		return nil, err
	}
	return snap, p.repoRows(snap, prev)
}

// repoRows reads the repository decisions, which rarely change.
func (p *opReader) repoRows(snap *protocol.Snapshot, tree git.OID) error {
	e, found, err := p.r.lookup(tree, ledgerTreePath(wire.LedgerRepoDecisions))
	if err != nil || !found {
		return err
	}
	if p.repoOID != e.OID {
		data, err := p.r.readLedger(tree, wire.LedgerRepoDecisions)
		if err != nil {
			return err
		}
		p.repo, p.repoOID = slices.Collect(rowsOf(data)), e.OID
	}
	snap.RepoDecisions = p.repo
	return nil
}
