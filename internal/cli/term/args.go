// Command line syntax: flags before and after positionals, "--", --flag=value, -xyz, global flags anywhere.

package term

import (
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"
)

// invocation is a parsed command line.
type invocation struct {
	Global GlobalOptions
	Path   []*ucli.Command // from the top level command down; empty for none
	Argv   []string        // the same line in the only order that urfave/cli reads correctly
}

// command returns the innermost command named, nil for none.
func (inv *invocation) command() *ucli.Command {
	if len(inv.Path) == 0 {
		return nil
	}
	return inv.Path[len(inv.Path)-1]
}

// name returns the full name without the program's.
func (inv *invocation) name() string { return PathName(inv.Path) }

// PathName returns the name of a command below others: their names and its own.
func PathName(path []*ucli.Command) string {
	names := make([]string, len(path))
	for i, c := range path {
		names[i] = c.Name
	}
	return strings.Join(names, " ")
}

// lineParser walks one command line. urfave/cli stops reading flags at the first positional, so the
// whole line is parsed here and passed on with flags first and positionals behind "--".
type lineParser struct {
	app     *ucli.App
	rewrite map[string][]string
	inv     *invocation
	flags   []string
	pos     []string
	given   map[string]bool // canonical names of the command's flags that were seen
	seen    bool            // a positional has been kept: no more subcommands
}

// ParseLine parses args (without the program name). The invocation is valid up to the error even
// when the error is not nil, so that --json is honoured for errors that come after it, or anywhere
// before "--".
func ParseLine(app *ucli.App, rewrites map[string][]string, args []string) (*invocation, error) {
	p := &lineParser{app: app, rewrite: rewrites, given: map[string]bool{},
		inv: &invocation{Global: GlobalOptions{Color: "auto"}}}
	err := p.run(args)
	if err != nil {
		// The rest of the line was not read. An answer in the wrong format is worse than one
		// mistake: look for --json in the rest.
		for _, a := range args {
			if a == "--" {
				break
			}
			if a == "--json" || a == "-j" || a == "--json=true" {
				p.inv.Global.JSON = true
			}
		}
		return p.inv, err
	}
	if err := p.bare(); err != nil {
		return p.inv, err
	}
	p.inv.Argv = append([]string{app.Name}, strings.Fields(p.inv.name())...)
	p.inv.Argv = append(p.inv.Argv, p.flags...)
	if cmd := p.inv.command(); cmd == nil || !cmd.SkipFlagParsing {
		p.inv.Argv = append(p.inv.Argv, "--")
	}
	p.inv.Argv = append(p.inv.Argv, p.pos...)
	if p.inv.Global.Help || p.inv.Global.Version {
		return p.inv, nil
	}
	return p.inv, p.complete()
}

func (p *lineParser) run(args []string) error {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if cmd := p.inv.command(); cmd != nil && cmd.SkipFlagParsing {
			// The command forwards its words to something else verbatim.
			p.pos = append(p.pos, args[i:]...)
			return nil
		}
		var used int
		var err error
		switch {
		case arg == "--":
			for _, a := range args[i+1:] {
				if err := p.positional(a, true); err != nil {
					return err
				}
			}
			return nil
		case strings.HasPrefix(arg, "--"):
			used, err = p.long(arg, args[i+1:])
		case len(arg) > 1 && arg[0] == '-':
			used, err = p.short(arg, args[i+1:])
		default:
			err = p.positional(arg, false)
		}
		if err != nil {
			return err
		}
		i += used
	}
	return nil
}

// long reads --name or --name=value; used is the number of further words taken.
func (p *lineParser) long(arg string, rest []string) (used int, err error) {
	name, value, hasValue := strings.Cut(arg[2:], "=")
	if len(name) < 2 {
		return 0, p.unknownFlag(arg)
	}
	return p.flag(name, "--"+name, value, hasValue, rest)
}

