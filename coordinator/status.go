// The status of an initiative, read without changing anything (docs/coordinator.md#when-it-is-blocked).

package coordinator

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/conflict"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Standing is the status of an initiative.
type Standing struct {
	*Seen
	Next     []initiative.Action
	Warnings *ojson.Object // {count, reconciliation_required, warnings}, docs/coordinator.md#when-it-is-blocked
	// Uncounted lists acceptances of the repositories that do not count yet.
	Uncounted []initiative.Mismatch
	// Remotes says how the record relates to what was last seen of it on remotes.
	Remotes []transport.Standing
	// Gate says who must approve the gate that waits and who has; nil if any person may pass it.
	Gate *GateStanding
	// Changed lists, while a gate waits, the JSON pointers of what the configuration says otherwise than when the
	// initiative began.
	Changed []string
	// Unapproved says which gate counts as passed without the people required by its rules, or why the next command would
	// refuse the files; nil if all are valid.
	Unapproved *wire.Error
	// Unread says why the configuration cannot be used; nil if it can. The record is still shown, without the
	// repositories (docs/commands.md).
	Unread *wire.Error
}

// Status reads the workspace and its repositories. Errors: those of Store.Read; an unusable configuration is an
// error only when nothing is recorded.
func (c *Coordinator) Status(ctx context.Context) (*Standing, error) {
	d, err := c.store.Read()
	var unread *wire.Error
	if err != nil {
		if _, unread = newReader(c.store.root).config(c.store.dir); unread == nil {
			return nil, c.notStarted(ctx, err)
		}
		var e *wire.Error
		if d, e = readBare(c.store.root, c.store.dir); e != nil {
			return nil, err
		}
	}
	s := &Standing{Seen: c.look(ctx, d, false, ReadOptions{Checkouts: make(map[string]*sibling.Checkout)}), Unread: unread}
	s.Next = initiative.NextActions(&s.Workspace, s.Children)
	if e := s.unusable(); e != nil {
		for i := range s.Next {
			if s.Next[i].Code == initiative.NextStep {
				s.Next[i].Reason = "Once this is corrected: " + e.Message
			}
		}
	}
	c.alreadyHere(ctx, s)
	s.Warnings = c.warnings(d.State.SuperRunID)
	s.count()
	if home := c.repository(ctx); home != nil {
		if s.Remotes, err = transport.InitiativeStandings(ctx, home.Repository(), d.State.SuperRunID); err != nil {
			c.note("the record cannot be compared with its remotes: " + err.Error())
		}
	}
	if len(s.Next) > 0 && unread == nil {
		if dir, e := s.ownFirst(ApproveOptions{}); e != nil && s.Next[0].Code == initiative.NextGate {
			s.Next = append([]initiative.Action{{
				Code:    initiative.NextRepo,
				Command: "-C " + wire.ShellWord(dir) + " approve --show",
				Reason:  e.Message,
			}}, s.Next...)
		}
		s.Next = append(s.behind(), s.Next...)
	}
	if unread == nil {
		if err := c.people(ctx, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// alreadyHere names what another machine's work in the clone of a repository asks for: the run that it began after the
// one that is over, or the conflict that the operations here are in.
func (c *Coordinator) alreadyHere(ctx context.Context, s *Standing) {
	for _, child := range s.Children {
		in := "-C " + wire.ShellWord(child.Path) + " "
		at := slices.IndexFunc(s.Next, func(a initiative.Action) bool {
			return a.Command == in+"assign --new-run" || child.Lost != "" && a.Command == in+"sync"
		})
		if at < 0 {
			continue
		}
		store, err := gitstore.OpenForeign(ctx, child.Path, gitstore.Options{Now: c.opt.Now})
		if err != nil {
			continue // the command that is named will tell
		}
		a := &s.Next[at]
		if child.Lost == "" {
			if beside := store.RunBeside(ctx, child.State); beside != "" {
				a.Command = in + "repair --from-ref " + beside
				a.Reason += " Run " + beside + " is under way already; this changes to it."
			}
		} else if list, err := conflict.All(ctx, store.Repository()); err == nil {
			for _, x := range list {
				if x.Status == join.ConflictOpen {
					a.Command = in + "conflicts " + x.Op[:12]
					a.Reason = "Repository " + child.ID + " lacks an operation that it had: it is in conflict with another machine's work."
				}
			}
		}
		_ = store.Close()
	}
}

// count finds the acceptances of the repositories that do not count yet.
func (s *Standing) count() {
	for _, m := range initiative.Divergence(&s.Workspace, s.Children) {
		if m.Type == initiative.MismatchAccepted {
			s.Uncounted = append(s.Uncounted, m)
		}
	}
}

// behind returns the commands that adopt what was fetched, the repositories' first: they are the authority on what
// they accepted.
func (s *Standing) behind() []initiative.Action {
	var out []initiative.Action
	for _, repo := range s.Config.Repos.Keys() {
		c := s.Checkouts[repo]
		if c == nil || c.OpsBehind <= 0 {
			continue
		}
		dir, _ := s.Roots.Path(repo)
		out = append(out, initiative.Action{
			Code:    initiative.NextRepo,
			Command: "-C " + wire.ShellWord(dir) + " sync " + wire.ShellWord(c.Remote),
			Reason: fmt.Sprintf("Repository %s lacks %s of %s%s", repo,
				text.Count(c.OpsBehind, "operation", "operations"), c.Remote, bothWent(c.OpsAhead)),
		})
	}
	for _, m := range s.Remotes {
		if m.Behind > 0 {
			out = append(out, initiative.Action{
				Code:    initiative.NextRepo,
				Command: "sync " + wire.ShellWord(m.Remote),
				Reason: fmt.Sprintf("The initiative lacks %s of %s%s", text.Count(m.Behind, "change", "changes"),
					m.Remote, bothWent(m.Ahead)),
			})
		}
	}
	return out
}

// bothWent ends a sentence about missing changes; ahead is what the other side lacks.
func bothWent(ahead int) string {
	if ahead > 0 {
		return "; both sides continued."
	}
	return "."
}

// unusable returns the error of every command that would continue, nil if there is none.
func (s *Standing) unusable() *wire.Error {
	if s.Unread != nil {
		return s.Unread
	}
	return refusalOf(unresolved(s.Documents))
}

// problems returns the configuration's problems, then those of the repositories.
func (s *Standing) problems() []*ojson.Object {
	var all wire.Problems
	if s.Unread != nil {
		all = append(all, wire.Problem{Code: s.Unread.Code, Message: s.Unread.Message})
	}
	if s.Unapproved != nil {
		all = append(all, wire.Problem{Code: s.Unapproved.Code, Message: s.Unapproved.Message})
	}
	return problemRows(append(append(all, s.RepoProblems...), s.Refused...))
}

// Object returns the standing for --json, in the order of docs/commands.md, followed by our own members.
func (s *Standing) Object() *ojson.Object {
	st := s.State
	runs, gates := ojson.NewObject(), ojson.NewObject()
	for repo, r := range st.RepoRuns.All() {
		runs.Set(repo, ojson.Marshal(r))
	}
	for gate, v := range st.PhaseGateStatus.All() {
		gates.Set(gate, v)
	}
	pending := []*ojson.Object{}
	for _, b := range s.Barriers.All() {
		if b.Status == initiative.Pending || b.Status == initiative.PartiallySatisfied {
			o := ojson.NewObject("id", b.ID)
			for k, v := range b.Object().All() {
				o.Set(k, v)
			}
			pending = append(pending, o)
		}
	}
	abandoned := "" // an initiative that another implementation resumed still has the member
	if st.Abandoned() {
		abandoned = st.AbandonedAt
	}
	remotes := []*ojson.Object{}
	for _, m := range s.Remotes {
		remotes = append(remotes, m.Object())
	}
	return ojson.NewObject("super_run_id", st.SuperRunID, "status", string(st.Status), "phase", st.Phase,
		"repo_runs", runs, "pending_barriers", pending, "pending_gate", gateObject(st.PendingGate),
		"blocked_reason", ojson.OrNull(st.BlockedReason), "created_at", st.CreatedAt, "updated_at", st.UpdatedAt,
		"phase_gate_status", gates, "barriers", s.Barriers.Object(), "next_actions", nextObjects(s.Next),
		"project_id", st.ProjectID, "completed_at", ojson.OrNull(st.CompletedAt),
		"abandoned_at", ojson.OrNull(abandoned), "repos", s.Repos(),
		"coordinator_warnings", s.Warnings, "problems", s.problems(),
		"optional_problems", problemRows(s.OptionalProblems), "remotes", remotes, "gate_approvals", s.Gate.Value(),
		"configuration_changes", wire.NonNil(s.Changed))
}

// gateObject returns a gate for --json and hooks, null for none.
func gateObject(g *initiative.PendingGate) any {
	if g == nil {
		return nil
	}
	return ojson.Marshal(g)
}

func problemRows(list wire.Problems) []*ojson.Object {
	out := []*ojson.Object{}
	for _, p := range list {
		repo := "" // of repos.<id> or repos.<id>.path
		if rest, ok := strings.CutPrefix(p.Field, "repos."); ok {
			repo, _, _ = strings.Cut(rest, ".")
		}
		out = append(out, ojson.NewObject("code", p.Code, "repo_id", ojson.OrNull(repo), "message", p.Message))
	}
	return out
}

// Repos returns the current state of the repositories (docs/coordinator.md#when-it-is-blocked, last rows):
// {repo_id, run_id, status, phase, active_turns, details [{label, value}], path, checkout, turns}.
func (s *Standing) Repos() []*ojson.Object {
	out := []*ojson.Object{}
	for _, repo := range s.Config.Repos.Keys() {
		run, known := s.State.RepoRuns.Get(repo)
		child := s.Children.State(repo)
		status, id, phase := "unknown", "", ""
		details := []*ojson.Object{}
		if known {
			id, status, phase = s.State.RunOf(repo), run.Status, run.Phase
			if status == initiative.RepoLinked || status == initiative.RepoInitialized {
				status = string(wire.StatusActive)
			}
			how := initiative.RepoLinked
			if run.Initialized {
				how = initiative.RepoInitialized
			}
			details = append(details, ojson.NewObject("label", "coordinator", "value", how))
		}
		turns, work := []string{}, []*ojson.Object{}
		if child != nil {
			for id, t := range child.ActiveTurns.All() {
				if t != nil {
					work = append(work, ojson.NewObject("turn_id", id, "role", t.AssignedRole,
						"since", ojson.OrNull(cmp.Or(t.StartedAt, t.AssignedAt))))
				}
			}
			status, phase = string(child.Status), child.Phase
			if got := child.Run(); known && got != id {
				details = append(details, ojson.NewObject("label", "expected run", "value", id, "mono", true))
				id = got
			}
			turns = append(turns, child.ActiveTurns.Keys()...)
		} else if known {
			// Its record says nothing about the present.
			if status = CellAbsent; s.Roots != nil && s.Roots.missing(repo) {
				status = RepoMissing
			}
		}
		out = append(out, ojson.NewObject("repo_id", repo, "run_id", ojson.OrNull(id), "status", status,
			"phase", ojson.OrNull(phase), "active_turns", turns, "details", details, "path", s.Config.Repo(repo).Path,
			"checkout", checkoutObject(s.Checkouts[repo]), "turns", work, "remote_only", s.Roots != nil &&
				s.Roots.remote(repo) != ""))
	}
	return out
}

// RepoMissing is the status of a repository with nothing at its location.
const RepoMissing = "missing"

// checkoutObject returns a checkout for --json, null if none was read.
func checkoutObject(c *sibling.Checkout) any {
	if c == nil {
		return nil
	}
	return ojson.NewObject("branch", ojson.OrNull(c.Branch), "head", ojson.OrNull(string(c.Head)),
		"shallow", c.Shallow,
		"upstream", ojson.OrNull(c.Upstream), "ahead", c.Ahead, "behind", c.Behind, "remote", ojson.OrNull(c.Remote),
		"operations_behind", c.OpsBehind)
}

// CheckoutText describes the state of a repository's work tree, "" if it was not read.
func (s *Standing) CheckoutText(repo string) string {
	c := s.Checkouts[repo]
	if child := s.Children[repo]; child != nil && child.Remote {
		return "on its server only"
	}
	if c == nil {
		return ""
	}
	parts := []string{cmp.Or(c.Branch, "detached")}
	switch {
	case c.Behind < 0:
		parts = append(parts, "far from "+c.Upstream)
	case c.Behind > 0:
		parts = append(parts, text.Count(c.Behind, "commit", "commits")+" behind "+c.Upstream)
	}
	if c.OpsBehind > 0 {
		parts = append(parts, text.Count(c.OpsBehind, "operation", "operations")+" behind "+c.Remote)
	}
	if c.Shallow {
		parts = append(parts, "shallow")
	}
	return strings.Join(parts, ", ")
}

// maxEvents is how much of the workspace's events.jsonl is read, from its end.
const maxEvents = 4 << 20

// warnings reads what a retry could not project (docs/coordinator.md#when-it-is-blocked).
func (c *Coordinator) warnings(superRun string) *ojson.Object {
	list := []*ojson.Object{}
	name := wire.LedgerEvents.Path()
	if _, size, err := readTail(c.store.root, name, 0, 0); err == nil && size > 0 {
		data, _, err := readTail(c.store.root, name, max(size-maxEvents, 0), maxEvents)
		if err != nil {
			data = nil
		}
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			if !bytes.Contains(line, []byte("coordinator_retry_projection_warning")) {
				continue
			}
			row, err := run.DecodeLedgerLine(line)
			if err != nil {
				continue
			}
			if w := warningOf(row, superRun); w != nil {
				list = append(list, w)
			}
		}
	}
	return ojson.NewObject("count", len(list), "reconciliation_required", len(list) > 0, "warnings", list)
}

func warningOf(row *ojson.Object, superRun string) *ojson.Object {
	kind := cmp.Or(row.String("event_type"), row.String("type"))
	if run := row.String("run_id"); kind != "coordinator_retry_projection_warning" || run != "" && run != superRun {
		return nil
	}
	p := row.Object("payload")
	code := cmp.Or(p.String("warning_code"), "coordinator_acceptance_projection_incomplete")
	return ojson.NewObject("event_id", ojson.OrNull(row.String("event_id")),
		"timestamp", ojson.OrNull(row.String("timestamp")), "run_id", ojson.OrNull(row.String("run_id")),
		"workstream_id", ojson.OrNull(p.String("workstream_id")), "repo_id", ojson.OrNull(p.String("repo_id")),
		"reissued_turn_id", ojson.OrNull(p.String("reissued_turn_id")), "warning_code", code,
		"warning_message", ojson.OrNull(p.String("warning_message")))
}
