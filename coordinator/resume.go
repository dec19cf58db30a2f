// Resync on request, recovery from a block, and adopting a restarted run (docs/coordinator.md#when-it-is-blocked).

package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// ResyncDone is the result of Resync on request.
type ResyncDone struct {
	DryRun     bool
	Mismatches []initiative.Mismatch
	Resync     *initiative.Resynced // nil when there was nothing to do, or with dryRun
	State      *initiative.State
	Next       []initiative.Action
	Lost       string // what to do if repositories have lost operations; "" if none has
}

// Resync compares the record with the repositories and updates it. With dryRun it changes nothing. The error is
// run_blocked when the initiative is blocked afterwards; ResyncDone is filled in even then.
func (c *Coordinator) Resync(ctx context.Context, dryRun bool) (*ResyncDone, error) {
	if dryRun {
		d, err := c.store.Read()
		if err != nil {
			return nil, err
		}
		s := c.see(ctx, d, true)
		return &ResyncDone{
			DryRun:     true,
			Mismatches: initiative.Divergence(&s.Workspace, s.Children),
			State:      s.State,
			Next:       initiative.NextActions(&s.Workspace, s.Children),
		}, nil
	}
	tx, err := c.begin(ctx, "resync")
	if err != nil {
		return nil, err
	}
	defer c.end(ctx, tx)
	if err := c.willRun(ctx, tx.Docs.Config, HookAfterAcceptance); err != nil {
		return nil, err
	}
	if tx.Docs.State.Over() {
		return &ResyncDone{State: tx.Docs.State}, nil
	}
	s, caught, err := c.catchUp(ctx, tx)
	out := &ResyncDone{State: s.State, Next: initiative.NextActions(&s.Workspace, s.Children), Lost: s.lostHint()}
	if caught != nil {
		out.Mismatches = caught.Mismatches
		if r := caught.Resync; len(caught.Mismatches)+len(r.Barriers)+len(r.Repos)+len(r.Errors) > 0 ||
			r.BlockedReason != "" {
			out.Resync = r
		}
	}
	return out, err
}

// Resumed is the result of resuming a blocked initiative.
type Resumed struct {
	Before initiative.Status // blocked, unless only a repository had lost operations
	Reason string            // of the block
	Status initiative.Status // current status
	State  *initiative.State
	Resync *initiative.Resynced
	Next   []initiative.Action
}

// Resume resumes a blocked initiative: it checks the recovery report, updates the record, and archives the report
// so that the next incident gets a new one. Repositories named in relink are followed to their current runs.
// Errors: those of the pure Resume, and invalid_argument for a repository that cannot be followed; Resumed holds
// what is known even then.
func (c *Coordinator) Resume(ctx context.Context, relink []string) (*Resumed, error) {
	tx, err := c.begin(ctx, "resume")
	if err != nil {
		return nil, err
	}
	defer c.end(ctx, tx)
	if err := c.willRun(ctx, tx.Docs.Config, HookAfterAcceptance); err != nil {
		return nil, err
	}
	env := c.env(ctx)
	st := tx.Docs.State
	out := &Resumed{
		Before: st.Status,
		Reason: cmp.Or(st.BlockedReason, "unknown blocked reason"),
		Status: st.Status,
		State:  st,
	}
	if err := personOnly(env.Actor, "resume an initiative", Program+" multi resume"); err != nil {
		return out, err
	}
	if st.Abandoned() {
		return out, initiative.AbandonedError(st)
	}
	var report *string
	data, err := c.report()
	if err != nil {
		return out, err
	}
	if data != nil {
		text := string(data)
		report = &text
	}
	s := c.look(ctx, tx.Docs, true, ReadOptions{Relink: relink})
	total := &initiative.Change{}
	cur := s.Workspace
	blocked := cur.State.Status == initiative.StatusBlocked
	if blocked || setBack(&cur, s.Children, relink) {
		if e := initiative.CheckReport(report); blocked && e != nil {
			e.Hint = "fill it in, then: " + Program + " multi resume"
			for _, repo := range relink {
				e.Hint += " --relink " + wire.ShellWord(repo)
			}
			return out, e
		}
		for _, repo := range relink {
			ch, e := relinkMember(&cur, s.Children, repo, env)
			if e != nil {
				return out, e
			}
			total.Merge(ch)
			cur = *cur.With(ch)
		}
	}
	if !blocked && !total.Empty() {
		return out, c.goOnSetBack(ctx, tx, s, total, relink, out)
	}
	ch, r, e := initiative.Resume(&cur, s.Children, report, env)
	out.Resync = r
	if ch != nil {
		total.Merge(ch)
		op, subject := "resume", "Took the blocked initiative up again"
		if e != nil {
			op, subject = "resync", "Took over what the repositories have done"
		} else {
			total.Files = append(total.Files, archived(data, env))
		}
		before := s.History
		if err := c.commit(ctx, tx, op, subject, total); err != nil {
			return out, err
		}
		s.Documents = tx.Docs
		c.relinked(s, relink)
		if e == nil {
			c.putReportAway()
			if err := c.acceptances(ctx, tx, s, before, r); err != nil {
				out.State, out.Status = s.State, s.State.Status
				return out, err
			}
		}
	}
	out.State, out.Status, out.Next = s.State, s.State.Status, initiative.NextActions(&s.Workspace, s.Children)
	if e != nil {
		if e.Hint == "" {
			e.Hint = Program + " multi status"
		}
		if !blocked && len(relink) > 0 && e.Code == wire.CodeInvalidStateTransition {
			e.Hint = Program + " multi resync blocks it if a repository is in another run, and leaves a report to fill in"
		}
		return out, e
	}
	return out, nil
}

