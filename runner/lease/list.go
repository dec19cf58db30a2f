// The leases of a run, and the history of one.

package lease

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lease"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Info is a lease for people and lists.
type Info struct {
	Lease *run.Lease
	Ref   string
	Op    object.OID
	At    time.Time // of its last change
	Live  bool      // held at this moment
	Turn  bool      // its turn is active
}

// List lists the leases of the run runID; v is the run of the work tree. problems lists refs that
// are not valid leases.
func List(
	ctx context.Context, s *gitstore.Store, v *gitstore.View, runID string, now time.Time,
) (list []Info, problems []error, err error) {
	recs, problems, err := lease.List(ctx, s.Repository(), runID)
	if err != nil {
		return nil, nil, err
	}
	for i := range recs {
		l, err := run.DecodeLease(recs[i].Data)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", recs[i].Ref, err))
			continue
		}
		_, active := v.State.ActiveTurns.Get(l.StepID)
		if active = active && runID == v.State.Run(); active {
			if l, err = inTheRun(ctx, s, l); err != nil {
				return nil, nil, err
			}
		}
		list = append(list, infoOf(&recs[i], l))
		list[len(list)-1].Live, list[len(list)-1].Turn = active && l.Live(now), active
	}
	return list, problems, nil
}

func infoOf(rec *lease.Record, l *run.Lease) Info {
	return Info{Lease: l, Ref: rec.Ref, Op: rec.Op, At: rec.At}
}

// History returns the states of a turn's lease, newest first, at most limit.
func History(ctx context.Context, s *gitstore.Store, runID, turn string, limit int) ([]Info, error) {
	rec, err := lease.Read(ctx, s.Repository(), runID, turn)
	if err != nil || rec == nil {
		return nil, err
	}
	recs, err := lease.History(ctx, s.Repository(), rec, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Info, 0, len(recs))
	for i := range recs {
		l, err := run.DecodeLease(recs[i].Data)
		if err != nil {
			return out, err
		}
		out = append(out, infoOf(&recs[i], l))
	}
	return out, nil
}

// kept is how many refs of leases of finished turns a run keeps.
const kept = 16

// Prune removes the oldest refs of leases whose turns are over: the run records them. Nothing
// depends on it.
func Prune(ctx context.Context, s *gitstore.Store, v *gitstore.View) {
	all, _, err := lease.List(ctx, s.Repository(), "")
	if err != nil {
		return
	}
	var over []lease.Record
	for _, rec := range all {
		_, err := run.DecodeLease(rec.Data)
		if active := rec.Run == v.State.Run() && v.State.ActiveTurns.Has(rec.Turn); err == nil && !active {
			over = append(over, rec)
		}
	}
	slices.SortFunc(over, func(a, b lease.Record) int { return b.At.Compare(a.At) })
	if len(over) <= kept {
		return
	}
	var gone []git.RefUpdate
	for _, rec := range over[kept:] {
		gone = append(gone, git.RefUpdate{Name: rec.Ref, Old: rec.Op})
	}
	_ = lease.Move(ctx, s.Repository(), gone, "agentxchain: leases of finished turns pruned")
}
