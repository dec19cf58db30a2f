// diff: the differences between two runs, or two export artifacts, and what became worse.

package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
	"github.com/git-agentxchain/git-agentxchain/restore/diff"
)

type diffOptions struct {
	Left, Right string
	Export      bool // the two are artifacts
	ExitZero    bool
}

func NewDiffCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "diff",
		ArgsUsage: "LEFT RIGHT",
		Category:  shared.CategoryMove,
		Usage:     "compare two runs, or two export artifacts, and name what became worse",
		Description: "LEFT and RIGHT are ids of runs in the project's run history, or unique prefixes of them; the " +
			"current run counts too. With --export, or if both are files, they are export artifacts. An artifact " +
			"that does not verify is compared with a warning; verify diff refuses it. Exit status: 0 nothing " +
			"became worse, 1 regressions or an artifact that does not verify, 2 something cannot be read.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{
				Name:  "export",
				Usage: "LEFT and RIGHT are export artifacts; one may be - for standard input",
			},
			&ucli.BoolFlag{Name: "exit-zero", Usage: "exit with 0 whenever the comparison could be made"},
		},
		Action: func(c *ucli.Context) error {
			o := &diffOptions{
				Left:     c.Args().Get(0),
				Right:    c.Args().Get(1),
				Export:   c.Bool("export"),
				ExitZero: c.Bool("exit-zero"),
			}
			if o.Left == "-" && o.Right == "-" {
				return term.UsageErrorf("only one of the two can come from standard input")
			}
			return runDiff(c.Context, f, o)
		},
	}
}

func runDiff(ctx context.Context, f *term.Factory, o *diffOptions) error {
	if o.Export || isArtifactArg(f, o.Left) && isArtifactArg(f, o.Right) {
		return diffExports(ctx, f, o)
	}
	// An argument that was meant as a file and is not one should not be looked up among the runs.
	for _, x := range [...][2]string{{o.Left, o.Right}, {o.Right, o.Left}} {
		arg, beside := x[0], isArtifactArg(f, x[1])
		if isArtifactArg(f, arg) || !beside && !strings.Contains(arg, "/") && !strings.HasSuffix(arg, ".json") {
			continue
		}
		e := &wire.Error{
			Code:    "unreadable_input",
			Field:   "file",
			Message: fmt.Sprintf("There is no file %.200s.", term.OneLine(arg)),
			Hint:    "name two export artifacts, or two runs of this project",
		}
		if beside {
			e.Message = fmt.Sprintf(
				"There is no file %.200s, and an artifact can be compared with another artifact only.",
				term.OneLine(arg))
		}
		return e
	}
	rows, err := runRows(ctx, f)
	if err != nil {
		return err
	}
	left, err := diff.Find(rows, o.Left)
	if err != nil {
		return err
	}
	right, err := diff.Find(rows, o.Right)
	if err != nil {
		return err
	}
	d := diff.Runs(left, right)
	f.Out.Emit(d, func(p *term.Printer) {
		p.Printf("%s\n\n", p.Bold("Run comparison"))
		for _, side := range [...]string{"left", "right"} {
			s := d.Object(side)
			p.Field(side, "%s (%s)", term.OneLine(s.String("run_id")), term.OneLine(s.String("status")))
		}
		printDiff(p, d)
	})
	return diffStatus(o, d, true)
}

// isArtifactArg reports whether an argument names a file, or standard input.
func isArtifactArg(f *term.Factory, arg string) bool {
	if arg == "-" {
		return true
	}
	path, err := f.Path(arg)
	if err != nil {
		return false
	}
	fi, err := os.Stat(path)
	return err == nil && !fi.IsDir()
}

// runRows returns the rows of run-history.jsonl followed by the row that the current run would have
// if it ended now.
func runRows(ctx context.Context, f *term.Factory) ([]*ojson.Object, error) {
	r, v, err := shared.OpenView(ctx, f)
	if err != nil {
		return nil, err
	}
	lines, err := r.Record().TailRows(ctx, wire.LedgerRunHistory, 0, func(*ojson.Object) bool { return true })
	if err != nil {
		return nil, err
	}
	var rows []*ojson.Object
	for _, l := range lines {
		rows = append(rows, l.Row)
	}
	if row := run.StandingRow(run.HistoryFacts{
		Config:     v.Config,
		State:      v.State,
		Index:      v.Index,
		RecordedAt: f.Now(),
	}); row != nil {
		rows = append(rows, row)
	}
	return rows, nil
}

// diffSide is an artifact to compare.
type diffSide struct {
	name string
	*account.Artifact
}

func loadSides(ctx context.Context, f *term.Factory, left, right string) (l, r diffSide, err error) {
	for i, arg := range [...]string{left, right} {
		side := &l
		if i == 1 {
			side = &r
		}
		if side.name, side.Artifact, err = loadArtifact(ctx, f, arg, true); err != nil {
			return l, r, err
		}
	}
	return l, r, nil
}

func diffExports(ctx context.Context, f *term.Factory, o *diffOptions) error {
	l, r, err := loadSides(ctx, f, o.Left, o.Right)
	if err != nil {
		return err
	}
	d, err := diff.Exports(l.Artifact, r.Artifact, l.name, r.name)
	if err != nil {
		return err
	}
	proven := true
	for _, s := range [...]diffSide{l, r} {
		if !s.Verification.Passed() {
			proven = false
			f.Out.Warn("%s does not verify, its summary may be wrong: git agentxchain verify export tells why",
				term.OneLine(s.name))
		}
		if left := s.Verification.LeftOut; len(left) > 0 {
			f.Out.Warn("%s is incomplete, and counts less than there was; left out when it was made: %s",
				term.OneLine(s.name), term.OneLine(wire.ListSome(left, 5)))
		}
	}
	d.Set("verified", proven)
	f.Out.Emit(d, func(p *term.Printer) {
		p.Printf("%s\n\n", p.Bold("Artifact comparison"))
		for _, side := range [...]string{"left", "right"} {
			s := d.Object(side)
			id := s.String("run_id") + s.String("super_run_id")
			p.Field(side, "%s (%s, %s, %s)", term.OneLine(d.String(side+"_ref")),
				term.OneLine(d.String("subject_kind")), term.OneLine(s.String("status")), term.OneLine(id))
		}
		printDiff(p, d)
	})
	return diffStatus(o, d, proven)
}

