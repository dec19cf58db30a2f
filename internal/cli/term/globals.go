// The flags that every command takes.

package term

import (
	"slices"
	"strconv"
)

// GlobalOptions are the flags that every command takes. They may be anywhere on the line, even
// before the command's name.
type GlobalOptions struct {
	JSON       bool
	Help       bool
	Version    bool
	Dir        string
	Color      string // auto, always, never
	NoPager    bool
	NoProgress bool
	Trust      bool
	Pick       Picker // --jq or --template: the part of the answer to print; nil for all of it
}

// globalFlag describes one of them for the parser, help, man and completion.
type globalFlag struct {
	names  []string
	value  string // placeholder; "" for a switch
	choice []string
	usage  string
	set    func(*GlobalOptions, string) error
}

// picks sets the part of the answer to print.
func (g *GlobalOptions) picks(p Picker, err error) error {
	if err == nil && g.Pick != nil {
		err = UsageErrorf("only one of --jq and --template can pick from the answer")
	}
	g.JSON, g.Pick = true, p
	return err
}

func globalFlags() []globalFlag {
	onOff := func(dst func(*GlobalOptions) *bool) func(*GlobalOptions, string) error {
		return func(g *GlobalOptions, v string) error {
			b, err := strconv.ParseBool(v)
			if err != nil {
				return UsageErrorf("%q is neither true nor false", v)
			}
			*dst(g) = b
			return nil
		}
	}
	return []globalFlag{
		{names: []string{"json", "j"}, usage: "print one JSON object instead of text, errors included",
			set: onOff(func(g *GlobalOptions) *bool { return &g.JSON })},
		{
			names: []string{"jq"},
			value: "EXPR",
			usage: "print what the jq expression `EXPR` selects from the --json answer",
			set:   func(g *GlobalOptions, v string) error { return g.picks(newJQ(v)) },
		},
		{names: []string{"template"}, value: "TEXT", usage: "print the --json answer through the Go template `TEXT`",
			set: func(g *GlobalOptions, v string) error { return g.picks(newTemplate(v)) }},
		{names: []string{"dir", "C"}, value: "DIR", usage: "work as if started in `DIR`",
			set: func(g *GlobalOptions, v string) error {
				if v == "" {
					return UsageErrorf("--dir needs a directory")
				}
				g.Dir = v
				return nil
			}},
		{names: []string{"color"}, value: "WHEN", choice: []string{"auto", "always", "never"},
			usage: "use colour: auto, always or never",
			set: func(g *GlobalOptions, v string) error {
				if v != "auto" && v != "always" && v != "never" {
					return UsageErrorf("--color takes auto, always or never, not %q", v)
				}
				g.Color = v
				return nil
			}},
		{names: []string{"no-color"}, usage: "same as --color=never",
			set: func(g *GlobalOptions, v string) error {
				b, err := strconv.ParseBool(v)
				if err == nil && b {
					g.Color = "never"
				}
				return err
			}},
		{names: []string{"no-pager"}, usage: "never start a pager",
			set: onOff(func(g *GlobalOptions) *bool { return &g.NoPager })},
		{names: []string{"no-progress"}, usage: "never show progress",
			set: onOff(func(g *GlobalOptions) *bool { return &g.NoProgress })},
		{names: []string{"trust"}, usage: "trust the project's hooks, webhooks and runtimes, for this command only",
			set: onOff(func(g *GlobalOptions) *bool { return &g.Trust })},
		{names: []string{"help", "h"}, usage: "explain the command",
			set: onOff(func(g *GlobalOptions) *bool { return &g.Help })},
		{names: []string{"version", "V"}, usage: "same as the command version",
			set: onOff(func(g *GlobalOptions) *bool { return &g.Version })},
	}
}

// findGlobal returns the global flag of that name, nil for none.
func findGlobal(name string) *globalFlag {
	all := globalFlags()
	for i := range all {
		if slices.Contains(all[i].names, name) {
			return &all[i]
		}
	}
	return nil
}
