// replay export: an artifact laid out in a temporary workspace, as long as a person looks at it.

package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/dashboard"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/prove"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/restore/replay"
)

type replayOptions struct {
	Input  string // a path; - is standard input, "" an artifact made now
	Keep   bool
	Port   int  // of the dashboard; 0 for any that is free
	Picky  bool // that port and no other
	NoOpen bool
}

func newReplayCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "replay", Category: shared.CategoryMove, Usage: "show an export artifact in a browser",
		Subcommands: []*ucli.Command{newReplayExportCommand(f)},
	}
}

func newReplayExportCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "export",
		ArgsUsage: "[FILE]",
		Usage:     "unpack an artifact into a temporary directory and show it in a browser",
		Description: "Verifies the artifact first. Without FILE it exports the project as it is now and keeps no " +
			"artifact. Repositories of an initiative are inside the workspace; one that could not be exported has " +
			"a placeholder. The dashboard shows the workspace, read-only and as of its export, until Enter, the " +
			"end of standard input, ^C or SIGTERM. Then the workspace is removed. With --json the session is one " +
			"line, printed when the workspace is ready. Exit status: 0 shown, 2 there is no artifact, 12 it does " +
			"not verify or names a file that may not be written.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:  "input",
				Usage: "read `FILE`; - for standard input, and then only a signal ends the command",
			},
			&ucli.BoolFlag{Name: "keep", Usage: "print the session and exit, leaving the workspace to you"},
			dashboardPortFlag(),
			&ucli.BoolFlag{Name: "no-open", Usage: "do not open a browser"},
		},
		Action: shared.OnOne("artifact", "input", func(c *ucli.Context, input string) error {
			port, err := portOf(c)
			if err != nil {
				return err
			}
			return runReplayExport(c.Context, f, &replayOptions{
				Input:  input,
				Keep:   c.Bool("keep"),
				Port:   port,
				Picky:  c.IsSet("port"),
				NoOpen: c.Bool("no-open"),
			})
		}),
	}
}

func runReplayExport(ctx context.Context, f *term.Factory, o *replayOptions) (err error) {
	name, src, size, err := replayed(ctx, f, o.Input)
	if err != nil {
		return err
	}
	w, err := openReplay(ctx, f, src, size)
	_ = src.Close()
	if err != nil {
		return err
	}
	if o.Keep {
		if err := w.Keep(); err != nil {
			_ = w.Close()
			return err
		}
	} else {
		defer func() {
			if cerr := w.Close(); err == nil {
				err = cerr
			}
		}()
	}
	if o.Keep {
		return tellReplay(f, w, w.Session(name, 0, ""), name, true)
	}
	s, l, err := replayDashboard(ctx, f, w, name, o)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	session := w.Session(name, s.Port(), s.URL())
	session.Set("open_url", s.OpenURL())
	session.Set("token", s.Token())
	if err := tellReplay(f, w, session, name, false); err != nil {
		_ = l.Close()
		return err
	}
	if !o.NoOpen && f.Interactive() {
		dashboard.OpenBrowser(s.TicketURL(), f.Env.Getenv)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		defer stop()
		served <- s.Serve(ctx, l)
	}()
	waitForEnd(ctx, f, o.Input == "-")
	stop()
	return <-served
}

// replayed opens the artifact that input names, or one of the project as it is now.
func replayed(ctx context.Context, f *term.Factory, input string) (name string, src io.ReadCloser, size int64,
	err error) {
	if input == "" {
		return artifactOfNow(ctx, f)
	}
	return shared.OpenArtifact(f, input)
}

// artifactOfNow returns an artifact of the project, written while it is read.
func artifactOfNow(ctx context.Context, f *term.Factory) (name string, src io.ReadCloser, size int64, err error) {
	dir, err := f.Dir()
	if err != nil {
		return "", nil, 0, err
	}
	e, err := restore.Prepare(ctx, dir, restore.ExportOptions{Now: f.Now, From: dir})
	if err != nil {
		return "", nil, 0, err
	}
	read, write := io.Pipe()
	now := &writtenNow{PipeReader: read, ended: make(chan struct{})}
	go func() {
		defer close(now.ended)
		defer e.Close()
		_, err := shared.WriteArtifact(write, e, false)
		_ = write.CloseWithError(err)
	}()
	return "the project as it is now", now, 0, nil
}

