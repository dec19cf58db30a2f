// Judging again whether the people required by the rules approved the gates that an initiative passed
// (docs/coordinator.md#what-is-believed).

package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// CodeUnapproved means that a gate counts as passed without the people required by its rules.
const CodeUnapproved = "gate_unapproved"

// approvals judges the gates that were passed according to a history.
type approvals struct {
	home *git.Repository
	st   *initiative.State
	tip  object.OID         // tip of the record, "" if there is none
	here *initiative.Config // the configuration whose rules count in addition to those of the beginning, nil for none

	base      *agreement.Base // signers and rules of the beginning; empty if it names none
	founded   *initiative.Config
	protected consent.Place // Names is empty if there is no branch

	brought int // number of rows in the record's first change, -1 if not known yet
}

// judging prepares approvals. here is the configuration of this workspace, for a record from elsewhere: its author
// may have chosen a beginning with fewer requirements. For a newly adopted record the beginning must be on a branch
// here; a record that continues one believed here has the same beginning.
func (c *Coordinator) judging(ctx context.Context, st *initiative.State, tip object.OID, here *initiative.Config,
	anew bool) (*approvals, error) {
	a := &approvals{st: st, tip: tip, here: here, brought: -1, base: &agreement.Base{}}
	home := c.repository(ctx)
	if home == nil {
		return a, nil
	}
	a.home = home.Repository()
	if st.AuthorityBase != "" {
		if anew {
			if err := a.known(ctx); err != nil {
				return nil, err
			}
		}
		base, founded, err := baseOf(ctx, consent.Place{Repo: a.home, Pinned: &st.AuthorityBase})
		if err != nil {
			return nil, err
		}
		if base == nil {
			return nil, a.away(ctx)
		}
		a.base, a.founded = base, founded
	}
	named := here
	if here == nil && a.founded != nil && a.founded.ProtectedBranch != "" {
		named, _ = newReader(c.store.root).config(c.store.dir)
	}
	var err error
	a.protected, err = protectedBy(ctx, a.home, "", a.founded, named)
	return a, err
}

// known refuses a beginning that no branch here has: a record must not itself bring the commit that says who may
// sign.
func (a *approvals) known(ctx context.Context) error {
	if !a.home.HasCommit(ctx, object.OID(a.st.AuthorityBase)) {
		return a.away(ctx)
	}
	out, err := a.home.Git.Run(ctx, nil, "for-each-ref", "--format=%(refname)",
		"--contains="+a.st.AuthorityBase, "refs/heads", "refs/remotes")
	if err != nil {
		return err
	}
	for ref := range strings.Lines(string(out)) {
		// Records of remotes have tracking refs too, and those who push them may not be able to push a branch.
		if !transport.IsTracking(strings.TrimSpace(ref)) {
			return nil
		}
	}
	return a.away(ctx)
}

func (a *approvals) away(ctx context.Context) *wire.Error {
	commit, run := a.st.AuthorityBase, wire.OneLine(a.st.SuperRunID)
	brings := "git fetch REMOTE " + record.BeginningRefPrefix + wire.ShellWord(run) + ":refs/heads/NAME brings it"
	if a.home.HasCommit(ctx, object.OID(commit)) {
		brings = "git branch NAME " + commit + " puts it on one"
	}
	e := &wire.Error{
		Code:  CodeUnapproved,
		Field: fieldBeginning,
		Message: fmt.Sprintf("Commit %.12s says who may approve in initiative %s, and no branch here has it.", commit,
			run),
		Hint: "git fetch brings the branches of the workspace's repository; if its branch was rewritten or deleted, and you " +
			"know that commit: " + brings + "; else " + Program + " multi abandon --reason TEXT",
	}
	if len(history.ShallowCommits(a.home)) > 0 {
		e.Hint = "git fetch --unshallow brings the commits before this shallow clone; then the command again"
	}
	return e
}

// beginningGone reports whether err is a refusal because the beginning is missing: no gate can be judged without
// it, and if no clone has it the initiative can only be ended.
func beginningGone(err error) bool {
	e := refusalOf(err)
	return e != nil && e.Code == CodeUnapproved && e.Field == fieldBeginning
}

