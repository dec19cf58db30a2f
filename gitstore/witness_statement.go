// The statement that a witness of a run would sign now.

package gitstore

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// WitnessStatement returns the statement that a witness of a run would sign now: about its newest operation, which
// must be valid, and which a remote must have if the run is shared. The caller only sets issuer, nonce and times.
//
// Errors: no_run, record_unproven, run_not_elsewhere.
func (s *Store) WitnessStatement(ctx context.Context, run string) (*attest.Statement, error) {
	run, tip, err := s.Newest(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := proof.Believe(ctx, s.repo, run, tip); err != nil {
		return nil, err
	}
	// The next sync may decide again what no remote has, under another id.
	if there, err := transport.Standings(ctx, s.repo, run, tip); err != nil {
		return nil, err
	} else if len(there) > 0 && !slices.ContainsFunc(there, func(r transport.Standing) bool { return r.Ahead == 0 }) {
		return nil, fail.Errorf(proof.CodeNotElsewhere, nil,
			"operation %s of run %s is on no remote yet, so the next sync may give it another id", tip.Short(), run).
			WithHint("git agentxchain sync %s", there[0].Remote)
	}
	ops, err := s.Chain(ctx, run, tip)
	if err != nil {
		return nil, err
	}
	rec, err := s.OpenRun(ctx, run, tip)
	if err != nil {
		return nil, err
	}
	cfg, err := rec.Config()
	if err != nil {
		return nil, err
	}
	return &attest.Statement{
		Decision:  attest.Witness,
		Run:       run,
		Project:   cfg.Project.ID,
		Operation: string(tip),
		Config:    config.RulesDigest(cfg),
		Commit:    string(tip),
		Sequence:  len(ops),
		Principal: s.actor(ctx).Email,
	}, nil
}
