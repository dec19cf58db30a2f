// alx: the ALX protocol, its Knowledge Blocks, settlements and conformance.

package cli

import (
	"io"
	"os"
	"slices"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
)

func newALXCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "alx", Category: categoryNeighbours, Usage: "the ALX protocol: Knowledge Blocks, settlement, conformance",
		Subcommands: []*ucli.Command{
			newALXHashCommand(f),
			newALXValidateCommand(f),
			newALXSettleCommand(f),
			newALXConformanceCommand(f),
			newALXScriptedTurnCommand(f),
		},
	}
}

// blockFile is a Knowledge Block with the name its file goes by.
type blockFile struct {
	Name  string
	Block *ojson.Object
}

// openBlocks reads the named files, standard input for "-" and when none is
// named. A file that holds no JSON object ends it: nothing can be said of it.
func openBlocks(f *term.Factory, names []string) ([]blockFile, error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, term.UsageErrorf("%s is named twice", term.OneLine(name))
		}
	}
	out := make([]blockFile, 0, len(names))
	for _, name := range names {
		data, err := term.Interruptible(f, func() ([]byte, error) { return readBlock(f, name) })
		if err != nil {
			return nil, err
		}
		block, err := kb.Parse(data)
		if err != nil {
			return nil, term.Errorf("invalid_json", "%s: %w", name, err)
		}
		out = append(out, blockFile{name, block})
	}
	return out, nil
}

// readBlock reads a file, or standard input for "-", up to what a block may have
// and one byte more.
func readBlock(f *term.Factory, name string) ([]byte, error) {
	var src io.Reader = f.Env.Stdin
	if name == "-" {
		if f.Env.IsTerminal(f.Env.Stdin) {
			return nil, term.Errorf("unreadable_input", "no Knowledge Block was given: name a file, or send one to standard input")
		}
	} else {
		path, err := f.Path(name)
		if err != nil {
			return nil, err
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, term.Errorf("unreadable_input", "the Knowledge Block cannot be opened: %w", err)
		}
		defer func() { _ = file.Close() }()
		if fi, err := file.Stat(); err == nil && fi.IsDir() {
			return nil, term.Errorf("unreadable_input", "%s is a directory, not a Knowledge Block", name)
		}
		src = file
	}
	data, err := io.ReadAll(io.LimitReader(src, kb.MaxBytes+1))
	if err != nil {
		return nil, term.Errorf("unreadable_input", "%s cannot be read: %w", name, err)
	}
	return data, nil
}
