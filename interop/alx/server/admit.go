// Accepting a solve: the same request gives the same execution, however often and however
// concurrently it comes.

package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/workspace"
)

// admit finds the session of a request by its idempotency key, or makes one: its record is durable
// when admit returns, and its run is queued. cached says that it existed.
func (s *Server) admit(ctx context.Context, req *alx.SolveRequest,
	correlation string) (x *session, cached bool, failed *alx.Error) {
	digest, err := requestDigest(req)
	if err != nil {
		return nil, false, failure(err)
	}
	s.admitting.Lock()
	defer s.admitting.Unlock()
	if req.IdempotencyKey != "" {
		if x := s.index.key(req.UserID, req.IdempotencyKey); x != nil {
			if x.asked().RequestDigest != digest {
				return nil, false,
					alx.Errorf(alx.CodeIdempotencyConflict, "The idempotency key was used for another request.").
						With("executionId", x.facts.Run).With("sessionId", x.id())
			}
			return x, true, nil
		}
	}
	select {
	case <-s.ending:
		return nil, false, alx.Errorf(alx.CodeShuttingDown, "The service is shutting down; runs go on when it is back.")
	default:
	}
	if req.SessionID != "" && s.index.session(req.SessionID) != nil {
		return nil, false, alx.Errorf(alx.CodeInvalidRequest,
			"There is a session of that id already; leave sessionId out or take another.").With("field", "sessionId")
	}
	if n := s.waiting(); n >= s.opt.MaxQueue {
		return nil, false, alx.Errorf(alx.CodeTooManyRequests, "%d runs are waiting already.", n).With("limit",
			s.opt.MaxQueue)
	}
	if ctx.Err() != nil {
		return nil, false, alx.Errorf(alx.CodeUnavailable, "The client has gone.")
	}
	ctx = context.WithoutCancel(ctx) // a client that disconnects now has still asked
	base, err := s.ready(ctx)
	if err != nil {
		return nil, false, failure(err)
	}
	rec := s.newRecord(req, correlation, digest, base)
	if tip, err := s.home.Record().Repository().ReadRef(ctx, "refs/heads/"+rec.Branch); err != nil {
		return nil, false, failure(err)
	} else if tip != "" {
		return nil, false, alx.Errorf(alx.CodeInvalidRequest,
			"There is a branch %s already; leave sessionId out or take another.",
			rec.Branch).With("field", "sessionId")
	}
	// An empty directory would later look as if a killed git had begun a work tree in it. One that
	// is not empty is found then, and fails the run.
	if entries, err := os.ReadDir(rec.Workspace); err == nil && len(entries) == 0 {
		return nil, false, alx.Errorf(alx.CodeInvalidRequest,
			"There is a directory in the place of the session's work tree; leave sessionId out or take another.").
			With("field", "sessionId")
	}
	if err := s.records.save(rec); err != nil {
		return nil, false, alx.Errorf(alx.CodeUnavailable, "The session could not be written down: %s.", err)
	}
	x = s.newSession(rec)
	x.update(func() { x.live.Ahead = 0 })
	s.index.add(x)
	s.opt.Meter.Session()
	s.enqueue(x)
	return x, false, nil
}

func (s *Server) newRecord(req *alx.SolveRequest, correlation, digest string, base *workspace.Base) *record {
	now := s.opt.Now().UTC()
	rec := &record{
		Schema:         recordSchema,
		SessionID:      req.SessionID,
		Seed:           randomHex(16),
		Order:          now.UnixNano(),
		UserID:         req.UserID,
		Intent:         req.Intent,
		Constraints:    req.Constraints,
		CorrelationID:  correlation,
		IdempotencyKey: req.IdempotencyKey,
		RequestDigest:  digest,
		CreatedAt:      wire.FormatTime(now),
		Base:           string(base.Commit),
	}
	if rec.SessionID == "" {
		rec.SessionID = "ses_" + randomHex(8)
	}
	rec.ExecutionID = runner.RunIDOf(rec.Seed)
	rec.Branch = "agentxchain/solve/" + rec.SessionID
	rec.Workspace = filepath.Join(s.work, rec.SessionID)
	return rec
}

// asked returns what the session was asked for.
func (s *session) asked() *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec
}

// requestDigest returns the digest of the canonical request: the body as it came, without what may
// differ between two sendings of it.
func requestDigest(req *alx.SolveRequest) (string, error) {
	o := ojson.Marshal(req)
	for _, k := range []string{"correlationId", "protocol", "idempotencyKey"} {
		o.Delete(k)
	}
	return kb.Digest(o)
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return hex.EncodeToString(b)
}
