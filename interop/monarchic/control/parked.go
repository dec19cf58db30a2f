// Outcomes that wait for turns that work beside theirs: their results are judged when those have
// staged theirs.

package control

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// parkedLook is how often a report that waits in its call checks the turns beside it.
const parkedLook = 50 * time.Millisecond

// parked holds outcomes by fencing token. A restart of the server loses them: their leases then end
// in time, and the turns are carried out again.
type parked struct {
	mu   sync.Mutex
	all  []*outcome
	busy sync.Mutex // one caller at a time goes through them
}

func (p *parked) has(token string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.all, func(o *outcome) bool { return o.h.Ref.FencingToken == token })
}

func (p *parked) put(o *outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(p.all, func(q *outcome) bool { return q.h.Ref.FencingToken == o.h.Ref.FencingToken })
	p.all = append(p.all, o)
}

func (p *parked) drop(o *outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(p.all, func(q *outcome) bool { return q.h.Ref.FencingToken == o.h.Ref.FencingToken })
}

func (p *parked) list() []*outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

// acceptInTime judges a result; while active turns beside it may explain additional changes in the
// work tree, it waits for a moment. After that the outcome is parked: its runner is told
// siblings_at_work and is free for other work, and the result is judged when the others have
// reported.
func (s *Server) acceptInTime(ctx context.Context, o *outcome) (*runner.Accepted, *sentBack, error) {
	until := time.Now().Add(s.opt.Patience)
	if at, ok := ctx.Deadline(); ok && at.Add(-time.Second).Before(until) {
		until = at.Add(-time.Second)
	}
	for {
		res, sent, err := s.accept(ctx, o)
		if runner.ErrorCode(err) != runner.CodeSiblingsAtWork {
			s.parked.drop(o)
			if res != nil {
				s.judgeParked(ctx)
			}
			return res, sent, err
		}
		s.parked.put(o)
		if !s.heldBeside(ctx, o.h.Ref.StepID) || time.Now().After(until) {
			return nil, nil, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-time.After(parkedLook):
		}
	}
}

// heldBeside reports whether a runner that has not reported yet is working on another turn. Waiting
// for an unleased turn would be in vain.
func (s *Server) heldBeside(ctx context.Context, turn string) bool {
	list, _, err := s.r.Leases(ctx, "")
	return err == nil && slices.ContainsFunc(list, func(l lease.Info) bool {
		return l.Live && l.Lease.StepID != turn && !s.parked.has(l.Lease.FencingToken.Token)
	})
}

// judgeParked looks again at the waiting outcomes, and keeps their leases alive.
func (s *Server) judgeParked(ctx context.Context) {
	if !s.parked.busy.TryLock() {
		return
	}
	defer s.parked.busy.Unlock()
	for again := true; again; {
		again = false
		for _, o := range s.parked.list() {
			res, sent, err := s.accept(ctx, o)
			switch {
			case runner.ErrorCode(err) == runner.CodeSiblingsAtWork:
				_ = s.patiently(ctx, func() error { _, err := s.r.RenewLease(ctx, o.h, s.opt.TTL); return err })
				continue
			case res != nil || sent != nil:
				again = again || res != nil // others may have waited for this one
				_ = s.answer(ctx, o, res, sent, err, s.newOutcomeResponse())
			}
			s.parked.drop(o)
		}
	}
}
