// Flag types that several commands use.

package term

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"
)

// ChoiceFlag is a string flag with a closed list of values; completion offers
// them and anything else is a usage error.
type ChoiceFlag struct {
	*ucli.StringFlag
	Choices []string
}

// NewChoiceFlag makes a ChoiceFlag; def may be "" for none.
func NewChoiceFlag(name, usage, def string, choices ...string) *ChoiceFlag {
	f := &ChoiceFlag{StringFlag: &ucli.StringFlag{Name: name, Usage: usage, Value: def}, Choices: choices}
	f.Action = func(_ *ucli.Context, v string) error {
		if !slices.Contains(choices, v) {
			hint := ""
			if s := Nearest(v, choices); s != "" {
				hint = "; did you mean " + s + "?"
			}
			return UsageErrorf("--%s takes %s, not %q%s", name, strings.Join(choices, ", "), OneLine(v), hint)
		}
		return nil
	}
	return f
}

// wanted says what a flag takes when value is not of its type, "" when it is.
func wanted(fl ucli.Flag, value string) string {
	var err error
	var want string
	switch fl.(type) {
	case *ucli.BoolFlag:
		_, err = strconv.ParseBool(value)
		want = "no value, or true or false"
	case *ucli.IntFlag:
		_, err = strconv.ParseInt(value, 0, strconv.IntSize)
		want = "a whole number"
	case *ucli.Uint64Flag:
		_, err = strconv.ParseUint(value, 0, 64)
		want = "a whole number of 0 or more"
	case *ucli.Float64Flag:
		_, err = strconv.ParseFloat(value, 64)
		want = "a number"
	case *ucli.DurationFlag:
		_, err = time.ParseDuration(value)
		want = "a time such as 90s, 15m or 1h30m"
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, strconv.ErrRange):
		return want + " that fits in 64 bits"
	}
	return want
}

// choicesOf lists the values a flag accepts, nil when they are not a closed list.
func choicesOf(fl ucli.Flag) []string {
	if c, ok := fl.(*ChoiceFlag); ok {
		return c.Choices
	}
	return nil
}

// flagHelp is what help, man and completion show about a flag.
type flagHelp struct {
	Names   []string
	value   string // placeholder; "" for a switch
	usage   string
	def     string
	choices []string
}

// spelled renders the names the way they are typed: "-t, --turn ID".
func (h flagHelp) spelled() string {
	var short, long []string
	for _, n := range h.Names {
		if len(n) == 1 {
			short = append(short, "-"+n)
		} else {
			long = append(long, "--"+n)
		}
	}
	s := strings.Join(append(short, long...), ", ")
	if len(short) == 0 {
		s = "    " + s
	}
	if h.value != "" {
		s += " " + h.value
	}
	return s
}

// FlagHelps describes the visible flags of a command.
func FlagHelps(cmd *ucli.Command) []flagHelp {
	var out []flagHelp
	for _, fl := range cmd.Flags {
		if v, ok := fl.(ucli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		h := flagHelp{Names: fl.Names(), choices: choicesOf(fl)}
		if d, ok := fl.(ucli.DocGenerationFlag); ok {
			h.value, h.usage = placeholder(d.GetUsage())
			if !d.TakesValue() {
				h.value = ""
			} else {
				if h.value == "" {
					h.value = "VALUE"
				}
				if h.def = strings.Trim(d.GetDefaultText(), `"`); h.def == "0" {
					h.def = "" // nothing was given; the text says what then holds
				}
			}
		}
		out = append(out, h)
	}
	return out
}

// globalHelps describes the global flags except those whose names a command has given to flags of its own.
func globalHelps(own ...flagHelp) []flagHelp {
	var out []flagHelp
	for _, g := range globalFlags() {
		if slices.ContainsFunc(own, func(h flagHelp) bool { return slices.Contains(h.Names, g.names[0]) }) {
			continue
		}
		_, usage := placeholder(g.usage)
		out = append(out, flagHelp{Names: g.names, value: g.value, usage: usage, choices: g.choice})
	}
	return out
}

// placeholder extracts the word in back quotes from a usage text.
func placeholder(usage string) (value, text string) {
	before, rest, ok := strings.Cut(usage, "`")
	if !ok {
		return "", usage
	}
	value, after, ok := strings.Cut(rest, "`")
	if !ok {
		return "", usage
	}
	return value, before + value + after
}

// Seconds reads a duration flag given in seconds or with a unit.
func Seconds(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil || d <= 0 {
		return 0, UsageErrorf("--%s takes a duration such as 90s or 20m, not %q", name, OneLine(text))
	}
	return d, nil
}

// NotEmpty refuses those of the named flags that are given without a value, as by an empty shell variable.
func NotEmpty(c *ucli.Context, names ...string) error {
	for _, name := range names {
		if c.IsSet(name) && c.String(name) == "" {
			return UsageErrorf("--%s is empty", name)
		}
	}
	return nil
}
