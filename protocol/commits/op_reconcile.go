// ReconcileCommits: a person takes commits into the baseline of the run and its turns
// (docs/spec/observation.md#commits-of-a-person).

package commits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpReconcile is the wire name of ReconcileCommits.
const OpReconcile = "reconcile_commits"

// Codes of refused commits.
const (
	CodeHistoryRewrite    = "history_rewrite"           // the baseline is not an ancestor of HEAD
	CodeMissingBaseline   = "missing_baseline"          // the run's baseline is unknown
	CodeGovernedCommit    = "governance_state_modified" // a commit changes the record
	CodeProtectedCommit   = "protected_path_modified"   // a commit changes a path that git_hooks.protected protects
	CodeCriticalDeleted   = "critical_artifact_deleted" // a commit deletes evidence of the run
	CodeNothingReconciled = "nothing_to_reconcile"
)

// CriticalArtifact is the file that no commit may delete.
const CriticalArtifact = ".planning/acceptance-matrix.md"

// ReconcileCommits makes HEAD the baseline of the run and of the named turns, which then do not answer for any of
// the commits since. Their staged results stay.
type ReconcileCommits struct {
	Baseline  string             `json:"baseline"` // commit id
	Head      string             `json:"head"`
	Commits   []TakenCommit      `json:"commits"`             // oldest first
	Deleted   string             `json:"deleted,omitempty"`   // the commit that deletes CriticalArtifact, "" for none
	Protected []string           `json:"protected,omitempty"` // paths of the commits that git_hooks.protected protects
	Turns     []ReconciledTurn   `json:"turns"`
	Reason    string             `json:"reason,omitempty"`
	Consent   *agreement.Consent `json:"consent,omitempty"` // who agrees, with the proof
}

// TakenCommit is a commit as a person saw it when they took it into the run, or out of a turn.
type TakenCommit struct {
	Commit  string   `json:"commit"`
	Author  string   `json:"author"`
	Subject string   `json:"subject"`
	Files   []string `json:"files"`
}

// ReconciledTurn is a turn that began before the commits.
type ReconciledTurn struct {
	TurnID string   `json:"turn_id"`
	Files  []string `json:"files"` // files that commits since its start changed
}

func (*ReconcileCommits) Name() string               { return OpReconcile }
func (op *ReconcileCommits) Blobs() []*evidence.Blob { return op.Consent.Blobs() }

// Asks returns what taking the commits asks people for, see protocol.Asks.
func (op *ReconcileCommits) Asks(cfg *config.Config, _ string) (*agreement.Decision, *agreement.Consent) {
	d := &agreement.Decision{Kind: attest.Reconcile}
	if cfg != nil {
		d.Rules = agreement.ActRules(cfg, op.Consent)
	}
	return d, op.Consent
}

// ReconcileResult is the outcome of ReconcileCommits.
type ReconcileResult struct {
	Baseline, Head string
	Commits        []TakenCommit
	Turns          []string
}

// maxReconciled bounds the commits of one operation.
const maxReconciled = 1000

func (op *ReconcileCommits) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if err := t.OutsideTurn("take commits out of its own work", "git agentxchain reconcile"); err != nil {
		return err
	}
	switch s.Status {
	case wire.StatusActive, wire.StatusPaused, wire.StatusBlocked:
	default:
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "status",
			Message: "No run is under way; the next one begins at the commit of then.",
			Hint:    run.TurnHint(s),
		}
	}
	switch {
	case len(op.Commits) == 0:
		return NothingToReconcile()
	case len(op.Commits) > maxReconciled:
		return wire.InvalidArgument("commits", "%d commits are more than one reconciliation takes (%d).",
			len(op.Commits),
			maxReconciled)
	case !wire.IsCommit(op.Baseline) || !wire.IsCommit(op.Head) || t.Env.Git.Head != op.Head:
		return wire.InvalidArgument("head", "%s is not the commit that is checked out.", wire.Shown(op.Head))
	}
	if refusal := op.safe(); refusal != nil {
		return refusal
	}
	reason := wire.TrimSpace(op.Reason)
	if len(reason) > change.MaxReason {
		return change.ReasonTooLong(reason)
	}
	if err := t.Agree(op.Asks(t.Config, t.State.Phase)); err != nil {
		return err
	}
	res := &ReconcileResult{Baseline: op.Baseline, Head: op.Head, Commits: op.Commits}
	for _, r := range op.Turns {
		old, ok := s.ActiveTurns.Get(r.TurnID)
		if !ok || old.Baseline == nil {
			continue
		}
		turn, base := *old, *old.Baseline
		base.HeadRef = new(op.Head)
		base.DirtySnapshot = base.DirtySnapshot.Clone(nil)
		for _, f := range r.Files {
			base.DirtySnapshot.Delete(f) // the commit has its contents now
		}
		turn.Baseline = &base
		turn.Carried = slices.DeleteFunc(slices.Clone(turn.Carried), func(p string) bool {
			return slices.Contains(r.Files, p)
		})
		s.ActiveTurns.Set(r.TurnID, &turn)
		res.Turns = append(res.Turns, r.TurnID)
	}
	op.record(t, reason)
	t.Result = res
	return nil
}

