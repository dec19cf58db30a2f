// monarchic validate: do these documents conform to the Monarchic agent protocol?

package neighbours

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/check"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

type monarchicValidateOptions struct {
	Files []string // paths; - is standard input
	Check check.Options
}

func newMonarchicValidateCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "validate",
		ArgsUsage: "[FILE|-...]",
		Usage:     "check documents against the schemas and rules of the Monarchic protocol",
		Description: "Reads JSON, lists of documents and JSONL, from files or standard input, and finds the type of each document by itself; " +
			"no repository is needed. Every finding names its place (a JSON pointer), its rule and, in JSONL, its line; docs/monarchic.md lists the rules. " +
			"Types of the strict family are written client_boundary/plan, durable_authority/lease. " +
			"Exit status: 0 when all is valid, warnings included, 1 with findings, 2 when something is not JSON or cannot be read.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:    "type",
				Aliases: []string{"t"},
				Usage:   "judge every document as a `TYPE`, such as task, pipeline_spec, client_boundary/plan",
			},
			&ucli.BoolFlag{
				Name:  "log",
				Usage: "judge all records together: messages and their acknowledgements, leases, sequences",
			},
			&ucli.BoolFlag{
				Name:  "ended",
				Usage: "with --log: the run has ended, so that a missing acknowledgement is an error",
			},
			&ucli.BoolFlag{
				Name:  "lenient",
				Usage: "read issued_at, expires_at and occurred_at of early leases and recovery events",
			},
		},
		Action: func(c *ucli.Context) error {
			o := &monarchicValidateOptions{
				Files: c.Args().Slice(),
				Check: check.Options{Log: c.Bool("log"), Complete: c.Bool("ended"), Lenient: c.Bool("lenient")},
			}
			if name := c.String("type"); c.IsSet("type") {
				t, err := monarchicType(name)
				if err != nil {
					return err
				}
				o.Check.Type = t
			}
			if o.Check.Complete && !o.Check.Log {
				return term.UsageErrorf("--ended says something about a log: use it with --log")
			}
			return runMonarchicValidate(c.Context, f, o)
		},
	}
}

// monarchicType reads the name of a type, or suggests a similar one.
func monarchicType(name string) (check.Type, error) {
	t, ok := check.ParseType(name)
	if ok {
		return t, nil
	}
	var known []string
	for _, k := range check.Types() {
		known = append(known, string(k))
	}
	if s := term.Nearest(name, known); s != "" {
		return "", term.UsageErrorf("--type: there is no type %q; did you mean %s?", term.OneLine(name), s)
	}
	return "", term.UsageErrorf("--type: there is no type %q; there are %s", term.OneLine(name),
		strings.Join(known, ", "))
}

func runMonarchicValidate(ctx context.Context, f *term.Factory, o *monarchicValidateOptions) error {
	files := o.Files
	if len(files) == 0 {
		files = []string{"-"}
	}
	session := check.New(o.Check)
	var results []*check.Result
	stdin := false
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if file == "-" {
			if stdin {
				return term.UsageErrorf("standard input can be read once")
			}
			stdin = true
		}
		data, err := shared.ReadStart(f, file, wire.MaxBytes)
		if err != nil {
			results = append(results, &check.Result{Name: file, Unreadable: err.Error()})
			continue
		}
		results = append(results, session.Input(file, data))
	}
	session.Close()
	unread, invalid := 0, 0
	rows := []*ojson.Object{}
	for _, r := range results {
		if r.Unreadable != "" {
			unread++
		}
		if !r.Valid() {
			invalid++
		}
		rows = append(rows, monarchicResult(r))
	}
	payload := ojson.NewObject("valid", invalid == 0, "files", rows)
	if unread > 0 {
		payload.Set("error", ojson.NewObject("code", "invalid_input",
			"message", fmt.Sprintf("%s could not be read, or not all of it", term.Counted(unread, "input"))))
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		for _, r := range results {
			printMonarchicResult(p, r)
		}
	})
	switch {
	case unread > 0:
		return term.ExitSilently(term.ExitUsage)
	case invalid > 0:
		return term.ErrFindings()
	}
	return nil
}

// monarchicResult returns the verdict on one input for --json.
func monarchicResult(r *check.Result) *ojson.Object {
	types, matched, findings := ojson.NewObject(), []string{}, []*ojson.Object{}
	for _, t := range r.Types {
		name := string(t.Type)
		if name == "" {
			name = "unknown"
		}
		types.Set(name, t.N)
	}
	for _, t := range r.Matched {
		matched = append(matched, string(t))
	}
	for _, x := range r.Findings {
		row := ojson.NewObject("severity", string(x.Severity), "rule", x.Rule, "pointer", x.Pointer,
			"message", x.Message)
		if x.Line > 0 {
			row.Set("line", x.Line)
		}
		findings = append(findings, row)
	}
	o := ojson.NewObject("file", r.Name, "valid", r.Valid(), "format", ojson.OrNull(r.Format), "records", r.Records,
		"types", types, "matched", matched, "findings", findings, "more", r.More)
	if r.Unreadable != "" {
		o.Set("unreadable", r.Unreadable)
	}
	return o
}

func printMonarchicResult(p *term.Printer, r *check.Result) {
	name := term.OneLine(r.Name)
	if r.Name == "-" {
		name = "stdin"
	}
	verdict := p.Green("valid")
	switch {
	case r.Unreadable != "":
		verdict = p.Red("unreadable") + ": " + term.OneLine(r.Unreadable)
	case !r.Valid():
		verdict = p.Red("invalid")
	case len(r.Findings) > 0:
		verdict += ", " + term.Counted(len(r.Findings)+r.More, "warning")
	}
	p.Printf("%s: %s%s\n", p.Bold(name), describeTypes(r), verdict)
	for _, x := range r.Findings {
		at := x.Pointer
		if at == "" {
			at = "(document)"
		}
		if x.Line > 0 {
			at = "line " + strconv.Itoa(x.Line) + " " + at
		}
		mark := p.Red("error")
		if x.Severity == check.Warning {
			mark = p.Yellow("warning")
		}
		p.Printf("  %s %s: %s [%s]\n", mark, term.OneLine(shortened(at)), term.OneLine(x.Message), x.Rule)
	}
	if r.More > 0 {
		p.Printf("  ... and %d more\n", r.More)
	}
}

// shortened keeps the end of a place that is too long to read; --json has more.
func shortened(at string) string {
	const most = 200
	if r := []rune(at); len(r) > most {
		return "…" + string(r[len(r)-most:])
	}
	return at
}

// describeTypes says what an input was judged as: "plan, ", "12 records (event 10, task 2), ".
func describeTypes(r *check.Result) string {
	var words []string
	for _, t := range r.Types {
		name := string(t.Type)
		if name == "" {
			name = "of no known type"
		}
		if r.Records > 1 {
			name += " " + strconv.Itoa(t.N)
		}
		words = append(words, name)
	}
	switch {
	case r.Unreadable != "":
		return ""
	case r.Records == 1:
		var also []string
		for _, t := range r.Matched {
			if t != r.Types[0].Type && r.Types[0].Type != "" {
				also = append(also, string(t))
			}
		}
		if len(also) > 0 {
			words[0] += " (also " + strings.Join(also, ", ") + ")"
		}
		return words[0] + ", "
	case r.Records == 0:
		return "no records, "
	}
	return term.Counted(r.Records, "record") + " (" + strings.Join(words, ", ") + "), "
}
