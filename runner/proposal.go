// Proposals: what roles that cannot write proposed, and what a person or an authoritative turn made of it
// (docs/spec/observation.md#a-proposal-is-decided).

package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// Codes of proposals.
const (
	CodeProposalConflict = "proposal_conflict"
	CodeProposalDecided  = "proposal_decided"
)

// Statuses of a proposal.
const (
	ProposalPending  = "pending"
	ProposalPartial  = "partial" // some files are applied
	ProposalApplied  = "applied"
	ProposalRejected = "rejected"
)

// Proposal is what a turn proposed, as it is recorded.
type Proposal struct {
	Turn, Role, Summary, Status, Reason string

	Files []ProposedFile

	line run.Line
}

// ProposedFile is one file of a proposal.
type ProposedFile struct {
	Path, Action string
	Applied      bool   // committed by a person, or in the work of a turn
	InTurn       string // the turn that applied it as its own work, active or accepted; "" for a person
	Before       []byte // in the work tree now, nil for none
	After        []byte // nil when the file is deleted
	Merged       bool   // After is what was proposed, merged with what others changed since

	source string // sha256:<hex> of what it was proposed against, "" for no file
}

// Proposals lists the proposals of the run, oldest first, without contents.
func (r *Runner) Proposals(ctx context.Context) ([]*Proposal, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return proposals(ctx, r.store, v.Run, "")
}

// WaitingProposals are those of the run that are neither applied nor rejected.
func (r *Runner) WaitingProposals(ctx context.Context, v *gitstore.View) ([]*Proposal, error) {
	proposes := false
	for _, role := range v.Config.Roles.All() {
		proposes = proposes || role != nil && role.WriteAuthority == wire.Proposed
	}
	if !proposes || r.store == nil || v.Run == "" || !run.RulesInForce(v.State.Status) {
		return nil, nil // reading the history is for runs that may have one
	}
	all, err := proposals(ctx, r.store, v.Run, "")
	return slices.DeleteFunc(all, func(p *Proposal) bool { return !p.waits() }), err
}

