// approvals: who said what about which decision of a run, according to its record.

package prove

import (
	"context"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func NewApprovalsCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "approvals", Category: shared.CategoryTrust,
		Usage: "list who approved, denied or overruled what in a run",
		Description: "Approvals, denials, withdrawals, confirmations, lifted blocks and adopted rules: by a " +
			"person, signed or not, by approval_policy, or by another tool. The list is read from the run's ref " +
			"and not checked; verify approvals checks it. In the workspace of an initiative it lists those of the " +
			"initiative's gates.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "run", Usage: "of this `RUN`; the current one by default"},
		},
		Action: func(c *ucli.Context) error { return runApprovals(c.Context, f, c.String("run")) },
	}
}

func runApprovals(ctx context.Context, f *term.Factory, run string) error {
	run, said, err := sayings(ctx, f, run)
	if err != nil {
		return err
	}
	rows := ojson.List(said, sayingObject)
	f.Out.Page(ctx)
	f.Out.Emit(ojson.NewObject("run_id", run, "approvals", rows), func(p *term.Printer) {
		if len(said) == 0 {
			p.Println("Nothing was decided in this run yet.")
			return
		}
		t := &term.Table{
			Header: []string{"OP", "WHEN", "DECISION", "GATE", "WHO", "PROOF", "REASON"},
			Flex:   6,
		}
		for _, s := range said {
			when := s.At
			if at, err := wire.ParseTime(s.At); err == nil {
				when = p.Ago(at.Truncate(time.Second))
			}
			t.Row(shared.ShortOp(s.Op), when, strings.ReplaceAll(s.Decision, "_", " "), s.Gate, whoSaid(s),
				proofText(s), s.Reason)
			t.Emphasise(0, p.Yellow)
		}
		p.Table(t)
	})
	return nil
}

// sayings returns what was said about the decisions of a run, or about the gates of an initiative in its
// workspace.
func sayings(ctx context.Context, f *term.Factory, run string) (string, []*approval.Saying, error) {
	if coordinator.IsWorkspace(f.Dir()) {
		reports, err := verifyApprovals(ctx, f, &verifyApprovalsOptions{Run: run})
		if err != nil {
			return "", nil, err
		}
		var said []*approval.Saying
		for _, j := range reports[0].Sayings {
			said = append(said, j.Saying)
		}
		return reports[0].Run, said, nil
	}
	repo, run, err := approvalsOf(ctx, f, run)
	if err != nil {
		return "", nil, err
	}
	a, err := runner.ReadApprovals(ctx, repo, run)
	if err != nil {
		return "", nil, err
	}
	return run, a.Sayings(), nil
}

// approvalsOf opens the repository around the directory and returns the run that is meant: the
// named one, or that of presentRun.
func approvalsOf(ctx context.Context, f *term.Factory, run string) (*runner.Repository, string, error) {
	repo, err := shared.Repository(ctx, f, runner.DiscoverProject)
	if err == nil && run == "" {
		run, err = presentRun(ctx, f, repo)
	}
	return repo, run, err
}

// presentRun returns the present run of the project, or the only one there is: a clone that has
// fetched nothing but the record is not a project.
func presentRun(ctx context.Context, f *term.Factory, repo *runner.Repository) (string, error) {
	if r, err := shared.Open(ctx, f); err == nil {
		// Even without a record here: another run would be a wrong answer.
		if run := r.CurrentRun(); run != "" {
			return run, nil
		}
	}
	runs, err := runner.RecordedRuns(ctx, repo)
	if err != nil {
		return "", err
	}
	return runner.OnlyRun(runs)
}

// whoSaid returns a person, or what spoke in their place.
func whoSaid(s *approval.Saying) string {
	switch {
	case s.By == approval.ByPolicy:
		return "approval_policy"
	case s.By == approval.ByTool:
		return "another tool"
	case s.Principal == "":
		return s.Name
	}
	return s.Principal
}

func proofText(s *approval.Saying) string {
	switch {
	case s.By != approval.ByPerson:
		return "-"
	case s.Statement != "":
		return s.KeyID
	}
	return "unsigned"
}

func sayingObject(s *approval.Saying) *ojson.Object {
	var evidence any
	if s.Evidence != nil {
		evidence = s.Evidence
	}
	return ojson.NewObject(
		"op", ojson.OrNull(s.Op),
		"at", ojson.OrNull(s.At),
		"by", s.By,
		"decision", s.Decision,
		"gate_id", ojson.OrNull(s.Gate),
		"gate_type", ojson.OrNull(s.GateType),
		"from_phase", ojson.OrNull(s.Phase),
		"to_phase", ojson.OrNull(s.To),
		"principal", ojson.OrNull(s.Principal),
		"name", ojson.OrNull(s.Name),
		"signed", s.Statement != "",
		"statement", ojson.OrNull(s.Statement),
		"key_id", ojson.OrNull(s.KeyID),
		"terminal", s.Terminal,
		"reason", ojson.OrNull(s.Reason),
		"evidence", evidence,
	)
}
