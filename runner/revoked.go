// Decisions that a sync brought or decided again, and keys that were revoked since.

package runner

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// revoked names the decisions of a sync that were signed with a key which the protected branch revokes by now. They
// are judged by the files of signers of their time, which a machine that does not fetch has for as long as it likes:
// so a person who found a lost key can still decide with it, and only its owner can tell.
func (r *Runner) revoked(ctx context.Context, y *Synced) (notices []string) {
	ops := make([]object.OID, 0, len(y.Arrived))
	for _, a := range y.Arrived {
		ops = append(ops, a.Op)
	}
	for _, x := range y.Runs {
		if x.Joined == nil {
			continue
		}
		for _, o := range x.Joined.Landed {
			ops = append(ops, o.Op)
		}
	}
	if len(ops) == 0 {
		return nil
	}
	v, err := r.View(ctx)
	if err != nil || v.Config == nil || v.Config.ProtectedBranch() == "" {
		return nil
	}
	repo := r.store.Repository()
	_, on, err := repo.Checkout(ctx)
	if err != nil {
		return nil
	}
	base, _, err := consent.PlaceIn(repo, v.Config, on).Base(ctx)
	if err != nil {
		return nil
	}
	signers, problems := base.Keys()
	if len(problems) > 0 {
		return nil
	}
	reader := record.NewReader(ctx, repo)
	for _, id := range ops {
		op, err := chain.Operation(reader, id)
		if err != nil {
			continue // fsck reports an operation that cannot be read
		}
		rec, err := reader.Record(op.Tree)
		if err != nil {
			continue
		}
		for _, b := range statements(rec.Op, v.Config) {
			if why := agreement.RevokedBy(signers, b.Data); why != nil {
				notices = append(notices, text.OneLine(fmt.Sprintf("operation %s (%s) by %s <%s> is signed with a key that "+
					"is revoked by now: %s; look whether its owner made it (git agentxchain approvals)", id.Short(),
					op.Subject, op.Actor, op.Email, why.Message)))
			}
		}
	}
	return notices
}

// statements returns the signed statements that an operation was decided on.
func statements(op protocol.Operation, cfg *config.Config) []*evidence.Blob {
	var given *agreement.Consent
	switch op := op.(type) {
	case nil:
	case *protocol.ApprovePhase:
		given = op.Approval.Consent
	case *protocol.ApproveCompletion:
		given = op.Approval.Consent
	default:
		_, given = protocol.Asks(op, cfg, "")
	}
	return given.Given()
}