// setBack reports whether repositories have lost operations or turns for good, are in a run that the initiative has left,
// or were added to it since it began: even an initiative that is not blocked cannot continue with them.
func setBack(w *initiative.Workspace, children initiative.Children, repos []string) bool {
	return !w.State.Over() && len(repos) > 0 && !slices.ContainsFunc(repos, func(id string) bool {
		c := children[id]
		return c == nil || c.Lost == "" && len(c.Lacks) == 0 && !w.Behind(id, c) && (c.Run() == "" || w.State.RunOf(id) != "")
	})
}

// lostHint names the command that continues with the first repository that has lost operations, "" if none has.
func (s *Seen) lostHint() string {
	for _, id := range s.Config.Repos.Keys() {
		if c := s.Children[id]; c != nil && c.Lost != "" {
			return fmt.Sprintf("%s -C %s sync brings back what it lacks; where sync has joined that with the work of another "+
				"machine, or it is gone for good: %s multi resume --relink %s",
				Program, wire.ShellWord(c.Path), Program, wire.ShellWord(id))
		}
	}
	return ""
}

// goOnSetBack records that an initiative that is not blocked continues with what such repositories have.
func (c *Coordinator) goOnSetBack(ctx context.Context, tx *Tx, s *Seen, ch *initiative.Change, repos []string,
	out *Resumed) error {
	out.Reason = ""
	if err := c.commit(ctx, tx, "relink", "Went on with the present runs of repositories", ch); err != nil {
		return err
	}
	c.relinked(s, repos)
	s, caught, err := c.catchUp(ctx, tx)
	if caught != nil {
		out.Resync = caught.Resync
	}
	out.State, out.Status, out.Next = s.State, s.State.Status, initiative.NextActions(&s.Workspace, s.Children)
	return err
}

// relinked has runs that continued without some of their operations proven from the beginning. It comes after the
// record: until then they are refused.
func (c *Coordinator) relinked(s *Seen, repos []string) {
	for _, id := range repos {
		if child := s.Children[id]; child != nil && child.Lost != "" {
			if err := forget(s.Roots.Workspace, child.Path, child.Run()); err != nil {
				c.note("repository " + id + " is still compared with what it had: " + err.Error())
			}
		}
	}
}

// report reads the recovery report, nil if there is none.
func (c *Coordinator) report() ([]byte, error) {
	data, err := readRegular(c.store.root, initiative.ReportPath, initiative.MaxConfigBytes)
	if err != nil {
		return nil, failed(initiative.ReportPath, err)
	}
	return data, nil
}

// archived returns the copy of a recovery report that is kept.
func archived(report []byte, env protocol.Env) initiative.File {
	name := "RECOVERY_REPORT-" + strings.NewReplacer(":", "", ".", "").Replace(env.Time()) + ".md"
	return initiative.File{Path: path.Join(initiative.ReportArchive, name), Data: report}
}

