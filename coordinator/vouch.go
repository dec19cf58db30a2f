// Whether the repositories have accepted what a record from elsewhere says about them.

package coordinator

import (
	"bytes"
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/conflict"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// vouched refuses a record whose new acceptances the repositories do not confirm: they are the authority on what
// they accepted.
func (c *Coordinator) vouched(ctx context.Context, tx *Tx, from, to object.OID) error {
	repo := c.repository(ctx).Repository()
	files, err := record.InitiativeFiles(ctx, repo, to)
	if err != nil {
		return err
	}
	var before []byte
	if from != "" {
		was, err := record.InitiativeFiles(ctx, repo, from)
		if err != nil {
			return err
		}
		before = was[initiative.HistoryPath]
	}
	return c.vouch(ctx, tx, files, before, to, from == "")
}

// vouch is vouched for files; before is the history whose acceptances are known to count, and op the change that
// recorded them: "" for those of an artifact, which has the runs of the repositories too. anew says that nothing of
// the initiative was believed here before.
func (c *Coordinator) vouch(ctx context.Context, tx *Tx, files map[string][]byte, before []byte, op object.OID,
	anew bool) error {
	st, err := stateOf(files)
	if err != nil {
		return err
	}
	if err := c.approved(ctx, st, files[initiative.HistoryPath], before, op, tx.Docs.Config, anew); err != nil {
		return err
	}
	rows, _ := decodeRows(initiative.HistoryPath, bytes.TrimPrefix(files[initiative.HistoryPath], before))
	var claims []*ojson.Object
	for _, row := range initiative.NewHistory(rows, st.SuperRunID).Rows() {
		if initiative.IsProjection(row) {
			claims = append(claims, row)
		}
	}
	if len(claims) == 0 {
		return nil
	}
	opt := ReadOptions{Acceptances: true, Untouched: true}
	c.fetched(ctx, tx.Docs, &opt)
	children, refused := readChildren(ctx, tx.Docs.Config, tx.Docs.Roots, opt)
	recorded := make(map[string]runsOf)
	for _, row := range claims {
		repo, turn := row.String("repo_id"), row.String("repo_turn_id")
		if child := children[repo]; child != nil && child.Accepted(turn) != nil {
			continue
		}
		if recorded[repo] == nil {
			recorded[repo] = c.acceptedIn(ctx, tx.Docs, repo)
		}
		if recorded[repo][row.String("repo_run_id")][turn] {
			continue
		}
		e := &wire.Error{
			Code:  CodeForged,
			Field: "repos." + repo,
			Message: fmt.Sprintf(
				"The record says that %s accepted turn %s, and the clone of %s here does not record that.",
				ojson.Shown(repo), ojson.Shown(turn), ojson.Shown(repo)),
		}
		in, bring := "REPOSITORY", " sync"
		if dir, ok := tx.Docs.Roots.Path(repo); ok {
			in = wire.ShellWord(dir)
		}
		if op == "" {
			bring = " restore FILE --repo " + wire.ShellWord(repo) + ", with this artifact; or" + bring
		}
		e.Hint = "bring the runs of the repository first: " + Program + " -C " + in + bring
		if tx.Docs.Roots.remote(repo) != "" {
			e.Hint = "in the clone of it that accepted the turn: " + Program + " sync; then here: " + Program + " sync"
		}
		if clash := c.clash(ctx, tx.Docs, repo, turn); clash != "" {
			e.Hint = "its acceptance is in conflict with another machine's work: " + Program + " -C " + in +
				" conflicts " + clash
		}
		for _, p := range refused {
			if p.Value == repo {
				e.Problems = append(e.Problems, p)
			}
		}
		return e
	}
	return nil
}

// runsOf maps recorded runs of a repository to their accepted turns.
type runsOf map[string]map[string]bool

// acceptedIn reads the recorded runs of a clone, which may be in no run, or in another run than the initiative's.
// For a repository that exists only on its server it reads what was fetched.
func (c *Coordinator) acceptedIn(ctx context.Context, d *Documents, repo string) runsOf {
	runs := make(runsOf)
	if home := c.repository(ctx); home != nil && d.Roots.remote(repo) != "" {
		fetched, _ := travel.FetchedRuns(ctx, home.Repository(), repo) // verified before they were kept
		for _, rec := range fetched {
			rows, _ := recordedRows(rec, wire.LedgerHistory)
			runs[rec.Run] = acceptedTurns(rows)
		}
		return runs
	}
	dir, ok := d.Roots.Path(repo)
	if !ok {
		return runs
	}
	store, err := gitstore.OpenForeign(ctx, dir, gitstore.Options{Now: c.opt.Now})
	if err != nil {
		return runs
	}
	defer func() { _ = store.Close() }()
	tips, err := chain.RunTips(ctx, store.Repository(), 0)
	if err != nil {
		return runs
	}
	for _, t := range tips {
		rec, err := store.OpenRun(ctx, t.Run, "") // only valid ones
		if err != nil {
			continue
		}
		var rows []*ojson.Object
		for line, err := range rec.Rows(wire.LedgerHistory) {
			if err != nil {
				break
			}
			rows = append(rows, line.Row)
		}
		runs[t.Run] = acceptedTurns(rows)
	}
	return runs
}

// clash names the open conflict about the acceptance of a turn in the clone of a repository, "" for none.
func (c *Coordinator) clash(ctx context.Context, d *Documents, repo, turn string) string {
	dir, ok := d.Roots.Path(repo)
	if !ok {
		return ""
	}
	store, err := gitstore.OpenForeign(ctx, dir, gitstore.Options{Now: c.opt.Now})
	if err != nil {
		return ""
	}
	defer func() { _ = store.Close() }()
	list, err := conflict.All(ctx, store.Repository())
	if err != nil {
		return ""
	}
	for _, x := range list {
		if x.Turn == turn && x.Name == protocol.OpAccept && x.Status == join.ConflictOpen {
			return x.Op[:12]
		}
	}
	return ""
}

func acceptedTurns(history []*ojson.Object) map[string]bool {
	turns := make(map[string]bool)
	for _, row := range history {
		if run.SaysAccepted(row) {
			turns[row.String("turn_id")] = true
		}
	}
	return turns
}
