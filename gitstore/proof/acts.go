// The decisions in a run, read from its chain in one pass: approvals with the statements and signers they were
// judged by, and who said what.

package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Acts lists the operations of a run that may decide something, oldest first.
type Acts struct {
	Run     string
	Project string     // the id of the project, "" where it cannot be read
	Tip     object.OID // the newest operation
	Acts    []*approval.Act
	Chain   map[string]approval.ChainOp // every operation of the run, by commit id
}

// Envelopes returns the signed statements, by the sha256:<hex> of each.
func (a *Acts) Envelopes() map[string][]byte {
	out := map[string][]byte{}
	for _, act := range a.Acts {
		for _, b := range act.Statements() {
			out["sha256:"+b.Digest] = b.Data
		}
	}
	return out
}

// ReadActs reads the acts of a run from its ref; an empty run is an error. The repository needs only the run's own
// objects.
//
// Errors: no_run, record_invalid, and those of damaged objects.
func ReadActs(ctx context.Context, repo *git.Repository, runID string) (*Acts, error) {
	tip, err := Newest(ctx, repo, runID)
	if err != nil {
		return nil, err
	}
	return ReadActsAt(ctx, repo, runID, tip)
}

// ReadActsAt is ReadActs for a run up to an operation, which need not have a ref yet.
func ReadActsAt(ctx context.Context, repo *git.Repository, runID string, tip object.OID) (*Acts, error) {
	ops, err := chain.Log(ctx, repo, tip, 0)
	if err != nil {
		return nil, err
	}
	slices.Reverse(ops)
	return acts(ctx, repo, runID, ops)
}

func acts(ctx context.Context, repo *git.Repository, runID string, ops []chain.OpInfo) (*Acts, error) {
	out := &Acts{
		Run:   runID,
		Chain: make(map[string]approval.ChainOp, len(ops)),
	}
	if len(ops) > 0 {
		out.Tip = ops[len(ops)-1].Op
		out.Project, _ = chain.ProjectAt(ctx, repo, out.Tip) // told where the run is read
	}
	r := &actReader{Replayer: &Replayer{Reader: record.NewReader(ctx, repo)}}
	r.Reader.RememberBlobs()
	for i, op := range ops {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out.Chain[string(op.Op)] = approval.ChainOp{
			Index: i,
			Name:  op.Name,
			Turn:  op.Turn,
		}
		if err := r.begin(i, op); err != nil {
			return nil, err
		}
		if !approval.Decides(op.Name) {
			continue
		}
		before := object.OID("")
		if i > 0 {
			before = ops[i-1].Tree
		}
		a, err := r.act(op, before)
		if err != nil {
			return nil, err
		}
		if a != nil {
			out.Acts = append(out.Acts, a)
		}
		r.Reader.KeepRightEdge(op.Tree)
		r.Reader.NextOperation()
	}
	return out, nil
}

// actReader reads acts in sequence.
type actReader struct {
	*Replayer // for its configurations; nothing is applied

	base  string     // authority_base as of the operation being read
	state *run.State // the state after it, if it may have moved the base; else nil
}

// begin reads the state where an operation may have moved authority_base: a state holds the whole run, and most
// operations leave that member alone.
func (r *actReader) begin(i int, op chain.OpInfo) error {
	r.state = nil
	switch {
	case i == 0, op.Name == protocol.OpExternal, op.Name == (*protocol.AdoptConfig)(nil).Name():
	default:
		return nil
	}
	data, _, err := r.Reader.File(op.Tree, record.FileState)
	if err != nil {
		return err
	}
	st, perr := run.DecodeState(data)
	if perr != nil {
		return perr
	}
	r.state, r.base = st, wire.OrEmpty(st.AuthorityBase)
	return nil
}