// short reads -x, -xVALUE, -x=VALUE and clusters of switches such as -zq.
func (p *lineParser) short(arg string, rest []string) (used int, err error) {
	body := arg[1:]
	for body != "" {
		name := body[:1]
		body = body[1:]
		takes, known, err := p.entersFor(name)
		switch {
		case err != nil:
			return 0, err
		case !known:
			return 0, p.unknownFlag(arg)
		case takes && body != "":
			return p.flag(name, "-"+name, strings.TrimPrefix(body, "="), true, rest)
		case takes:
			return p.flag(name, "-"+name, "", false, rest)
		case strings.HasPrefix(body, "="):
			return p.flag(name, "-"+name, body[1:], true, rest)
		}
		if _, err := p.flag(name, "-"+name, "", false, nil); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// takesValue reports whether a flag that is valid here takes a value.
func (p *lineParser) takesValue(name string) (takes, known bool) {
	if fl := findFlag(p.inv.command(), name); fl != nil {
		return FlagTakesValue(fl), true
	}
	if g := findGlobal(name); g != nil {
		return g.value != "", true
	}
	return false, false
}

// flag applies one flag. The command's own flags win over global ones.
func (p *lineParser) flag(name, shown, value string, hasValue bool, rest []string) (used int, err error) {
	takes, known, err := p.entersFor(name)
	if err != nil {
		return 0, err
	}
	if !known {
		return 0, p.unknownFlag(shown)
	}
	if takes && !hasValue {
		if len(rest) == 0 {
			return 0, UsageErrorf("%s needs a value", shown)
		}
		value, used = rest[0], 1
	}
	fl := findFlag(p.inv.command(), name)
	if fl == nil {
		if !takes && !hasValue {
			value = "true"
		}
		if err := findGlobal(name).set(&p.inv.Global, value); err != nil {
			return 0, UsageErrorf("%s: %v", shown, err)
		}
		return used, nil
	}
	canonical := fl.Names()[0]
	p.given[canonical] = true
	word := "--" + canonical
	if len(canonical) == 1 {
		word = "-" + canonical // with two dashes it would not be read as this flag again
	}
	if takes || hasValue {
		if want := wanted(fl, value); want != "" {
			return 0, UsageErrorf("%s takes %s, not %q; %q says what it is for", shown, want, OneLine(value),
				"git agentxchain help "+p.inv.name())
		}
		word += "=" + value
	}
	p.flags = append(p.flags, word)
	return used, nil
}

// positional takes a word that is not a flag: a subcommand's name as long as one can come, an
// operand of the command after that.
func (p *lineParser) positional(word string, forced bool) error {
	cmd := p.inv.command()
	subs := p.app.Commands
	if cmd != nil {
		subs = cmd.Subcommands
	}
	if !p.seen && len(subs) > 0 && (!forced || cmd == nil) {
		if next := findCommand(subs, word); next != nil {
			return p.descend(next)
		}
		key := strings.TrimSpace(p.inv.name() + " " + word)
		if to, ok := p.rewrite[key]; ok {
			if path := FindPath(p.app.Commands, to); path != nil {
				p.inv.Path = nil
				for _, c := range path {
					if err := p.descend(c); err != nil {
						return err
					}
				}
				return nil
			}
		}
		if cmd != nil && cmd.Action == nil && word == "help" {
			p.inv.Global.Help = true
			return nil
		}
		if cmd == nil || cmd.Action == nil && !p.takenByDefault(word, subs) {
			return p.unknownCommand(word, subs)
		}
		if err := p.bare(); err != nil {
			return err
		}
	}
	p.seen = true
	p.pos = append(p.pos, word)
	return nil
}

// entersFor is takesValue for the case that a flag of a group's default command shows that no subcommand will
// come.
func (p *lineParser) entersFor(name string) (takes, known bool, err error) {
	if takes, known = p.takesValue(name); known {
		return takes, true, nil
	}
	if to := p.standsFor(); len(to) == 0 || findFlag(to[len(to)-1], name) == nil {
		return false, false, nil
	}
	if err := p.bare(); err != nil {
		return false, false, err
	}
	takes, known = p.takesValue(name)
	return takes, known, nil
}

// standsFor returns the default command of a group without a subcommand, none if it has none.
func (p *lineParser) standsFor() []*ucli.Command {
	if cmd := p.inv.command(); cmd == nil || cmd.Action != nil || p.seen {
		return nil
	}
	return FindPath(p.app.Commands, p.rewrite[p.inv.name()])
}

// takenByDefault reports that a word, which resembles no subcommand of the group, is an operand of its default
// command: "gate GATE" is "gate show GATE".
func (p *lineParser) takenByDefault(word string, subs []*ucli.Command) bool {
	to := p.standsFor()
	if len(to) == 0 || meant(word, allNames(subs)) != "" {
		return false
	}
	_, high := Arity(to[len(to)-1].ArgsUsage)
	return high != 0
}

// bare goes on to the default command of a group without a subcommand.
func (p *lineParser) bare() error {
	to := p.standsFor()
	if len(to) == 0 || p.inv.Global.Help {
		return nil
	}
	p.inv.Path = nil
	for _, c := range to {
		if err := p.descend(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *lineParser) descend(next *ucli.Command) error {
	if len(p.flags) > 0 {
		return UsageErrorf("flags of %q must follow the name of its subcommand %q", p.inv.name(), next.Name)
	}
	p.inv.Path = append(p.inv.Path, next)
	return nil
}

// complete checks what is only known at the end of the line: a group has a subcommand, required
// flags are present, the number of operands fits.
func (p *lineParser) complete() error {
	cmd := p.inv.command()
	if cmd == nil {
		return nil
	}
	if cmd.Action == nil && len(cmd.Subcommands) > 0 {
		return UsageErrorf("%q needs a subcommand: %s", p.inv.name(),
			strings.Join(visibleNames(cmd.Subcommands), ", "))
	}
	for _, fl := range cmd.Flags {
		if r, ok := fl.(ucli.RequiredFlag); ok && r.IsRequired() && !p.given[fl.Names()[0]] {
			return UsageErrorf("%q needs --%s", p.inv.name(), fl.Names()[0])
		}
	}
	if cmd.SkipFlagParsing {
		return nil
	}
	low, high := Arity(cmd.ArgsUsage)
	switch n := len(p.pos); {
	case high >= 0 && n > high:
		word := p.pos[high]
		if hasFlag(cmd, word) {
			return UsageErrorf("%q does not take the argument %q; did you mean %q?", p.inv.name(), OneLine(word),
				"git agentxchain "+p.inv.name()+" --"+word)
		}
		return UsageErrorf("%q does not take the argument %q; %q shows what it takes", p.inv.name(), OneLine(word), p.help())
	case n < low:
		return UsageErrorf("%q needs an argument: %s; %q explains it", p.inv.name(), cmd.ArgsUsage, p.help())
	}
	return nil
}

// Arity reads the number of operands from ArgsUsage: a word is one operand, [WORD] an optional one,
// WORD... or [WORD...] any further number; PATH[:LINE] is one word and so one operand. high is -1
// when there is no limit.
func Arity(usage string) (low, high int) {
	depth := 0 // of open brackets, so that [-- PATH...] is optional as a whole
	for word := range strings.FieldsSeq(usage) {
		optional := depth > 0 || strings.HasPrefix(word, "[")
		depth += strings.Count(word, "[") - strings.Count(word, "]")
		if strings.Trim(word, "[]") == "--" {
			continue
		}
		if !optional {
			low++
		}
		switch {
		case strings.Contains(word, "..."):
			high = -1
		case high >= 0:
			high++
		}
	}
	return low, high
}

// help returns the command that explains what was given so far.
func (p *lineParser) help() string { return helpOf(p.inv) }

func helpOf(inv *invocation) string { return strings.TrimSpace("git agentxchain help " + inv.name()) }

func findFlag(cmd *ucli.Command, name string) ucli.Flag {
	if cmd == nil {
		return nil
	}
	for _, fl := range cmd.Flags {
		if slices.Contains(fl.Names(), name) {
			return fl
		}
	}
	return nil
}

// FlagTakesValue distinguishes flags with a value from switches.
func FlagTakesValue(fl ucli.Flag) bool {
	d, ok := fl.(ucli.DocGenerationFlag)
	return !ok || d.TakesValue()
}

func findCommand(list []*ucli.Command, name string) *ucli.Command {
	for _, c := range list {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// FindPath follows names downwards from list; nil when one is missing.
func FindPath(list []*ucli.Command, names []string) []*ucli.Command {
	var path []*ucli.Command
	for _, name := range names {
		c := findCommand(list, name)
		if c == nil {
			return nil
		}
		path = append(path, c)
		list = c.Subcommands
	}
	return path
}
