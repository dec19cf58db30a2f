// Watching refs: what is recorded becomes what is shown, and a run that a person has unblocked goes
// on.

package server

import (
	"context"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// watch checks the refs of runs until the server ends.
func (s *Server) watch() {
	tick := time.NewTicker(lookDriven)
	defer tick.Stop()
	ctx := context.WithoutCancel(s.runs)
	var others, runs time.Time
	for {
		select {
		case <-s.runs.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		if !s.index.moved() {
			continue
		}
		every := now.Sub(others) >= lookOther
		if every {
			others = now
		}
		for _, x := range s.index.all() {
			snap := x.look()
			if s.runs.Err() != nil {
				return
			}
			if snap.ended || !every && snap.settled {
				continue
			}
			s.news(x)
			s.goOn(x)
		}
		if now.Sub(runs) >= lookRuns {
			runs = now
			if err := s.index.discover(ctx); err != nil {
				s.log.Warn("the runs cannot be listed", "error", err.Error())
			}
		}
	}
}

// news updates a session.
func (s *Server) news(x *session) {
	if err := s.index.refresh(context.WithoutCancel(s.runs), x); err != nil {
		s.log.Warn("a run cannot be read", "executionId", x.facts.Run, "error", err.Error())
	}
}

// goOn queues a run of ours that rested and that a person has moved since, when there is something
// to do: turns, or to clean up after a completion.
func (s *Server) goOn(x *session) {
	x.mu.Lock()
	freed := x.rec != nil && !x.driven && !x.queued && x.tip != x.rested && x.facts.State != nil
	if freed {
		x.rested = x.tip
		freed = x.facts.State.Status == wire.StatusActive || x.facts.State.Status == wire.StatusCompleted
	}
	x.mu.Unlock()
	if freed {
		s.enqueue(x)
	}
}
