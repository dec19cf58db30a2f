// conformance capabilities and init: the document that tells verifiers how to start our adapter.

package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/conformance"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func newConformanceCapabilitiesCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "capabilities", Usage: "print what this program claims and how its adapter is started",
		Description: "The content of " + conformance.CapabilitiesPath + ", bare, --json or not. " +
			"The adapter is named git-agentxchain when PATH leads to this program by that name, by its absolute path otherwise.",
		Action: func(c *ucli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			doc, err := ownCapabilities()
			if err != nil {
				return err
			}
			if _, err := f.Out.Raw().Write(doc); err != nil {
				return term.Errorf("io_failed", "cannot write the document: %w", err)
			}
			return nil
		},
	}
}

// ownCapabilities is the document as it is printed and written.
func ownCapabilities() ([]byte, error) {
	command, err := conformance.AdapterCommand()
	if err != nil {
		return nil, term.Errorf("io_failed", "%w", err)
	}
	return ojson.Pretty(conformance.OwnCapabilities(ReadBuild().Version, ProtocolVersion, conformance.ProtocolStdio, command)), nil
}

func newConformanceInitCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "init", ArgsUsage: "[DIR]", Usage: "make a directory a target for verifiers",
		Description: "Writes " + conformance.CapabilitiesPath + " into DIR, this directory by default. A file with other content is kept unless --force is given.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "replace a file that has other content"},
		},
		Action: func(c *ucli.Context) error {
			if c.NArg() > 1 {
				return term.UsageErrorf("conformance init takes one directory, not %d", c.NArg())
			}
			dir, err := f.Dir()
			if c.NArg() == 1 {
				dir, err = f.Path(c.Args().First())
			}
			if err != nil {
				return err
			}
			return runConformanceInit(f, dir, c.Bool("force"))
		},
	}
}

func runConformanceInit(f *term.Factory, dir string, force bool) error {
	doc, err := ownCapabilities()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return term.Errorf("directory_unusable", "%s is not a directory that can be entered", term.OneLine(dir))
	}
	defer func() { _ = root.Close() }()
	name := filepath.FromSlash(conformance.CapabilitiesPath)
	old, err := readSmall(root, name, len(doc))
	done := "unchanged"
	switch {
	case err == nil && bytes.Equal(old, doc):
	case err == nil && !force:
		return term.Errorf("file_exists", "%s is there already and has other content", term.OneLine(filepath.Join(dir, name))).
			WithHint("--force replaces it")
	case err != nil && !errors.Is(err, os.ErrNotExist) && !force:
		return term.Errorf("unreadable_file", "%s cannot be read: %w", term.OneLine(filepath.Join(dir, name)), err)
	default:
		done = "written"
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return term.Errorf("io_failed", "cannot make the directory of the document: %w", err)
		}
		if err := durable.WriteFileRoot(root, name, doc, 0o666); err != nil {
			return term.Errorf("io_failed", "cannot write the document: %w", err)
		}
	}
	path := filepath.Join(dir, name)
	f.Out.Emit(ojson.NewObject("path", path, "written", done == "written"), func(p *term.Printer) {
		p.Printf("%s is %s.\n\nNext:\n  git agentxchain conformance check --tier 3 --target %s\n", term.OneLine(path), done, term.OneLine(dir))
	})
	return nil
}

// readSmall reads a file up to one byte more than n, enough to tell it from a
// document of n bytes.
func readSmall(root *os.Root, name string, n int) ([]byte, error) {
	st, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, int64(n)+1))
}
