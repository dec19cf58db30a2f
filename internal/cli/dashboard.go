// dashboard: the run in a browser, read-only, until it is stopped.

package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/dashboard"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

const (
	// daemonChild is set for the process that --daemon starts.
	daemonChild = "AGENTXCHAIN_DASHBOARD_DAEMON_CHILD"
	daemonWait  = 8 * time.Second
	stopWait    = 10 * time.Second
)

type dashboardOptions struct {
	Port   int // 0: any
	NoOpen bool
	Daemon bool

	AllowApprove bool
}

func dashboardPortFlag() *ucli.IntFlag {
	return &ucli.IntFlag{
		Name:  "port",
		Usage: "listen on port `N` of the loopback interface; 0 picks a free one",
		Value: dashboard.DefaultPort,
	}
}

func newDashboardCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "dashboard", Category: shared.CategoryView, Usage: "show the run in a browser",
		Description: "A read-only view of the run, of the initiative, or of both: where it is, who it waits for, " +
			"what was decided, and whether anything is wrong. It listens on this machine only, admits only those " +
			"who have the token in the printed address, and shows every change within a second. It changes " +
			"nothing, except that with --allow-approve a person can approve a gate there, signed. ^C ends it.",
		Flags: []ucli.Flag{
			dashboardPortFlag(),
			&ucli.BoolFlag{Name: "no-open", Usage: "do not open a browser"},
			&ucli.BoolFlag{Name: "daemon", Usage: "run in the background; dashboard stop ends it"},
			&ucli.BoolFlag{
				Name:  "allow-approve",
				Usage: "allow approving the waiting gate in the browser, signed with your key",
			},
		},
		Subcommands: []*ucli.Command{{
			Name: "stop", Usage: "end the dashboard of this project",
			Description: "Ends the process that the session files name, once it has proved to be the dashboard, " +
				"and removes what a crashed dashboard left. Without a dashboard it does nothing.",
			Action: func(c *ucli.Context) error { return runDashboardStop(c.Context, f) },
		}},
		Action: func(c *ucli.Context) error {
			port, err := portOf(c)
			if err != nil {
				return err
			}
			o := &dashboardOptions{
				Port:         port,
				NoOpen:       c.Bool("no-open"),
				Daemon:       c.Bool("daemon"),
				AllowApprove: c.Bool("allow-approve"),
			}
			if o.Daemon && o.AllowApprove {
				return term.UsageErrorf(
					"--allow-approve needs the terminal that your key may ask at; leave --daemon out")
			}
			return runDashboard(c.Context, f, o)
		},
	}
}

func portOf(c *ucli.Context) (int, error) {
	port := c.Int("port")
	if port < 0 || port > 65535 {
		return 0, term.UsageErrorf("--port takes 0 to 65535, not %d", port)
	}
	return port, nil
}

