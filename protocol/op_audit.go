// Audit records what hooks and webhooks answered (docs/hooks.md#what-becomes-of-it).

package protocol

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Audit appends rows of evidence to the audit ledgers of a run and changes nothing else: no state, no session, no
// event. It is allowed in every status of the run, completed included; only a project without a run has nowhere to
// keep rows.
type Audit struct {
	TurnID string     `json:"turn_id,omitempty"` // the turn that the rows are about, for the record's trailer
	Rows   []AuditRow `json:"rows"`
}

// AuditRow is one row for one ledger.
type AuditRow struct {
	Ledger wire.Ledger   `json:"ledger"` // hook-audit, hook-annotations, notification-audit
	Row    *ojson.Object `json:"row"`
}

// Bounds of one Audit: code that makes rows from a program's output cuts them to this size first (see
// AuditRow.Fits).
const (
	MaxAuditRows     = 1024
	MaxAuditRowBytes = 64 << 10
)

// AuditLedgers returns the ledgers that take rows of evidence.
func AuditLedgers() []wire.Ledger {
	return []wire.Ledger{wire.LedgerHookAudit, wire.LedgerHookAnnotations, wire.LedgerNotifications}
}

// Fits reports whether the row is small enough to be recorded.
func (r AuditRow) Fits() bool { return len(ojson.Compact(r.Row)) <= MaxAuditRowBytes }

func (*Audit) Name() string               { return "record_audit" }
func (op *Audit) Blobs() []*evidence.Blob { return nil }

// AuditResult is the outcome of Audit.
type AuditResult struct{ Rows int }

func (op *Audit) Apply(t *change.Draft) *wire.Error {
	s := t.State
	switch {
	case s.Run() == "":
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "run_id",
			Message: "There is no run to keep audit rows in.",
			Hint:    "git agentxchain assign",
		}
	case len(op.Rows) == 0:
		return wire.InvalidArgument("rows", "There are no audit rows to record.")
	case len(op.Rows) > MaxAuditRows:
		return wire.InvalidArgument("rows", "%d audit rows are more than one operation records (%d).", len(op.Rows),
			MaxAuditRows)
	}
	traceHooks(t, op.Rows)
	for i, r := range op.Rows {
		field := fmt.Sprintf("rows[%d]", i)
		switch {
		case !auditLedger(r.Ledger):
			return wire.InvalidArgument(field, "%q is not a ledger for audit rows.", run.Clip(string(r.Ledger), 80))
		case r.Row.Len() == 0:
			return wire.InvalidArgument(field, "An audit row must be an object with members.")
		case !r.Fits():
			return wire.InvalidArgument(field, "Audit row %d is larger than %d bytes.", i, MaxAuditRowBytes)
		}
		if id, ok := r.Row.Get("run_id"); ok && id != nil && id != "" && id != s.Run() {
			return wire.InvalidArgument(field+".run_id", "Audit row %d is about run %s, not about %s.", i,
				run.Clip(wire.OneLine(fmt.Sprint(id)), 80), s.Run())
		}
		t.Append(r.Ledger, r.Row)
	}
	t.Turn = op.TurnID
	t.Subject = fmt.Sprintf("audit: %d rows", len(op.Rows))
	if len(op.Rows) == 1 {
		t.Subject = "audit: 1 row"
	}
	t.Result = &AuditResult{Rows: len(op.Rows)}
	return nil
}

func auditLedger(l wire.Ledger) bool {
	return slices.Contains(AuditLedgers(), l)
}
