// attest: statements about governed work for other tools.

package prove

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/attribution/provenance"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

type attestOptions struct {
	Subject string // a turn, a run, BASE..HEAD, or "" for the present run
	Policy  string
	Format  string
	Sign    bool
}

const formatAgentTrace = "agent-trace"

func NewAttestCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "attest", Category: shared.CategoryTrust, ArgsUsage: "[TURN|RUN|BASE..HEAD]",
		Usage: "print attestations of a turn, a run or a range for other tools",
		Description: "Prints in-toto Statements v1, one per line. For a turn that is its SLSA provenance; for a " +
			"run its gates, approvals and turns, after the provenance of each turn; for a range the SLSA " +
			"verification summary, judged as by verify range, after the provenance of each turn in it. With --sign " +
			"each is a DSSE envelope, signed with the key that signs your approvals. --format agent-trace prints " +
			"one Agent Trace record per commit instead: which lines agents wrote. Nothing is written, and nothing " +
			"goes over the network. Exit status: for a range as verify range, else 0.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{Name: "sign", Usage: "sign each statement"},
			&ucli.StringFlag{
				Name:  "policy",
				Usage: "check a range against the policy in `FILE`, or in a commit as REV:FILE",
			},
			term.NewChoiceFlag("format", "write `FORMAT`", "in-toto", "in-toto", formatAgentTrace),
		},
		Subcommands: []*ucli.Command{newAttestExportCommand(f)},
		Action: func(c *ucli.Context) error {
			subject := c.Args().First()
			o := &attestOptions{
				Subject: subject,
				Policy:  c.String("policy"),
				Format:  c.String("format"),
				Sign:    c.Bool("sign"),
			}
			switch ranged := strings.Contains(subject, ".."); {
			case o.Sign && o.Format == formatAgentTrace:
				return term.UsageErrorf("Agent Trace records are not signed; leave out --sign")
			case o.Policy != "" && (!ranged || o.Format == formatAgentTrace):
				return term.UsageErrorf("--policy is for statements about a range, BASE..HEAD")
			}
			return runAttest(c.Context, f, o)
		},
	}
}

func runAttest(ctx context.Context, f *term.Factory, o *attestOptions) error {
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	repo, err := runner.DiscoverProject(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()
	a := &attesting{
		f:       f,
		repo:    repo,
		dir:     dir,
		options: o,
		program: provenance.Program{Version: shared.ReadBuild().Version, RuleSet: protocol.RuleSet},
	}
	if strings.Contains(o.Subject, "..") {
		return a.ranged(ctx)
	}
	return a.recorded(ctx)
}

// attesting is one call of attest.
type attesting struct {
	f       *term.Factory
	repo    *runner.Repository
	dir     string
	options *attestOptions
	program provenance.Program
}

// ranged attests a range.
func (a *attesting) ranged(ctx context.Context) error {
	base, head, err := rangeEnds(a.options.Subject)
	if err != nil {
		return err
	}
	v, err := judgeRange(ctx, a.f, a.repo, &verifyRangeOptions{Base: base, Head: head, Policy: a.options.Policy})
	if err != nil {
		return err
	}
	if a.options.Format == formatAgentTrace {
		traces, err := v.Traces(ctx, a.repo)
		if err != nil {
			return err
		}
		return a.traces(traces)
	}
	said := &provenance.Verdict{
		Range:    v.Range,
		Stands:   len(v.findings) == 0,
		At:       time.Now(),
		Resource: a.resource(ctx),
		Policy:   v.policy,
	}
	seen := make(map[*attribution.Turn]bool)
	for _, c := range v.Commits {
		for _, t := range c.Turns {
			if seen[t] {
				continue
			}
			seen[t] = true
			statement, err := a.program.Turn(t)
			if err != nil {
				return err
			}
			line, err := a.tell(ctx, statement)
			if err != nil {
				return err
			}
			said.Inputs = append(said.Inputs, line)
		}
	}
	if _, err := a.tell(ctx, a.program.Range(said)); err != nil {
		return err
	}
	if !said.Stands {
		return term.ExitSilently(term.ExitRefused)
	}
	return nil
}

// recorded attests a turn or a run.
func (a *attesting) recorded(ctx context.Context) error {
	turns, err := attribution.Turns(ctx, a.repo)
	if err != nil {
		return err
	}
	name := a.options.Subject
	var of []*attribution.Turn
	whole := !strings.HasPrefix(name, "turn_")
	if name == "" {
		if name, err = presentRun(ctx, a.f, a.repo); err != nil {
			return err
		}
	}
	for _, t := range turns {
		if whole && t.Run == name || !whole && t.ID == name {
			of = append(of, t)
		}
	}
	if len(of) == 0 {
		return term.Errorf("unknown_subject",
			"%s is neither an accepted turn nor a run with accepted turns recorded here", term.OneLine(name)).
			WithHint("git agentxchain history --all")
	}
	if a.options.Format == formatAgentTrace {
		traces, err := attribution.Checkpoints(ctx, a.repo, of)
		if err != nil {
			return err
		}
		return a.traces(traces)
	}
	for _, t := range of {
		statement, err := a.program.Turn(t)
		if err != nil {
			return err
		}
		if _, err := a.tell(ctx, statement); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	facts, err := readRunFacts(ctx, a.repo, of[len(of)-1], nil)
	if err != nil {
		return err
	}
	_, err = a.tell(ctx, a.program.Run(facts, of))
	return err
}

// tell prints a statement, signed on request, and returns what it printed.
func (a *attesting) tell(ctx context.Context, statement *ojson.Object) ([]byte, error) {
	data := ojson.Compact(statement)
	if a.options.Sign {
		var err error
		if data, err = consent.SignStatement(ctx, a.dir, a.f.Env.Getenv, data); err != nil {
			return nil, err
		}
	}
	return data, a.line(data)
}

func (a *attesting) line(data []byte) error {
	if _, err := a.f.Out.Raw().Write(append(slices.Clip(data), '\n')); err != nil {
		return term.Errorf("io_failed", "cannot write the statements: %w", err)
	}
	return nil
}

func (a *attesting) traces(traces []*attribution.Trace) error {
	tracer := &provenance.Tracer{Program: a.program}
	for _, t := range traces {
		record, err := tracer.Record(t)
		if err != nil {
			return err
		}
		if err := a.line(ojson.Compact(record)); err != nil {
			return err
		}
	}
	return nil
}

// resource returns the address of the repository: origin's fetch address, without parts that may be
// secret, else one that names no place.
func (a *attesting) resource(ctx context.Context) string {
	for value := range strings.SplitSeq(string(runner.GitConfig(ctx, a.dir, `^remote\.origin\.url$`)), "\x00") {
		_, text, _ := strings.Cut(value, "\n")
		if u, err := url.Parse(text); err == nil && u.Host != "" &&
			(u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "ssh") {
			return "git+" + (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
		}
		if user, rest, ok := strings.Cut(text, "@"); ok && !strings.ContainsAny(user, "/:") {
			if host, path, ok := strings.Cut(rest, ":"); ok && !strings.Contains(host, "/") {
				return "git+" +
					(&url.URL{Scheme: "ssh", Host: host, Path: "/" + strings.TrimPrefix(path, "/")}).String()
			}
		}
	}
	return "urn:git-agentxchain:repository"
}
