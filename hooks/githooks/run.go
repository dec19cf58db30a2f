// Answering git's hooks.

package githooks

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Rules by which a guard refuses. They are stable tokens (docs/git-hooks.md).
const (
	RuleOrchestratorOwned = "orchestrator_owned"       // a file that only this program writes
	RuleLedgerRewritten   = "ledger_rewritten"         // a record has other bytes, or is elsewhere
	RuleLedgerTruncated   = "ledger_truncated"         // a record is gone
	RuleLedgerUnconfirmed = "ledger_unconfirmed"       // a new record that is in no run
	RuleStateUnconfirmed  = "state_unconfirmed"        // a state that no operation recorded
	RuleProtectedPath     = "protected_path"           // git_hooks.protected in agentxchain.json
	RuleDisguisedPath     = "disguised_path"           // a name some file system opens as a governed file
	RuleReviewOnly        = "review_only_product_file" // product work while only reviews are under way
	RuleOutsideScope      = "outside_scope"            // not what the active turn may declare, or does
	RuleParallelConflict  = "parallel_conflict"        // two turns are in conflict over the file
	RuleForgedTrailer     = "forged_trailer"           // a trailer that names what did not happen
	RuleRunChain          = "run_chain_broken"         // a run's record would be rewritten or lost
	RuleHistoryRewritten  = "history_rewritten"        // a governed branch would be pushed over another history
	RuleConfigLost        = "configuration_lost"       // a governed branch would be without valid rules
	RuleConfigWeakened    = "configuration_weakened"   // weaker rules that no run has adopted
	RuleGovernedRemoved   = "governed_file_removed"    // a record would be moved or removed from every clone
	RuleTurnMissing       = "turn_missing"             // git_hooks.require_turn, and the commit names no turn
	RuleRunUnproven       = "run_unproven"             // a run whose operations do not follow from each other
	RuleTooManyCommits    = "too_many_commits"         // more than can be judged at once
	RuleRunsUnpushed      = "runs_not_pushed"          // agentxchain.pushRuns=require and the remote did not take them
)

// Finding is one reason to refuse.
type Finding struct {
	Rule    string
	Path    string // project path, ref or trailer that it is about
	Commit  string // of several commits, the one with the finding; otherwise ""
	Turn    string
	Message string // a clause: what is wrong with Path
	Hint    string // the way out: a command where there is one
}

// String returns the finding as git shows it to the user, in one or two lines.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s [%s]", f.Path, f.Message, f.Rule)
	if f.Commit != "" {
		fmt.Fprintf(&b, " in commit %.12s", f.Commit)
	}
	if f.Turn != "" {
		fmt.Fprintf(&b, ", turn %s", f.Turn)
	}
	if f.Hint != "" {
		b.WriteString("\n  way out: " + f.Hint)
	}
	return b.String()
}

// Invocation is one call of a hook by git.
type Invocation struct {
	Name   string
	Args   []string // as git gave them
	Stdin  io.Reader
	Dir    string // where git started the hook
	Getenv func(string) string
	Stderr io.Writer // for messages although nothing is refused
}

// Run answers a hook. Findings mean that git must not go on; the error is for a guard that could not judge, and git
// must not go on then either.
func Run(ctx context.Context, inv Invocation) ([]Finding, error) {
	var answer func(*guarded) error
	switch inv.Name {
	case PreCommit:
		answer = (*guarded).preCommit
	case PrepareCommitMsg:
		answer = (*guarded).prepareCommitMsg
	case CommitMsg:
		answer = (*guarded).commitMsg
	case PrePush:
		answer = (*guarded).prePush
	case ReferenceTransaction:
		answer = (*guarded).referenceTransaction
	case PreReceive:
		answer = (*guarded).preReceive
	default:
		e := refuse(wire.CodeInvalidArgument, "there is no guard for the hook %q", inv.Name)
		e.Hint = "the guards are " + strings.Join(Names(), ", ")
		return nil, e
	}
	repo, err := git.DiscoverBare(ctx, inv.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = repo.Close() }()
	g := &guarded{ctx: ctx, inv: inv, repo: repo}
	err = answer(g)
	return g.findings, err
}

// guarded is a repository in which a hook is answered.
type guarded struct {
	ctx      context.Context
	inv      Invocation
	repo     *git.Repository
	findings []Finding
	projects []string     // prefixes of the governed projects that are judged, "" or ending in "/"
	tips     []object.OID // commits in which projects are looked for; nil until they are needed
	ids      identities
}

// maxFindings bounds how many findings are shown at once.
const maxFindings = 50

func (g *guarded) find(f Finding) {
	if len(g.findings) < maxFindings {
		g.findings = append(g.findings, f)
	}
}
