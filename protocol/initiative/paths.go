// The files of an initiative (docs/coordinator.md#files-and-refs).

package initiative

// Names of the files in the coordinator's directory, relative to the workspace.
const (
	Dir               = ".agentxchain/multirepo"
	StatePath         = Dir + "/state.json"
	BarriersPath      = Dir + "/barriers.json"
	HistoryPath       = Dir + "/history.jsonl"
	BarrierLedgerPath = Dir + "/barrier-ledger.jsonl"
	DecisionsPath     = Dir + "/decision-ledger.jsonl"
	ReportPath        = Dir + "/RECOVERY_REPORT.md"
	HookAuditPath     = Dir + "/hook-audit.jsonl"
	HookNotesPath     = Dir + "/hook-annotations.jsonl"
	ContextDir        = Dir + "/context"  // <context ref>/COORDINATOR_CONTEXT.{json,md}
	HandoffDir        = Dir + "/handoffs" // <intent id>.json
	ReportArchive     = Dir + "/recovery-reports"
)

// Ledgers returns the files that only ever grow.
func Ledgers() []string {
	return []string{HistoryPath, DecisionsPath, BarrierLedgerPath, HookAuditPath, HookNotesPath}
}
