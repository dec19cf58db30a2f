// show: one operation of a run in full.

package cli

import (
	"context"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newShowCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "show", Category: categoryLook, ArgsUsage: "[OP]", Usage: "one operation: who, what it was decided on, what it changed",
		Description: "OP is an operation of log, abbreviated as git allows, or a turn, which stands for the last operation about it; the newest operation by default.",
		Flags: []ucli.Flag{
			term.NewChoiceFlag("raw", "print one of its documents in full: `NAME`", "", "record", "state"),
		},
		Action: func(c *ucli.Context) error { return runShow(c.Context, f, c.Args().First(), c.String("raw")) },
	}
}

func runShow(ctx context.Context, f *term.Factory, name, raw string) error {
	r, err := openRunner(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	d, err := findOp(ctx, r, name)
	if err != nil {
		return err
	}
	if raw != "" && !f.JSON() {
		data := d.StateAfter
		if raw == "record" {
			data = ojson.Pretty(d.Record)
		}
		_, err := f.Out.Raw().Write(data)
		return err
	}
	changes := stateChanges(d.StateBefore, d.StateAfter)
	f.Out.Page(ctx)
	f.Out.Emit(showObject(d, changes), func(p *term.Printer) { printOp(p, d, changes) })
	return nil
}

// findOp resolves what a person typed: nothing, an operation, or a turn.
func findOp(ctx context.Context, r *runner.Runner, name string) (*runner.OpDetail, error) {
	if name == "" {
		ops, err := r.Record().Log(ctx, "", 1)
		if err != nil {
			return nil, err
		}
		if len(ops) == 0 {
			return nil, term.Errorf("no_run", "no operation is recorded").WithHint("git agentxchain assign")
		}
		return r.Record().Show(ctx, string(ops[0].Op))
	}
	if strings.HasPrefix(name, "turn_") {
		ops, err := r.Record().Log(ctx, "", 0)
		if err != nil {
			return nil, err
		}
		for i := range ops {
			if ops[i].Turn == name {
				return r.Record().Show(ctx, string(ops[i].Op))
			}
		}
		return nil, term.Errorf(wire.CodeNotFound, "no operation of this run is about turn %s", term.OneLine(name)).WithHint("git agentxchain log")
	}
	return r.Record().Show(ctx, name)
}

// stateChange is one top-level member of the state that an operation changed.
type stateChange struct {
	key           string
	before, after ojson.Value // nil also when absent
}

func stateChanges(before, after []byte) []stateChange {
	a, _ := ojson.DecodeObject(before)
	b, err := ojson.DecodeObject(after)
	if err != nil {
		return nil
	}
	var out []stateChange
	keys := slices.Clone(b.Keys())
	for _, k := range a.Keys() {
		if !b.Has(k) {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		was, hadIt := a.Get(k)
		now, hasIt := b.Get(k)
		if hadIt == hasIt && ojson.Equal(was, now) {
			continue
		}
		out = append(out, stateChange{k, was, now})
	}
	return out
}

func showObject(d *runner.OpDetail, changes []stateChange) *ojson.Object {
	o := opObject(&d.OpInfo)
	o.Set("record", d.Record)
	evidence, ledgers, diff := []*ojson.Object{}, []*ojson.Object{}, []*ojson.Object{}
	for _, sum := range evidenceNames(d) {
		evidence = append(evidence, ojson.NewObject("sha256", sum, "bytes", d.Evidence[sum]))
	}
	for _, l := range d.Ledgers {
		row := ojson.NewObject("ledger", string(l.Ledger), "path", l.Ledger.Path())
		added := []any{}
		for _, line := range l.Appended {
			if doc, err := ojson.DecodeObject([]byte(line)); err == nil && l.Ledger.JSONL() {
				added = append(added, doc)
			} else {
				added = append(added, line)
			}
		}
		amended := []*ojson.Object{}
		for _, a := range l.Amended {
			amended = append(amended, ojson.NewObject("old", string(a.Old), "new", string(a.New)))
		}
		row.Set("appended", added)
		row.Set("amended", amended)
		ledgers = append(ledgers, row)
	}
	for _, c := range changes {
		diff = append(diff, ojson.NewObject("member", c.key, "before", c.before, "after", c.after))
	}
	o.Set("evidence", evidence)
	o.Set("ledgers", ledgers)
	o.Set("state_changes", diff)
	o.Set("files", wire.NonNil(d.Files))
	return o
}

func evidenceNames(d *runner.OpDetail) []string {
	var names []string
	for sum := range d.Evidence {
		names = append(names, sum)
	}
	slices.Sort(names)
	return names
}

// maxShown bounds a value in the text form; --json and --raw have all of it.
const maxShown = 160

func shownValue(v ojson.Value) string {
	s := term.OneLine(string(ojson.Compact(v)))
	if term.DisplayWidth(s) > maxShown {
		return term.Truncate(s, maxShown)
	}
	return s
}

func printOp(p *term.Printer, d *runner.OpDetail, changes []stateChange) {
	p.Field("Operation", "%s", p.Yellow(string(d.Op)))
	p.Field("Kind", "%s", p.Bold(term.OneLine(d.Name)))
	p.Field("Run", "%s", term.OneLine(d.Run))
	if len(d.Parents) > 0 {
		p.Field("Follows", "%s", d.Parents[0].Short())
	} else {
		p.Field("Follows", "nothing: it begins the run")
	}
	p.Field("Actor", "%s <%s>", term.OneLine(d.Actor), term.OneLine(d.Email))
	p.Field("When", "%s (%s)", p.Ago(d.Time), term.Timestamp(d.Time))
	if d.Turn != "" {
		p.Field("Turn", "%s %s", term.OneLine(d.Turn), p.Dim(term.OneLine(d.Role)))
	}
	if d.CodeHead != "" {
		p.Field("Code at", "%.12s", term.OneLine(d.CodeHead))
	}
	p.Printf("\n    %s\n", term.OneLine(d.Subject))
	printRecord(p, d.Record)
	if len(d.Evidence) > 0 {
		p.Printf("\n%s\n", p.Bold("Decided on"))
		for _, sum := range evidenceNames(d) {
			p.Printf("  %.12s  %d bytes\n", sum, d.Evidence[sum])
		}
	}
	if len(changes) > 0 {
		p.Printf("\n%s\n", p.Bold("State"))
		for _, c := range changes {
			p.Printf("  %s\n", term.OneLine(c.key))
			if len(d.StateBefore) > 0 {
				p.Printf("    %s\n", p.Red("- "+shownValue(c.before)))
			}
			p.Printf("    %s\n", p.Green("+ "+shownValue(c.after)))
		}
	}
	for _, l := range d.Ledgers {
		p.Printf("\n%s\n", p.Bold(l.Ledger.Path()))
		for _, a := range l.Amended {
			p.Printf("    %s\n    %s\n", p.Red("- "+shownLine(a.Old)), p.Green("+ "+shownLine(a.New)))
		}
		for _, line := range l.Appended {
			p.Printf("    %s\n", p.Green("+ "+shownLine([]byte(line))))
		}
	}
	if len(d.Files) > 0 {
		p.Printf("\n%s\n", p.Bold("Files"))
		for _, name := range d.Files {
			p.Printf("  %s\n", term.OneLine(name))
		}
	}
}

func shownLine(line []byte) string {
	s := term.OneLine(strings.ToValidUTF8(string(line), "\ufffd"))
	if term.DisplayWidth(s) > maxShown {
		return term.Truncate(s, maxShown)
	}
	return s
}

// printRecord shows what an operation was asked for, or what an external one
// took in.
func printRecord(p *term.Printer, rec *ojson.Object) {
	for _, part := range []struct{ key, title string }{{"args", "Asked for"}, {"detail", "Detail"}} {
		o := rec.Object(part.key)
		if o.Len() == 0 {
			continue
		}
		p.Printf("\n%s\n", p.Bold(part.title))
		for k, v := range o.All() {
			if a, ok := v.([]any); v == nil || v == "" || ok && len(a) == 0 {
				continue
			}
			p.Printf("  %s %s\n", p.Dim(term.Pad(term.OneLine(k)+":", 18)), shownValue(v))
		}
	}
}
