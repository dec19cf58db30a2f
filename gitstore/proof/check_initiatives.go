// The check of recorded initiatives.

package proof

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// Initiatives checks the initiatives recorded in a repository, or only the named one ("*": all): every change against
// what the coordinator writes. A name that is not recorded yields an empty report. The runs that an initiative joins are
// recorded in their own repositories, and checked there.
func Initiatives(ctx context.Context, repo *git.Repository, name string) (*Report, error) {
	f := &checker{repo: repo, ctx: ctx, report: &Report{}}
	return f.report, f.initiatives(name)
}

func (f *checker) initiatives(name string) error {
	refs, err := f.repo.ListRefs(f.ctx, record.InitiativeRefPrefix)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		run := strings.TrimPrefix(ref.Name, record.InitiativeRefPrefix)
		if name != "*" && name != run {
			continue
		}
		f.report.Initiatives++
		if !f.leads(ref, run) {
			continue
		}
		if err := record.VerifyInitiative(f.ctx, f.repo, run, ref.OID, "", ""); err != nil {
			e, err := Blame(f.ctx, err)
			if err != nil {
				return err
			}
			f.find(Finding{Code: e.Code, Run: run, Message: e.Message, Repair: fetchInitiative})
			continue
		}
		out, err := f.repo.Git.Run(f.ctx, nil, "rev-list", "--count", string(ref.OID))
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(out)))
		f.report.Changes += n
	}
	return nil
}
