// Errors of a record, and of working files compared with it.

package record

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of a record that differs from what operations leave.
const (
	CodeLedgerTampered = "ledger_tampered"
	CodeStateTampered  = "state_tampered"
	CodeChainBroken    = "chain_broken"
)

// CodeForeignRun means that a run elsewhere has the same name as one here and shares no operation with it.
const CodeForeignRun = "run_foreign"

// CodeUnproven means that a run's ref leads to operations that do not follow from
// the ones before them.
const CodeUnproven = "record_unproven"

// RepairHint names the remedies for working files that differ from the record.
const RepairHint = "see what changed with git agentxchain fsck, then run git agentxchain repair --from-ref to go back to the recorded run, or git agentxchain repair --accept-working --reason TEXT to record the files as they are"

// Tampered returns the error for a ledger that is not the recorded one plus what the protocol allows; line is
// 1-based, 0 when no single line is to blame.
func Tampered(l wire.Ledger, line int, format string, args ...any) *fail.Error {
	where := l.Path()
	if line > 0 {
		where = fmt.Sprintf("%s line %d", where, line)
	}
	return fail.Errorf(CodeLedgerTampered, nil, "%s: %s", where, fmt.Sprintf(format, args...)).WithHint("%s",
		RepairHint)
}

// TamperedDoc returns the same error for a document.
func TamperedDoc(name string, format string, args ...any) *fail.Error {
	return fail.Errorf(CodeStateTampered, nil, "%s: %s", name, fmt.Sprintf(format, args...)).WithHint("%s", RepairHint)
}

// Malformed returns the error for a recorded tree without the shape of docs/storage.md.
func Malformed(tree object.OID, format string, args ...any) *fail.Error {
	return fail.Errorf(CodeChainBroken, nil, "recorded tree %s: %s", tree.Short(), fmt.Sprintf(format, args...)).
		WithHint("run git agentxchain fsck, then fetch the run's ref from another clone")
}
