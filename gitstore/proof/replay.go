// Replay: applying a recorded operation again and comparing the result with the record.

package proof

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Replayer replays operations of one run in order. It holds the record of the previous operation, so that each step
// reads only its own record and evidence.
type Replayer struct {
	Reader *record.Reader
	Prev   object.OID // tree of the previous operation, "" at a run's first
	State  []byte
	index  []byte
	docs   map[wire.Document][]byte
	repo   []byte                        // repo-decisions.jsonl before
	tails  map[wire.Ledger]object.Object // last segments of ledgers before

	// The decoded outcome of the replayed previous operation: nil after a rebase.
	Last *protocol.Transition
	// The rules of its time accept the last operation, those of today do not.
	milder bool
	rows   []run.Line // rows of repo; nil when not decoded yet

	made []object.Object // the outcome of the last operation, if it matched the record

	configs chain.Configs
}

// Rebase reads tree and makes it what the next operation follows. After an operation that replayed well, carry does
// the same without reading. After an error nothing follows from what was read, and Prev is empty.
func (p *Replayer) Rebase(tree object.OID) (err error) {
	p.Prev, p.tails, p.Last, p.rows = tree, make(map[wire.Ledger]object.Object), nil, nil
	defer func() {
		if err != nil {
			p.Prev = ""
		}
	}()
	if p.State, _, err = p.Reader.File(tree, record.FileState); err != nil {
		return err
	}
	if p.index, _, err = p.Reader.File(tree, record.FileIndex); err != nil {
		return err
	}
	p.docs = make(map[wire.Document][]byte)
	for _, d := range []wire.Document{wire.DocSession, wire.DocHumanTasks} {
		data, ok, err := p.Reader.File(tree, record.DocumentFile(d))
		if err != nil {
			return err
		}
		if ok {
			p.docs[d] = data
		}
	}
	p.repo, err = p.Reader.Ledger(tree, wire.LedgerRepoDecisions)
	return err
}

// Snapshot returns what the rules saw: the record of the previous operation, decoded as the store decodes it. The
// outcome of a replayed operation needs no decoding from bytes, as Apply copies its input through the same codec;
// if that ever makes a difference, replay tries again with decoded bytes.
func (p *Replayer) Snapshot(cfg *config.Config) (*protocol.Snapshot, error) {
	if p.rows == nil {
		p.rows = slices.Collect(record.RowsOf(p.repo))
	}
	snap := &protocol.Snapshot{Config: cfg, HumanTasks: p.docs[wire.DocHumanTasks], RepoDecisions: p.rows}
	if data, ok := p.docs[wire.DocSession]; ok {
		if o, err := ojson.DecodeObject(data); err == nil {
			snap.Session = o
		}
	}
	if p.Last != nil {
		snap.State, _ = run.RepairState(p.Last.State, cfg)
		snap.Index = p.Last.Index
		return snap, nil
	}
	st, perr := run.DecodeState(p.State)
	if perr != nil {
		return nil, record.Malformed(p.Prev, "%s: %v", record.FileState, perr)
	}
	snap.State, _ = run.RepairState(st, cfg)
	var err error
	snap.Index, err = run.DecodeIndex(p.index)
	return snap, err
}

// ConfigOf decodes the configuration an operation recorded.
func (p *Replayer) ConfigOf(root []object.TreeEntry, tree object.OID) (*config.Config, error) {
	cfg, _, err := p.configs.Of(p.Reader, root, tree)
	return cfg, err
}

// Replay applies the operation recorded in tree and returns how the outcome differs from the record, nothing when
// it does not. Only differences are findings; err means that the comparison was not possible.
func (p *Replayer) Replay(tree object.OID, rec *protocol.Record) (diffs []string, err error) {
	root, err := p.Reader.Entries(tree)
	if err != nil {
		return nil, err
	}
	cfg, err := p.ConfigOf(root, tree)
	if err != nil {
		return nil, err
	}
	snap, err := p.Snapshot(cfg)
	if err != nil {
		return nil, err
	}
	tr, refusal := protocol.Apply(snap, rec.Op, rec.Env)
	if refusal != nil {
		if p.Last != nil {
			p.Last = nil
			return p.Replay(tree, rec)
		}
		return []string{"the rules refuse the operation: " + refusal.Message}, nil
	}
	d := &record.Derivation{Root: p.Prev, Marks: make(map[wire.Ledger]record.LedgerMark), Tail: p.tail}
	if d.Edit, err = p.Reader.Edit(p.Prev); err != nil {
		return nil, err
	}
	state := tr.State.Encode()
	if err := d.Apply(tr, state); err != nil {
		return nil, err
	}
	// What the rules do not produce is taken as recorded: the record itself, its evidence, the configuration, the
	// bundle of the turn being dispatched and the list of bundles.
	if err := d.Edit.Take(root, record.FileRecord, record.DirEvidence, record.FileConfig); err != nil {
		return nil, err
	}
	others := []string{record.FileBundleIndex}
	if turn := protocol.BundledTurn(tr); record.SafeName(turn) {
		others = append(others, record.DirBundles+"/"+turn)
	}
	for _, name := range others {
		if err := p.take(d.Edit, tree, name); err != nil {
			return nil, err
		}
	}
	if got := d.Edit.Finish(); got != tree {
		if p.Last != nil {
			p.Last = nil
			return p.Replay(tree, rec)
		}
		return p.explain(got, tree)
	}
	p.milder = !rec.HoldsToday(snap, tr)
	p.made = d.Edit.Objects
	p.carry(tree, tr, state, d)
	return nil, nil
}

