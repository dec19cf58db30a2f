// verify approvals: does everything that was said about a run's decisions hold?

package prove

import (
	"bufio"
	"context"
	"io"
	"os"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/restore/replay"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type verifyApprovalsOptions struct {
	Run   string
	All   bool
	Input string // an export artifact, or a git bundle; "" for the repository
}

func newVerifyApprovalsCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "approvals", Usage: "check the approvals of a run and their signatures again",
		Description: "Checks signatures, signers, what each statement is about, its time and nonce, and whether " +
			"enough people agreed. It uses the record alone and no key of this machine. It works in a clone that " +
			"has fetched refs/agentxchain/*, and with --input on an export artifact or a bundle. In the workspace " +
			"of an initiative it checks the initiative's gates. What is merely unproven, such as an unsigned " +
			"approval that no rule requires to be signed, is reported but is not a finding. Exit status: 0 if " +
			"there are no findings, 1 otherwise.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "run", Usage: "of this `RUN`; the current one by default"},
			&ucli.BoolFlag{Name: "all", Usage: "of every recorded run"},
			&ucli.StringFlag{
				Name:  "input",
				Usage: "read the export artifact or git bundle `FILE`, - for an artifact from standard input",
			},
		},
		Action: func(c *ucli.Context) error {
			o := &verifyApprovalsOptions{
				Run:   c.String("run"),
				All:   c.Bool("all"),
				Input: c.String("input"),
			}
			if o.All && o.Run != "" {
				return term.UsageErrorf("--run and --all cannot be used together")
			}
			return runVerifyApprovals(c.Context, f, o)
		},
	}
}

func runVerifyApprovals(ctx context.Context, f *term.Factory, o *verifyApprovalsOptions) error {
	reports, err := verifyApprovals(ctx, f, o)
	if err != nil {
		return err
	}
	rows := make([]*ojson.Object, len(reports))
	clean := true
	for i, r := range reports {
		rows[i] = approvalReportObject(r)
		clean = clean && r.Clean()
	}
	f.Out.Emit(ojson.NewObject("clean", clean, "runs", rows), func(p *term.Printer) {
		for i, r := range reports {
			if i > 0 {
				p.Println()
			}
			printApprovalReport(p, r)
		}
	})
	switch {
	case slices.ContainsFunc(reports, (*approval.Report).LostWitnessed):
		return term.ExitSilently(term.ExitIntegrity)
	case !clean:
		return term.ErrFindings()
	}
	return nil
}

func verifyApprovals(ctx context.Context, f *term.Factory, o *verifyApprovalsOptions) ([]*approval.Report, error) {
	if o.Input == "" {
		if coordinator.IsWorkspace(f.Dir()) {
			var out []*approval.Report
			err := shared.WithWorkspace(f, func(co *coordinator.Coordinator) (err error) {
				out, err = co.VerifyApprovals(ctx, o.Run, o.All)
				return err
			})
			return out, err
		}
		if o.All {
			repo, err := shared.Repository(ctx, f, runner.DiscoverProject)
			if err != nil {
				return nil, err
			}
			return verifyRecorded(ctx, repo, repo, o)
		}
		repo, run, err := approvalsOf(ctx, f, o.Run)
		if err != nil {
			return nil, err
		}
		o.Run = run
		return verifyRecorded(ctx, repo, repo, o)
	}
	_, src, size, err := shared.OpenArtifact(f, o.Input)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	in := bufio.NewReader(src)
	if head, _ := in.Peek(12); strings.HasPrefix(string(head), "# v") && o.Input != "-" {
		return verifyBundled(ctx, f, o)
	}
	return verifyExported(ctx, f, in, size)
}

// verifyRecorded judges runs recorded in repo; here is where commits of the project are looked up.
func verifyRecorded(ctx context.Context, repo, here *runner.Repository, o *verifyApprovalsOptions) ([]*approval.Report,
	error) {
	runs, err := []string{o.Run}, error(nil)
	if o.Run == "" {
		if runs, err = runner.RecordedRuns(ctx, repo); err != nil {
			return nil, err
		}
		if len(runs) == 0 {
			_, err := runner.OnlyRun(nil)
			return nil, err
		}
	}
	var out []*approval.Report
	for _, run := range runs {
		a, err := runner.ReadApprovals(ctx, repo, run)
		if err != nil {
			return nil, err
		}
		report, err := a.Verify(ctx, here)
		if err != nil {
			return nil, err
		}
		out = append(out, report)
	}
	return out, nil
}

// verifyBundled judges the runs of a bundle. The repository around the directory, if any, may have
// the commits that approvals speak of.
func verifyBundled(ctx context.Context, f *term.Factory, o *verifyApprovalsOptions) ([]*approval.Report, error) {
	path, err := f.Path(o.Input)
	if err != nil {
		return nil, err
	}
	repo, done, err := runner.OpenBundle(ctx, path)
	if err != nil {
		return nil, err
	}
	defer done()
	here := repo
	if around, err := shared.Repository(ctx, f, runner.DiscoverProject); err == nil {
		here = around
	}
	return verifyRecorded(ctx, repo, here, o)
}

// verifyExported judges the contents of an artifact: the ledger, the statements and the files of
// signers. The artifact itself is verified before.
func verifyExported(ctx context.Context, f *term.Factory, src io.Reader, size int64) ([]*approval.Report, error) {
	opt, done := shared.Verifying(f, size)
	defer done()
	w, err := replay.Open(ctx, src, opt)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Close() }()
	if w.Kind != restore.KindRun {
		return verifyInitiative(ctx, f, w.Dir)
	}
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return nil, term.Errorf("io_failed", "cannot read the artifact: %w", err)
	}
	defer func() { _ = root.Close() }()
	report, err := approval.VerifyExported(root.FS())
	if err != nil {
		return nil, err
	}
	return []*approval.Report{report}, nil
}

