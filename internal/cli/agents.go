// agents install: the text that tells an agent what a governed repository is.

package cli

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/agenttext"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/personfile"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

type agentsOptions struct{ Check, Remove bool }

func newAgentsCommand(f *term.Factory) *ucli.Command {
	o := agentsOptions{}
	return &ucli.Command{
		Name: "agents", Category: shared.CategoryStart, Usage: "tell agents what a governed repository is",
		Subcommands: []*ucli.Command{{
			Name:      "install",
			ArgsUsage: "[FILE...]",
			Usage:     "tell agents in AGENTS.md about turns and their commands",
			Description: "The text says what a turn is, which commands an agent may run, and which are reserved " +
				"for people. It is written between two markers; the rest of the file stays byte for byte. Without " +
				"FILE it goes into AGENTS.md and into the file that the agents of agentxchain.json read instead " +
				"(CLAUDE.md, GEMINI.md). A new file named SKILL.md also gets the heading of a skill. Run the " +
				"command again to bring the text up to date.",
			Flags: []ucli.Flag{
				&ucli.BoolFlag{
					Name:        "check",
					Usage:       "change nothing; exit with 1 if something would change",
					Destination: &o.Check,
				},
				&ucli.BoolFlag{Name: "remove", Usage: "remove the text again", Destination: &o.Remove},
			},
			Action: func(c *ucli.Context) error { return runAgentsInstall(c.Context, f, c.Args().Slice(), o) },
		}},
	}
}

// fileChange is the change of one file of a person.
type fileChange struct {
	file *personfile.File
	data []byte
	word string // created, updated, removed, unchanged
}

func newFileChange(file *personfile.File, data []byte) *fileChange {
	c := &fileChange{file, data, "updated"}
	switch {
	case bytes.Equal(data, file.Data):
		c.word = "unchanged"
	case !file.Exists:
		c.word = "created"
	case len(data) == 0:
		c.word = "removed"
	}
	return c
}

func runAgentsInstall(ctx context.Context, f *term.Factory, names []string, o agentsOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	dir, cfg := r.Record().Dir(), r.CheckDocuments().Config
	if len(names) == 0 {
		names = guideFiles(cfg)
	} else if names, err = belowProject(f, dir, names); err != nil {
		return err
	}
	var changes []*fileChange
	for _, name := range names {
		c, err := planGuide(dir, name, o.Remove)
		if err != nil {
			return err
		}
		changes = append(changes, c)
	}
	differs := false
	rows := []*ojson.Object{}
	for _, c := range changes {
		differs = differs || c.word != "unchanged"
		if !o.Check {
			if err := c.carryOut(); err != nil {
				return err
			}
		}
		rows = append(rows, ojson.NewObject("path", c.file.Path, "action", c.word))
	}
	f.Out.Emit(ojson.NewObject("files", rows, "check", o.Check), func(p *term.Printer) {
		for _, c := range changes {
			p.Field(changeLabel(c.word), "%s", term.OneLine(c.file.Path))
		}
		if !o.Remove {
			notePlace(p, r)
		}
		switch {
		case differs && o.Check:
			p.Println("\nNothing was changed.")
		case differs:
			p.Println("\nCommit it: a turn starts from a clean work tree.")
		}
	})
	if o.Check && differs {
		return term.ErrFindings()
	}
	return nil
}

// notePlace says that a file for other programs is not where they look when they are opened at the top of the repository.
func notePlace(p *term.Printer, r *runner.Runner) {
	if prefix := r.Record().Repository().Prefix; prefix != "" {
		p.Field("Note", "programs opened at the top of the repository do not read it there; open them in %s",
			term.OneLine(strings.TrimSuffix(prefix, "/")))
	}
}

// changeLabel returns the word for a file's change.
func changeLabel(action string) string { return strings.ToUpper(action[:1]) + action[1:] }

// belowProject makes names, as the person wrote them, relative to the project in dir.
func belowProject(f *term.Factory, dir string, names []string) ([]string, error) {
	here, err := f.Dir()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	var below []string
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(here, name)
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return nil, term.Errorf("unsafe_target", "%s is not inside the project", term.OneLine(name))
		}
		below = append(below, filepath.ToSlash(rel))
	}
	return below, nil
}

// guideFiles returns AGENTS.md and the files that the agents of the roles read in its place.
func guideFiles(cfg *config.Config) []string {
	names := []string{scaffold.GuideFile}
	if cfg == nil {
		return names
	}
	for _, rt := range cfg.Runtimes.All() {
		words := runtimes.Command(rt.Raw)
		if len(words) == 0 {
			continue
		}
		for _, a := range scaffold.Agents() {
			if a.Guide != "" && a.Command[0] == filepath.Base(words[0]) && !slices.Contains(names, a.Guide) {
				names = append(names, a.Guide)
			}
		}
	}
	return names
}

// planGuide decides how the file name below dir changes.
func planGuide(dir, name string, remove bool) (*fileChange, error) {
	if ext := path.Ext(name); ext != ".md" && ext != ".mdc" {
		return nil, term.UsageErrorf("%s is not a Markdown file: the text stands between comments of Markdown",
			term.OneLine(name))
	}
	file, err := personfile.Read(dir, name)
	if err != nil {
		return nil, err
	}
	put := agenttext.Install
	if remove {
		put = agenttext.Remove
	}
	data, err := put(file.Path, file.Data)
	if err != nil {
		return nil, term.Errorf("invalid_input", "%s is left as it is: %w", term.OneLine(file.Path), err).
			WithHint("take the marker lines out by hand, then run the command again")
	}
	return newFileChange(file, data), nil
}

func (c *fileChange) carryOut() error {
	switch c.word {
	case "unchanged":
		return nil
	case "removed":
		return c.file.Remove()
	}
	return c.file.Write(c.data)
}
