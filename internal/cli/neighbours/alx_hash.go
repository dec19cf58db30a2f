// alx hash: the identity of Knowledge Blocks.

package neighbours

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
)

type alxHashOptions struct {
	Files     []string
	Canonical bool
}

func newALXHashCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "hash", ArgsUsage: "[FILE|-...]", Usage: "print the identity of a Knowledge Block",
		Description: "Prints the kbHash: the SHA-256 of the block's canonical form (RFC 8785) without kbHash, kbId and transport metadata. " +
			"Key order, spacing, escapes and the spelling of numbers make no difference. One file gives the bare hash, several a line each with the name.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{
				Name:  "canonical",
				Usage: "print the canonical form that is hashed, byte for byte, instead",
			},
		},
		Action: func(c *ucli.Context) error {
			return runALXHash(f, &alxHashOptions{Files: c.Args().Slice(), Canonical: c.Bool("canonical")})
		},
	}
}

func runALXHash(f *term.Factory, o *alxHashOptions) error {
	if o.Canonical && len(o.Files) > 1 {
		return term.UsageErrorf("--canonical takes one file, not %d", len(o.Files))
	}
	blocks, err := openBlocks(f, o.Files)
	if err != nil {
		return err
	}
	type line struct{ name, hash string }
	var lines []line
	list := []*ojson.Object{}
	for _, b := range blocks {
		sum, err := kb.Hash(b.Block)
		if err != nil {
			return term.Errorf("invalid_json", "%s: %w", b.Name, err)
		}
		lines = append(lines, line{b.Name, sum})
		list = append(list, ojson.NewObject("file", b.Name, "kbHash", sum))
	}
	payload := ojson.NewObject("files", list)
	if len(lines) == 1 {
		payload.Set("kbHash", lines[0].hash)
	}
	if o.Canonical {
		text, err := kb.Content(blocks[0].Block)
		if err != nil {
			return term.Errorf("invalid_json", "%s: %w", blocks[0].Name, err)
		}
		if !f.JSON() {
			_, err = f.Out.Raw().Write(text)
			return err
		}
		payload.Set("canonical", string(text))
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		for _, l := range lines {
			if len(lines) == 1 {
				p.Println(l.hash)
				continue
			}
			p.Printf("%s  %s\n", l.hash, term.OneLine(l.name))
		}
	})
	return nil
}
