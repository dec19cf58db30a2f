// Comparing an export with the run here: its record is verified and compared like a remote's. An export without a
// record is compared by its files, which only show which operation left them.

package restore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// exportLedgers are the ledgers that locate an export in a run: none of their rows is ever changed.
var exportLedgers = []wire.Ledger{wire.LedgerHistory, wire.LedgerEvents}

// Against compares the run of an artifact with the one that the project at dir, or the repository without a work
// tree there, has recorded; if run is not "", the artifact must be of that run. It verifies the artifact first,
// like Verify.
//
// Errors: artifact_unreadable, artifact_unverified, history_invalid for an incomplete record; invalid_argument for
// an initiative, for another run, and for an artifact that leaves out what is compared.
func Against(ctx context.Context, dir string, r io.Reader, run string) (*travel.Against, error) {
	in, err := receive(ctx, r, "", VerifyOptions{})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	store, err := gitstore.OpenChecked(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	x := &placing{in: in, store: store, repo: store.Repository(), out: &travel.AgainstRun{Run: in.run()}}
	if err := x.comparable(run); err != nil {
		return nil, err
	}
	if in.hasRecord {
		return x.recorded(ctx)
	}
	if err := x.place(ctx); err != nil {
		return nil, err
	}
	return &travel.Against{Kind: travel.AgainstExport, Files: true, Runs: []*travel.AgainstRun{x.out}}, nil
}

// recorded compares the record in the artifact, whose newest operation must have left the files beside it.
func (x *placing) recorded(ctx context.Context) (*travel.Against, error) {
	file, remove, err := x.in.recordFile()
	if err != nil {
		return nil, err
	}
	defer remove()
	repo, done, err := bundle.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer done()
	run := x.out.Run
	a, err := travel.CompareOpened(ctx, x.store, travel.AgainstExport, "", repo, run)
	if err != nil {
		return nil, err
	}
	x.repo, x.out = repo, a.Runs[0]
	if x.out.State == travel.RunDamaged {
		return a, nil
	}
	at, err := x.stands(ctx, x.out.There)
	if err != nil {
		return nil, err
	}
	state, err := chain.RunRecordAt(ctx, repo, run, x.out.There).Document(wire.DocState)
	if err != nil {
		return nil, err
	}
	if at != placeSame || !bytes.Equal(state, x.state) {
		x.out.State, x.out.Code = travel.RunDamaged, travel.CodeExportDiffers
		x.out.Why = "its files are not those that operation " + x.out.There.Short() +
			", the newest of its record, left"
	}
	return a, nil
}

// placing locates an artifact in a run.
type placing struct {
	in    *taken
	store *gitstore.Store
	repo  *git.Repository // with whose operations the files are compared
	out   *travel.AgainstRun
	state []byte
	rows  map[wire.Ledger][]byte
}

// comparable reads the files to compare.
func (x *placing) comparable(run string) (err error) {
	refuse := func(format string, args ...any) error {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "against",
			Message: fmt.Sprintf(format, args...),
			Hint:    "git agentxchain export --output FILE --bundle BUNDLE writes both; name one of the two",
		}
	}
	switch {
	case x.in.a.kind != KindRun:
		return refuse("The artifact is that of an initiative: name the export of a run.")
	case x.in.run() == "":
		return refuse("The artifact holds no run.")
	case run != "" && run != x.in.run():
		return refuse("The artifact is that of run %s, not of %s.", text.OneLine(x.in.run()), run)
	}
	x.rows = make(map[wire.Ledger][]byte)
	if x.state, err = x.read(statePath); err != nil {
		return err
	}
	if x.state == nil {
		return refuse("The artifact leaves out state.json, so that it cannot be compared.")
	}
	for _, l := range exportLedgers {
		if slices.Contains(x.in.without, l.Path()) {
			return refuse("The artifact leaves out rows of %s, so that it cannot be compared.", l.Path())
		}
		if x.rows[l], err = x.read(l.Path()); err != nil {
			return err
		}
	}
	return nil
}

// read returns a file of the artifact, nil if it has none.
func (x *placing) read(name string) ([]byte, error) {
	if _, there := x.in.at[name]; !there {
		return nil, nil
	}
	r, err := x.in.open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, temporary(err)
	}
	return data, nil
}

