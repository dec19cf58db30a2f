// Names and locations of the governed files of a run (docs/spec/state.md#files).

package wire

// Ledger is an append-only file of a run.
type Ledger string

const (
	LedgerHistory         Ledger = "history"
	LedgerDecisions       Ledger = "decisions"
	LedgerEvents          Ledger = "events"
	LedgerRunHistory      Ledger = "run-history"
	LedgerRepoDecisions   Ledger = "repo-decisions"
	LedgerEscalations     Ledger = "human-escalations"
	LedgerHookAudit       Ledger = "hook-audit"
	LedgerHookAnnotations Ledger = "hook-annotations"
	LedgerNotifications   Ledger = "notification-audit"
	LedgerTalk            Ledger = "talk" // markdown, appended per accepted turn
)

var ledgerPaths = []struct {
	ledger Ledger
	path   string
}{
	{LedgerHistory, ".agentxchain/history.jsonl"},
	{LedgerDecisions, ".agentxchain/decision-ledger.jsonl"},
	{LedgerEvents, ".agentxchain/events.jsonl"},
	{LedgerRunHistory, ".agentxchain/run-history.jsonl"},
	{LedgerRepoDecisions, ".agentxchain/repo-decisions.jsonl"},
	{LedgerEscalations, ".agentxchain/human-escalations.jsonl"},
	{LedgerHookAudit, ".agentxchain/hook-audit.jsonl"},
	{LedgerHookAnnotations, ".agentxchain/hook-annotations.jsonl"},
	{LedgerNotifications, ".agentxchain/notification-audit.jsonl"},
	{LedgerTalk, "TALK.md"},
}

// Ledgers returns every ledger in the order in which a transition is written.
func Ledgers() []Ledger {
	out := make([]Ledger, len(ledgerPaths))
	for i := range ledgerPaths {
		out[i] = ledgerPaths[i].ledger
	}
	return out
}

// Path returns the project-relative working path of the ledger.
func (l Ledger) Path() string {
	for _, e := range ledgerPaths {
		if e.ledger == l {
			return e.path
		}
	}
	return ""
}

// JSONL reports whether the ledger has one JSON object per line.
func (l Ledger) JSONL() bool { return l != LedgerTalk }

// Document is a governed file that each operation may rewrite whole.
type Document string

const (
	DocState         Document = ".agentxchain/state.json"
	DocSession       Document = ".agentxchain/session.json"
	DocHumanTasks    Document = "HUMAN_TASKS.md"
	DocDispatchIndex Document = ".agentxchain/dispatch/index.json"
)

// Documents returns every governed document, state.json last: other tools look at it, so it must not name what the
// others do not have yet.
func Documents() []Document {
	return []Document{DocSession, DocHumanTasks, DocDispatchIndex, DocState}
}

// Locations of the files of one turn, project-relative.
const (
	ConfigPath      = "agentxchain.json"
	StagingDir      = ".agentxchain/staging"
	FlatStagingPath = ".agentxchain/staging/turn-result.json"
	DispatchDir     = ".agentxchain/dispatch/turns"
	RejectedDir     = ".agentxchain/dispatch/rejected"
	ReviewsDir      = ".agentxchain/reviews"
	ApprovalsDir    = ".agentxchain/approvals" // signed statements
	ProposedDir     = ".agentxchain/proposed"
	LockPath        = ".agentxchain/locks/accept-turn.lock"
	LoopLockPath    = ".agentxchain/locks/run-loop.lock" // its owner drives the run of this work tree
)

// StagingPath returns the path at which a turn's actor stages its result.
func StagingPath(turnID string) string { return StagingDir + "/" + turnID + "/turn-result.json" }

// BundleDir returns the directory of the turn's dispatch bundle.
func BundleDir(turnID string) string { return DispatchDir + "/" + turnID }
