// Colour: whether to use it, and the few styles there are.

package term

import "strings"

// Style renders emphasis; the zero Style renders plain text.
type Style struct{ on bool }

func (s Style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold, Dim and the colours wrap text in the terminal's codes, or return it unchanged when colour
// is off.
func (s Style) Bold(t string) string   { return s.wrap("1", t) }
func (s Style) Dim(t string) string    { return s.wrap("2", t) }
func (s Style) Red(t string) string    { return s.wrap("31", t) }
func (s Style) Green(t string) string  { return s.wrap("32", t) }
func (s Style) Yellow(t string) string { return s.wrap("33", t) }
func (s Style) Cyan(t string) string   { return s.wrap("36", t) }

// useColor decides for one stream. The command line wins, then the
// environment (CLICOLOR_FORCE, NO_COLOR, CLICOLOR, TERM), then, on a terminal
// only, git's color.agentxchain and color.ui. Git is asked last because asking
// costs a process.
func (f *Factory) useColor(stream any) bool {
	switch f.Global.Color {
	case "always":
		return true
	case "never":
		return false
	}
	env := f.Env.Getenv
	switch {
	case env("NO_COLOR") != "":
		return false
	case env("CLICOLOR_FORCE") != "" && env("CLICOLOR_FORCE") != "0":
		return true
	case env("CLICOLOR") == "0", env("TERM") == "dumb", !f.Env.IsTerminal(stream):
		return false
	}
	conf := f.gitConf()
	for _, name := range []string{"color.agentxchain", "color.ui"} {
		if v, ok := conf[name]; ok {
			switch strings.ToLower(v) {
			case "never", "false", "no", "off", "0":
				return false
			}
			return true
		}
	}
	return true
}
