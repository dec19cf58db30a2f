// Proposals in the record (docs/spec/observation.md#a-proposal-is-decided).

package proposal

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of proposals.
const (
	CodeConflict = "proposal_conflict"
	CodeDecided  = "proposal_decided"
)

// Statuses of a proposal.
const (
	Pending  = "pending"
	Partial  = "partial" // some files are applied
	Applied  = "applied"
	Rejected = "rejected"
)

// Proposal is what a turn proposed, as it is recorded.
type Proposal struct {
	Turn, Role, Summary, Status, Reason string

	Files []File

	line run.Line // of the history
}

// File is one file of a proposal.
type File struct {
	Path, Action string
	Applied      bool   // committed by a person, or part of a turn's work
	InTurn       string // the turn that applied it as its own work, active or accepted; "" for a person
	Before       []byte // in the work tree now, nil for none
	After        []byte // nil when the file is deleted
	Merged       bool   // After is the proposal merged with what others changed since

	source string // sha256:<hex> of its base, "" for no file
}

// asProposed reports whether the file in the work tree is as it was proposed.
func (f *File) asProposed() bool {
	return (f.Before == nil) == (f.After == nil) && bytes.Equal(f.Before, f.After)
}

// WaitsText says in one sentence that the proposal waits.
func (p *Proposal) WaitsText() string {
	left := 0
	for _, f := range p.Files {
		if !f.Applied {
			left++
		}
	}
	return fmt.Sprintf("%s that %s proposed in turn %s are not in the work tree: apply or reject them.",
		text.Count(left, "file", "files"), p.Role, p.Turn)
}

// Waiting returns the proposals of the run that are neither applied nor rejected, oldest first. s is nil for
// the files of an artifact, which have no record.
func Waiting(ctx context.Context, s *gitstore.Store, v *gitstore.View) ([]*Proposal, error) {
	proposes := false
	for _, role := range v.Config.Roles.All() {
		proposes = proposes || role != nil && role.WriteAuthority == wire.Proposed
	}
	if !proposes || s == nil || v.Run == "" || !run.RulesInForce(v.State.Status) {
		return nil, nil // only runs that may have one need their history read
	}
	all, err := List(ctx, s, v.Run, "")
	return slices.DeleteFunc(all, func(p *Proposal) bool { return !p.Waits() }), err
}

// Find returns the proposal of a turn of the run runID, with the present and the proposed contents of its
// files. turn may be a unique prefix of the id; "" is the only waiting proposal.
//
// Errors: not_found, target_required.
func Find(ctx context.Context, s *gitstore.Store, runID, turn string) (*Proposal, error) {
	all, err := List(ctx, s, runID, turn)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(p *Proposal) bool { return p.Turn == turn }); i >= 0 {
		all = all[i : i+1]
	} else if turn == "" {
		all = slices.DeleteFunc(all, func(p *Proposal) bool { return !p.Waits() })
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
	rec, err := s.OpenRun(ctx, runID, "")
	if err != nil {
		return nil, err
	}
	for i := range p.Files {
		f := &p.Files[i]
		if clean, problem := wire.CleanPath(f.Path); problem != "" || clean != f.Path {
			return nil, unsafe(f.Path)
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
					Message: fmt.Sprintf("The record of turn %s does not contain %s.", p.Turn, wire.Shown(f.Path)),
					Hint:    "git agentxchain fsck",
				}
			}
			f.After = append([]byte{}, data...)
		}
		if f.Before, err = projectfile.Read(s.Dir(), f.Path, projectfile.MaxGate); err != nil {
			return nil, err
		}
	}
	return p, p.merge(ctx, s)
}

// Waits reports that some of its files are neither applied nor rejected.
func (p *Proposal) Waits() bool { return p.Status == Pending || p.Status == Partial }

// List lists the proposals of the run runID whose turns begin with prefix, oldest first, without contents. It
// reads the record, so edits below .agentxchain do not count.
func List(ctx context.Context, s *gitstore.Store, runID, prefix string) ([]*Proposal, error) {
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
			Status:  Pending,
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

// takenOver returns, by proposal and file, the turn that applied it as its own work: one that is active, or
// that was accepted as completed and declared the file. What another turn applied waits again.
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
		file := File{Path: f.String("path"), Action: f.String("action"), source: f.String("sha256")}
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
		p.Status, p.Reason = Rejected, rejected.String("reason")
	case some && left == 0:
		p.Status = Applied
	case some:
		p.Status = Partial
	}
	return nil
}

// Written lists the files that are as proposed, were not when the proposal was made, and are not recorded as applied.
// rest is how many are neither applied nor as proposed.
func (p *Proposal) Written() (out []string, rest int) {
	for _, f := range p.Files {
		proposed := ""
		if f.After != nil {
			proposed = wire.Digest(f.After)
		}
		if f.Applied || f.source == proposed {
			continue
		}
		if f.asProposed() {
			out = append(out, f.Path)
		} else {
			rest++
		}
	}
	return out, rest
}

// Row returns the row of the history that made the proposal.
func (p *Proposal) Row() run.Line { return p.line }