const fieldBeginning = "authority_base"

// unapproved returns the first gate of a history that was passed without its people, nil if all are valid. It skips
// the first known gates, which are known to be valid.
func (a *approvals) unapproved(ctx context.Context, h *initiative.History, known int) error {
	if !a.asks() {
		return nil
	}
	restores := Program + " multi restore brings back what is recorded here, and with --theirs REMOTE what was " +
		"fetched of a remote"
	passages, _, at := a.passages(ctx, h)
	for _, p := range passages[min(known, len(passages)):] {
		if p.Refusal != nil {
			return &wire.Error{
				Code:  CodeUnapproved,
				Field: p.Gate,
				Message: fmt.Sprintf("Gate %s counts as passed since %s, but it is not: %s", p.Gate, p.At,
					sentence(p.Refusal.Message)),
				Hint: cmp.Or(p.Refusal.Hint, "ask the person who approved it") + "; " + restores,
			}
		}
	}
	if at != "" && at != a.st.Phase {
		return &wire.Error{
			Code:    CodeUnapproved,
			Field:   "phase",
			Message: fmt.Sprintf("The state says phase %s, and the gates that were passed lead to %s.", a.st.Phase, at),
			Hint:    restores,
		}
	}
	if g := a.st.PendingGate; g != nil && !g.Fits(a.st.Phase) {
		return &wire.Error{
			Code:  CodeUnapproved,
			Field: "pending_gate",
			Message: fmt.Sprintf("The state says that gate %s waits, but it is not a gate of phase %s.",
				g.Gate, a.st.Phase),
			Hint: restores,
		}
	}
	return nil
}

// passages returns the gates that were passed according to a history, the votes that count at the one that waits,
// and the resulting phase.
func (a *approvals) passages(ctx context.Context, h *initiative.History) ([]initiative.Passage, []*run.Vote, string) {
	return h.Passages(a.st.SuperRunID, a.ground(ctx))
}

func (a *approvals) ground(ctx context.Context) initiative.Ground {
	return func(y *initiative.Yes, asked initiative.Asking) (*initiative.Grounds, *wire.Error) {
		if refusal := a.answers(ctx, y, asked); refusal != nil {
			return nil, refusal
		}
		return a.grounds(ctx, y, asked.Since)
	}
}

// answers refuses a yes that does not answer the request of its gate, as far as there is a record: otherwise a yes
// from before a denial would count again. The answered change was signed too, so what that change says needs no
// other proof. A yes that came with an artifact's initial content answers a change of another record.
func (a *approvals) answers(ctx context.Context, y *initiative.Yes, asked initiative.Asking) *wire.Error {
	if y == nil || a.tip == "" || asked.Request {
		return nil
	}
	at, nth := "", 0
	op := object.OID(y.Consent.Answers)
	if op.Valid(a.home.ObjectFormat) {
		found, data, err := record.InitiativeRequest(ctx, a.home, op) // a change that is not here has no known request
		switch {
		case err == nil:
			at, nth = found, a.history(data).Requests()
		case asked.Row < a.first(ctx):
			return nil
		}
	}
	if at != "" && at == asked.At && nth == asked.Nth {
		return nil
	}
	return &wire.Error{
		Code:    agreement.CodeStatementReplayed,
		Message: fmt.Sprintf("it answers change %.12s, and the gate was requested with another one", y.Consent.Answers),
	}
}

func (a *approvals) history(data []byte) *initiative.History {
	rows, _ := decodeRows(initiative.HistoryPath, data)
	return initiative.NewHistory(rows, a.st.SuperRunID)
}

// first returns the number of rows with which the record begins.
func (a *approvals) first(ctx context.Context) int {
	if a.brought < 0 {
		a.brought = 0
		if data, err := record.InitiativeFirst(ctx, a.home, a.tip, initiative.HistoryPath); err == nil {
			a.brought = len(a.history(data).Rows())
		}
	}
	return a.brought
}

