// Rolling working files forward to what the run's ref holds: after a crash between the ref update and the files, or
// when another work tree has continued the run.

package gitstore

import (
	"bytes"
	"cmp"
	"sort"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxPast bounds the search for the operation of the working files, when no cache names it.
const maxPast = 10000

// past is what is known about the operations between the working files and the tip.
type past struct {
	at      *chain.RecordedRun                    // oldest operation considered; nil for a run being entered
	between []*chain.RecordedRun                  // operations after at and before the tip, newest first
	steps   int                                   // operations after at
	docs    map[wire.Document]map[object.OID]bool // versions from at on, without the tip's
	states  map[object.OID]bool
	drops   []string              // turns that ended in those operations
	ended   map[string]object.OID // turn of drops -> operation before it ended
	unstage []string              // turns whose result was sent back in those operations
	kept    map[string]bool       // SHA-256 of every evidence blob of those operations
	sizes   map[wire.Ledger]int64 // ledgers before a run being entered
}

func newPast() *past {
	p := &past{
		docs:   make(map[wire.Document]map[object.OID]bool),
		states: make(map[object.OID]bool),
		ended:  make(map[string]object.OID),
		kept:   make(map[string]bool),
	}
	for _, d := range wire.Documents() {
		p.docs[d] = make(map[object.OID]bool)
	}
	return p
}

// pastOf walks back from the tip to at, or without a cache to the newest operation that recorded the working
// state.json.
func (s *Store) pastOf(in *inspection, at *chain.RecordedRun) (*past, error) {
	p := newPast()
	state := s.docOID(in.docs[wire.DocState])
	r := in.tip.Reader
	op, tree := in.tip.Op, in.tip.Root
	for p.steps = 0; ; p.steps++ {
		c, err := r.Commit(op)
		if err != nil {
			return nil, err
		}
		rec := &chain.RecordedRun{Run: in.run, Op: op, Root: tree, Reader: r}
		if p.steps > 0 {
			if err := p.remember(rec); err != nil {
				return nil, err
			}
			p.between = append(p.between, rec)
		}
		last := len(c.Parents) == 0
		var parent *chain.RecordedRun
		if !last {
			if parent, err = chain.At(r, in.run, c.Parents[0]); err != nil {
				return nil, err
			}
		}
		if at != nil {
			if op == at.Op {
				p.at = at
				return p, nil
			}
			if last {
				return nil, fail.Errorf(record.CodeChainBroken, nil,
					"the ref of run %s was moved from %s to %s, which does not follow from it", in.run, at.Op.Short(),
					in.tip.Op.Short()).
					WithHint("git update-ref %s%s %s puts it back; git agentxchain repair --from-ref %s takes the ref as it is",
						git.RunRefPrefix, in.run, at.Op, in.run)
			}
		} else {
			// state.json is written last: the files are at least at the operation that first recorded this state.
			mine, err := rec.DocOID(wire.DocState)
			if err != nil {
				return nil, err
			}
			before := object.OID("")
			if parent != nil {
				if before, err = parent.DocOID(wire.DocState); err != nil {
					return nil, err
				}
			}
			if mine == state && before != state || last || p.steps >= maxPast {
				p.at = rec
				return p, nil
			}
		}
		if err := p.passed(rec, c); err != nil {
			return nil, err
		}
		op, tree = parent.Op, parent.Root
	}
}

// remember adds the documents of an operation that the files may still be at.
func (p *past) remember(rec *chain.RecordedRun) error {
	for _, d := range wire.Documents() {
		oid, err := rec.DocOID(d)
		if err != nil {
			return err
		}
		p.docs[d][oid] = true
		if d == wire.DocState {
			p.states[oid] = true
		}
	}
	return nil
}

// passed adds the effects of an operation that the files may lack.
func (p *past) passed(rec *chain.RecordedRun, c *object.Commit) error {
	if turns := record.Trailer(c.Message, record.TrailerDropped); turns != "" {
		p.drops = append(p.drops, strings.Fields(turns)...)
		for turn := range strings.FieldsSeq(turns) {
			if len(c.Parents) > 0 {
				p.ended[turn] = c.Parents[0]
			}
		}
	}
	if turns := record.Trailer(c.Message, record.TrailerUnstaged); turns != "" {
		p.unstage = append(p.unstage, strings.Fields(turns)...)
	}
	list, err := rec.Reader.List(rec.Root, record.DirEvidence)
	for _, e := range list {
		p.kept[e.Name] = true
	}
	return err
}

// inspectEntering settles a crash around the creation of a run's ref. found is false when the note no longer
// matters.
func (s *Store) inspectEntering(in *inspection, r *record.Reader, note *entering) (found bool, err error) {
	tip, err := chain.Tip(r.Context(), s.repo, note.Run)
	if err != nil || tip == "" {
		return false, nil // the crash came before the ref was created: nothing happened
	}
	rec, err := chain.At(r, note.Run, tip)
	if err != nil {
		return false, err
	}
	tipState, err := rec.DocOID(wire.DocState)
	if err != nil {
		return false, err
	}
	state := s.docOID(in.docs[wire.DocState])
	if state == tipState || state != note.Docs[wire.DocState] {
		return false, nil // completed already, or moved elsewhere since
	}
	p := newPast()
	p.sizes = note.Ledgers
	for d, oid := range note.Docs {
		p.docs[d][oid] = true
	}
	op := tip
	for {
		c, err := r.Commit(op)
		if err != nil {
			return false, err
		}
		p.steps++
		if err := p.passed(&chain.RecordedRun{Run: note.Run, Op: op, Root: c.Tree, Reader: r}, c); err != nil {
			return false, err
		}
		if op == note.Op {
			break
		}
		if len(c.Parents) == 0 {
			return false, nil // another work tree's run with the same name
		}
		if err := p.remember(&chain.RecordedRun{Run: note.Run, Op: op, Root: c.Tree, Reader: r}); err != nil {
			return false, err
		}
		op = c.Parents[0]
	}
	in.run, in.tip = note.Run, rec
	if err := s.pass(r.Context(), in, note.Run, tip); err != nil {
		return false, err
	}
	plan, refusal, err := s.planForward(in, p)
	if err != nil {
		return false, err
	}
	if refusal != nil {
		return false, refusal
	}
	in.sit, in.forward, in.steps = sitBehind, plan, p.steps
	return true, nil
}

// planForward computes what brings the working files to the tip. refusal is set when a file is neither what an
// operation recorded nor partway to it.
func (s *Store) planForward(in *inspection, p *past) (plan *workdir.Plan, refusal *fail.Error, err error) {
	plan = &workdir.Plan{
		Docs:    make(map[wire.Document][]byte),
		Bundles: make(map[string]map[string][]byte),
		Drops:   p.drops,
		Unstage: p.unstage,
	}
	plan.Proof = func(data []byte) bool {
		return p.kept[wire.SHA256(data)]
	}
	for turn, op := range p.ended {
		c, err := in.tip.Reader.Commit(op)
		if err != nil {
			return nil, nil, err
		}
		if err := supplements(&chain.RecordedRun{
			Run:    in.run,
			Op:     op,
			Root:   c.Tree,
			Reader: in.tip.Reader,
		}, plan, turn); err != nil {
			return nil, nil, err
		}
	}
	for _, d := range wire.Documents() {
		want, err := in.tip.DocOID(d)
		if err != nil {
			return nil, nil, err
		}
		have := s.docOID(in.docs[d])
		switch {
		case have == want:
		case have != "" && !p.docs[d][have]:
			return nil, record.TamperedDoc(string(d), "it was changed while the run went on to operation %s",
				in.tip.Op.Short()), nil
		case want == "":
			plan.Remove = append(plan.Remove, string(d))
		default:
			if plan.Docs[d], err = in.tip.Reader.Blob(want); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, l := range wire.Ledgers() {
		w, refusal, err := s.forwardLedger(in.tip, p, l)
		if err != nil || refusal != nil {
			return nil, refusal, err
		}
		if w != nil {
			plan.Ledgers = append(plan.Ledgers, *w)
		}
	}
	if err := s.forwardBundles(in.tip, plan); err != nil {
		return nil, nil, err
	}
	return plan, nil, s.forwardFiles(in.tip, p, plan)
}

// forwardLedger returns the write that completes a ledger, nil when it is
// complete.
func (s *Store) forwardLedger(tip *chain.RecordedRun, p *past, l wire.Ledger) (*workdir.LedgerWrite, *fail.Error,
	error) {
	diff, err := s.compare(tip, l)
	if err != nil {
		return nil, nil, err
	}
	if diff.Kind == record.Same {
		return nil, nil, nil
	}
	var old *record.LedgerDiff
	if p.at != nil {
		if old, err = s.compare(p.at, l); err != nil {
			return nil, nil, err
		}
	}
	// A file shorter than what it held before is damaged, not half written.
	size, known := p.sizes[l]
	if old != nil && old.Kind == record.Shorter || known && int64(len(diff.Data)) < size {
		return nil, record.Tampered(l, 0, "rows that were recorded are gone"), nil
	}
	// An operation in between may have amended a line: the old file is then not a prefix of the new one, but
	// exactly an older version.
	if diff.Kind == record.Shorter || old != nil && old.Kind == record.Same {
		full, err := tip.Reader.Ledger(tip.Root, l)
		if err != nil {
			return nil, nil, err
		}
		if diff.Kind == record.Shorter {
			return &workdir.LedgerWrite{
				Ledger: l,
				Offset: int64(len(diff.Data)),
				Data:   full[len(diff.Data):],
			}, nil, nil
		}
		return &workdir.LedgerWrite{Ledger: l, Data: full, Replace: true}, nil, nil
	}
	// A line is amended in place where that is cheap (amendTail), and a power cut may leave zeros in a write.
	if diff.Data != nil {
		var was []byte
		if old != nil {
			if was, err = p.at.Reader.Ledger(p.at.Root, l); err != nil {
				return nil, nil, err
			}
		}
		full, err := tip.Reader.Ledger(tip.Root, l)
		if err != nil {
			return nil, nil, err
		}
		way := durable.Torn(diff.Data, was, full)
		if !way {
			if way, err = p.onTheWay(l, diff.Data, was); err != nil {
				return nil, nil, err
			}
		}
		if way {
			return &workdir.LedgerWrite{Ledger: l, Data: full, Replace: true}, nil, nil
		}
	}
	why := diff.Why
	if diff.Kind == record.Extended || why == "" {
		why = "it was changed while the run went on to operation " + tip.Op.Short()
	}
	return nil, record.Tampered(l, diff.Line, "%s", why), nil
}

// onTheWay reports whether a ledger is as an operation before the tip recorded it, or was being brought there from
// was, its previous content: the process was killed before it noted where the files are, and another work tree's
// operation has amended a row since. Ledgers only grow, and so do amended rows: the size tells which operation it
// can be.
func (p *past) onTheWay(l wire.Ledger, data, was []byte) (bool, error) {
	var failed error
	then := func(i int) []byte {
		rec := p.between[i]
		old, err := rec.Reader.Ledger(rec.Root, l)
		failed = cmp.Or(failed, err)
		return old
	}
	last := sort.Search(len(p.between), func(i int) bool { return failed == nil && len(then(i)) < len(data) }) - 1
	if failed != nil || last < 0 {
		return false, failed
	}
	old := then(last) // the oldest that has as many bytes
	return len(data) >= len(was) && bytes.HasPrefix(old, data) || durable.Torn(data, was, old), failed
}

// forwardBundles adds the missing bundles of active turns.
func (s *Store) forwardBundles(tip *chain.RecordedRun, plan *workdir.Plan) error {
	turns, err := tip.Reader.List(tip.Root, record.DirBundles)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if !t.IsTree() || !record.SafeName(t.Name) {
			continue
		}
		files, err := tip.Reader.BundleFiles(t.OID)
		if err != nil {
			return err
		}
		sealed, ok := files[record.BundleSeal]
		if !ok && s.exists(wire.BundleDir(t.Name)) {
			continue
		}
		if ok {
			seal, _, ok, err := s.work.Read(wire.BundleDir(t.Name)+"/"+record.BundleSeal, workdir.MaxDocument)
			if err == nil && ok && tip.Reader.BlobID(seal) == sealed {
				continue
			}
		}
		bundle := make(map[string][]byte)
		for name, oid := range files {
			if bundle[name], err = tip.Reader.Blob(oid); err != nil {
				return err
			}
		}
		plan.Bundles[t.Name] = bundle
	}
	return nil
}

// forwardFiles adds missing files that the operations in between wrote. It leaves existing files alone, whatever
// they hold.
func (s *Store) forwardFiles(tip *chain.RecordedRun, p *past, plan *workdir.Plan) error {
	groups, err := tip.Reader.Slots(tip.Root, record.DirFiles, true)
	if err != nil {
		return err
	}
	from := max(0, len(groups)-p.steps)
	if p.at != nil {
		if from, _, err = tip.Reader.LastSlot(p.at.Root, record.DirFiles); err != nil {
			return err
		}
	}
	for _, g := range groups[min(from, len(groups)):] {
		err := tip.Reader.WalkFiles(g, record.ProjectDir, func(name string, oid object.OID) error {
			if !record.SafeFile(name) || s.exists(name) && !sharedFile(name) {
				return nil
			}
			data, err := tip.Reader.Blob(oid)
			plan.Files = append(plan.Files, protocol.FileWrite{Path: name, Data: data})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
