// conformance list: the list of fixtures.

package conform

import (
	"strconv"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/conformance"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

type conformanceListOptions struct {
	Tier                       int
	Surface, Profile, Fixtures string
}

func newConformanceListCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "list", Usage: "list the fixtures",
		Description: "Every fixture with its id, tier, profile, surface and description, in the order they are run. " +
			"With --json also the sentence a core fixture stands on, or the reason of a strict one.",
		Flags: []ucli.Flag{
			&ucli.IntFlag{Name: "tier", Usage: "those of tiers 1 to `N`", Value: 3},
			&ucli.StringFlag{Name: "surface", Usage: "those of surface `NAME` only"},
			term.NewChoiceFlag("profile", "those of `NAME`; strict is all", conformance.ProfileStrict,
				conformance.Profiles()...),
			&ucli.StringFlag{Name: "fixtures", Usage: "those below `DIR` instead of this program's"},
		},
		Action: func(c *ucli.Context) error {
			if err := term.NotEmpty(c, "surface", "fixtures"); err != nil {
				return err
			}
			o := &conformanceListOptions{
				Tier:     c.Int("tier"),
				Surface:  c.String("surface"),
				Profile:  c.String("profile"),
				Fixtures: c.String("fixtures"),
			}
			if o.Tier < 1 || o.Tier > 3 {
				return term.UsageErrorf("--tier takes 1, 2 or 3, not %d", o.Tier)
			}
			return runConformanceList(f, o)
		},
	}
}

func runConformanceList(f *term.Factory, o *conformanceListOptions) error {
	corpus, err := conformanceCorpus(f, o.Fixtures)
	if err != nil {
		return term.Errorf("invalid_input", "%w", err)
	}
	selected := corpus.Select(o.Tier, o.Surface, o.Profile)
	rows := []*ojson.Object{}
	table := term.NewTable("FIXTURE", "TIER", "PROFILE", "SURFACE", "DESCRIPTION")
	for _, x := range selected {
		id, _ := x.Raw.Get("fixture_id")
		row := ojson.NewObject("fixture_id", id, "tier", x.Tier, "surface", x.Surface, "operation", x.Operation,
			"description", x.Description, "path", x.Path, "profile", x.Profile)
		for _, name := range []string{"source", "reason", "known_deviations"} {
			if v, has := x.Raw.Get(name); has {
				row.Set(name, v)
			}
		}
		rows = append(rows, row)
		table.Row(x.ID, strconv.Itoa(x.Tier), x.Profile, x.Surface, x.Description)
	}
	payload := ojson.NewObject("fixture_root", corpus.Root, "corpus_digest", corpus.Digest(),
		"warnings", wire.NonNil(corpus.Warnings), "fixtures", rows)
	f.Out.Emit(payload, func(p *term.Printer) {
		if table.Len() > 0 {
			p.Table(table)
		}
	})
	for _, w := range corpus.Warnings {
		f.Out.Warn("%s", term.OneLine(w))
	}
	if len(selected) == 0 {
		f.Out.Notice("no fixture is selected")
	}
	return nil
}