// changed returns the JSON pointers of what the configuration says otherwise than the first change of the record does.
func (a *approvals) changed(ctx context.Context, now *initiative.Config) []string {
	if a.tip == "" {
		return nil
	}
	data, err := record.InitiativeFirst(ctx, a.home, a.tip, initiative.ConfigFile)
	if err != nil {
		return nil // fsck reports it
	}
	then, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	var out []string
	for _, d := range ojson.Differences(then, now.Raw) {
		if !slices.Contains(out, d.At) { // of a list, what left it and what came
			out = append(out, d.At)
		}
	}
	return out
}

// asks reports whether there may be rules.
func (a *approvals) asks() bool {
	return a.founded != nil || a.here != nil && a.here.Authority != nil || len(a.protected.Names) > 0
}

// grounds returns the rules that applied to a row. The row's author chose the commit of the protected branch: a
// commit that only a merge brought was never the branch's tip, and one before since, the commit for an earlier yes,
// is outdated.
func (a *approvals) grounds(ctx context.Context, y *initiative.Yes, since string) (*initiative.Grounds, *wire.Error) {
	g := &initiative.Grounds{Base: a.base, Configs: []*initiative.Config{a.founded}, Today: a.here}
	if len(a.protected.Names) == 0 {
		return g, nil
	}
	if y == nil || y.Consent.Base == nil || y.Consent.Base.Ref == "" {
		// If the row does not say what the branch said then, use what it says now.
		base, cfg, err := baseOf(ctx, a.protected)
		if err != nil {
			return nil, unjudged(err)
		}
		if base != nil {
			g.Base, g.Since, g.Configs = base, base.Commit, append(g.Configs, cfg)
		}
		return g, nil
	}
	at := y.Consent.Base
	for _, s := range a.protected.Names {
		tip, err := a.home.ReadRef(ctx, s)
		if err != nil {
			return nil, unjudged(err)
		}
		if tip == "" {
			continue // it does not exist here under this name
		}
		if on, err := history.Ancestor(ctx, a.home, object.OID(at.Commit), tip); err != nil {
			return nil, unjudged(err)
		} else if !on {
			continue
		}
		was, err := history.Entered(ctx, a.home, object.OID(at.Commit), tip)
		if err == nil && since != "" {
			var over bool
			if over, err = history.Ancestor(ctx, a.home, was, object.OID(since)); over {
				was = object.OID(since)
			}
		}
		if err != nil {
			return nil, unjudged(err)
		}
		g.Since = string(was)
		base, cfg, err := baseOf(ctx, consent.Place{Repo: a.home, Pinned: &g.Since})
		if err != nil {
			return nil, unjudged(err)
		}
		g.Base, g.Configs = base, append(g.Configs, cfg)
		return g, nil
	}
	return nil, &wire.Error{
		Code: CodeUnapproved,
		Message: fmt.Sprintf("its signers were read at commit %.12s, which the protected branch here does not have",
			at.Commit),
		Hint: "git fetch brings branch " + wire.OneLine(a.protected.Branch) + ", and with --unshallow its commits before a " +
			"shallow clone; name it in authority.protected_branch of " + initiative.ConfigFile + " if it was renamed",
	}
}

// unjudged says why a passage cannot be judged.
func unjudged(err error) *wire.Error {
	if e := refusalOf(err); e != nil {
		return e
	}
	return &wire.Error{Code: CodeUnapproved, Message: err.Error()}
}

func sentence(s string) string { return strings.TrimSuffix(s, ".") + "." }

// approved refuses a history with a gate that was passed without its people. Gates in before are known to be valid;
// here and anew are as for judging.
func (c *Coordinator) approved(ctx context.Context, st *initiative.State, history, before []byte, tip object.OID,
	here *initiative.Config, anew bool) error {
	a, err := c.judging(ctx, st, tip, here, anew)
	if err != nil {
		return err
	}
	rows, _ := decodeRows(initiative.HistoryPath, history)
	was, _ := decodeRows(initiative.HistoryPath, before)
	return a.unapproved(ctx, initiative.NewHistory(rows, st.SuperRunID),
		initiative.NewHistory(was, st.SuperRunID).Passed())
}