// How the ledgers of an artifact relate to those of an operation.
type ledgerPlace int

const (
	placeApart ledgerPlace = iota
	placeAfter             // they continue them
	placeSame
)

func (x *placing) stands(ctx context.Context, op object.OID) (ledgerPlace, error) {
	rec := chain.RunRecordAt(ctx, x.repo, x.out.Run, op)
	at := placeSame
	for _, l := range exportLedgers {
		data, err := rec.Ledger(l)
		switch {
		case err != nil:
			return placeApart, err
		case !bytes.HasPrefix(x.rows[l], data):
			return placeApart, nil
		case len(data) != len(x.rows[l]):
			at = placeAfter
		}
	}
	return at, nil
}

// place finds the operation that left the artifact's files, else the newest one that they continue.
func (x *placing) place(ctx context.Context) error {
	out := x.out
	tip, err := chain.Tip(ctx, x.store.Repository(), out.Run)
	if err != nil {
		return err
	}
	if tip == "" {
		past, err := x.store.Repository().Tips(ctx, archive.PastPrefix)
		if err != nil {
			return err
		}
		if tip = past[out.Run]; tip == "" {
			out.State, out.Why = travel.RunMissingHere, "the files of an export say no more"
			return nil
		}
	}
	out.Here = tip
	ops, err := x.store.Chain(ctx, out.Run, tip) // oldest first
	if err != nil {
		return err
	}
	digest := wire.Digest(x.state)
	for i, op := range slices.Backward(ops) {
		if op.StateDigest != digest {
			continue
		}
		at, err := x.stands(ctx, op.Op)
		if err != nil {
			return err
		}
		if at == placeSame {
			x.found(ops, i)
			return nil
		}
	}
	return x.beyond(ctx, ops, digest)
}

// found sets the operation.
func (x *placing) found(ops []chain.OpInfo, i int) {
	x.out.State, x.out.There, x.out.Base = travel.RunEqual, ops[i].Op, ops[i].Op
	if x.out.Ahead = len(ops) - 1 - i; x.out.Ahead > 0 {
		x.out.State = travel.RunAhead
	}
}

// beyond places an artifact that no operation here recorded.
func (x *placing) beyond(ctx context.Context, ops []chain.OpInfo, digest string) error {
	out := x.out
	// The ledgers of a later operation continue those of an earlier one, so a binary search works.
	lo, hi := 0, len(ops)
	for lo < hi {
		mid := (lo + hi) / 2
		at, err := x.stands(ctx, ops[mid].Op)
		if err != nil {
			return err
		}
		if at == placeApart {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == 0 {
		out.State, out.Code, out.Why = travel.RunDamaged, record.CodeForeignRun,
			"the ledgers of the export share no operation with the run here"
		return nil
	}
	base := ops[lo-1]
	out.Base, out.Ahead = base.Op, len(ops)-lo
	rec := chain.RunRecordAt(ctx, x.repo, out.Run, base.Op)
	for _, l := range exportLedgers {
		data, err := rec.Ledger(l)
		if err != nil {
			return err
		}
		out.Behind += bytes.Count(x.rows[l][len(data):], []byte("\n"))
	}
	was := func(op chain.OpInfo) bool { return op.StateDigest == digest }
	after := slices.IndexFunc(ops[lo:], was)
	switch {
	case after >= 0 && !slices.ContainsFunc(ops[:lo], was):
		out.State, out.Code = travel.RunDamaged, travel.CodeExportDiffers
		out.Why = "its state is that of operation " + ops[lo+after].Op.Short() +
			", and its history and events are those recorded only until operation " +
			base.Op.Short() + ": rows are gone or were changed"
	case out.Behind == 0:
		out.State, out.Since = travel.RunDiverged, base.Time
		out.Why = "its history and events end as those of operation " + base.Op.Short() +
			", and no operation here recorded its state: it was made after an operation that is not here and wrote no row, or was changed"
	case out.Ahead == 0:
		out.State = travel.RunBehind
	default:
		out.State, out.Since = travel.RunDiverged, base.Time
	}
	return nil
}
