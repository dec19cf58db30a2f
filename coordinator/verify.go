// Verifying the approvals of initiatives' gates again, from the record alone (docs/coordinator.md#who-may-approve).

package coordinator

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// VerifyApprovals judges again who approved the gates of an initiative that is recorded here: the named one; "" is
// the workspace's, and with all every one. Errors: no_initiative, not_a_git_repository, those of reading objects.
func (c *Coordinator) VerifyApprovals(ctx context.Context, name string, all bool) ([]*approval.Report, error) {
	home, _, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" && !all {
		d, err := c.store.Read()
		if err != nil {
			return nil, c.notStarted(ctx, err)
		}
		name = d.State.SuperRunID
	}
	tips, err := travel.InitiativeTips(ctx, home.Repository())
	if err != nil {
		return nil, err
	}
	var out []*approval.Report
	for _, t := range tips {
		if t.Remote != "" || name != "" && t.Name != name {
			continue
		}
		files, err := record.InitiativeFiles(ctx, home.Repository(), t.Op)
		if err != nil {
			return nil, err
		}
		report, err := c.verified(ctx, files, t.Op)
		if err != nil {
			return nil, err
		}
		out = append(out, report)
	}
	if len(out) == 0 {
		return nil, noInitiative(name)
	}
	return out, nil
}

// VerifyExported is VerifyApprovals for the files of an initiative that an artifact has laid out in dir. The commit
// with the approvers, and the record that a yes answers, are those of this workspace. Errors: those of reading.
func (c *Coordinator) VerifyExported(ctx context.Context, dir string) (*approval.Report, error) {
	home, _, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	defer func() { _ = root.Close() }()
	files := make(map[string][]byte)
	for _, name := range []string{initiative.StatePath, initiative.HistoryPath} {
		if files[name], err = readRegular(root, name, limitOf(name)); err != nil {
			return nil, failed(name, err)
		}
	}
	st, err := stateOf(files)
	if err != nil {
		return nil, err
	}
	tip, err := home.Repository().ReadRef(ctx, record.InitiativeRefPrefix+st.SuperRunID)
	if err != nil {
		return nil, err
	}
	return c.verified(ctx, files, tip)
}

// verified judges the gates of an initiative by its files; tip is its record's, "" for none.
func (c *Coordinator) verified(ctx context.Context, files map[string][]byte, tip object.OID) (*approval.Report, error) {
	st, err := stateOf(files)
	if err != nil {
		return nil, err
	}
	a, err := c.judging(ctx, st, tip, nil, false)
	if err != nil {
		return nil, err
	}
	h := a.history(files[initiative.HistoryPath])
	passages, _, _ := a.passages(ctx, h)
	return reportOf(st.SuperRunID, passages, h.Acts()), nil
}

// reportOf returns the verdict on what people said to an initiative, oldest first. Denials, and ending a block or
// the initiative, need no proof.
func reportOf(name string, passages []initiative.Passage, acts []initiative.Act) *approval.Report {
	out := &approval.Report{Run: name, Initiative: true}
	for _, p := range passages {
		votes := p.Votes
		if len(votes) == 0 { // any person could decide, or none of it is valid
			votes = []*run.Vote{{Principal: p.By.Email, Name: p.By.Name, Terminal: p.By.Terminal, At: p.At}}
		}
		for _, v := range votes {
			stands := approval.StandsUnsigned
			switch {
			case p.Refusal != nil:
				stands = approval.StandsFails
			case v.Statement != "":
				stands = approval.StandsProven
				out.Statements++
			default:
				out.Findings = append(out.Findings, approval.Finding{
					Code:      approval.FindUnsigned,
					Gate:      p.Gate,
					Principal: v.Principal,
					Message: "gate " + wire.Quoted(p.Gate) + " was approved without a signature by " + v.Who() +
						": a name from git's configuration proves nothing",
					Note: true,
				})
			}
			out.Sayings = append(out.Sayings, approval.Judged{Stands: stands, Saying: &approval.Saying{
				At:        v.At,
				By:        approval.ByPerson,
				Decision:  "approve",
				Gate:      p.Gate,
				GateType:  p.GateType,
				Phase:     p.Phase,
				To:        p.To,
				Principal: v.Principal,
				Name:      v.Name,
				Statement: v.Statement,
				KeyID:     v.KeyID,
				Terminal:  v.Terminal,
				Reason:    v.Reason,
			}})
		}
		if p.Refusal != nil {
			out.Findings = append(out.Findings, approval.Finding{
				Code:    p.Refusal.Code,
				Gate:    p.Gate,
				Message: "gate " + wire.Quoted(p.Gate) + " was passed without its people: " + p.Refusal.Message,
			})
		}
	}
	for _, a := range acts {
		out.Sayings = append(out.Sayings, approval.Judged{Stands: approval.StandsUnsigned, Saying: &approval.Saying{
			At:        a.At,
			By:        approval.ByPerson,
			Decision:  a.Decision,
			Gate:      a.Gate,
			GateType:  a.GateType,
			Principal: a.By.Email,
			Name:      a.By.Name,
			Terminal:  a.By.Terminal,
			Reason:    a.Reason,
		}})
	}
	slices.SortStableFunc(out.Sayings, func(a, b approval.Judged) int { return strings.Compare(a.At, b.At) })
	return out
}
