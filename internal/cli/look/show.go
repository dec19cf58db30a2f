// show: one operation of a run in full.

package look

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func NewShowCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "show",
		Category:  shared.CategoryLook,
		ArgsUsage: "[OP]",
		Usage:     "show one operation: who, on which evidence, and what it changed",
		Description: "OP is an operation that log lists, abbreviated as git allows, or a turn, which means the " +
			"last operation on that turn. The default is the newest operation. show prints only the members of the " +
			"state that the operation changed, and cuts long values.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "full", Usage: "do not cut values"},
			term.NewChoiceFlag("raw", "print one of its documents in full: `NAME`", "", "record", "state"),
		},
		Action: func(c *ucli.Context) error {
			return runShow(c.Context, f, c.Args().First(), c.String("raw"), c.Bool("full"))
		},
	}
}

func runShow(ctx context.Context, f *term.Factory, name, raw string, full bool) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	d, err := findOp(ctx, f, r, name)
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
	before, after := decoded(d.StateBefore), decoded(d.StateAfter)
	if after.Len() == 0 {
		before = after // it is damaged: nothing can be said about it
	}
	now := ""
	if name != "" && !f.JSON() {
		now = decidedAgain(ctx, r, d)
	}
	f.Out.Page(ctx)
	f.Out.Emit(showObject(d, before, after), func(p *term.Printer) {
		page := opPage{p, shownValue}
		if full {
			page.shown = func(v ojson.Value) string { return term.OneLine(string(ojson.Compact(v))) }
		}
		page.print(d, now, ojson.Differences(before, after))
	})
	return nil
}

// decidedAgain returns the operation that a join with another machine made of one that its run had before, "" for one
// that the run has.
func decidedAgain(ctx context.Context, r *runner.Runner, d *runner.OpDetail) string {
	if has, err := r.Record().Has(ctx, d.Run, d.Op); has || err != nil {
		return "" // an operation of which that is unknown is shown all the same
	}
	for op, err := range r.Record().Back(ctx, d.Run) {
		if err != nil {
			return ""
		}
		if op.Origin != "" && op.Origin == cmp.Or(d.Origin, d.Op) {
			return op.Op.Short()
		}
	}
	return ""
}

// findOp resolves what a person typed: nothing, an operation, or a turn.
func findOp(ctx context.Context, f *term.Factory, r *runner.Runner, name string) (*runner.OpDetail, error) {
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
		for op, err := range r.Record().Back(ctx, "") {
			if err != nil {
				return nil, err
			}
			if op.Turn == name {
				return r.Record().Show(ctx, string(op.Op))
			}
		}
		return nil, term.Errorf(wire.CodeNotFound, "no operation of this run is about turn %s",
			term.OneLine(name)).WithHint("git agentxchain log")
	}
	d, err := r.Record().Show(ctx, name)
	if instead := shownBy(f, name); instead != "" && runner.ErrorCode(err) == wire.CodeNotFound {
		return nil, term.Errorf(wire.CodeNotFound, "%q names no operation", term.OneLine(name)).WithHint(instead)
	}
	return d, err
}

// shownBy returns the command that shows what has such a name and is not an operation; "" if nothing has.
func shownBy(f *term.Factory, name string) string {
	switch {
	case strings.HasPrefix(name, "run_"):
		return "git agentxchain log " + wire.ShellWord(name)
	case strings.HasPrefix(name, "DEC-"):
		return "git agentxchain decisions"
	case strings.HasPrefix(name, "OBJ-"):
		return "git agentxchain objection"
	}
	if dir, err := f.Dir(); err == nil {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return "git agentxchain why " + wire.ShellWord(name)
		}
	}
	return ""
}

// decoded returns a recorded document; one that is absent or damaged has no members.
func decoded(data []byte) *ojson.Object {
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return &ojson.Object{}
	}
	return o
}

func showObject(d *runner.OpDetail, before, after *ojson.Object) *ojson.Object {
	o := opObject(&d.OpInfo)
	o.Set("record", d.Record)
	evidence, ledgers := []*ojson.Object{}, []*ojson.Object{}
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
	members, places := []*ojson.Object{}, []*ojson.Object{}
	for _, k := range ojson.UnionKeys(before, after) {
		was, had := before.Get(k)
		now, has := after.Get(k)
		if had != has || !ojson.Equal(was, now) {
			members = append(members, ojson.NewObject("member", k, "before", was, "after", now))
		}
	}
	for _, d := range ojson.Differences(before, after) {
		places = append(places, d.Object())
	}
	o.Set("evidence", evidence)
	o.Set("ledgers", ledgers)
	o.Set("state_changes", members)
	o.Set("state_differences", places)
	o.Set("files", wire.NonNil(d.Files))
	return o
}

func evidenceNames(d *runner.OpDetail) []string {
	return slices.Sorted(maps.Keys(d.Evidence))
}

func shownValue(v ojson.Value) string { return term.Shown(ojson.Compact(v)) }

// opPage prints an operation; shown is what it prints for a value.
type opPage struct {
	*term.Printer
	shown func(ojson.Value) string
}

func (p opPage) print(d *runner.OpDetail, now string, changes []ojson.Difference) {
	p.Field("Operation", "%s", p.Yellow(string(d.Op)))
	if now != "" {
		p.Field("Now", "%s: decided again after the operations of another machine", p.Yellow(now))
	}
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
	p.record(d.Record)
	if len(d.Evidence) > 0 {
		p.Printf("\n%s\n", p.Bold("Decided on"))
		for _, sum := range evidenceNames(d) {
			p.Printf("  %.12s  %d bytes\n", sum, d.Evidence[sum])
		}
	}
	if len(changes) > 0 {
		p.Printf("\n%s\n", p.Bold("State"))
		p.differences(changes)
	}
	for _, l := range d.Ledgers {
		p.Printf("\n%s\n", p.Bold(l.Ledger.Path()))
		for _, a := range l.Amended {
			p.differences(ojson.Differences(decoded(a.Old), decoded(a.New)))
		}
		for _, line := range l.Appended {
			p.Printf("    %s\n", p.Green("+ "+p.line([]byte(line))))
		}
	}
	if len(d.Files) > 0 {
		p.Printf("\n%s\n", p.Bold("Files"))
		for _, name := range d.Files {
			p.Printf("  %s\n", term.OneLine(name))
		}
	}
}

// line returns a line of a ledger, which need not be JSON.
func (p opPage) line(line []byte) string {
	if v, err := ojson.Decode(line); err == nil {
		return p.shown(v)
	}
	return term.Shown(line)
}

// record shows what an operation was asked for, or what an external one took in.
func (p opPage) record(rec *ojson.Object) {
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
			p.Printf("  %s %s\n", p.Dim(term.Pad(term.OneLine(k)+":", 18)), p.shown(v))
		}
	}
}
