// Suggestions for a command line that names something unknown.

package term

import (
	"slices"
	"strconv"
	"strings"

	ucli "github.com/urfave/cli/v2"
)

func (p *lineParser) unknownCommand(word string, subs []*ucli.Command) error {
	what := "command"
	if len(p.inv.Path) > 0 {
		what = p.inv.name() + " command"
	}
	s := meant(word, allNames(subs))
	if s == "" {
		s = p.elsewhere(word, subs)
	}
	if s != "" {
		return UsageErrorf("unknown %s %q; did you mean %q?", what, OneLine(word), s)
	}
	return UsageErrorf("unknown %s %q; %q lists them", what, OneLine(word), p.help())
}

// elsewhere returns the line for a word that is not a command here: a flag of the one command that has it, or a
// command of the program itself; "" for neither.
func (p *lineParser) elsewhere(word string, subs []*ucli.Command) string {
	var has []*ucli.Command
	for _, c := range subs {
		if !c.Hidden && hasFlag(c, word) {
			has = append(has, c)
		}
	}
	switch {
	case len(has) == 1:
		return "git agentxchain " + PathName(append(slices.Clip(p.inv.Path), has[0])) + " --" + word
	case len(p.inv.Path) > 0 && findCommand(p.app.Commands, word) != nil:
		return "git agentxchain " + word
	}
	return ""
}

// hasFlag reports whether a word is a flag of a command.
func hasFlag(c *ucli.Command, word string) bool { return len(word) > 2 && findFlag(c, word) != nil }

func (p *lineParser) unknownFlag(shown string) error {
	shown, _, _ = strings.Cut(shown, "=")
	var known []string
	if cmd := p.inv.command(); cmd != nil {
		for _, fl := range cmd.Flags {
			known = append(known, fl.Names()...)
		}
	}
	for _, g := range globalFlags() {
		known = append(known, g.names...)
	}
	of := ""
	if len(p.inv.Path) > 0 {
		of = " for " + strconv.Quote(p.inv.name())
	}
	if s := meantFlag(strings.TrimLeft(shown, "-"), known); s != "" {
		return UsageErrorf("unknown flag %s%s; did you mean %s?", OneLine(shown), of, s)
	}
	return UsageErrorf("unknown flag %s%s; %q lists them", OneLine(shown), of, p.help())
}

// meantFlag returns the known flag that was probably meant, with its dashes; "" when that is unclear.
func meantFlag(name string, known []string) string {
	if number, err := strconv.ParseUint(name, 10, 31); err == nil && slices.Contains(known, "n") {
		return "-n " + strconv.FormatUint(number, 10) // like git log
	}
	if len(name) < 2 {
		for _, k := range known {
			if strings.EqualFold(k, name) {
				return "-" + k
			}
		}
		return ""
	}
	long := slices.DeleteFunc(slices.Clone(known), func(s string) bool { return len(s) < 2 })
	if s := Nearest(name, long); s != "" {
		return "--" + s
	}
	return ""
}

func visibleNames(list []*ucli.Command) []string {
	var names []string
	for _, c := range list {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

func allNames(list []*ucli.Command) []string {
	var names []string
	for _, c := range list {
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	return names
}
