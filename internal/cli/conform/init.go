// conformance init: a runner's repository gets the layout that verifiers expect, including
// fixtures.

package conform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/conformance"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

type conformanceInitOptions struct {
	Dir              string
	Runner           string // the implementation of a skeleton; "" is this program
	CapabilitiesOnly bool
	Force            bool
}

func newConformanceInitCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "init", ArgsUsage: "[DIR]", Usage: "make a directory a target for verifiers",
		Description: "Writes " + conformance.CapabilitiesPath + " and, in " + conformance.FixturesPath +
			", the fixtures of this program " +
			"with a README that says what an adapter must know about them, into DIR, by default the current " +
			"directory. With --runner the capabilities are a skeleton for another implementation. If a file exists " +
			"with other content, nothing is written unless --force is given.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:  "runner",
				Usage: "write a skeleton of the capabilities of the implementation `NAME`",
			},
			&ucli.BoolFlag{Name: "capabilities-only", Usage: "write no fixtures"},
			&ucli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "replace files that have other content"},
		},
		Action: func(c *ucli.Context) error {
			if c.IsSet("runner") && strings.TrimSpace(c.String("runner")) == "" {
				return term.UsageErrorf("--runner is empty")
			}
			dir, err := f.Dir()
			if c.NArg() == 1 {
				dir, err = f.Path(c.Args().First())
			}
			if err != nil {
				return err
			}
			return runConformanceInit(f, &conformanceInitOptions{
				Dir: dir, Runner: c.String("runner"), CapabilitiesOnly: c.Bool("capabilities-only"), Force: c.Bool(
					"force"),
			})
		},
	}
}

func runConformanceInit(f *term.Factory, o *conformanceInitOptions) error {
	files, err := targetFiles(o)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return term.Errorf("directory_unusable", "%s is not a directory that can be entered", term.OneLine(o.Dir)).
			WithHint("mkdir -p " + wire.ShellWord(o.Dir))
	}
	defer func() { _ = root.Close() }()
	missing, err := missingFiles(root, o, files)
	if err != nil {
		return err
	}
	for _, x := range missing {
		name := filepath.FromSlash(x.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return term.Errorf("io_failed", "cannot make the directory of %s: %w", x.Path, err)
		}
		if err := durable.WriteFileRoot(root, name, x.Data, 0o666); err != nil {
			return term.Errorf("io_failed", "cannot write %s: %w", x.Path, err)
		}
	}
	showTarget(f, o, len(files), missing)
	return nil
}

// targetFiles returns the layout with the capabilities of o.
func targetFiles(o *conformanceInitOptions) ([]conformance.TargetFile, error) {
	doc, err := ownCapabilities()
	if o.Runner != "" {
		doc, err = ojson.Pretty(conformance.SkeletonCapabilities(o.Runner, shared.ProtocolVersion)), nil
	}
	return conformance.Layout(doc, !o.CapabilitiesOnly), err
}

// missingFiles returns the files that have to be written. Without o.Force, a file with other
// content is an error, before anything is written.
func missingFiles(root *os.Root, o *conformanceInitOptions, files []conformance.TargetFile) ([]conformance.TargetFile,
	error) {
	var missing []conformance.TargetFile
	var other []string
	for _, x := range files {
		name := filepath.FromSlash(x.Path)
		old, err := readSmall(root, name, len(x.Data))
		switch {
		case err == nil && bytes.Equal(old, x.Data):
			continue
		case err == nil:
			other = append(other, filepath.Join(o.Dir, name))
		case !errors.Is(err, os.ErrNotExist) && !o.Force:
			return nil, term.Errorf("unreadable_file", "%s cannot be read: %w",
				term.OneLine(filepath.Join(o.Dir, name)), err)
		}
		missing = append(missing, x)
	}
	if len(other) == 0 || o.Force {
		return missing, nil
	}
	more := ""
	if n := len(other) - 1; n > 0 {
		more = fmt.Sprintf(", and so have %d more files", n)
	}
	return nil, term.Errorf("file_exists", "%s is there already and has other content%s",
		term.OneLine(other[len(other)-1]), more).
		WithHint("--force replaces what has other content; nothing was written")
}

func showTarget(f *term.Factory, o *conformanceInitOptions, files int, missing []conformance.TargetFile) {
	name := filepath.Join(o.Dir, filepath.FromSlash(conformance.CapabilitiesPath))
	written := 0
	done := "unchanged"
	for _, x := range missing {
		if x.Path == conformance.CapabilitiesPath {
			done = "written"
		} else {
			written++
		}
	}
	payload := ojson.NewObject("path", name, "written", done == "written")
	if !o.CapabilitiesOnly {
		payload.Set("fixture_root", filepath.Join(o.Dir, filepath.FromSlash(conformance.FixturesPath)))
		payload.Set("fixture_files", files-1)
		payload.Set("fixture_files_written", written)
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("%s is %s.\n", term.OneLine(name), done)
		if !o.CapabilitiesOnly {
			p.Printf("%s has the fixtures and their README: %d files, %d of them written now.\n",
				term.OneLine(filepath.Join(o.Dir, filepath.FromSlash(conformance.FixturesPath))), files-1, written)
		}
		p.Printf("\nNext:\n")
		if o.Runner != "" {
			p.Printf("  write the adapter that %s names, then run\n", conformance.CapabilitiesPath)
		}
		p.Printf("  git agentxchain conformance check --tier %d --target %s\n", checkTier(o), term.OneLine(o.Dir))
	})
}

// checkTier returns the highest tier that the capabilities claim.
func checkTier(o *conformanceInitOptions) int {
	if o.Runner != "" {
		return 1
	}
	return 3
}

// readSmall reads a file up to one byte more than n, enough to distinguish it from a document of n
// bytes.
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