func approvalReportObject(r *approval.Report) *ojson.Object {
	said := make([]*ojson.Object, len(r.Sayings))
	for i, s := range r.Sayings {
		said[i] = sayingObject(s.Saying)
		said[i].Set("stands", s.Stands)
	}
	findings := ojson.List(r.Findings, func(v approval.Finding) *ojson.Object {
		return ojson.NewObject(
			"code", v.Code,
			"note", v.Note,
			"op", ojson.OrNull(v.Op),
			"gate_id", ojson.OrNull(v.Gate),
			"principal", ojson.OrNull(v.Principal),
			"statement", ojson.OrNull(v.Statement),
			"message", v.Message,
		)
	})
	witnesses := ojson.List(r.Witnesses, func(w *approval.Witnessed) *ojson.Object {
		return ojson.NewObject("op", ojson.OrNull(w.Op), "sequence", w.Sequence, "at", witnessedAt(w),
			"principal", ojson.OrNull(w.Principal),
			"key_id", ojson.OrNull(w.KeyID), "proven", w.Proven, "code", ojson.OrNull(w.Code),
			"message", ojson.OrNull(w.Message))
	})
	return ojson.NewObject(
		"run_id", r.Run,
		"clean", r.Clean(),
		"witnesses", witnesses,
		"statements", r.Statements,
		"approvals", said,
		"findings", findings,
	)
}

func printApprovalReport(p *term.Printer, r *approval.Report) {
	what := "Run "
	if r.Initiative {
		what = "Initiative "
	}
	p.Printf("%s\n", p.Bold(what+term.OneLine(r.Run)))
	styles := map[string]func(string) string{
		approval.StandsProven: p.Green,
		approval.StandsFails:  p.Red,
	}
	for _, s := range r.Sayings {
		style := styles[s.Stands]
		if style == nil {
			style = p.Yellow
		}
		op := ""
		if s.Op != "" {
			op = p.Yellow(shared.ShortOp(s.Op)) + " "
		}
		p.Printf("  %s %s%s by %s", style(term.Pad(s.Stands, 10)), op,
			strings.TrimSpace(strings.ReplaceAll(s.Decision, "_", " ")+" "+term.OneLine(s.Gate)),
			term.OneLine(whoSaid(s.Saying)))
		if s.Statement != "" {
			p.Printf(", %s", term.OneLine(s.KeyID))
		}
		p.Println()
	}
	wrong := 0
	for _, v := range r.Findings {
		mark, style := "note", p.Cyan
		if !v.Note {
			wrong++
			mark, style = "error", p.Red
		}
		p.Printf("%s %s %s\n", style(term.Pad(mark, 5)), term.OneLine(v.Message), p.Dim("["+v.Code+"]"))
	}
	wrong += printWitnesses(p, r.Witnesses)
	verdict := p.Green("nothing wrong")
	if wrong > 0 {
		verdict = p.Red(term.Counted(wrong, "finding"))
	}
	p.Printf("%s verified: %s\n", term.Counted(r.Statements, "signed statement"), verdict)
}

// witnessedAt returns when a witness signed, nil for something that is not a statement.
func witnessedAt(w *runner.Witnessed) any {
	if w.At.IsZero() {
		return nil
	}
	return wire.FormatTime(w.At)
}

// printWitnesses prints who saw the run at which operation, the newest of each, and what is wrong;
// it returns the number of faults.
func printWitnesses(p *term.Printer, list []*runner.Witnessed) (wrong int) {
	newest := map[string]*runner.Witnessed{}
	var names []string
	counts := map[string]int{}
	for _, w := range list {
		switch {
		case w.Proven:
			key := w.Principal + " " + w.KeyID
			if newest[key] == nil {
				names = append(names, key)
			}
			if n := newest[key]; n == nil || w.Sequence >= n.Sequence {
				newest[key] = w
			}
			counts[key]++
		case w.Code == approval.FindWitnessLost:
			wrong++
			p.Printf("%s %s %s\n", p.Red("error"), term.OneLine(w.Message), p.Dim("["+w.Code+"]"))
		default:
			p.Printf("%s what a witness said does not count: %s %s\n", p.Cyan("note "), term.OneLine(w.Message),
				p.Dim("["+w.Code+"]"))
		}
	}
	for _, key := range names {
		w := newest[key]
		p.Printf("  %s %s number %d at %s by %s, %s (%s)\n", p.Green(term.Pad("witnessed", 10)),
			p.Yellow(shared.ShortOp(w.Op)), w.Sequence, wire.FormatTime(w.At),
			term.OneLine(w.Principal), term.OneLine(w.KeyID), term.Counted(counts[key], "statement"))
	}
	return wrong
}

// verifyInitiative judges the gates of an initiative that an artifact has laid out in a directory. Its approvers are
// in a commit of its workspace, which no artifact contains.
func verifyInitiative(ctx context.Context, f *term.Factory, at string) (out []*approval.Report, err error) {
	if !coordinator.IsWorkspace(f.Dir()) {
		return nil, term.Errorf("unreadable_input", "The artifact is one of an initiative, and who approves its gates is in"+
			" the repository of its workspace").WithHint("run this in a clone of the workspace")
	}
	err = shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
		report, err := co.VerifyExported(ctx, at)
		out = append(out, report)
		return err
	})
	return out, err
}
