// alx validate: shape, identity and lineage of Knowledge Blocks.

package neighbours

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func newALXValidateCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "validate", ArgsUsage: "[FILE|-...]", Usage: "check shape, identity and lineage of Knowledge Blocks",
		Description: "Derives the kbHash again and compares it with the one in the block, checks the sources, and " +
			"for blocks of governed runs the whole shape. If you give several files, every source that is a block " +
			"must be among them. Exit status: 0 if nothing is wrong, 1 with findings, 2 if a file is not a JSON " +
			"object.",
		Action: func(c *ucli.Context) error { return runALXValidate(f, c.Args().Slice()) },
	}
}

func runALXValidate(f *term.Factory, files []string) error {
	blocks, err := openBlocks(f, files)
	if err != nil {
		return err
	}
	verdicts := make([]*kb.Verdict, len(blocks))
	for i, b := range blocks {
		if verdicts[i], err = kb.Validate(b.Block); err != nil {
			return term.Errorf("invalid_json", "%s: %w", b.Name, err)
		}
	}
	kb.Relate(verdicts)
	valid := true
	list := []*ojson.Object{}
	for i, v := range verdicts {
		valid = valid && len(v.Findings) == 0
		list = append(list, verdictObject(blocks[i].Name, v))
	}
	f.Out.Emit(ojson.NewObject("valid", valid, "files", list), func(p *term.Printer) {
		for i, v := range verdicts {
			printVerdict(p, blocks[i].Name, v)
		}
	})
	if !valid {
		return term.ErrFindings()
	}
	return nil
}

func verdictObject(name string, v *kb.Verdict) *ojson.Object {
	findings := ojson.List(v.Findings, func(x kb.Finding) *ojson.Object {
		return ojson.NewObject("code", x.Code, "field", ojson.OrNull(x.Field), "message", x.Message)
	})
	return ojson.NewObject("file", name, "valid", len(findings) == 0, "kind", ojson.OrNull(v.Kind),
		"kbId", ojson.OrNull(v.Label),
		"kbHash", v.Hash, "declared", ojson.OrNull(v.Declared), "lineage", wire.NonNil(v.Lineage),
		"findings", findings)
}

func printVerdict(p *term.Printer, name string, v *kb.Verdict) {
	if len(v.Findings) == 0 {
		p.Printf("%s %s: %s\n", p.Green("ok"), term.OneLine(name), v.Hash)
		if v.Declared == "" {
			p.Printf("   %s\n", p.Dim("it carries no kbHash; this is what it would be"))
		}
		return
	}
	p.Printf("%s %s: %s\n", p.Red("x"), term.OneLine(name), term.Counted(len(v.Findings), "finding"))
	for _, x := range v.Findings {
		p.Printf("   %s\n", term.OneLine(x.String()))
	}
}
