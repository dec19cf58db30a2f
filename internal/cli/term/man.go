// man: manual pages made from the command tree, for "git help agentxchain" and "git agentxchain --help".

package term

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2/maybe"
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

type manOptions struct {
	Words   []string
	Install bool
	To      string
}

// ManCommand prints or installs manual pages.
func ManCommand(f *Factory, category string) *ucli.Command {
	var opts manOptions
	return &ucli.Command{
		Name:      "man",
		Category:  category,
		Usage:     "print or install the manual pages",
		ArgsUsage: "[COMMAND...]",
		Description: "Prints the page of the program, or of one command, as roff source for man(1).\n" +
			"git turns \"git agentxchain --help\" into \"man git-agentxchain\", so that only\n" +
			"works after --install; -h works without. --install writes every page under\n" +
			"$XDG_DATA_HOME/man or ~/.local/share/man when man looks there, as it does\n" +
			"when ~/.local/bin is on PATH; else beside the program, when that is in your home.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "install", Usage: "write the pages where man finds them", Destination: &opts.Install},
			&ucli.StringFlag{Name: "to", Usage: "with --install: write into `DIR` instead", Destination: &opts.To},
		},
		Action: func(c *ucli.Context) error {
			opts.Words = c.Args().Slice()
			return runMan(f, opts)
		},
	}
}

func runMan(f *Factory, opts manOptions) error {
	cmds := f.Program.Commands(f)
	if opts.Install {
		if len(opts.Words) > 0 {
			return UsageErrorf("man --install writes all pages; it takes no command")
		}
		return installMan(f, cmds, opts.To)
	}
	if opts.To != "" {
		return UsageErrorf("--to is for --install; redirect the output instead")
	}
	page := manOverview(f.Program.Groups, cmds)
	if len(opts.Words) > 0 {
		path := FindPath(cmds, opts.Words)
		if path == nil {
			return runHelp(f, helpOptions{Words: opts.Words}) // suggests the nearest
		}
		page = manCommand(path)
	}
	f.Out.Emit(ojson.NewObject("page", page), func(p *Printer) { p.Printf("%s", page) })
	return nil
}

func installMan(f *Factory, cmds []*ucli.Command, to string) error {
	dir, searched, err := manDir(f)
	if to != "" {
		dir, err = f.Path(to)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Errorf("io_failed", "cannot create the manual directory: %w", err)
	}
	pages := map[string]string{"git-agentxchain.1": manOverview(f.Program.Groups, cmds)}
	names := []string{"git-agentxchain.1"}
	for _, c := range cmds {
		if !c.Hidden {
			name := "git-agentxchain-" + c.Name + ".1"
			pages[name] = manCommand([]*ucli.Command{c})
			names = append(names, name)
		}
	}
	for _, name := range names {
		if err := maybe.WriteFile(filepath.Join(dir, name), []byte(pages[name]), 0o644); err != nil {
			return Errorf("io_failed", "cannot write the manual page %s: %w", name, err)
		}
	}
	answer := ojson.NewObject("directory", dir, "pages", names)
	if to == "" {
		answer.Set("searched", searched)
	}
	f.Out.Emit(answer, func(p *Printer) {
		p.Printf("%d pages written to %s\n", len(names), Clean(dir))
		if to == "" && !searched {
			p.Printf("man does not look there yet; put this into your shell's profile:\n  export MANPATH=\"%s:$MANPATH\"\n", Clean(filepath.Dir(dir)))
		}
	})
	return nil
}