// WaitingProposal is the oldest proposal that waits for a person, nil for none.
func (r *Runner) WaitingProposal(ctx context.Context, v *gitstore.View) (*Proposal, error) {
	all, err := r.WaitingProposals(ctx, v)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// proposalsFor are those that a turn could apply as its own work: none unless its role writes.
func (r *Runner) proposalsFor(ctx context.Context, v *gitstore.View, turn *run.Turn) ([]dispatch.Waiting, error) {
	if role := v.Config.Role(turn.AssignedRole); role == nil || role.WriteAuthority != wire.Authoritative {
		return nil, nil
	}
	all, err := r.WaitingProposals(ctx, v)
	if err != nil {
		return nil, err
	}
	var out []dispatch.Waiting
	for _, p := range all {
		w := dispatch.Waiting{Turn: p.Turn, Role: p.Role, Summary: p.Summary}
		for _, f := range p.Files {
			if !f.Applied {
				w.Files = append(w.Files, f.Path)
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// waitsText says what waits, in one sentence.
func (p *Proposal) waitsText() string {
	left := 0
	for _, f := range p.Files {
		if !f.Applied {
			left++
		}
	}
	return fmt.Sprintf("%s that %s proposed in turn %s are not in the work tree: apply or reject them.",
		text.Count(left, "file", "files"), p.Role, p.Turn)
}

// Proposal returns the proposal of a turn, with what the files hold now and would hold.
// A unique prefix of the id will do; "" is the only one that waits.
//
// Errors: not_found, target_required.
func (r *Runner) Proposal(ctx context.Context, turn string) (*Proposal, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return r.proposal(ctx, v.Run, turn)
}

func (r *Runner) proposal(ctx context.Context, runID, turn string) (*Proposal, error) {
	all, err := proposals(ctx, r.store, runID, turn)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(p *Proposal) bool { return p.Turn == turn }); i >= 0 {
		all = all[i : i+1]
	} else if turn == "" {
		all = slices.DeleteFunc(all, func(p *Proposal) bool { return !p.waits() })
	}
	switch len(all) {
	case 1:
	case 0:
		what := "No proposal waits."
		if turn != "" {
			what = fmt.Sprintf("Turn %s has made no proposal in this run.", wire.Shown(turn))
		}
		return nil, &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   "turn_id",
			Message: what,
			Hint:    "git agentxchain proposal list",
		}
	default:
		var ids []string
		for _, p := range all {
			ids = append(ids, p.Turn)
		}
		return nil, &wire.Error{
			Code:    wire.CodeTargetRequired,
			Field:   "turn_id",
			Details: ojson.NewObject("matches", ids),
			Message: "Several proposals match: " + wire.List(ids) + ".",
			Hint:    "name the turn: git agentxchain proposal show TURN",
		}
	}
	p := all[0]
	rec, err := r.store.OpenRun(ctx, runID, "")
	if err != nil {
		return nil, err
	}
	for i := range p.Files {
		f := &p.Files[i]
		if clean, problem := wire.CleanPath(f.Path); problem != "" || clean != f.Path {
			return nil, unsafeProposal(f.Path)
		}
		if f.Action != "delete" {
			data, ok, err := rec.File(protocol.ProposalDir(p.Turn) + "/" + f.Path)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, &wire.Error{
					Code:    wire.CodeNotFound,
					Field:   f.Path,
					Message: fmt.Sprintf("The record of turn %s does not hold %s.", p.Turn, wire.Shown(f.Path)),
					Hint:    "git agentxchain fsck",
				}
			}
			f.After = append([]byte{}, data...)
		}
		if f.Before, err = projectfile.Read(r.store.Dir(), f.Path, projectfile.MaxGate); err != nil {
			return nil, err
		}
	}
	return p, r.mergeProposal(ctx, p)
}

func (p *Proposal) waits() bool { return p.Status == ProposalPending || p.Status == ProposalPartial }

// proposals reads the record, so that what was edited below .agentxchain counts for nothing.
func proposals(ctx context.Context, s *gitstore.Store, runID, prefix string) ([]*Proposal, error) {
	if runID == "" {
		return nil, nil
	}
	rec, err := s.OpenRun(ctx, runID, "")
	if err != nil {
		return nil, err
	}
	var out []*Proposal
	declared := make(map[string][]string) // by completed turn
	for line, err := range rec.Rows(wire.LedgerHistory) {
		if err != nil {
			return nil, err
		}
		row := line.Row
		turn := row.String("turn_id")
		if row.String("status") == wire.ResultCompleted {
			declared[turn] = row.Strings("files_changed")
		}
		if row.String("run_id") != runID || turn == "" || !strings.HasPrefix(turn, prefix) ||
			row.Object("artifact").String("ref") != protocol.ProposalDir(turn) {
			continue
		}
		p := &Proposal{
			Turn:    turn,
			Role:    row.String("role"),
			Summary: row.String("summary"),
			Status:  ProposalPending,
			line:    line,
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, nil
	}
	taken, err := takenOver(rec, declared)
	if err != nil {
		return nil, err
	}
	for _, p := range out {
		if err := p.read(rec, taken[p.Turn]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// takenOver says by proposal and file which turn applied it as its own work: one that is active, or that was
// accepted as completed and declared the file. What another turn applied waits again.
func takenOver(rec *chain.RecordedRun, declared map[string][]string) (map[string]map[string]string, error) {
	state, err := rec.State()
	if err != nil {
		return nil, err
	}
	out := make(map[string]map[string]string)
	for line, err := range rec.Rows(wire.LedgerDecisions) {
		if err != nil {
			return nil, err
		}
		row := line.Row
		by := row.String("in_turn")
		if by == "" || row.String("category") != "proposal" || row.String("action") != "applied" {
			continue
		}
		_, active := state.ActiveTurns.Get(by)
		for _, f := range row.Strings("files") {
			if active || slices.Contains(declared[by], f) {
				of := out[row.String("turn_id")]
				if of == nil {
					of = make(map[string]string)
					out[row.String("turn_id")] = of
				}
				of[f] = by
			}
		}
	}
	return out, nil
}

func (p *Proposal) read(rec *chain.RecordedRun, taken map[string]string) error {
	doc := func(name string) (*ojson.Object, error) {
		data, ok, err := rec.File(protocol.ProposalDir(p.Turn) + "/" + name)
		if err != nil || !ok {
			return nil, err
		}
		return ojson.DecodeObject(data)
	}
	snapshot, err := doc(protocol.ProposalSnapshot)
	if err != nil {
		return err
	}
	applied, err := doc(protocol.ProposalApplied)
	if err != nil {
		return err
	}
	rejected, err := doc(protocol.ProposalRejected)
	if err != nil {
		return err
	}
	done := applied.Strings("files")
	left, some := 0, false
	for _, f := range snapshot.Objects("files") {
		file := ProposedFile{Path: f.String("path"), Action: f.String("action"), source: f.String("sha256")}
		if file.Applied = slices.Contains(done, file.Path); !file.Applied {
			file.InTurn = taken[file.Path]
			file.Applied = file.InTurn != ""
		}
		if file.Applied {
			some = true
		} else {
			left++
		}
		p.Files = append(p.Files, file)
	}
	switch {
	case rejected != nil:
		p.Status, p.Reason = ProposalRejected, rejected.String("reason")
	case some && left == 0:
		p.Status = ProposalApplied
	case some:
		p.Status = ProposalPartial
	}
	return nil
}

// Written lists the files that are as proposed, were not when the proposal was made, and are not recorded as applied.
func (p *Proposal) Written() []string {
	var out []string
	for _, f := range p.Files {
		proposed := ""
		if f.After != nil {
			proposed = "sha256:" + evidence.NewBlob(f.After).Digest
		}
		if !f.Applied && f.source != proposed && (f.Before == nil) == (f.After == nil) && bytes.Equal(f.Before, f.After) {
			out = append(out, f.Path)
		}
	}
	return out
}

// Decided is the outcome of ApplyProposal and RejectProposal.
type Decided struct {
	Done
	Proposal *Proposal
	Files    []string // applied by this call
	Left     []string // not applied yet
	Commit   string   // "" for a rejection, and for what a turn applied
	InTurn   string   // the turn whose work the files are, "" when they were committed
}

// ApplyProposal writes files of a proposal into the work tree, those named or all that are
// left, and commits them; with inTurn, which is the caller's own turn inside of one, they
// are the uncommitted work of that active, authoritative turn. Nothing is written where one
// of them cannot be.
//
// Errors: not_found, target_required, proposal_decided, proposal_conflict, turn_not_active,
// invalid_argument, invalid_state_transition, inside_dispatched_turn, run_blocked.
func (r *Runner) ApplyProposal(ctx context.Context, turn string, names []string, inTurn string) (*Decided, error) {
	return r.decide(ctx, turn, func(ctx context.Context, c *change, out *Decided) (protocol.Operation, error) {
		p := out.Proposal
		if in := c.env.Actor.InsideTurn; inTurn == "" {
			inTurn = in
		} else if in != "" && in != inTurn {
			return nil, protocol.ProposalInsideTurn(c.env.Actor)
		}
		if inTurn != "" {
			t, err := protocol.ResolveTurn(c.view.State, inTurn, "apply a proposal in")
			if err != nil {
				return nil, err
			}
			if err := protocol.ProposalTaker(c.view.Config, t); err != nil {
				return nil, err
			}
		} else if n := c.view.State.ActiveTurns.Len(); n > 0 {
			return nil, protocol.ProposalBusy(c.view.State.ActiveTurns.Keys())
		}
		chosen, err := p.choose(names)
		if err != nil {
			return nil, err
		}
		if err := c.applicable(ctx, p, chosen); err != nil {
			return nil, err
		}
		if err := c.writeProposal(chosen); err != nil {
			return nil, err
		}
		faults.Point("proposal.written")
		c.tree = nil
		st, err := c.look(ctx)
		if err != nil {
			return nil, err
		}
		op := &protocol.DecideProposal{TurnID: p.Turn, Row: evidence.NewBlob(p.line.Raw), InTurn: inTurn}
		var dirty []string
		for _, f := range p.Files {
			now := slices.ContainsFunc(chosen, func(o ProposedFile) bool { return o.Path == f.Path })
			if _, changed := st.Dirty[f.Path]; changed && now {
				dirty = append(dirty, f.Path)
			}
			switch {
			case now:
				out.Files = append(out.Files, f.Path)
				op.Files = append(op.Files, f.Path)
			case f.Applied && inTurn == "" && f.InTurn == "":
				op.Files = append(op.Files, f.Path)
			case !f.Applied:
				out.Left = append(out.Left, f.Path)
			}
		}
		op.Partial = len(out.Left) > 0
		if inTurn != "" {
			out.InTurn = inTurn
			return op, nil
		}
		commit := st.Head
		if len(dirty) > 0 {
			commit, err = r.store.Repository().CommitPathsAs(ctx, dirty, proposalMessage(p), git.CommitAs{Status: st})
			if err != nil {
				return nil, err
			}
			c.tree = nil
			if _, err := c.look(ctx); err != nil {
				return nil, err
			}
		}
		faults.Point("proposal.committed")
		out.Commit = string(commit)
		op.Commit = out.Commit
		return op, nil
	})
}

// RejectProposal turns a proposal down; files applied before stay.
//
// Errors: those of ApplyProposal but proposal_conflict.
func (r *Runner) RejectProposal(ctx context.Context, turn, reason string) (*Decided, error) {
	return r.decide(ctx, turn, func(_ context.Context, c *change, out *Decided) (protocol.Operation, error) {
		if c.env.Actor.InsideTurn != "" {
			return nil, protocol.ProposalInsideTurn(c.env.Actor)
		}
		return &protocol.DecideProposal{
			TurnID: out.Proposal.Turn,
			Row:    evidence.NewBlob(out.Proposal.line.Raw),
			Reject: true,
			Reason: reason,
		}, nil
	})
}

func (r *Runner) decide(ctx context.Context, turn string,
	how func(context.Context, *change, *Decided) (protocol.Operation, error),
) (*Decided, error) {
	out := &Decided{}
	done, err := r.do(ctx, "proposal", func(ctx context.Context, c *change) (protocol.Operation, error) {
		p, err := r.proposal(ctx, c.view.Run, turn)
		if err != nil {
			return nil, err
		}
		if !p.waits() {
			return nil, &wire.Error{
				Code:    CodeProposalDecided,
				Field:   "turn_id",
				Message: fmt.Sprintf("The proposal of turn %s is already %s.", p.Turn, p.Status),
				Hint:    "git agentxchain proposal show " + p.Turn,
			}
		}
		out.Proposal = p
		return how(ctx, c, out)
	})
	out.Done = *done
	return out, err
}

// choose returns the files that are named, or all that are left.
func (p *Proposal) choose(names []string) ([]ProposedFile, error) {
	var out []ProposedFile
	for _, f := range p.Files {
		if len(names) == 0 && !f.Applied {
			out = append(out, f)
		}
	}
	for _, n := range names {
		i := slices.IndexFunc(p.Files, func(f ProposedFile) bool { return f.Path == n })
		switch {
		case i < 0:
			return nil, &wire.Error{
				Code:    wire.CodeNotFound,
				Field:   "file",
				Message: fmt.Sprintf("File %s is not part of the proposal of turn %s.", wire.Shown(n), p.Turn),
				Hint:    "git agentxchain proposal show " + p.Turn,
			}
		case p.Files[i].Applied:
			return nil, &wire.Error{
				Code:    CodeProposalDecided,
				Field:   "file",
				Message: fmt.Sprintf("File %s of the proposal of turn %s is already applied.", n, p.Turn),
				Hint:    "git agentxchain proposal show " + p.Turn,
			}
		}
		if !slices.ContainsFunc(out, func(f ProposedFile) bool { return f.Path == n }) {
			out = append(out, p.Files[i])
		}
	}
	return out, nil
}

// mergeProposal carries a proposal over to files that have moved on since it was made,
// where what it was made from is still known: the commit its turn began with. A file that
// does not merge is left to applicable to refuse.
func (r *Runner) mergeProposal(ctx context.Context, p *Proposal) error {
	ref := p.line.Row.Object("observed_artifact").String("baseline_ref")
	base := git.OID(strings.TrimPrefix(ref, "git:"))
	repo := r.store.Repository()
	if !base.Valid(repo.ObjectFormat) || !repo.HasCommit(ctx, base) {
		return nil
	}
	for i := range p.Files {
		f := &p.Files[i]
		if f.Applied || f.Before == nil || f.After == nil || f.source == "" || bytes.Equal(f.Before, f.After) ||
			f.source == "sha256:"+evidence.NewBlob(f.Before).Digest {
			continue
		}
		var was []byte
		err := repo.ReadNamed(ctx, []string{string(base) + ":" + repo.Prefix + f.Path}, func(_ int, o git.Named) {
			if o.Found && o.Kind == git.KindBlob {
				was = o.Data
			}
		})
		if err != nil {
			return err
		}
		if f.source != "sha256:"+evidence.NewBlob(was).Digest {
			continue
		}
		merged, clean, err := repo.MergeFile(ctx, f.Before, was, f.After)
		if err != nil {
			return err
		}
		if clean {
			f.After, f.Merged = merged, true
		}
	}
	return nil
}

// applicable refuses files that are not a role's to write, and those that are no longer
// what the proposal was made from. A file that is already as proposed is fine: an apply
// that was ended goes on, and one that merged is not what it was made from any more.
func (c *change) applicable(ctx context.Context, p *Proposal, files []ProposedFile) error {
	st, err := c.look(ctx)
	if err != nil {
		return err
	}
	if err := observe.RefuseUnmerged(st); err != nil {
		return err
	}
	root, err := os.OpenRoot(c.r.store.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	var conflicts []*ojson.Object
	var names []string
	for _, f := range files {
		if !wire.ProjectOwned(f.Path) || protocol.KeptPath(c.view.Config, f.Path) || governed(f.Path) || !plainPath(root, f.Path) {
			return unsafeProposal(f.Path)
		}
		if f.Before == nil && f.After == nil || f.Before != nil && f.After != nil && bytes.Equal(f.Before, f.After) {
			continue
		}
		now := ""
		if f.Before != nil {
			now = "sha256:" + evidence.NewBlob(f.Before).Digest
		}
		reason := ""
		if _, dirty := st.Dirty[f.Path]; now != f.source && !f.Merged {
			reason = "workspace_diverged"
		} else if dirty {
			reason = "uncommitted_change"
		}
		if reason != "" {
			conflicts = append(conflicts, ojson.NewObject("path", f.Path, "action", f.Action, "reason", reason))
			names = append(names, f.Path)
		}
	}
	if len(conflicts) == 0 {
		return nil
	}
	return &wire.Error{
		Code:    CodeProposalConflict,
		Field:   names[0],
		Details: ojson.NewObject("conflicts", conflicts),
		Message: fmt.Sprintf("The proposal of turn %s was made from other contents of %s; nothing was written.",
			p.Turn, wire.List(names)),
		Hint: "git agentxchain proposal diff " + p.Turn + "; apply the other files with --file, or reject it",
	}
}

// governed reports the configuration and git's own directory, however they are spelled.
func governed(name string) bool {
	top, _, _ := strings.Cut(wire.FoldPath(name), "/")
	return top == wire.FoldPath("agentxchain.json") || top == wire.FoldPath(".agentxchain") ||
		slices.Contains(strings.Split(wire.FoldPath(name), "/"), wire.FoldPath(".git"))
}

// plainPath reports that name is a regular file or none, with no link on the way to it.
func plainPath(root *os.Root, name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil, at == name && !info.Mode().IsRegular(), at != name && !info.IsDir():
			return false
		}
	}
	return true
}

func unsafeProposal(name string) error {
	return &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Field:   "file",
		Message: fmt.Sprintf("File %s may not be written by a proposal.", wire.Shown(name)),
		Hint:    "leave it out with --file, or: git agentxchain proposal reject",
	}
}

func (c *change) writeProposal(files []ProposedFile) error {
	root, err := os.OpenRoot(c.r.store.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if f.After == nil {
			if err := root.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if f.Before != nil && bytes.Equal(f.Before, f.After) {
			continue
		}
		mode := os.FileMode(0o644)
		if info, err := root.Lstat(f.Path); err == nil {
			mode = info.Mode().Perm()
		} else if err := c.r.store.MakeDir(path.Dir(f.Path)); err != nil {
			return err
		}
		durable.RemoveUnfinished(root, f.Path, f.After)
		if err := durable.WriteFileRoot(root, f.Path, f.After, mode); err != nil {
			return err
		}
	}
	return nil
}

// proposalMessage is that of a checkpoint, with another subject.
func proposalMessage(p *Proposal) string {
	_, body, _ := strings.Cut(checkpointMessage(p.line.Row), "\n")
	return "apply proposal: " + p.Turn + "\n" + body
}