// act reads one operation; nil for the acceptance of a turn that decided nothing.
func (r *actReader) act(op chain.OpInfo, before object.OID) (*approval.Act, error) {
	a := &approval.Act{Op: string(op.Op)}
	// Ledgers outlive runs: rows that a run's first operation finds there are not its own.
	if before != "" {
		diff, err := r.Reader.DiffLedger(before, op.Tree, wire.LedgerDecisions)
		if err != nil {
			return nil, err
		}
		if diff.Kind == record.Extended || diff.Kind == record.Amended {
			for row := range record.RowsOf(diff.Appended) {
				a.Rows = append(a.Rows, row.Row)
			}
		}
	}
	byRules := op.Name == protocol.OpAccept || op.Name == protocol.OpRetry // an approval policy may have decided
	if byRules && !slices.ContainsFunc(a.Rows, func(row *ojson.Object) bool {
		return len(approval.SayingsOf(row, map[string]bool{})) > 0
	}) {
		return nil, nil
	}
	root, err := r.Reader.Entries(op.Tree)
	if err != nil {
		return nil, err
	}
	doc, err := r.Reader.Required(op.Tree, record.FileRecord)
	if err != nil {
		return nil, err
	}
	var evidence func(digest string) ([]byte, error)
	consents := !byRules && op.Name != protocol.OpExternal
	if consents {
		evidence = func(digest string) ([]byte, error) {
			data, found, err := r.Reader.File(op.Tree, record.DirEvidence+"/"+digest)
			if err == nil && !found {
				err = fmt.Errorf("it is not recorded")
			}
			return data, err
		}
	}
	if a.Record, err = protocol.DecodeRecord(doc, evidence); err != nil {
		return nil, chain.UnreadableRecord(op.Op, err)
	}
	if byRules {
		return a, nil
	}
	if a.Config, err = r.ConfigOf(root, op.Tree); err != nil {
		return nil, err
	}
	a.AuthorityBase = r.base
	if op.Name == protocol.OpExternal {
		a.Claims, err = r.claims(a, op, before, r.state)
	}
	return a, err
}

// claims adds the claims of an operation by another tool.
func (r *actReader) claims(a *approval.Act, op chain.OpInfo, before object.OID, after *run.State) ([]external.Claim,
	error) {
	out, err := rulesClaim(r.Reader, a.Record, before, op.Tree)
	if err != nil {
		return nil, err
	}
	var was *run.State
	if before != "" {
		data, _, err := r.Reader.File(before, record.FileState)
		if err != nil {
			return nil, err
		}
		st, perr := run.DecodeState(data)
		if perr != nil {
			return nil, perr
		}
		was, _ = run.RepairState(st, a.Config)
	}
	now, _ := run.RepairState(after, a.Config)
	return append(out, external.Claims(a.Config, was, now)...), nil
}

// VerifyApprovals judges the statements in the run again, with what the repository knows about the commits that the
// approvals name; one git process reads those. prefix is where the project is in the repository, "" or ending in a
// slash, unless a commit has it elsewhere.
func VerifyApprovals(ctx context.Context, repo *git.Repository, prefix string, acts *Acts) (*approval.Report, error) {
	bases, approved := approval.Commits(acts.Acts)
	facts := approval.BaseFacts{
		Signers: map[string]map[string]string{},
		Trees:   map[string]string{},
	}
	paths := wire.SignerFiles()
	var names []string
	for _, c := range bases {
		names = append(names, c+"^{commit}")
		dir := chain.ProjectDirAt(ctx, repo, object.OID(c), acts.Project, prefix)
		for _, p := range paths {
			names = append(names, c+":"+dir+p)
		}
	}
	for _, c := range approved {
		names = append(names, c+"^{tree}")
	}
	per := len(paths) + 1
	err := repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		switch {
		case !o.Found:
		case i >= len(bases)*per:
			facts.Trees[approved[i-len(bases)*per]] = string(o.OID)
		case i%per == 0:
			facts.Signers[bases[i/per]] = map[string]string{}
		case o.Kind == "blob" && facts.Signers[bases[i/per]] != nil:
			facts.Signers[bases[i/per]][paths[i%per-1]] = evidence.NewBlob(o.Data).Digest
		}
	})
	if err != nil {
		return nil, err
	}
	return approval.Verify(acts.Run, acts.Acts, acts.Chain, facts), nil
}

// Witnesses judges what witnesses said about the run; here defines who may sign.
func (a *Acts) Witnesses(ctx context.Context, repo, here *git.Repository) ([]*approval.Witnessed, error) {
	all, err := witness.Spoken(ctx, repo, a.Run)
	if err != nil {
		return nil, err
	}
	return (&witness.Judge{Repo: repo, Here: here, Run: a.Run, Tip: a.Tip}).Judge(ctx, all[a.Run], a.Chain)
}