// take copies a file or directory from tree.
func (p *Replayer) take(edit *record.Edit, tree object.OID, name string) error {
	e, ok, err := p.Reader.Lookup(tree, name)
	switch {
	case err != nil:
		return err
	case !ok:
		return edit.Remove(name)
	}
	return edit.PutEntry(name, e)
}

// tail returns the last segment of a ledger if it is the cached one.
func (p *Replayer) tail(l wire.Ledger, oid object.OID) []byte {
	if seg := p.tails[l]; seg.OID == oid {
		return seg.Data
	}
	return nil
}

// carry makes the replayed outcome what the next operation follows.
func (p *Replayer) carry(tree object.OID, tr *protocol.Transition, state []byte, d *record.Derivation) {
	p.Prev, p.State, p.index, p.Last = tree, state, d.Index, tr
	maps.Copy(p.docs, tr.Documents)
	blobs := make(map[object.OID][]byte, len(d.Edit.Objects))
	for _, o := range d.Edit.Objects {
		blobs[o.OID] = o.Data
	}
	for _, c := range d.Changes {
		if _, last, err := p.Reader.LastSlot(tree, record.LedgerDir(c.Ledger)); err == nil {
			p.tails[c.Ledger] = object.Object{OID: last, Data: blobs[last]}
		}
		if c.Ledger == wire.LedgerRepoDecisions {
			if amended, ok := record.AmendWorking(p.repo, c.Amends); ok {
				p.repo, p.rows = append(amended, c.Data...), nil
			}
		}
	}
}

// explain names the files in which the replayed tree differs from the recorded one.
func (p *Replayer) explain(got, want object.OID) ([]string, error) {
	var diffs []string
	var walk func(a, b object.OID, dir string) error
	walk = func(a, b object.OID, dir string) error {
		x, err := p.Reader.Entries(a)
		if err != nil {
			return err
		}
		y, err := p.Reader.Entries(b)
		if err != nil {
			return err
		}
		names := make(map[string][2]object.TreeEntry)
		for _, e := range x {
			names[e.Name] = [2]object.TreeEntry{e, {}}
		}
		for _, e := range y {
			names[e.Name] = [2]object.TreeEntry{names[e.Name][0], e}
		}
		for name, pair := range names {
			full := strings.TrimPrefix(dir+"/"+name, "/")
			switch {
			case pair[0] == pair[1]:
			case pair[0].IsTree() && pair[1].IsTree():
				if err := walk(pair[0].OID, pair[1].OID, full); err != nil {
					return err
				}
			case pair[1].OID == "":
				diffs = append(diffs, full+" is missing")
			case pair[0].OID == "":
				diffs = append(diffs, full+" does not follow from the operation")
			default:
				diffs = append(diffs, full+" differs from what the operation yields")
			}
		}
		return nil
	}
	if err := walk(got, want, ""); err != nil {
		return nil, err
	}
	slices.Sort(diffs)
	return diffs, nil
}

// replayFirst applies the operation that began a run. There is no tree before it: the state it was applied to is in
// its evidence, and of the ledgers, which outlive runs, only the end is its own.
func (p *Replayer) replayFirst(tree object.OID, rec *protocol.Record) (diffs []string, err error) {
	op, ok := rec.Op.(*protocol.InitRun)
	if !ok || op.Prior == nil {
		return []string{fmt.Sprintf("a run cannot begin with the operation %s", rec.Name)}, nil
	}
	root, err := p.Reader.Entries(tree)
	if err != nil {
		return nil, err
	}
	cfg, err := p.ConfigOf(root, tree)
	if err != nil {
		return nil, err
	}
	prior, perr := run.DecodeState(op.Prior.Data)
	if perr != nil {
		return []string{"the state the run began from cannot be read: " + perr.Message}, nil
	}
	snap := &protocol.Snapshot{Config: cfg, Index: &run.Index{Run: prior.Run()}}
	snap.State, _ = run.RepairState(prior, cfg)
	repo, err := p.Reader.Ledger(tree, wire.LedgerRepoDecisions)
	if err != nil {
		return nil, err
	}
	snap.RepoDecisions = slices.Collect(record.RowsOf(repo))
	tr, refusal := protocol.Apply(snap, rec.Op, rec.Env)
	if refusal != nil {
		return []string{"the rules refuse the operation: " + refusal.Message}, nil
	}
	expect := map[string][]byte{record.FileState: tr.State.Encode(), record.FileIndex: tr.Index.Encode()}
	for d, data := range tr.Documents {
		expect[record.DocumentFile(d)] = data
	}
	for name, want := range expect {
		got, _, err := p.Reader.File(tree, name)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(got, want) {
			diffs = append(diffs, name+" differs from what the operation yields")
		}
	}
	for _, a := range tr.Appends {
		got, err := p.Reader.LedgerEnd(tree, a.Ledger, len(a.Data))
		if err != nil {
			return nil, err
		}
		if !bytes.HasSuffix(got, a.Data) {
			diffs = append(diffs, a.Ledger.Path()+" does not end with what the operation appends")
		}
	}
	slices.Sort(diffs)
	p.milder = !rec.HoldsToday(snap, tr)
	return diffs, p.Rebase(tree)
}
