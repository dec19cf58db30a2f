// conformance check (also verify protocol): send fixtures to an implementation and report.

package conform

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/conformance"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// conformanceCheckOptions holds the flags as they were given: faults in them are reported in the
// report's own form.
type conformanceCheckOptions struct {
	Tier, Surface, Profile, Target, Remote, Token, TokenFile, Timeout, Format, Fixtures, Seed string
	Jobs                                                                                      int
	Challenge, Apart                                                                          bool
	TargetSet, RemoteSet, TokenSet                                                            bool
}

func newConformanceCheckCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "check", Usage: "verify an implementation of the protocol with fixtures",
		Description: "Starts the adapter of --target, named in its " + conformance.CapabilitiesPath +
			", once for every fixture, or posts the fixtures to --remote. " +
			"The fixtures are those the target keeps in " + conformance.FixturesPath +
			", or else those of this program; " +
			"--fixtures names others, and " + conformance.EmbeddedRoot + " those of this program. Exit status: 0 if " +
			"all pass or are not implemented, 1 if some fail, 2 if some cannot be judged or there is nothing " +
			"to run. --challenge sends every fixture that passes again, with another expectation, other ids " +
			"and other names, and compares the outcome that the adapter reports: an adapter that does not run " +
			"the fixtures fails.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "tier", Usage: "run the fixtures of tiers 1 to `N`", Value: "1"},
			&ucli.StringFlag{Name: "surface", Usage: "run only the fixtures of surface `NAME`"},
			term.NewChoiceFlag("profile",
				"run the fixtures of `NAME`: core is what the documents demand, strict adds what we demand",
				conformance.ProfileCore, conformance.Profiles()...),
			&ucli.StringFlag{Name: "target", Usage: "the implementation in `DIR`", Value: "."},
			&ucli.StringFlag{Name: "remote", Usage: "the implementation at `URL`"},
			&ucli.StringFlag{
				Name: "token",
				Usage: "bearer `TOKEN` for --remote; better in " + conformance.TokenVariable +
					", which other users cannot see",
			},
			&ucli.StringFlag{
				Name:  "token-file",
				Usage: "read the bearer token from the first line of `FILE`, - for standard input",
			},
			&ucli.StringFlag{
				Name:  "timeout",
				Usage: "allow each fixture `MS` milliseconds in all",
				Value: strconv.FormatInt(conformance.DefaultTimeout.Milliseconds(), 10),
			},
			term.NewChoiceFlag("format", "print `FORMAT`", "text", "text", "json"),
			&ucli.StringFlag{
				Name:  "fixtures",
				Usage: "run the fixtures below `DIR`, not the target's or this program's",
			},
			&ucli.IntFlag{Name: "jobs", Usage: "run `N` fixtures at a time", DefaultText: "one for each processor"},
			&ucli.BoolFlag{Name: "challenge", Usage: "catch adapters that do not run the fixtures"},
			&ucli.StringFlag{
				Name:  "challenge-seed",
				Usage: "make the challenges of seed `N` again; a report names its seed",
			},
			&ucli.BoolFlag{
				Name:  "separate",
				Usage: "start a process for every fixture even when the adapter is this program",
			},
		},
		Action: func(c *ucli.Context) error {
			if c.IsSet("jobs") && (c.Int("jobs") < 1 || c.Int("jobs") > 1024) {
				return term.UsageErrorf("--jobs takes 1 to 1024, not %d", c.Int("jobs"))
			}
			if c.IsSet("token") && c.IsSet("token-file") {
				return term.UsageErrorf("--token and --token-file cannot be used together")
			}
			// An empty shell variable must not silently choose something else.
			if err := term.NotEmpty(c, "surface", "token", "token-file", "fixtures", "target", "challenge-seed"); err != nil {
				return err
			}
			return runConformanceCheck(c.Context, f, &conformanceCheckOptions{
				Tier:    c.String("tier"),
				Surface: c.String("surface"),
				Profile: c.String("profile"),
				Target: c.String(
					"target"),
				TargetSet: c.IsSet("target"),
				Remote:    c.String("remote"),
				RemoteSet: c.IsSet("remote"),
				Token:     c.String("token"),
				TokenSet: c.IsSet(
					"token") || c.IsSet("token-file"),
				TokenFile: c.String("token-file"),
				Timeout:   c.String("timeout"),
				Format:    c.String("format"),
				Fixtures:  c.String("fixtures"),
				Jobs: c.Int(
					"jobs"),
				Challenge: c.Bool("challenge") || c.IsSet("challenge-seed"),
				Seed:      c.String("challenge-seed"),
				Apart:     c.Bool("separate"),
			})
		},
	}
}

// runConformanceCheck prints the report, or why there is none, on standard output, without an
// envelope in both formats.
func runConformanceCheck(ctx context.Context, f *term.Factory, o *conformanceCheckOptions) error {
	asJSON := o.Format == "json" || f.JSON()
	report, err := conformanceReport(ctx, f, o)
	if errors.Is(err, context.Canceled) {
		return err
	}
	out := f.Out.Raw()
	var none *conformance.NoCapabilitiesError
	if errors.As(err, &none) && !asJSON {
		f.Out.Notice("git agentxchain conformance init makes a target of an implementation of your own; --target names one elsewhere")
	}
	switch {
	case err != nil && asJSON:
		_, err = out.Write(ojson.Pretty(conformance.ErrorReport(err)))
	case err != nil:
		_, err = fmt.Fprintf(out, "Protocol verification failed: %s\n", term.OneLine(err.Error()))
	case asJSON:
		_, err = out.Write(ojson.Pretty(report.Object()))
	default:
		s := f.Out.Style()
		err = report.WriteText(out, conformance.Ink{
			Bold:  s.Bold,
			Good:  s.Green,
			Bad:   s.Red,
			Faint: s.Dim,
			Safe:  term.OneLine,
		})
	}
	if err == nil {
		err = f.Out.Flush()
	}
	if err == nil && report != nil && report.ExitCode() != 0 && !asJSON {
		f.Out.Notice("--json shows what was answered, git agentxchain conformance list --json what each fixture stands on")
	}
	switch {
	case err != nil && !errors.Is(err, syscall.EPIPE):
		// 1 would mean that a fixture has failed.
		return term.Errorf("report_unwritten", "cannot write the report: %w", err)
	case report == nil:
		return term.ExitSilently(term.ExitUsage)
	}
	return term.ExitSilently(report.ExitCode())
}

