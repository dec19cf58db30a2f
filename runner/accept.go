// Accept: validate, record and gate a staged turn result.

package runner

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// AcceptOptions says which turn to accept and how.
type AcceptOptions struct {
	TurnID            string // "" for the only active turn
	Resolution        string // "", standard, human_merge
	NormalizeArtifact string // "", review
}

// Accepted is the outcome of AcceptTurn; Result is set for recorded refusals too.
type Accepted struct {
	Done
	Result *protocol.AcceptResult
}

// AcceptTurn decides on the staged result of a turn. A refusal the protocol
// records (validation, conflict, policy) is committed and returned as error
// beside the result.
func (r *Runner) AcceptTurn(ctx context.Context, opt AcceptOptions) (*Accepted, error) {
	out := &Accepted{}
	done, err := r.do(ctx, "accept", func(ctx context.Context, c *change) (protocol.Operation, error) {
		op, err := c.acceptance(ctx, opt)
		return op, err
	})
	if done != nil {
		out.Done = *done
		if done.Transition != nil {
			out.Result, _ = done.Transition.Result.(*protocol.AcceptResult)
		}
	}
	return out, err
}

// acceptance gathers what the engine needs to decide. A target that does not
// resolve is left to the engine to refuse.
func (c *change) acceptance(ctx context.Context, opt AcceptOptions) (*protocol.AcceptTurn, error) {
	op := &protocol.AcceptTurn{TurnID: opt.TurnID, Resolution: opt.Resolution, NormalizeArtifact: opt.NormalizeArtifact, Files: []protocol.FileBlob{}, Proposed: []protocol.FileBlob{}}
	turn, ok := c.view.State.ActiveTurns.Get(opt.TurnID)
	if !ok {
		if opt.TurnID == "" {
			turn = c.view.State.OnlyTurn()
		} else {
			row, err := c.r.Store.LastRow(ctx, protocol.LedgerHistory, "turn_id", opt.TurnID)
			if err != nil {
				return nil, err
			}
			op.AlreadyAccepted = row != nil && row.Row.String("status") != "reissued"
		}
	}
	if turn == nil {
		return op, nil
	}
	s, err := c.staged(turn.TurnID)
	if err != nil {
		return nil, err
	}
	op.StagedPath = s.path
	if s.data == nil {
		return op, nil
	}
	op.Staged = protocol.NewBlob(s.data)
	if op.Seen, err = c.observe(ctx, turn); err != nil {
		return nil, err
	}
	op.Seen.Siblings = c.siblings(turn)
	op.Seen.Existing = c.existing(s)
	if op.Files, err = c.gateFiles(); err != nil {
		return nil, err
	}
	if op.Proposed, err = c.proposed(s); err != nil {
		return nil, err
	}
	if turn.IntakeContext.String("source") == "vision_idle_expansion" {
		side, err := c.readFile(protocol.StagingDir+"/"+turn.TurnID+"/idle-expansion-result.json", protocol.MaxStagedBytes)
		if err != nil {
			return nil, err
		}
		if side != nil {
			op.IdleSidecar = protocol.NewBlob(side)
		}
	}
	if op.Replay, err = c.replayForPolicy(ctx, turn, s); err != nil {
		return nil, err
	}
	return op, nil
}

// existing lists the declared paths that are there at all, so that a declared
// file which was neither changed nor ever existed can be told apart.
func (c *change) existing(s staged) []string {
	doc, refusal := protocol.DecodeStaged(s.path, s.data)
	if refusal != nil {
		return nil
	}
	var out []string
	for _, p := range declared(doc) {
		clean, problem := protocol.CleanPath(p)
		if problem != "" || slices.Contains(out, clean) {
			continue
		}
		if m := c.r.Store.Fingerprint(clean); m != "deleted" {
			out = append(out, clean)
		}
	}
	slices.Sort(out)
	return out
}

func declared(doc *ojson.Object) []string {
	out := doc.Strings("files_changed")
	for _, o := range doc.Objects("files_changed") {
		if p := o.String("path"); p != "" {
			out = append(out, p)
		}
	}
	for _, p := range doc.Object("verification").Objects("produced_files") {
		out = append(out, p.String("path"))
	}
	return out
}

// proposed reads the present contents of the files a result proposes to change.
func (c *change) proposed(s staged) ([]protocol.FileBlob, error) {
	out := []protocol.FileBlob{}
	doc, refusal := protocol.DecodeStaged(s.path, s.data)
	if refusal != nil {
		return out, nil
	}
	for _, p := range doc.Objects("proposed_changes") {
		clean, problem := protocol.CleanPath(p.String("path"))
		if problem != "" {
			continue
		}
		data, err := c.readFile(clean, maxGateFile)
		if err != nil {
			return nil, err
		}
		if data != nil {
			out = append(out, protocol.FileBlob{Path: clean, Blob: protocol.NewBlob(data)})
		}
	}
	return out, nil
}
