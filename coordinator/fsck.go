// The check of what an initiative rests on in its workspace.

package coordinator

import (
	"cmp"
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Fsck checks the record of the initiative that the workspace is in, of the named one, or of all ("*"), and the files of
// the workspace if it is in one of them. It changes nothing, and leaves the runs of the repositories to them.
//
// Errors: not_a_git_repository, no_initiative, and those of reading the repository.
func (c *Coordinator) Fsck(ctx context.Context, name string) (*proof.Report, error) {
	home, cfg, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	d, unread := c.store.Read()
	here := ""
	if unread == nil {
		here = d.State.SuperRunID
	}
	all := name == "" && here == "" || name == "*"
	if all {
		name = "*"
	}
	name = cmp.Or(name, here)
	report, err := proof.Initiatives(ctx, home.Repository(), name)
	switch {
	case err != nil:
		return nil, err
	case report.Initiatives == 0 && !all && name != here:
		return nil, noInitiative(name)
	case !all && name != here:
		return report, nil // the files are of another initiative
	}
	wrong, note := unread, false
	switch e := refusalOf(unread); {
	case unread == nil:
		wrong = c.unrecordable(ctx, d)
	case e != nil && e.Code == initiative.CodeNoCoordinator:
		none := &Documents{}
		none.Config = cfg
		wrong, note = c.noneRecorded(ctx, none), true
	}
	e := refusalOf(wrong)
	if e == nil {
		return report, wrong
	}
	report.Findings = append(report.Findings, proof.Finding{Code: e.Code, Run: here, Message: e.Message, Repair: e.Hint,
		Note: note})
	return report, nil
}

func noInitiative(name string) error {
	return &wire.Error{
		Code:    travel.CodeNoInitiative,
		Field:   "super_run_id",
		Message: fmt.Sprintf("There is no record of initiative %s here.", ojson.Shown(name)),
		Hint:    Program + " sync brings those of a remote",
	}
}
