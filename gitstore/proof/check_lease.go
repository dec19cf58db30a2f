// Fsck of leases: what their refs hold, and that fencing tokens only increase.

package proof

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lease"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxLeaseChain bounds how far back the history of one lease is checked.
const maxLeaseChain = 1000

// leases checks the refs of a run's leases. They decide who may act on a turn, so an unreadable one is a finding,
// never an absent lease.
func (f *checker) leases(run string) error {
	list, problems, err := lease.List(f.ctx, f.repo, run)
	if err != nil {
		return f.fault(run, "", err)
	}
	for _, p := range problems {
		repair := "git for-each-ref " + record.LeaseRefPrefix
		var known *fail.Error
		if errors.As(p, &known) && known.Hint != "" {
			repair = known.Hint
		}
		f.find(Finding{Code: FindLease, Run: run, Message: p.Error(), Repair: repair})
	}
	for i := range list {
		if err := f.lease(&list[i]); err != nil {
			return err
		}
	}
	return f.setBack(run, list)
}

// setBack finds lease refs that say open although the run has recorded the end of the lease: the run's chain is
// authoritative, and the holder is refused.
func (f *checker) setBack(runID string, list []lease.Record) error {
	open := make(map[string]*run.Lease)
	for i := range list {
		if l, err := run.DecodeLease(list[i].Data); err == nil && l.Open() && l.StepID == list[i].Turn {
			open[l.StepID] = l
		}
	}
	if len(open) == 0 {
		return nil
	}
	rec, err := OpenNewest(f.ctx, f.repo, runID)
	if err != nil {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		return nil // the run itself is checked elsewhere
	}
	last := make(map[string]*ojson.Object)
	for line, err := range rec.Rows(wire.LedgerEvents) {
		if err != nil {
			return nil // and so is its ledger
		}
		turn := line.Row.Object("payload").Object("lease").String("step_id")
		if open[turn] != nil && leases.Tells(line.Row, turn) && line.Row.String("run_id") == runID {
			last[turn] = line.Row
		}
	}
	for i := range list {
		l := open[list[i].Turn]
		if told := leases.SetBack(l, last[list[i].Turn]); told != nil {
			f.find(Finding{Code: FindLease, Run: runID, Op: list[i].Op, Path: list[i].Ref,
				Message: fmt.Sprintf(
					"%s: it was set back: it calls a lease of %s %s, and the run has one of %s that is %s",
					list[i].Ref,
					text.OneLine(l.RunnerID), l.Status, text.OneLine(told.RunnerID), told.Status),
				Repair: "git update-ref -d " + list[i].Ref + " gives the turn free"})
		}
	}
	return nil
}

func (f *checker) lease(rec *lease.Record) error {
	bad := func(message string) {
		f.find(Finding{
			Code:    FindLease,
			Run:     rec.Run,
			Op:      rec.Op,
			Path:    rec.Ref,
			Message: rec.Ref + ": " + message,
			Repair:  "git update-ref -d " + rec.Ref + " gives the turn free",
		})
	}
	chain, err := lease.History(f.ctx, f.repo, rec, maxLeaseChain)
	if err != nil {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		bad("what it was before cannot be read: " + err.Error())
	}
	var newer *run.Lease
	for i := range chain {
		l, err := run.DecodeLease(chain[i].Data)
		switch {
		case err != nil:
			bad("it holds no lease: " + err.Error())
			return nil
		case l.RunID != rec.Run || l.StepID != rec.Turn:
			bad("it holds the lease of another turn, " + text.OneLine(l.StepID))
			return nil
		case newer != nil && newer.FencingToken.Token != l.FencingToken.Token &&
			newer.FencingToken.IssuedAtMS <= l.FencingToken.IssuedAtMS,
			newer != nil && newer.FencingToken.Token == l.FencingToken.Token && (newer.RunnerID != l.RunnerID ||
				newer.SessionID != l.SessionID || newer.FencingToken.IssuedAtMS != l.FencingToken.IssuedAtMS):
			bad("the turn changed hands without a newer fencing token")
			return nil
		}
		newer = l
	}
	return nil
}
