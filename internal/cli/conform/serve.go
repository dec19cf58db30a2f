// conformance serve: the endpoint through which other verifiers examine this program.

package conform

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/conformance"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Limits of the endpoint.
const (
	serveQueue = 256              // requests that may wait
	serveGrace = 10 * time.Second // for fixtures under way when it is asked to stop

)

type conformanceServeOptions struct {
	Listen    string
	Token     string // from the flag
	TokenFile string // path, or "-" for standard input
	Timeout   time.Duration
	Jobs      int
	Grace     time.Duration
}

func newConformanceServeCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "serve", Usage: "answer other verifiers over HTTP (http-fixture-v1)",
		Description: "Serves GET /conform/capabilities and POST /conform/execute until interrupted. Fixtures can " +
			"contain commands, which run on this machine, each fixture in its own process and scratch directory " +
			"and with a time limit: give the address only to people who may run commands here. An address that " +
			"other machines can reach needs a token. Give the token in " + conformance.TokenVariable +
			" or with --token-file, because others can see the command line.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:  "listen",
				Usage: "listen on `ADDRESS`, HOST:PORT or PORT; port 0 picks one",
				Value: conformance.DefaultListen,
			},
			&ucli.StringFlag{Name: "token", Usage: "require this bearer `TOKEN`"},
			&ucli.StringFlag{
				Name:  "token-file",
				Usage: "require the bearer token in the first line of `FILE`, - for standard input",
			},
			&ucli.IntFlag{
				Name:  "timeout",
				Usage: "end a fixture after `MS` milliseconds",
				Value: int(conformance.DefaultTimeout / time.Millisecond),
			},
			&ucli.IntFlag{Name: "jobs", Usage: "run `N` fixtures at a time", DefaultText: "one for each processor"},
		},
		Action: func(c *ucli.Context) error {
			o := &conformanceServeOptions{
				Listen:    c.String("listen"),
				Token:     c.String("token"),
				TokenFile: c.String("token-file"),
				Timeout:   time.Duration(c.Int("timeout")) * time.Millisecond,
				Jobs:      runtime.NumCPU(),
				Grace:     serveGrace,
			}
			switch {
			case o.Timeout <= 0 || c.Int("timeout") > 24*60*60*1000:
				return term.UsageErrorf("--timeout takes 1 to 86400000 milliseconds, not %d", c.Int("timeout"))
			case c.IsSet("jobs") && (c.Int("jobs") < 1 || c.Int("jobs") > 1024):
				return term.UsageErrorf("--jobs takes 1 to 1024, not %d", c.Int("jobs"))
			case c.IsSet("jobs"):
				o.Jobs = c.Int("jobs")
			}
			if c.IsSet("token") && c.IsSet("token-file") {
				return term.UsageErrorf("--token and --token-file cannot be used together")
			}
			if c.IsSet("token") && o.Token == "" || c.IsSet("token-file") && o.TokenFile == "" {
				// An empty shell variable must not open the endpoint.
				return term.UsageErrorf("the token is empty")
			}
			return runConformanceServe(c.Context, f, o)
		},
	}
}

func runConformanceServe(ctx context.Context, f *term.Factory, o *conformanceServeOptions) error {
	token, err := serveToken(f, o)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return term.Errorf("io_failed", "cannot find this program's own file: %w", err)
	}
	s := &conformance.Server{
		Command: []string{self, "conformance", "adapter"},
		Environ: conformance.EndpointEnviron(f.Env.Getenv),
		Capabilities: conformance.OwnCapabilities(shared.ReadBuild().Version, shared.ProtocolVersion,
			conformance.ProtocolHTTP, nil),
		Token:   token,
		Timeout: o.Timeout,
		Jobs:    o.Jobs,
		Queue:   serveQueue,
		Log: func(line string) {
			_, _ = fmt.Fprintf(f.Env.Stderr, "%s %s\n", term.Timestamp(f.Now()), term.Clean(line))
		},
	}
	l, err := s.Listen(ctx, o.Listen)
	if err != nil {
		return err
	}
	url := "http://" + l.Addr().String()
	if f.JSON() {
		if err := f.Out.Stream(ojson.NewObject("url", url, "pid", os.Getpid())); err != nil {
			_ = l.Close()
			return term.Errorf("io_failed", "cannot write the address: %w", err)
		}
	} else {
		f.Out.Notice("git-agentxchain conformance endpoint listening on %s", url)
		if token == "" {
			f.Out.Notice("every program on this machine can reach it; --token-file restricts that")
		}
	}
	if err := s.Serve(ctx, l, o.Grace); err != nil {
		return term.Errorf("io_failed", "%w", err)
	}
	f.Out.Notice("stopped")
	return nil
}

// serveToken returns the token to require, "" for none: the flag, the file, the
// environment.
func serveToken(f *term.Factory, o *conformanceServeOptions) (string, error) {
	token := o.Token
	switch {
	case token != "":
	case o.TokenFile == "":
		if token = f.Env.Getenv(conformance.TokenVariable); token == "" {
			return "", nil
		}
	default:
		var err error
		if token, err = shared.TokenFromFile(f, o.TokenFile); err != nil {
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