func diffStatus(o *diffOptions, d *ojson.Object, proven bool) error {
	if !o.ExitZero && (d.Bool("has_regressions") || !proven) {
		return term.ErrFindings()
	}
	return nil
}

// printDiff prints the changes of either comparison.
func printDiff(p *term.Printer, d *ojson.Object) {
	s := d.Object("summary")
	outcome := s.String("outcome")
	switch outcome {
	case "regressed", "mixed":
		outcome = p.Red(outcome)
	case "improved":
		outcome = p.Green(outcome)
	}
	p.Field("outcome", "%s, risk %s", outcome, s.String("risk_level"))
	if list := d.Objects("regressions"); len(list) > 0 {
		p.Printf("\n%s\n", p.Bold("Became worse"))
		for _, r := range list {
			p.Printf("  %s %s: %s\n", severity(p, r.String("severity")), r.String("id"),
				term.OneLine(r.String("message")))
		}
	}
	if list := s.Strings("highlights"); outcome == "improved" || outcome == p.Green("improved") {
		p.Printf("\n%s\n", p.Bold("Highlights"))
		for _, h := range list {
			p.Printf("  %s\n", term.OneLine(h))
		}
	}
	t := &term.Table{Header: []string{"CHANGED", "LEFT", "RIGHT", "DELTA"}, Flex: 2}
	for label, o := range diff.Changed(d) {
		l, _ := o.Get("left")
		r, _ := o.Get("right")
		delta, _ := o.Get("delta")
		text := diff.Shown(label, delta)
		if n, ok := delta.(ojson.Number); ok && n != "" && n[0] != '-' && n != "0" {
			text = "+" + text
		} else if !ok {
			text = ""
		}
		t.Row(label, cmp.Or(diff.Shown(label, l), "-"), cmp.Or(diff.Shown(label, r), "-"), text)
	}
	p.Println()
	if t.Len() == 0 {
		p.Println("No differences.")
		return
	}
	p.Table(t)
}

func severity(p *term.Printer, s string) string {
	if s == "error" {
		return p.Red("[error]")
	}
	return p.Yellow("[" + s + "]")
}

func newVerifyDiffCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "diff", ArgsUsage: "LEFT RIGHT", Usage: "verify two export artifacts and compare them, for CI",
		Description: "Compares only artifacts that both verify. Exit status: 0 both verify and nothing became worse, 1 one does not verify or there are regressions, 2 one cannot be read.",
		Flags:       []ucli.Flag{term.NewChoiceFlag("format", "print `FORMAT`", "text", "text", "json")},
		Action: func(c *ucli.Context) error {
			return runVerifyDiff(c.Context, f, c.Args().Get(0), c.Args().Get(1), c.String("format"))
		},
	}
}

// runVerifyDiff prints {overall, left, right, diff, message} bare (docs/reports.md#diff).
func runVerifyDiff(ctx context.Context, f *term.Factory, left, right, format string) error {
	asJSON := format == "json" || f.JSON()
	l, r, err := loadSides(ctx, f, left, right)
	if errors.Is(err, context.Canceled) {
		return err
	}
	var d *ojson.Object
	if err == nil && l.Verification.Passed() && r.Verification.Passed() {
		d, err = diff.Exports(l.Artifact, r.Artifact, l.name, r.name)
	}
	status, overall, message := term.ExitOK, "pass", any(nil)
	var doc *ojson.Object
	switch {
	case err != nil:
		status = term.ExitUsage
		doc = ojson.NewObject("overall", "error", "message", err.Error(), "error", term.ErrorObject(err))
	case d == nil:
		status, overall, message = term.ExitFailed, "fail",
			"An artifact does not verify, so the two were not compared."
	case d.Bool("has_regressions"):
		status, overall = term.ExitFailed, "fail"
	}
	if doc == nil {
		d.Delete("summary")
		doc = ojson.NewObject("overall", overall, "left", l.Verification.Object(l.name),
			"right", r.Verification.Object(r.name), "diff", d, "message", message)
	}
	out := f.Out.Raw()
	if asJSON {
		if _, err := out.Write(ojson.Pretty(doc)); err != nil {
			return term.Errorf("io_failed", "cannot write the report: %w", err)
		}
		return term.ExitSilently(status)
	}
	p := f.Out.Printer()
	if err != nil {
		p.Printf("Comparison failed: %s\n", term.OneLine(err.Error()))
		return term.ExitSilently(status)
	}
	for _, s := range [...]diffSide{l, r} {
		printVerification(p, s.name, s.Verification)
		p.Println()
	}
	if d == nil {
		p.Println(message)
		return term.ExitSilently(status)
	}
	for _, x := range d.Objects("regressions") {
		p.Printf("  %s %s: %s\n", severity(p, x.String("severity")), x.String("id"), term.OneLine(x.String("message")))
	}
	if status == term.ExitOK {
		p.Println("Nothing became worse.")
	}
	return term.ExitSilently(status)
}