func manOverview(groups []string, cmds []*ucli.Command) string {
	var r roff
	r.title("git-agentxchain")
	r.section("NAME")
	r.text("git-agentxchain - governed runs of agents and people, kept in git")
	r.section("SYNOPSIS")
	r.text("git agentxchain COMMAND [flags] [arguments]")
	for _, cat := range groups {
		first := true
		for _, c := range cmds {
			if c.Category != cat || c.Hidden {
				continue
			}
			if first {
				r.section(strings.ToUpper(cat))
				first = false
			}
			r.item(strings.TrimSpace(c.Name+" "+c.ArgsUsage), c.Usage)
		}
	}
	r.section("FLAGS OF EVERY COMMAND")
	r.flags(globalHelps())
	for _, t := range topics() {
		r.section(strings.ToUpper(t.name))
		r.page(t.text())
	}
	return r.String()
}

func manCommand(path []*ucli.Command) string {
	cmd := path[len(path)-1]
	name := "git-agentxchain-" + strings.ReplaceAll(PathName(path), " ", "-")
	var r roff
	r.title(name)
	r.section("NAME")
	r.text(name + " - " + cmd.Usage)
	r.section("SYNOPSIS")
	r.text(usageLine(path))
	if cmd.Description != "" {
		r.section("DESCRIPTION")
		r.prose(strings.TrimSpace(cmd.Description))
	}
	if own := FlagHelps(cmd); len(own) > 0 {
		r.section("FLAGS")
		r.flags(own)
	}
	for _, c := range cmd.Subcommands {
		if c.Hidden {
			continue
		}
		r.section(strings.ToUpper(PathName(append(slices.Clip(path), c))))
		r.text(c.Usage)
		r.text(usageLine(append(slices.Clip(path), c)))
		if c.Description != "" {
			r.prose(strings.TrimSpace(c.Description))
		}
		r.flags(FlagHelps(c))
	}
	if len(cmd.Aliases) > 0 {
		r.section("ALIASES")
		r.text(strings.Join(cmd.Aliases, ", "))
	}
	r.section("EXIT STATUS")
	r.text("0 done, 1 failed or findings, 2 usage, 3 refused by governance, 4 conflict, 5 blocked, " +
		"10 no project, 11 locked, 12 integrity failure, 128 git failed, 130 interrupted; see git-agentxchain(1).")
	r.section("SEE ALSO")
	r.text("git-agentxchain(1)")
	return r.String()
}

// roff builds one manual page of section 1. It contains no date: the same program writes the same
// page.
type roff struct{ strings.Builder }

func (r *roff) title(name string) {
	r.WriteString(".TH \"" + roffEscape(strings.ToUpper(name)) +
		"\" \"1\" \"\" \"git-agentxchain\" \"Git Manual\"\n.nh\n.ad l\n")
}

func (r *roff) section(name string) { r.WriteString(".SH \"" + roffEscape(name) + "\"\n") }

func (r *roff) text(s string) { r.WriteString(".PP\n" + roffLines(s) + "\n") }

func (r *roff) item(head, text string) {
	r.WriteString(".TP\n\\fB" + roffEscape(head) + "\\fR\n" + roffLines(text) + "\n")
}

func (r *roff) flags(list []flagHelp) {
	for _, h := range list {
		r.item(strings.TrimSpace(h.spelled()), flagText(h))
	}
}

// prose fills paragraphs and leaves indented lines as they are.
func (r *roff) prose(s string) {
	r.WriteString(".PP\n")
	for line := range strings.SplitSeq(s, "\n") {
		switch {
		case line == "":
			r.WriteString(".PP\n")
		case line[0] == ' ':
			r.WriteString(".nf\n" + roffLines(line) + "\n.fi\n")
		default:
			r.WriteString(roffLines(line) + "\n")
		}
	}
}

// page prints text of 80 columns from the left edge of the page.
func (r *roff) page(s string) {
	r.WriteString(".PP\n.in 0\n.nf\n" + roffLines(strings.TrimRight(s, "\n")) + "\n.fi\n")
}

// roffEscape protects backslashes, dashes and quotes inside a line.
func roffEscape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(s)
}

// roffLines also protects lines that would start a roff request.
func roffLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		l = roffEscape(l)
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			l = `\&` + l
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}