// conformanceReport does the verification. It checks flags in the order of
// docs/conformance.md#checking, then the target, then the selection.
func conformanceReport(ctx context.Context, f *term.Factory, o *conformanceCheckOptions) (*conformance.Report, error) {
	switch {
	case o.RemoteSet && o.TargetSet:
		return nil, errors.New( //nolint:staticcheck // the sentence every verifier prints
			"Cannot specify both --target and --remote")
	case o.TokenSet && !o.RemoteSet:
		return nil, errors.New( //nolint:staticcheck // the sentence every verifier prints
			"Cannot specify --token without --remote")
	}
	tier, err := strconv.Atoi(strings.TrimSpace(o.Tier))
	if err != nil || tier < 1 || tier > 3 {
		return nil, fmt.Errorf( //nolint:staticcheck // the sentence every verifier prints
			`Tier must be 1, 2, or 3. Received "%s"`, term.OneLine(o.Tier))
	}
	ms, err := strconv.Atoi(strings.TrimSpace(o.Timeout))
	if err != nil || ms < 1 || ms > 24*60*60*1000 {
		return nil, fmt.Errorf( //nolint:staticcheck // the sentence every verifier prints
			`Timeout must be a positive integer number of milliseconds. Received "%s"`, term.OneLine(o.Timeout))
	}
	v := &conformance.Verifier{Tier: tier, Surface: o.Surface, Profile: o.Profile, Jobs: o.Jobs, Now: f.Now}
	timeout := time.Duration(ms) * time.Millisecond
	if o.RemoteSet {
		err = remoteTarget(ctx, f, o, v, timeout)
	} else {
		err = localTarget(f, o, v, timeout)
	}
	if err != nil {
		return nil, err
	}
	if err := v.Capabilities.CheckSurface(o.Surface); err != nil {
		return nil, err
	}
	if o.Fixtures == "" && v.TargetRoot != "" {
		v.Corpus, err = conformance.OpenTargetCorpus(v.TargetRoot)
	} else {
		v.Corpus, err = conformanceCorpus(f, o.Fixtures)
	}
	if err != nil {
		return nil, err
	}
	if o.Challenge {
		seed, err := challengeSeed(o.Seed)
		if err != nil {
			return nil, err
		}
		v.Challenger = conformance.NewChallenger(v.Corpus, seed)
	}
	var progress *term.Progress
	if n := len(v.Corpus.Select(tier, o.Surface, o.Profile)); n > 0 {
		progress = f.Out.Progress("fixtures", n)
		defer progress.Done()
		v.Progress = func(done, _ int) { progress.Step(done) }
	}
	return v.Run(ctx)
}

func remoteTarget(ctx context.Context, f *term.Factory, o *conformanceCheckOptions, v *conformance.Verifier,
	timeout time.Duration) error {
	token := o.Token
	if token == "" {
		token = f.Env.Getenv(conformance.TokenVariable)
	}
	if o.TokenFile != "" {
		var err error
		if token, err = shared.TokenFromFile(f, o.TokenFile); err != nil {
			return err
		}
	}
	r, err := conformance.NewRemote(o.Remote, token, timeout)
	if err != nil {
		return err
	}
	if r.Exposed() {
		f.Out.Warn("the token travels unencrypted to %s", term.OneLine(r.Base()))
	}
	doc, err := r.Capabilities(ctx)
	if err != nil {
		return err
	}
	v.Target, v.Remote = r, r.Base()
	v.Capabilities, err = conformance.NewCapabilities(doc, conformance.ProtocolHTTP)
	return err
}

func localTarget(f *term.Factory, o *conformanceCheckOptions, v *conformance.Verifier, timeout time.Duration) error {
	root, err := f.Path(o.Target)
	if err != nil {
		return err
	}
	if v.Capabilities, err = conformance.LoadCapabilities(root); err != nil {
		return err
	}
	v.TargetRoot = root
	v.Target = conformance.LocalTarget(v.Capabilities, root, timeout, o.Apart, f.Now)
	return nil
}

// conformanceCorpus opens the fixtures below dir, this program's own when dir is "" or the name
// that reports use for them.
func conformanceCorpus(f *term.Factory, dir string) (*conformance.Corpus, error) {
	if dir == "" || dir == conformance.EmbeddedRoot {
		return conformance.EmbeddedCorpus()
	}
	dir, err := f.Path(dir)
	if err != nil {
		return nil, err
	}
	return conformance.OpenCorpus(dir)
}

// challengeSeed reads the seed of an earlier report, or draws one: an adapter must not be able to
// know what it will be asked.
func challengeSeed(s string) (uint64, error) {
	if s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("the challenge seed must be a number a report has named, not %q", term.OneLine(s))
		}
		return n, nil
	}
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("no seed for the challenges: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}