// putReportAway removes a recovery report whose copy is safe: every incident needs its own report.
func (c *Coordinator) putReportAway() {
	if err := c.store.root.Remove(initiative.ReportPath); err != nil {
		c.note("the recovery report could not be moved away: " + err.Error())
	}
}

// personOnly refuses what an agent inside a dispatched turn may not decide.
func personOnly(a evidence.Actor, what, command string) error {
	return trust.PersonOnly(turnmark.Verdict{Turn: a.InsideTurn, Why: a.InsideWhy}, what, command)
}

// relinkMember follows a repository whose run was restarted on purpose: the initiative continues with its current run,
// and what was accepted in the old one still counts. The same applies to a run that has lost operations for good.
// Errors: unknown_repo, and invalid_argument when the repository is on no other run.
func relinkMember(w *initiative.Workspace, children initiative.Children, repo string,
	env protocol.Env) (*initiative.Change, *wire.Error) {
	child := children[repo]
	switch {
	case w.Config.Repo(repo) == nil:
		return nil, &wire.Error{
			Code:  initiative.CodeUnknownRepo,
			Field: "repo_id",
			Message: fmt.Sprintf("There is no repository %s in %s; it has %s.", ojson.Shown(repo),
				initiative.ConfigFile, initiative.OrNone(w.Config.Repos.Keys())),
		}
	case child == nil || child.State == nil || child.Run() == "":
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "repo_id",
			Message: "Repository " + repo + " is on no run that could be followed.",
		}
	case child.Run() == w.State.RunOf(repo) && child.Lost == "" && len(child.Lacks) == 0:
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "repo_id",
			Message: "Repository " + repo + " is on the run the initiative knows already.",
			Hint: Program + " multi resume goes on with it; to go on with another, change to that first: " + Program + " -C " +
				wire.ShellWord(child.Path) + " status names it",
		}
	}
	if other := w.OtherName(repo, child.Run()); other != "" {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "repo_id",
			Message: fmt.Sprintf("Repository %s is in run %s, which is that of %s.", repo, child.Run(), other),
			Hint: fmt.Sprintf("bring the repository of %s to the place where %s says, or call it %s again there", repo,
				initiative.ConfigFile, other),
		}
	}
	return followRun(w, repo, child.Run(), child, env), nil
}

// followRun records that a repository is on another run from now on, or on the rest of its own. Turns assigned in
// what it has left are over.
func followRun(w *initiative.Workspace, repo, run string, child *initiative.Child,
	env protocol.Env) *initiative.Change {
	was, lost := w.State.RunOf(repo), ""
	if child.Run() == run {
		lost = child.Lost
	}
	ch := &initiative.Change{State: w.State.Clone()}
	ch.State.UpdatedAt = env.Time()
	after := &initiative.RepoRun{RunID: &run, Status: initiative.RepoLinked, Phase: w.State.Phase}
	if old, ok := w.State.RepoRuns.Get(repo); ok && old != nil {
		copied := *old
		after = &copied
		after.RunID = &run
	}
	ch.State.RepoRuns.Set(repo, after)
	gone := []*ojson.Object{}
	for _, row := range w.History.Open() {
		if row.String("repo_id") != repo {
			continue
		}
		turn := child.Follow(row.String("repo_turn_id"))
		over := (lost != "" || child.Lacks[turn]) && !child.Active(turn) && child.Accepted(turn) == nil
		if over || row.String("repo_run_id") != run {
			gone = append(gone, ojson.NewObject("repo_id", repo, "turn_id", row.String("repo_turn_id"),
				"type", initiative.MismatchDisappear))
		}
	}
	ch.Record(w, &env, initiative.RowRelinked, "repo_id", repo, "from_run_id", ojson.OrNull(was), "to_run_id", run)
	said := fmt.Sprintf("Went on with run %s of %s", run, repo)
	if lost != "" {
		ch.History[len(ch.History)-1].Set("lost_operation", lost)
		said += ", which has lost operation " + object.OID(lost).Short()
	}
	if len(gone) > 0 {
		ch.Record(w, &env, initiative.RowResynced, "resynced_repos", []string{repo},
			"barrier_changes", []*ojson.Object{}, "blocked_reason", nil, "acknowledged_turns", gone)
	}
	ch.Decide(w, &env, w.State.Phase, initiative.DecidedRecovery, said,
		"repo_id", repo, "repo_run_id", run, "from", was, "to", run)
	return ch
}