func runDashboard(ctx context.Context, f *term.Factory, o *dashboardOptions) error {
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	opt := dashboardOf(f, dir)
	opt.AllowApprove = o.AllowApprove
	shared.Serving()
	s, err := dashboard.New(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if have := dashboard.Running(ctx, s.Dir()); have != nil {
		return alreadyRunning(have)
	}
	if o.Daemon {
		return startDaemon(ctx, f, s.Dir(), o)
	}
	l, err := s.Listen(o.Port)
	if err != nil {
		return err
	}
	// Another dashboard may have started since.
	other, err := s.WriteSession(ctx)
	if err == nil && other != nil {
		err = alreadyRunning(other)
	}
	if err != nil {
		_ = l.Close()
		return err
	}
	defer s.RemoveSession()
	if err := tellDashboard(f, dashboardSession(s)); err != nil {
		_ = l.Close()
		return err
	}
	if !o.NoOpen && f.Interactive() {
		dashboard.OpenBrowser(s.TicketURL(), f.Env.Getenv)
	}
	return s.Serve(ctx, l)
}

func alreadyRunning(have *dashboard.Session) error {
	return term.Errorf(dashboard.CodeRunning, "a dashboard is already running at %s (PID %d)", term.OneLine(have.URL),
		have.PID).
		WithHint("git agentxchain dashboard stop").WithDetails(have.Object())
}

// dashboardOf returns the options for a dashboard of dir.
func dashboardOf(f *term.Factory, dir string) dashboard.Options {
	return dashboard.Options{
		Dir:    dir,
		Now:    f.Env.Now,
		Runner: runner.Options{Getenv: f.Env.Getenv},
		Log:    func(line string) { f.Out.Warn("%s", term.OneLine(line)) },
	}
}

// dashboardSession returns a running dashboard for --json: the session file's members, and how to
// log in.
func dashboardSession(s *dashboard.Server) *ojson.Object {
	o := s.Session().Object()
	o.Set("open_url", s.OpenURL())
	o.Set("token", s.Token())
	return o
}

func tellDashboard(f *term.Factory, session *ojson.Object) error {
	var err error
	if f.JSON() {
		err = f.Out.Stream(term.Envelope(true, f.CorrelationID(), session, nil))
	} else {
		p := f.Out.Printer()
		p.Printf("Dashboard running at %s\n", session.String("url"))
		p.Printf("Open %s\n", p.Bold(session.String("open_url")))
		p.Printf("The token in it lets you in; ^C ends the dashboard.\n")
		err = f.Out.Flush()
	}
	if err != nil {
		return term.Errorf("io_failed", "cannot write the address: %w", err)
	}
	return nil
}

// startDaemon starts this command again in a session of its own and reports where it listens once
// it does.
func startDaemon(ctx context.Context, f *term.Factory, dir string, o *dashboardOptions) error {
	self, err := os.Executable()
	if err != nil {
		return term.Errorf("io_failed", "cannot find this program's own file: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return term.Errorf("io_failed", "cannot start the dashboard: %w", err)
	}
	defer func() { _ = r.Close() }()
	argv := []string{self, "-C", dir, "--json", "dashboard", "--no-open", "--port", strconv.Itoa(o.Port)}
	child, err := process.Detach(argv, dir, append(os.Environ(), daemonChild+"=1"), nil, w)
	_ = w.Close()
	if err != nil {
		return term.Errorf("io_failed", "cannot start the dashboard: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, daemonWait)
	defer cancel()
	session, err := readySession(ctx, r)
	if err != nil {
		// It has not reported that it runs, so it must not.
		_ = child.Kill()
		_, _ = child.Wait()
		return err
	}
	defer func() { _ = child.Release() }()
	if !session.Bool("ok") {
		e := session.Object("error")
		return term.Errorf(cmp.Or(e.String("code"), "io_failed"), "%s",
			cmp.Or(e.String("message"), "the dashboard did not start")).WithHint(e.String("hint"))
	}
	session.Delete("ok")
	session.Delete("correlationId")
	session.Delete("protocol")
	f.Out.Emit(session, func(p *term.Printer) {
		pid, _ := session.Int("pid")
		p.Printf("Dashboard started in daemon mode at %s\n", session.String("url"))
		p.Printf("PID: %d\n", pid)
		p.Printf("Open %s\n", p.Bold(session.String("open_url")))
		p.Printf("git agentxchain dashboard stop ends it.\n")
	})
	return nil
}

// readySession reads the JSON object that the child prints when it listens, or fails.
func readySession(ctx context.Context, r io.ReadCloser) (*ojson.Object, error) {
	type answer struct {
		line []byte
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(r, 1<<20)).ReadBytes('\n')
		got <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		_ = r.Close()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, term.Errorf("timeout", "Dashboard daemon did not report a live session within %s.", daemonWait)
		}
		return nil, context.Cause(ctx)
	case a := <-got:
		o, err := ojson.DecodeObject(a.line)
		if err != nil {
			return nil, term.Errorf("io_failed",
				"the dashboard ended before it listened").WithHint("git agentxchain dashboard --no-open says why")
		}
		return o, nil
	}
}

func runDashboardStop(ctx context.Context, f *term.Factory) error {
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	if r, err := shared.Open(ctx, f); err == nil {
		if _, serr := os.Stat(dir + "/" + dashboard.SessionFile); serr != nil {
			dir = r.Record().Dir()
		}
	}
	was, err := dashboard.Stop(ctx, dir, stopWait)
	if err != nil {
		return err
	}
	payload := ojson.NewObject("stopped", was != nil, "session", nil)
	if was != nil {
		payload.Set("session", was.Object())
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		if was == nil {
			p.Println("No dashboard is running here.")
			return
		}
		p.Printf("The dashboard at %s (PID %d) has ended.\n", term.OneLine(was.URL), was.PID)
	})
	return nil
}
