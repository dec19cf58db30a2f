// monarchic export: a run as objects of the Monarchic agent protocol.

package neighbours

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

type monarchicExportOptions struct {
	bridge.Options
	Type   string // a kind, or all
	Strict bool
	Format string // json, jsonl; "" is the default of the kind
	Output string // file or directory; "" and - are standard output
	Force  bool
}

const exportAll = "all"

func newMonarchicExportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "export", Usage: "write a recorded run as objects of the Monarchic protocol",
		Description: "Derives everything from the run's record, so the same run gives the same bytes. Kinds with " +
			"one object (plan, receipt, outcome) are one JSON document, logs (events, messages, recovery) are " +
			"JSONL, other kinds are a JSON array. \"all\" is one JSON object with a member for each kind; as JSONL " +
			"it is one object per line, and in a directory one file for each kind that has objects. Portable " +
			"objects name their source under extensions.agentxchain; --strict writes the closed forms of the " +
			"client boundary and the durable authority.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:        "run",
				Usage:       "export the recorded run `ID`",
				DefaultText: "the run of this work tree",
			},
			term.NewChoiceFlag("type", "export `KIND`", exportAll, append(bridge.KindNames(), exportAll)...),
			&ucli.BoolFlag{Name: "strict", Usage: "write the strict forms"},
			term.NewChoiceFlag("format", "write `FORMAT`", "", "json", "jsonl"),
			&ucli.StringFlag{
				Name:    "output",
				Aliases: []string{"o"},
				Usage:   "write to `PATH`, a file that appears whole or not at all, or a directory; - for standard output",
			},
			&ucli.BoolFlag{Name: "force", Usage: "replace files that are there"},
			&ucli.StringFlag{
				Name:        "at",
				Usage:       "say that the export was made at `TIME` (RFC 3339)",
				DefaultText: "the time of the run's last event",
			},
			&ucli.StringFlag{
				Name:        "repo",
				Usage:       "call the repository `NAME`",
				DefaultText: "the URL of origin without credentials, else the project's id",
			},
		},
		Action: func(c *ucli.Context) error {
			o := &monarchicExportOptions{
				Type:   c.String("type"),
				Strict: c.Bool("strict"),
				Format: c.String("format"),
				Output: c.String("output"),
				Force:  c.Bool("force"),
				Options: bridge.Options{
					Run:     c.String("run"),
					Repo:    c.String("repo"),
					Version: shared.ReadBuild().Version,
				},
			}
			if err := term.NotEmpty(c, "run", "output", "at", "repo"); err != nil {
				return err
			}
			if at := c.String("at"); at != "" {
				var err error
				if o.At, err = wire.ParseTime(at); err != nil || o.At.Before(time.Unix(0, 0)) {
					return term.UsageErrorf("--at takes an RFC 3339 time, not %q", term.OneLine(at))
				}
			}
			return runMonarchicExport(c.Context, f, o)
		},
	}
}

func runMonarchicExport(ctx context.Context, f *term.Factory, o *monarchicExportOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	x, err := bridge.Read(ctx, r, o.Options)
	if err != nil {
		return err
	}
	groups, err := o.groups(x)
	if err != nil {
		return err
	}
	for _, w := range x.Warnings {
		f.Out.Warn("%s", term.OneLine(w))
	}
	if o.Output != "" && o.Output != "-" {
		return o.save(f, x, groups)
	}
	if f.JSON() {
		payload := ojson.NewObject("run_id", x.Run, "op", string(x.Op), "type", o.Type, "strict", o.Strict,
			"objects", o.document(groups), "warnings", wire.NonNil(x.Warnings))
		f.Out.Emit(payload, nil)
		return nil
	}
	if _, err := f.Out.Raw().Write(o.encode(groups)); err != nil {
		return term.Errorf("io_failed", "cannot write the export: %w", err)
	}
	return nil
}

func (o *monarchicExportOptions) groups(x *bridge.Export) ([]bridge.Group, error) {
	if o.Type == exportAll {
		return x.All(o.Strict)
	}
	objects, err := x.Objects(o.Type, o.Strict)
	if err != nil {
		return nil, err
	}
	for _, k := range bridge.Kinds() {
		if k.Name == o.Type {
			return []bridge.Group{{Kind: k.Name, Single: k.IsSingle(o.Strict), Objects: objects}}, nil
		}
	}
	return nil, nil
}

