// Which turns an initiative knows, and the files and handoffs that it passes on.

package initiative

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Foreign reports whether another super run dispatched the turn.
func (w *Workspace) Foreign(c *Child, turn string) bool {
	by := c.Given[turn]
	return w.History.foreign(c.ID, turn) || by != "" && by != w.State.SuperRunID
}

// operated finds turns of the initiative's runs that were accepted without having been dispatched: a person ran
// them. They count only where their purpose is beyond doubt: the repository works on one workstream of the phase,
// the workstream waits for nothing, the turn was accepted in its phase since the initiative began, and no other
// super run, of this or another workspace, dispatched it.
func (w *Workspace) operated(repo string, c *Child) []Mismatch {
	stream := w.sole(repo)
	run := w.State.RunOf(repo)
	if stream == nil || c == nil || c.State == nil || run == "" || c.Run() != run {
		return nil
	}
	known := make(map[string]bool)
	for _, row := range w.History.Dispatched(repo) {
		turn := row.String("repo_turn_id")
		known[turn], known[c.Follow(turn)] = true, true
	}
	var out []Mismatch
	for turn, row := range c.Rows {
		if known[turn] || w.Foreign(c, turn) || w.Foreign(c, c.Origin(turn)) || c.Accepted(turn) == nil ||
			w.History.Projection(repo, turn) != nil ||
			row.String("run_id") != run || row.String("phase") != stream.Phase ||
			row.String("accepted_at") < w.State.CreatedAt {
			continue
		}
		out = append(out, Mismatch{
			Type:       MismatchAccepted,
			Repo:       repo,
			Turn:       turn,
			Workstream: stream.ID,
			row:        row,
			accepted:   row,
			turn:       turn,
			Detail: "Turn " + turn + " was run in " + repo +
				" without having been given out, and does not count yet.",
		})
	}
	slices.SortFunc(out, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(a.accepted.String("accepted_at"), b.accepted.String("accepted_at")),
			cmp.Compare(a.Turn, b.Turn))
	})
	return out
}

// sole returns the only workstream of the phase that the repository works on; nil when there are several or it
// waits for another.
func (w *Workspace) sole(repo string) *Workstream {
	var out *Workstream
	for _, s := range w.Config.PhaseWorkstreams(w.State.Phase) {
		if !slices.Contains(s.Repos, repo) {
			continue
		}
		if out != nil {
			return nil
		}
		out = s
	}
	if out == nil || slices.ContainsFunc(out.DependsOn, func(dep string) bool { return !w.Done(dep, out) }) {
		return nil
	}
	return out
}

// Knows reports whether a turn of a repository was dispatched.
func (h *History) Knows(repo, turn string) bool {
	return slices.ContainsFunc(h.dispatched, func(row *ojson.Object) bool {
		return row.String("repo_id") == repo && row.String("repo_turn_id") == turn
	})
}

// HandOver adds handoffs to a context.
func (ctx *Context) HandOver(list []*ojson.Object) {
	ctx.JSON.Set("intake_handoffs", list)
	if len(list) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("\n## Intake Handoff\n")
	for _, o := range list {
		fmt.Fprintf(&b, "\n### %s\n\n- Source Repo: %s\n- Charter: %s\n", wire.OneLine(o.String("intent_id")),
			wire.OneLine(o.String("source_repo")), wire.OneLine(o.String("charter")))
		for _, item := range o.Strings("acceptance_contract") {
			fmt.Fprintf(&b, "- Accept when: %s\n", wire.OneLine(item))
		}
	}
	ctx.Text += b.String()
}

// File is a file of the coordinator's directory that belongs to a change: a
// context or a recovery report.
type File struct {
	Path string // relative to the workspace, below Dir
	Data []byte
	Keep bool // an existing file is left as it is
}

// Places finds the repository that a path belongs to.
type Places interface {
	// Owner returns the repository that contains file, a path relative to the root of repo or absolute; "" when
	// none does. The error is repo_unresolved when repo has no usable place, invalid_argument when file cannot be a
	// path.
	Owner(repo, file string) (string, *wire.Error)
}