func (op *ReconcileCommits) record(t *change.Draft, reason string) {
	s := t.State
	var paths []string
	commits := make([]*ojson.Object, len(op.Commits))
	for i, c := range op.Commits {
		commits[i] = ojson.NewObject("sha", c.Commit, "subject", c.Subject, "paths_touched", wire.NonNil(c.Files))
		paths = append(paths, c.Files...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	s.AcceptedIntegrationRef = new("git:" + op.Head)
	s.Extra.Set("operator_commit_reconciliation", ojson.NewObject(
		"reconciled_at", t.Env.Time(),
		"previous_baseline", op.Baseline,
		"accepted_head", op.Head,
		"commit_count", len(op.Commits),
		"safety_mode", "manual_safe_only",
	))
	t.Event(run.EventOperatorCommitReconciled, nil,
		"previous_baseline", op.Baseline,
		"accepted_head", op.Head,
		"accepted_commits", commits,
		"paths_touched", wire.NonNil(paths),
		"safety_checks", ojson.NewObject(
			"baseline_is_ancestor", true,
			"rejected_state_paths", []string{".agentxchain/"},
			"reconcile_safe_paths", safePaths(),
			"reconcile_safe_prefixes", []string{safePrefix},
			"rejected_deletions", []string{CriticalArtifact},
		),
	)
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "commits_reconciled",
		"run_id", s.Run(),
		"phase", s.Phase,
		"previous_baseline", op.Baseline,
		"accepted_head", op.Head,
		"commits", commits,
		"turn_ids", wire.NonNil(turnsOf(op.Turns)),
		"reconciled_by", t.Person(),
		"reason", ojson.OrNull(reason),
		"votes", t.Voters(),
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.Talk("takes commits into the baseline", fmt.Sprintf("%.12s to %.12s", op.Baseline, op.Head), reason)
	t.Session = "operator_commit_reconciled"
	t.Subject = fmt.Sprintf("reconcile %d commits at %.12s", len(op.Commits), op.Head)
}

func turnsOf(list []ReconciledTurn) (out []string) {
	for _, r := range list {
		out = append(out, r.TurnID)
	}
	return out
}

// safePrefix and safePaths are what a person may commit below .agentxchain.
const safePrefix = ".agentxchain/prompts/"

func safePaths() []string { return []string{".agentxchain/SESSION_RECOVERY.md"} }

// governedPath reports whether a path belongs to the record, however it is spelt.
func governedPath(path string) bool {
	folded := wire.FoldPath(path)
	switch wire.GovernedPath(path) {
	case wire.GovernedLedger, wire.GovernedTasks:
		return true
	}
	if folded != ".agentxchain" && !strings.HasPrefix(folded, ".agentxchain/") {
		return false
	}
	return !strings.HasPrefix(path, safePrefix) && !slices.Contains(safePaths(), path)
}

// safe refuses commits, oldest first, that a person may not take in.
func (op *ReconcileCommits) safe() *wire.Error {
	refuse := func(code string, c TakenCommit, path, message, hint string) *wire.Error {
		return &wire.Error{
			Code:    code,
			Field:   path,
			Message: fmt.Sprintf("Commit %.8s %s; nothing was reconciled.", c.Commit, message),
			Hint:    hint,
			Details: ojson.NewObject("offending_commit", c.Commit, "offending_path", path,
				"previous_baseline", op.Baseline, "current_head", op.Head),
		}
	}
	for _, c := range op.Commits {
		if c.Commit == op.Deleted {
			return refuse(CodeCriticalDeleted, c, CriticalArtifact, "deletes "+CriticalArtifact,
				"put the file back with a commit before it, or go back to the baseline")
		}
		for _, f := range c.Files {
			switch {
			case governedPath(f):
				return refuse(CodeGovernedCommit, c, f, "changes "+wire.Shown(f)+", which is the record",
					"git agentxchain fsck shows what differs; take the commit back and: git agentxchain reconcile --show")
			case slices.Contains(op.Protected, f):
				return refuse(CodeProtectedCommit, c, f, "changes "+wire.Shown(f)+", which is protected",
					"change git_hooks.protected first: git agentxchain config adopt")
			}
		}
	}
	return nil
}

// NothingToReconcile says that no commit was made.
func NothingToReconcile() *wire.Error {
	return &wire.Error{
		Code:    CodeNothingReconciled,
		Field:   "head",
		Message: "No commit was made since the run's baseline.",
		Hint:    "git agentxchain status",
	}
}