// document returns what is exported as one JSON value.
func (o *monarchicExportOptions) document(groups []bridge.Group) ojson.Value {
	if o.Type != exportAll {
		return groupValue(groups[0])
	}
	all := ojson.NewObject()
	for _, g := range groups {
		all.Set(g.Kind, groupValue(g))
	}
	return all
}

func groupValue(g bridge.Group) ojson.Value {
	if g.Single && len(g.Objects) == 1 {
		return g.Objects[0].Value
	}
	list := []any{}
	for _, obj := range g.Objects {
		list = append(list, obj.Value)
	}
	return list
}

func (o *monarchicExportOptions) encode(groups []bridge.Group) []byte {
	if o.lines(groups[0].Kind) {
		var b bytes.Buffer
		for _, g := range groups {
			for _, obj := range g.Objects {
				b.Write(ojson.Compact(obj.Value))
				b.WriteByte('\n')
			}
		}
		return b.Bytes()
	}
	return ojson.Pretty(o.document(groups))
}

// lines reports whether a kind is written as JSONL.
func (o *monarchicExportOptions) lines(kind string) bool {
	if o.Format != "" || o.Type == exportAll {
		return o.Format == "jsonl"
	}
	return kind == "events" || kind == "messages" || kind == "recovery"
}

// save writes a file, or one file for each kind into a directory.
func (o *monarchicExportOptions) save(f *term.Factory, x *bridge.Export, groups []bridge.Group) error {
	path, err := f.Path(o.Output)
	if err != nil {
		return err
	}
	fi, serr := os.Stat(path)
	into := serr == nil && fi.IsDir() || strings.HasSuffix(o.Output, "/") ||
		strings.HasSuffix(o.Output, string(filepath.Separator))
	files := make(map[string][]byte)
	var names []string
	if into {
		for _, g := range groups {
			if len(g.Objects) == 0 && o.Type == exportAll {
				continue // an empty file would not be a document of the kind
			}
			part := *o
			part.Type = g.Kind
			name := g.Kind + ".json"
			if part.lines(g.Kind) {
				name += "l"
			}
			target := filepath.Join(path, name)
			names, files[target] = append(names, target), part.encode([]bridge.Group{g})
		}
	} else {
		names, files[path] = []string{path}, o.encode(groups)
	}
	for _, name := range names {
		if err := shared.OutputPlace(name, o.Force); err != nil {
			return err
		}
	}
	size := 0
	for _, name := range names {
		if err := saveWhole(name, files[name], o.Force); err != nil {
			return err
		}
		size += len(files[name])
	}
	objects := 0
	for _, g := range groups {
		objects += len(g.Objects)
	}
	payload := ojson.NewObject("run_id", x.Run, "op", string(x.Op), "type", o.Type, "strict", o.Strict, "files", names,
		"objects", objects, "bytes", size, "warnings", wire.NonNil(x.Warnings))
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("Exported %s of run %s to %s: %s, %d bytes\n", term.Counted(objects, "object"), term.OneLine(x.Run),
			term.OneLine(path), term.Counted(len(names), "file"), size)
	})
	return nil
}

// saveWhole writes a new file beside the target and renames it once it is on disk.
func saveWhole(path string, data []byte, force bool) error {
	failed := func(err error) error {
		if err == nil || wire.ErrorCode(err) != "" {
			return err
		}
		return term.Errorf("io_failed", "cannot write the export: %w", err)
	}
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		return failed(os.WriteFile(path, data, 0o644)) // a pipe or a device cannot be replaced
	}
	dir := filepath.Dir(path)
	temp := "." + filepath.Base(path) + ".tmp-" + rand.Text()
	if err := durable.WriteFile(dir, temp, data, 0o644); err != nil {
		return failed(err)
	}
	defer func() { _ = os.Remove(filepath.Join(dir, temp)) }()
	if err := shared.Publish(filepath.Join(dir, temp), path, force); err != nil {
		return failed(err)
	}
	return failed(durable.SyncDir(dir))
}
