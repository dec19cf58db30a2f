// alx conformance: the ten wire-level guarantees, checked on any endpoint.

package neighbours

import (
	"context"
	"errors"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/listen"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/conform"
)

// alxTokenVariable holds the bearer token of an endpoint.
const alxTokenVariable = "AGENTXCHAIN_ALX_TOKEN"

type alxConformanceOptions struct {
	URL       string // "" for a service of this program over a scratch project
	TokenFile string
	Intent    string
	Wait      time.Duration
	All       bool
}

func newALXConformanceCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "conformance", Usage: "check an endpoint against the rules WG-01 to WG-10",
		Description: "Talks to the endpoint at --url as a client would, and judges each rule by the answers. It " +
			"starts one run there, with --intent, and one more if the endpoint refuses what it must tolerate. " +
			"Without --url it starts a service of this program on a scratch project for the duration of the check. " +
			"A bearer token is read from --token-file or " + alxTokenVariable + ". " +
			"Exit status: 0 if every rule is kept, 1 if one is broken or could not be judged, 2 if there is no " +
			"endpoint to judge.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:        "url",
				Usage:       "check the endpoint at `URL`",
				DefaultText: "a service of this program",
			},
			&ucli.StringFlag{
				Name:  "token-file",
				Usage: "read the bearer token from the first line of `FILE`, - for standard input",
			},
			&ucli.StringFlag{Name: "intent", Usage: "solve `TEXT`", DefaultText: "a request to change nothing"},
			&ucli.IntFlag{
				Name:  "wait",
				Usage: "wait at most `SECONDS` for the run to end",
				Value: int(conform.DefaultWait / time.Second),
			},
			&ucli.BoolFlag{Name: "all", Usage: "show every observation, not only what is wrong"},
		},
		Action: func(c *ucli.Context) error {
			if err := term.NotEmpty(c, "url", "token-file", "intent"); err != nil {
				return err
			}
			switch {
			case c.IsSet("token-file") && !c.IsSet("url"):
				return term.UsageErrorf("--token-file is for --url")
			case c.Int("wait") < 1 || c.Int("wait") > 24*60*60:
				return term.UsageErrorf("--wait takes 1 to 86400 seconds, not %d", c.Int("wait"))
			}
			return runALXConformance(c.Context, f, &alxConformanceOptions{
				URL:       c.String("url"),
				TokenFile: c.String("token-file"),
				Intent:    c.String("intent"),
				Wait:      time.Duration(c.Int("wait")) * time.Second,
				All:       c.Bool("all"),
			})
		},
	}
}

func runALXConformance(ctx context.Context, f *term.Factory, o *alxConformanceOptions) error {
	opt := conform.Options{URL: o.URL, Intent: o.Intent, Wait: o.Wait}
	if o.URL == "" {
		url, token, stop, err := scratchService(ctx, f)
		if err != nil {
			return err
		}
		defer stop()
		opt.URL, opt.Token = url, token
	} else {
		base, err := conform.Base(o.URL)
		if err != nil {
			var bad *alx.Error
			errors.As(err, &bad)
			return term.UsageErrorf("--url: %s", term.OneLine(bad.Message))
		}
		opt.Token = f.Env.Getenv(alxTokenVariable)
		if o.TokenFile != "" {
			if opt.Token, err = shared.TokenFromFile(f, o.TokenFile); err != nil {
				return err
			}
		}
		if opt.Token != "" && base.Scheme == "http" && !listen.Local(base.Hostname()) {
			f.Out.Warn("the token travels unencrypted to %s", term.OneLine(base.Host))
		}
	}
	progress := f.Out.Progress("talking to the endpoint", 0)
	report, err := conform.Check(ctx, opt)
	progress.Done()
	if nobody, ok := errors.AsType[*alx.Error](err); ok {
		e := term.Errorf("endpoint_unusable", "%s", nobody.Message)
		if nobody.Code == alx.CodeUnauthorized {
			e = e.WithHint("give the endpoint's token with --token-file or in " + alxTokenVariable)
		}
		return e
	}
	if err != nil {
		return err
	}
	f.Out.Emit(report.Object(), func(p *term.Printer) { printConformance(p, report, o.All) })
	if !report.Passed() {
		return term.ErrFindings()
	}
	return nil
}

func printConformance(p *term.Printer, r *conform.Report, all bool) {
	p.Field("Endpoint", "%s", term.OneLine(r.URL))
	if r.Version != "" {
		p.Field("Version", "%s", term.OneLine(r.Version))
	}
	if r.Execution != "" {
		p.Field("Run", "%s", term.OneLine(r.Execution))
	}
	p.Println()
	passed := 0
	for _, x := range r.Rules {
		mark := p.Red("FAIL")
		switch x.Verdict {
		case conform.Pass:
			mark = p.Green("pass")
			passed++
		case conform.Unproven:
			mark = p.Yellow("????")
		}
		p.Printf("%s  %s  %s (%s)\n", mark, p.Bold(x.ID), x.Requirement,
			term.Counted(len(x.Observations), "observation"))
		if x.Note != "" {
			p.Printf("        %s\n", p.Dim(term.OneLine(x.Note)))
		}
		// A rule that is broken everywhere is reported briefly; --all and --json have the rest.
		const most = 3
		shown := 0
		for _, o := range x.Observations {
			switch {
			case o.OK && all:
				p.Printf("        %s %s\n", p.Green("+"), term.OneLine(o.What))
			case !o.OK && (all || shown < most):
				shown++
				p.Printf("        %s %s\n", p.Red("x"), term.OneLine(o.What))
				p.Printf("          %s\n", term.OneLine(o.Why))
				p.Printf("          %s %s\n", p.Dim("sent    "), term.OneLine(o.Sent))
				p.Printf("          %s %s\n", p.Dim("received"), term.OneLine(o.Received))
			}
		}
		if n := len(x.Failures()); !all && n > most {
			p.Printf("        and %d more of the kind (--all)\n", n-most)
		}
	}
	p.Printf("\n%d of %d rules hold, judged by %s in %s\n", passed, len(r.Rules),
		term.Counted(r.Exchanges, "exchange"), r.Took.Round(time.Millisecond))
}
