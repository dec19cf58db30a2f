// Work trees of runs that are over are removed after a time, when they hold nothing that git does
// not have.

package server

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/workspace"
)

// tidyEvery is how often to look for finished work trees.
const tidyEvery = 10 * time.Minute

// tidy removes what is over until the server ends.
func (s *Server) tidy() {
	if s.opt.Keep <= 0 {
		return
	}
	tick := time.NewTicker(min(tidyEvery, max(s.opt.Keep/4, 50*time.Millisecond)))
	defer tick.Stop()
	said := make(map[string]string) // session to why its work tree is kept
	for {
		s.tidyOnce(s.runs, said)
		select {
		case <-s.runs.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) tidyOnce(ctx context.Context, said map[string]string) {
	for _, x := range s.index.all() {
		snap := x.look()
		rec := x.asked()
		if rec == nil || rec.RemovedAt != "" || !snap.ended || snap.session.Status != alx.StatusCompleted ||
			ctx.Err() != nil || !snap.settled {
			continue
		}
		over, err := wire.ParseTime(snap.session.UpdatedAt)
		if err != nil || s.opt.Now().Sub(over) < s.opt.Keep {
			continue
		}
		if _, err := os.Lstat(rec.Workspace); err == nil {
			why, err := workspace.Remove(ctx, s.home, rec.Workspace,
				filepath.Join(filepath.Dir(s.records.dir), "logs", rec.SessionID))
			if err != nil {
				why = err.Error()
			}
			if why != "" && said[rec.SessionID] != why {
				said[rec.SessionID] = why
				s.log.Warn("a finished work tree is kept", "sessionId", rec.SessionID, "workspace", rec.Workspace,
					"reason", why)
			}
			if why != "" {
				continue
			}
		}
		x.mu.Lock()
		gone := *rec
		gone.RemovedAt = wire.FormatTime(s.opt.Now().UTC())
		if err := s.records.save(&gone); err == nil {
			x.rec = &gone
		}
		x.mu.Unlock()
		s.log.Info("a finished work tree is removed; branch and record stay", "sessionId", rec.SessionID,
			"branch", rec.Branch)
	}
}
