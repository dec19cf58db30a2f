// help: an overview, a command, or a topic.

package term

import (
	"context"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

type helpOptions struct {
	Words []string // a topic, or the path of a command; empty for the overview
}

// HelpCommand explains commands and topics.
func HelpCommand(f *Factory, category string) *ucli.Command {
	return &ucli.Command{
		Name:      "help",
		Category:  category,
		Usage:     "explain a command or a topic",
		ArgsUsage: "[TOPIC|COMMAND...]",
		Description: "Without an argument, lists the commands. Topics: " + strings.Join(topicNames(), ", ") + ".\n" +
			"With --json the answer describes flags and subcommands for programs.",
		BashComplete: func(c *ucli.Context) {
			for _, n := range append(topicNames(), visibleNames(f.Program.Commands(f))...) {
				_, _ = c.App.Writer.Write([]byte(n + "\n"))
			}
		},
		Action: func(c *ucli.Context) error { return runHelp(f, helpOptions{Words: c.Args().Slice()}) },
	}
}

func runHelp(f *Factory, opts helpOptions) error {
	cmds := f.Program.Commands(f)
	if len(opts.Words) == 0 {
		f.Out.Emit(overviewObject(cmds), func(p *Printer) { printOverview(p, f.Program.Groups, cmds) })
		return nil
	}
	if len(opts.Words) == 1 {
		if t, ok := findTopic(opts.Words[0]); ok {
			f.Out.Page(context.Background())
			f.Out.Emit(ojson.NewObject("topic", t.name, "summary", t.summary, "text", t.text()), func(p *Printer) {
				p.Printf("%s - %s\n\n", p.Bold(t.name), t.summary)
				p.prose(t.text(), 0)
			})
			return nil
		}
	}
	path := FindPath(cmds, opts.Words)
	if path == nil {
		word := opts.Words[0]
		known := append(allNames(cmds), topicNames()...)
		for i := 1; i < len(opts.Words); i++ {
			parent := FindPath(cmds, opts.Words[:i])
			if parent == nil {
				break // its name is the wrong one
			}
			word, known = opts.Words[i], allNames(parent[i-1].Subcommands)
		}
		if s := Nearest(word, known); s != "" {
			return UsageErrorf("no help for %q; did you mean %q?", OneLine(word), s)
		}
		return UsageErrorf("no help for %q; \"git agentxchain help\" lists commands and topics", OneLine(word))
	}
	examples := f.examples(path)
	o := commandObject(path)
	o.Set("examples", examples)
	f.Out.Emit(ojson.NewObject("command", o), func(p *Printer) { printCommandHelp(p, path, examples) })
	return nil
}

// examples returns the examples of a command; a group shows the first of each of its subcommands.
func (f *Factory) examples(path []*ucli.Command) []string {
	out := []string{}
	if f.Program.Examples == nil {
		return out
	}
	name := PathName(path)
	out = append(out, f.Program.Examples(name)...)
	for _, c := range path[len(path)-1].Subcommands {
		if lines := f.Program.Examples(name + " " + c.Name); len(lines) > 0 && !c.Hidden {
			out = append(out, lines[0])
		}
	}
	return out
}

func printOverview(p *Printer, groups []string, cmds []*ucli.Command) {
	p.Printf("%s - governed runs of agents and people, kept in git\n\n", p.Bold("git agentxchain"))
	p.Printf("usage: git agentxchain COMMAND [flags] [arguments]\n")
	for _, cat := range groups {
		t := NewTable()
		for _, c := range cmds {
			if c.Category == cat && !c.Hidden {
				t.Row("  "+c.Name, c.Usage)
			}
		}
		if t.Len() > 0 {
			p.Printf("\n%s\n", p.Bold(cat))
			printIndented(p, t)
		}
	}
	p.Printf("\n%s\n", p.Bold("topics"))
	t := NewTable()
	for _, topic := range topics() {
		t.Row(topic.name, topic.summary)
	}
	printIndented(p, t)
	p.Println()
	p.prose("\"git agentxchain help COMMAND\" or \"COMMAND -h\" explains a command; \"help TOPIC\" a topic. "+
		"--help shows manual pages, once \"git agentxchain man --install\" has written them.", 0)
}

// printIndented prints a table indented by two columns.
func printIndented(p *Printer, t *Table) {
	rows := NewTable()
	rows.Flex = -1
	for _, r := range t.rows {
		texts := make([]string, len(r))
		for i := range r {
			texts[i] = strings.TrimSpace(r[i].text)
		}
		rows.Row(texts...)
		last := rows.rows[len(rows.rows)-1]
		last[0].text = "  " + last[0].text
	}
	p.proseTable(rows)
}

func printCommandHelp(p *Printer, path []*ucli.Command, examples []string) {
	cmd := path[len(path)-1]
	name := "git agentxchain " + PathName(path)
	p.Println(strings.Replace(wrapLine(name+" - "+cmd.Usage, p.proseWidth(), 2), name, p.Bold(name), 1))
	p.Println()
	p.prose("usage: "+usageLine(path), 7)
	if cmd.Description != "" {
		p.Println()
		p.prose(strings.TrimSpace(cmd.Description), 0)
	}
	if subs := visibleNames(cmd.Subcommands); len(subs) > 0 {
		p.Printf("\n%s\n", p.Bold("subcommands"))
		t := NewTable()
		for _, c := range cmd.Subcommands {
			if !c.Hidden {
				t.Row(strings.TrimSpace(c.Name+" "+c.ArgsUsage), c.Usage)
			}
		}
		printIndented(p, t)
	}
	own := FlagHelps(cmd)
	if len(own) > 0 {
		p.Printf("\n%s\n", p.Bold("flags"))
		printFlags(p, own)
	}
	p.Printf("\n%s\n", p.Bold("flags of every command"))
	printFlags(p, globalHelps(own...))
	if len(examples) > 0 {
		p.Printf("\n%s\n", p.Bold("examples"))
		for _, line := range examples {
			p.Printf("  %s\n", line)
		}
	}
	if len(cmd.Aliases) > 0 {
		p.Println()
		p.prose("also known as: "+strings.Join(cmd.Aliases, ", "), 2)
	}
}

func printFlags(p *Printer, flags []flagHelp) {
	t := NewTable()
	t.Flex = -1
	for _, h := range flags {
		t.Row("", flagText(h))
		t.rows[len(t.rows)-1][0].text = "  " + h.spelled()
	}
	p.proseTable(t)
}

// flagText returns a flag's usage with its values and default.
func flagText(h flagHelp) string {
	text := h.usage
	unsaid := func(choice string) bool { return !strings.Contains(text, choice) }
	if slices.ContainsFunc(h.choices, unsaid) {
		text += " (" + strings.Join(h.choices, ", ") + ")"
	}
	if h.def != "" {
		text += " [" + h.def + "]"
	}
	return text
}

func usageLine(path []*ucli.Command) string {
	cmd := path[len(path)-1]
	line := "git agentxchain " + PathName(path)
	if cmd.UsageText != "" {
		return line + " " + cmd.UsageText
	}
	if len(cmd.Subcommands) > 0 && cmd.Action == nil {
		return line + " COMMAND [flags] [arguments]"
	}
	return strings.TrimSpace(line + " [flags] " + cmd.ArgsUsage)
}

func overviewObject(cmds []*ucli.Command) *ojson.Object {
	var list []*ojson.Object
	for _, c := range cmds {
		if !c.Hidden {
			list = append(list, ojson.NewObject("name", c.Name, "aliases", c.Aliases, "group", c.Category,
				"usage", c.Usage))
		}
	}
	var tops []*ojson.Object
	for _, t := range topics() {
		tops = append(tops, ojson.NewObject("name", t.name, "summary", t.summary))
	}
	return ojson.NewObject("commands", list, "topics", tops, "flags", flagObjects(globalHelps()))
}

func commandObject(path []*ucli.Command) *ojson.Object {
	cmd := path[len(path)-1]
	low, high := Arity(cmd.ArgsUsage)
	o := ojson.NewObject(
		"name", PathName(path), "aliases", cmd.Aliases, "summary", cmd.Usage,
		"usage", usageLine(path), "description", cmd.Description,
		"arguments", ojson.NewObject("text", cmd.ArgsUsage, "min", low, "max", high),
		"flags", flagObjects(FlagHelps(cmd)),
	)
	var subs []*ojson.Object
	for _, c := range cmd.Subcommands {
		if !c.Hidden {
			subs = append(subs, commandObject(append(slices.Clip(path), c)))
		}
	}
	if subs != nil {
		o.Set("subcommands", subs)
	}
	return o
}

func flagObjects(flags []flagHelp) []*ojson.Object {
	out := make([]*ojson.Object, 0, len(flags))
	for _, h := range flags {
		o := ojson.NewObject("names", h.Names, "usage", h.usage)
		if h.value != "" {
			o.Set("value", h.value)
		}
		if len(h.choices) > 0 {
			o.Set("choices", h.choices)
		}
		if h.def != "" {
			o.Set("default", h.def)
		}
		out = append(out, o)
	}
	return out
}
