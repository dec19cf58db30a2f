// monarchic serve: runners on this and other machines lease turns and hand in results (gRPC).

package neighbours

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// The environment variable that holds the token of monarchic serve, and the default address.
const (
	monarchicTokenVariable = "AGENTXCHAIN_MONARCHIC_TOKEN"
	monarchicListen        = "127.0.0.1:7465"
	monarchicGrace         = 10 * time.Second // for calls under way when it is asked to stop
)

type monarchicServeOptions struct {
	Listen       string
	TokenFile    string // path, or "-" for standard input
	Cert, Key    string // paths; both or neither
	TTL          time.Duration
	Heartbeat    time.Duration
	Poll         time.Duration
	NoCheckpoint bool
}

func newMonarchicServeCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "serve", Usage: "let runners lease turns of the run and hand in results (gRPC)",
		Description: "Serves RunnerControlService of the Monarchic agent protocol v1 until interrupted: runners " +
			"register, acquire a lease of the next turn, renew or resume it, and report the outcome. A lease is a " +
			"git ref that moves in the same transaction as the run, so a runner whose lease has ended completes " +
			"nothing. Every result goes through ordinary acceptance with its gates and policies. docs/leases.md " +
			"has the details. An address that other machines can reach needs a token and TLS. The token is read " +
			"from --token-file or " +
			monarchicTokenVariable + ".",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:  "listen",
				Usage: "listen on `ADDRESS`, HOST:PORT or PORT; port 0 picks one",
				Value: monarchicListen,
			},
			&ucli.StringFlag{
				Name:  "token-file",
				Usage: "require the bearer token in the first line of `FILE`, - for standard input",
			},
			&ucli.StringFlag{Name: "tls-cert", Usage: "serve TLS with the certificate chain in `FILE` (PEM)"},
			&ucli.StringFlag{Name: "tls-key", Usage: "the certificate's private key in `FILE` (PEM)"},
			&ucli.DurationFlag{
				Name:        "ttl",
				Usage:       "a lease lasts `TIME` unless it is renewed, such as 90s",
				DefaultText: "until the turn's deadline",
			},
			&ucli.DurationFlag{
				Name:  "heartbeat",
				Usage: "ask runners for a heartbeat every `TIME`",
				Value: control.DefaultHeartbeat,
			},
			&ucli.DurationFlag{
				Name:  "poll",
				Usage: "ask runners without work to come back after `TIME`",
				Value: control.DefaultPoll,
			},
			&ucli.BoolFlag{Name: "no-checkpoint", Usage: "leave the files of accepted turns uncommitted"},
		},
		Action: func(c *ucli.Context) error {
			o := &monarchicServeOptions{
				Listen:    c.String("listen"),
				TokenFile: c.String("token-file"),
				Cert:      c.String("tls-cert"),
				Key:       c.String("tls-key"),
				TTL:       c.Duration("ttl"),
				Heartbeat: c.Duration("heartbeat"),
				Poll: c.Duration(
					"poll"),
				NoCheckpoint: c.Bool("no-checkpoint"),
			}
			for _, d := range []struct {
				name string
				is   time.Duration
				min  time.Duration
			}{{"ttl", o.TTL, 100 * time.Millisecond}, {"heartbeat", o.Heartbeat, 10 * time.Millisecond},
				{"poll", o.Poll, 10 * time.Millisecond}} {
				if c.IsSet(d.name) && (d.is < d.min || d.is > 30*24*time.Hour) {
					return term.UsageErrorf("--%s takes a time from %s to 720h, not %s", d.name, d.min, d.is)
				}
			}
			// an empty shell variable must not open the service
			if err := term.NotEmpty(c, "token-file", "tls-cert", "tls-key", "listen"); err != nil {
				return err
			}
			if (o.Cert == "") != (o.Key == "") {
				return term.UsageErrorf("--tls-cert and --tls-key go together")
			}
			return runMonarchicServe(c.Context, f, o)
		},
	}
}

func runMonarchicServe(ctx context.Context, f *term.Factory, o *monarchicServeOptions) error {
	opt := control.Options{
		TTL:          o.TTL,
		Heartbeat:    o.Heartbeat,
		Poll:         o.Poll,
		NoCheckpoint: o.NoCheckpoint,
		Now:          f.Env.Now,
		Version:      shared.ReadBuild().Version,
		Log:          func(c control.Call) { logCall(f, c) },
	}
	var err error
	if opt.Token, err = bearerToken(f, o.TokenFile, monarchicTokenVariable); err != nil {
		return err
	}
	if o.Cert != "" {
		if opt.TLS, err = serverTLS(f, o.Cert, o.Key); err != nil {
			return err
		}
	}
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	if id := r.InsideTurn(); id != "" {
		return &wire.Error{
			Code:    wire.CodeInsideTurn,
			Field:   "actor",
			Message: "Turn " + id + " cannot hand out turns: this process was dispatched for it.",
			Hint:    "run it outside of any agent",
		}
	}
	opt.Runner = r
	return shared.Trusting(ctx, f, r, func() error { return serveMonarchic(ctx, f, opt, o.Listen) })
}

func serveMonarchic(ctx context.Context, f *term.Factory, opt control.Options, addr string) error {
	shared.Serving()
	s, err := control.New(ctx, opt)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := s.Listen(ctx, addr)
	if err != nil {
		return err
	}
	if f.JSON() {
		if err := f.Out.Stream(ojson.NewObject("address", l.Addr().String(), "pid", os.Getpid(), "tls", opt.TLS != nil,
			"token", opt.Token != "")); err != nil {
			_ = l.Close()
			return term.Errorf("io_failed", "cannot write the address: %w", err)
		}
	} else {
		f.Out.Notice("git-agentxchain runner control service listening on %s", l.Addr())
		if opt.Token == "" {
			f.Out.Notice("every program on this machine can reach it; --token-file restricts that")
		}
	}
	if err := s.Serve(ctx, l, monarchicGrace); err != nil {
		return term.Errorf("io_failed", "%w", err)
	}
	f.Out.Notice("stopped")
	return nil
}

// logCall writes one line of name=value pairs.
func logCall(f *term.Factory, c control.Call) {
	line := fmt.Sprintf("%s call=%s outcome=%s ms=%d peer=%s", term.Timestamp(c.At), c.Method, c.Outcome,
		c.Duration.Milliseconds(), c.Peer)
	for _, p := range []struct{ name, value string }{{"runner", c.Runner}, {"session", c.Session}, {"lease", c.Lease},
		{"code", c.Code}, {"detail", c.Detail}} {
		if p.value != "" {
			line += fmt.Sprintf(" %s=%q", p.name, p.value)
		}
	}
	_, _ = fmt.Fprintln(f.Env.Stderr, term.Clean(line))
}

// serverTLS reads a certificate and its key.
func serverTLS(f *term.Factory, certFile, keyFile string) (*tls.Config, error) {
	cert, err := f.Path(certFile)
	if err != nil {
		return nil, err
	}
	key, err := f.Path(keyFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, term.Errorf("unreadable_input", "the certificate and its key cannot be used: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}