// writtenNow is an artifact whose temporary files are removed when it is closed.
type writtenNow struct {
	*io.PipeReader
	ended chan struct{}
}

func (w *writtenNow) Close() error {
	err := w.PipeReader.Close()
	<-w.ended
	return err
}

// replayDashboard makes the dashboard of a workspace and makes it listen. Unless a port was
// requested, any will do when the usual one is taken.
func replayDashboard(ctx context.Context, f *term.Factory, w *replay.Workspace, name string,
	o *replayOptions) (*dashboard.Server, net.Listener, error) {
	opt := dashboardOf(f, w.Dir)
	opt.Replay = &dashboard.Replay{Artifact: name, Exported: w.Exported, Schema: w.Schema, Partial: w.Partial}
	if at, err := wire.ParseTime(w.Exported); err == nil {
		opt.Now = func() time.Time { return at } // what was young then is not old now
	}
	s, err := dashboard.New(ctx, opt)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.Listen(o.Port)
	var refused *wire.Error
	if errors.As(err, &refused) && refused.Code == dashboard.CodePortBusy && !o.Picky {
		l, err = s.Listen(0)
	}
	if err != nil {
		_ = s.Close()
		return nil, nil, err
	}
	return s, l, nil
}

// tellReplay prints the session.
func tellReplay(f *term.Factory, w *replay.Workspace, session *ojson.Object, name string, keep bool) error {
	var err error
	if f.JSON() {
		err = f.Out.Stream(term.Envelope(true, f.CorrelationID(), session, nil))
	} else {
		printSession(f.Out.Printer(), f, w, session, name, keep)
		err = f.Out.Flush()
	}
	if err != nil {
		return term.Errorf("io_failed", "cannot write the session: %w", err)
	}
	return nil
}

func openReplay(ctx context.Context, f *term.Factory, src io.Reader, size int64) (*replay.Workspace, error) {
	opt, done := shared.Verifying(f, size)
	defer done()
	return replay.Open(ctx, src, opt)
}

// waitForEnd waits for a signal, Enter or the end of standard input, which it only reads when the
// artifact did not come from it.
func waitForEnd(ctx context.Context, f *term.Factory, used bool) {
	end := make(chan struct{})
	if !used {
		go func() {
			defer close(end)
			in := bufio.NewReader(f.Env.Stdin)
			for {
				if b, err := in.ReadByte(); err != nil || b == '\n' {
					return
				}
			}
		}()
	}
	select {
	case <-ctx.Done(): // the intended end
	case <-end:
	}
}

func printSession(p *term.Printer, f *term.Factory, w *replay.Workspace, session *ojson.Object, name string,
	keep bool) {
	p.Printf("%s\n\n", p.Bold("Replay Export Dashboard"))
	p.Field("Export", "%s", term.OneLine(name))
	p.Field("Run", "%s", prove.Claim(w.Run))
	p.Field("Schema", "%s", term.OneLine(w.Schema))
	p.Field("Files", "%d", w.Files)
	p.Field("Workspace", "%s", term.OneLine(w.Dir))
	if address := session.String("open_url"); address != "" {
		p.Field("URL", "%s", session.String("url"))
		p.Field("Open", "%s", p.Bold(address))
	}
	for _, r := range w.Repos {
		note := ""
		if r.Placeholder != "" {
			note = p.Yellow(" (placeholder: " + term.OneLine(r.Placeholder) + ")")
		}
		p.Field("Repository", "%s in %s%s", term.OneLine(r.ID), term.OneLine(r.Path), note)
	}
	if n := len(w.Partial); n > 0 {
		p.Printf("\n%s the artifact has only a part of, or nothing:\n", term.Counted(n, "file"))
		for i, path := range w.Partial {
			if i == 20 {
				p.Printf("  ... and %d more\n", n-i)
				break
			}
			p.Printf("  %s\n", term.OneLine(path))
		}
	}
	switch {
	case keep:
		p.Printf("\nIt is yours now. To remove it: chmod -R u+w %[1]s && rm -r %[1]s\n", term.OneLine(w.Dir))
	case f.Interactive():
		p.Printf("\nNothing in it can be written to. Press Enter, or ^C, to remove it.\n")
	default:
		p.Printf("\nNothing in it can be written to. It is removed when standard input ends, or on a signal.\n")
	}
}
