// validate: do the configuration and the state conform to the protocol?

package cli

import (
	"context"
	"errors"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newValidateCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:     "validate",
		Category: shared.CategoryLook,
		Usage:    "check agentxchain.json, the state and whether every gate can be passed",
		Description: "Lists all findings at once. Exit status: 2 if a document is invalid, 1 if the documents are " +
			"valid but some gate can never be passed, 12 if the working files contradict the recorded run, 0 if " +
			"there are only warnings.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:   "mode",
				Usage:  "accepted for compatibility: everything is always checked",
				Hidden: true,
			},
			&ucli.StringFlag{Name: "agent", Usage: "accepted for habit's sake", Hidden: true},
		},
		Action: func(c *ucli.Context) error { return runValidate(c.Context, f) },
	}
}

// documentFinding is one row of validate.
type documentFinding struct {
	file, severity, code, field, message string
}

func runValidate(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	docs := r.CheckDocuments()
	if docs.Config != nil && docs.ConfigErr == nil && len(docs.ConfigProblems) == 0 {
		// Here and not where documents are checked: a person should know what a configuration can
		// lead to, but it does not make the document invalid.
		docs.Admission = append(docs.Admission, whatif.Liveness(docs.Config)...)
	}
	rows := documentFindings(docs)
	var viewErr error
	if docs.Valid() {
		v, err := r.View(ctx)
		if viewErr = err; err == nil {
			shared.TellNotices(f, v.Notices)
		}
	}
	invalid, failing := 0, 0
	list := []*ojson.Object{}
	for _, d := range rows {
		list = append(list, ojson.NewObject("file", d.file, "severity", d.severity, "code", d.code,
			"field", ojson.OrNull(d.field), "message", d.message))
		switch {
		case d.severity != config.SeverityError:
		case d.code == config.AdmissionNoProducer || d.code == config.AdmissionOwnerAway ||
			d.code == config.AdmissionOwnerMute,
			d.code == whatif.SimulationStuck:
			failing++
		default:
			invalid++
		}
	}
	payload := ojson.NewObject("valid", invalid == 0, "admissible", invalid == 0 && failing == 0, "findings", list,
		"notes", wire.NonNil(docs.StateNotes))
	f.Out.Emit(payload, func(p *term.Printer) { printValidation(p, docs, rows, invalid+failing) })
	switch {
	case invalid > 0:
		return invalidDocuments(docs, rows, invalid)
	case viewErr != nil:
		return viewErr
	case failing > 0:
		return term.ErrFindings()
	}
	return nil
}

// documentFindings lists the findings in the order configuration, admission, state.
func documentFindings(d *runner.Documents) []documentFinding {
	var rows []documentFinding
	add := func(file, severity string, list wire.Problems) {
		for _, p := range list {
			rows = append(rows, documentFinding{file, severity, p.Code, p.Field, p.Message})
		}
	}
	problems := func(file string, list wire.Problems) { add(file, config.SeverityError, list) }
	failure := func(file string, err error) {
		var refusal *wire.Error
		if errors.As(err, &refusal) && len(refusal.Problems) > 0 {
			problems(file, refusal.Problems)
			return
		}
		if err != nil {
			code, field := runner.ErrorCode(err), ""
			if refusal != nil && refusal.Field != file {
				field = refusal.Field
			}
			rows = append(rows, documentFinding{file, config.SeverityError, code, field, err.Error()})
		}
	}
	failure(wire.ConfigPath, d.ConfigErr)
	problems(wire.ConfigPath, d.ConfigProblems)
	add(wire.ConfigPath, config.SeverityWarning, d.ConfigWarnings)
	for _, a := range d.Admission {
		rows = append(rows, documentFinding{wire.ConfigPath, a.Severity, a.Code, "routing." + a.Phase, a.Message})
	}
	failure(string(wire.DocState), d.StateErr)
	problems(string(wire.DocState), d.StateProblems)
	return rows
}

// invalidDocuments returns the error for documents that may not govern a run. Its code is that of
// the first invalid document.
func invalidDocuments(d *runner.Documents, rows []documentFinding, n int) error {
	for _, err := range []error{d.ConfigErr, d.StateErr} {
		if err != nil && runner.ErrorCode(err) == projectfile.CodeUnreadable {
			return err // which says what to do: an unread document cannot be corrected
		}
	}
	first := rows[0]
	for _, r := range rows {
		if r.severity == config.SeverityError {
			first = r
			break
		}
	}
	code := wire.CodeInvalidState
	switch {
	case d.ConfigErr != nil:
		code = runner.ErrorCode(d.ConfigErr)
	case len(d.ConfigProblems) > 0:
		code = wire.CodeInvalidConfig
	case d.StateErr != nil:
		code = runner.ErrorCode(d.StateErr)
	}
	e := term.Errorf(code, "%s is not valid (%s)", first.file, term.Counted(n, "finding"))
	if first.file == wire.ConfigPath {
		return e.WithHint("correct " + wire.ConfigPath + " and run git agentxchain validate again")
	}
	if d.State != nil && len(run.CheckState(d.State)) == 0 { // sound, and only in conflict with the configuration
		return e.WithHint("put back what the run uses, or see how " + wire.ConfigPath +
			" differs from the rules of the run: git agentxchain config adopt")
	}
	return e.WithHint("git agentxchain repair --from-ref goes back to the recorded state")
}

func printValidation(p *term.Printer, d *runner.Documents, rows []documentFinding, errs int) {
	for _, r := range rows {
		mark, style := "error", p.Red
		if r.severity != config.SeverityError {
			mark, style = "warning", p.Yellow
		}
		where := term.OneLine(r.file) + ": "
		if strings.HasPrefix(r.message, r.file) {
			where = ""
		}
		p.Printf("%s %s%s %s\n", style(term.Pad(mark, 7)), where, term.OneLine(r.message),
			p.Dim("["+term.OneLine(r.code)+"]"))
	}
	for _, n := range d.StateNotes {
		p.Printf("%s %s: read as if mended: %s\n", p.Cyan(term.Pad("note", 7)), wire.DocState, term.OneLine(n))
	}
	if errs > 0 {
		return
	}
	p.Printf("%s is %s", wire.ConfigPath, p.Green("valid"))
	if d.State == nil {
		p.Printf("; there is no %s.\n", wire.DocState)
		return
	}
	p.Printf(", and so is %s.\n", wire.DocState)
}
