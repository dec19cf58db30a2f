// serve: the ALX protocol over HTTP; a solve is a governed run in a work tree of its own.

package neighbours

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/openapi"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server/prom"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// serveTokenVariable holds the bearer token when no file does.
const serveTokenVariable = "AGENTXCHAIN_SERVE_TOKEN"

type serveOptions struct {
	Listen     string
	TokenFile  string // path, or "-" for standard input; "" takes the environment's
	MaxRuns    int
	MaxQueue   int
	Workspaces string
	Wait       time.Duration
	Keep       time.Duration
	Grace      time.Duration
}

func NewServeCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "serve", Category: shared.CategoryNeighbours,
		Usage: "answer solve requests over HTTP with governed runs (ALX protocol " + alx.Version + ")",
		Description: "A solve is a run in its own linked work tree, on its own branch (agentxchain/solve/SESSION). " +
			"It begins at the commit that is checked out here, and the run loop carries it out. Your own work tree " +
			"is not touched. A gate that needs a person waits, and the session names the command. Requests and " +
			"their progress survive every end of the service; the next one continues them.\n\n" +
			"Agents run only if this machine trusts what agentxchain.json names (git agentxchain hooks trust). An " +
			"address that other machines can reach needs a bearer token, in " + serveTokenVariable + " or --token-file.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{
				Name:  "init",
				Usage: "write a project with a scripted agent that answers solves at once, and serve nothing",
			},
			&ucli.StringFlag{
				Name:  "listen",
				Usage: "listen on `ADDRESS`, HOST:PORT or PORT; port 0 picks one",
				Value: server.DefaultListen,
			},
			&ucli.StringFlag{
				Name:  "token-file",
				Usage: "require the bearer token in the first line of `FILE`, - for standard input",
			},
			&ucli.IntFlag{
				Name:        "max-runs",
				Usage:       "carry out `N` runs at a time",
				DefaultText: "one for each processor",
			},
			&ucli.IntFlag{
				Name:  "max-queue",
				Usage: "let `N` more runs wait; refuse further requests for now",
				Value: 1000,
			},
			&ucli.StringFlag{
				Name:        "workspaces",
				Usage:       "create the runs' work trees below `DIR`",
				DefaultText: "below the git directory",
			},
			&ucli.StringFlag{Name: "wait", Usage: "answer a solve at the latest after `TIME`, done or not (10m)"},
			&ucli.StringFlag{
				Name:  "keep",
				Usage: "remove work trees of completed runs after `TIME`, if git has everything in them (168h); 0 keeps them",
			},
			&ucli.StringFlag{Name: "grace", Usage: "when told to end, let requests under way finish for `TIME` (10s)"},
		},
		Action: func(c *ucli.Context) error {
			if c.Bool("init") {
				if set := c.LocalFlagNames(); len(set) > 1 {
					return term.UsageErrorf("--init goes with no other flag of serve")
				}
				return runServeInit(c.Context, f)
			}
			o := &serveOptions{
				Listen:     c.String("listen"),
				TokenFile:  c.String("token-file"),
				MaxRuns:    runtime.GOMAXPROCS(0),
				MaxQueue:   c.Int("max-queue"),
				Workspaces: c.String("workspaces"),
				Keep:       168 * time.Hour,
			}
			switch {
			case c.IsSet("max-runs") && (c.Int("max-runs") < 1 || c.Int("max-runs") > 1024):
				return term.UsageErrorf("--max-runs takes 1 to 1024, not %d", c.Int("max-runs"))
			case o.MaxQueue < 1 || o.MaxQueue > 1_000_000:
				return term.UsageErrorf("--max-queue takes 1 to 1000000, not %d", o.MaxQueue)
			case c.IsSet("token-file") && o.TokenFile == "":
				// an empty shell variable must not open the service
				return term.UsageErrorf("--token-file names no file")
			}
			if c.IsSet("max-runs") {
				o.MaxRuns = c.Int("max-runs")
			}
			var err error
			if o.Wait, err = term.Seconds("wait", c.String("wait")); err != nil {
				return err
			}
			if o.Grace, err = term.Seconds("grace", c.String("grace")); err != nil {
				return err
			}
			if text := strings.TrimSpace(c.String("keep")); text == "0" {
				o.Keep = 0
			} else if keep, err := term.Seconds("keep", text); err != nil {
				return err
			} else if keep > 0 {
				o.Keep = keep
			}
			return runServe(c.Context, f, o)
		},
	}
}

func runServe(ctx context.Context, f *term.Factory, o *serveOptions) error {
	token, err := bearerToken(f, o.TokenFile, serveTokenVariable)
	if err != nil {
		return err
	}
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	if o.Workspaces != "" {
		if o.Workspaces, err = f.Path(o.Workspaces); err != nil {
			return err
		}
		o.Workspaces = filepath.Clean(o.Workspaces)
	}
	// A caller's environment may be tied to another work tree than those of the runs.
	if err := runner.LeaveRepository(); err != nil {
		return term.Errorf("io_failed", "%w", err)
	}
	log := slog.New(slog.NewJSONHandler(f.Env.Stderr, nil))
	shared.Serving()
	s, err := server.New(ctx, dir, server.Options{
		Token:      token,
		MaxRuns:    o.MaxRuns,
		MaxQueue:   o.MaxQueue,
		Workspaces: o.Workspaces,
		Wait:       o.Wait,
		Keep:       o.Keep,
		Grace:      o.Grace,
		Meter:      prom.New(),
		Service: alx.Service{
			Name:    "git-agentxchain",
			Version: shared.ReadBuild().Version,
		},
		OpenAPI: openapi.Document,
		Log:     log,
		Runner:  runner.Options{Now: f.Env.Now, Getenv: f.Env.Getenv, Trust: f.Global.Trust},
	})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	l, err := server.Listen(ctx, o.Listen, token)
	if err != nil {
		return err
	}
	url := "http://" + l.Addr().String() + alx.PathService
	ready := s.Ready(ctx)
	started := ojson.NewObject("url", url, "pid", os.Getpid(), "max_runs", o.MaxRuns, "ready", ready == nil)
	if f.JSON() {
		err = f.Out.Stream(started)
	} else {
		f.Out.Printer().Printf("Serving ALX protocol %s at %s\n", alx.Version, url)
		err = f.Out.Flush()
	}
	if err != nil {
		_ = l.Close()
		return term.Errorf("io_failed", "cannot write the address: %w", err)
	}
	log.Info("listening", "url", url, "token", token != "")
	if ready != nil {
		var why *alx.Error
		errors.As(ready, &why)
		log.Warn("solve requests are refused", "code", why.Code, "reason", why.Message, "hint", why.Hint)
	}
	if err := s.Serve(ctx, l); err != nil {
		return term.Errorf("io_failed", "the service stopped: %w", err)
	}
	return nil
}

// bearerToken returns the token that a service requires, "" for none: that of the file, else of the environment.
func bearerToken(f *term.Factory, file, variable string) (string, error) {
	token := f.Env.Getenv(variable)
	if file != "" {
		var err error
		if token, err = shared.TokenFromFile(f, file); err != nil {
			return "", err
		}
	}
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return "", term.UsageErrorf("the token must be visible ASCII characters without spaces")
		}
	}
	return token, nil
}
