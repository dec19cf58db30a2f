// verify range: is every commit of a range the work of accepted turns, and may it stay?

package prove

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type verifyRangeOptions struct {
	Base, Head string
	Policy     string // a file, or REV:PATH; "" for none
	Format     string
	Fetch      bool // fetch from the remote what this clone lacks
}

func newVerifyRangeCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "range",
		ArgsUsage: "BASE..HEAD",
		Usage:     "prove that the commits of a range are the work of accepted turns",
		Description: "Each commit is the work of turns, signed documents, a person's own work, a merge that " +
			"changes nothing itself, or unaccounted. A commit message is only a claim: a commit counts as a turn's " +
			"if the contents of each file it changes are that turn's recorded work, also after a rebase, squash, " +
			"cherry-pick or amend. Writes nothing. The record must be in this clone (refs/agentxchain/runs); " +
			"--fetch fetches it. Without a policy only the work of turns, signed documents and merges pass. Take " +
			"the policy from the protected branch (--policy BASE:FILE), not from the branch under test. Exit " +
			"status: 0 the range passes, 2 it cannot be judged, 3 it does not pass, 12 the record is damaged.",
		Flags: []ucli.Flag{
			&ucli.BoolFlag{
				Name:  "fetch",
				Usage: "fetch what a shallow checkout lacks: the record, the base, the history of the range",
			},
			&ucli.StringFlag{
				Name:  "policy",
				Usage: "check the range against the policy in `FILE`, or in a commit as REV:FILE",
			},
			term.NewChoiceFlag("format", "write `FORMAT`; auto means github-actions under GitHub Actions, else text", "auto",
				"auto", "text", "json", "markdown", "junit-xml", "sarif", "github-actions", "gitlab"),
		},
		Action: func(c *ucli.Context) error {
			base, head, err := rangeEnds(c.Args().First())
			if err != nil {
				return err
			}
			format, err := reportFormat(c, f, "text")
			if err != nil {
				return err
			}
			return runVerifyRange(c.Context, f, &verifyRangeOptions{
				Base:   base,
				Head:   head,
				Policy: c.String("policy"),
				Format: format,
				Fetch:  c.Bool("fetch"),
			})
		},
	}
}

// rangeEnds splits BASE..HEAD; HEAD may be left out.
func rangeEnds(s string) (base, head string, err error) {
	base, head, ok := strings.Cut(s, "..")
	if !ok || base == "" || strings.HasPrefix(head, ".") {
		return "", "", term.UsageErrorf("the range is BASE..HEAD, such as origin/main..HEAD")
	}
	return base, cmp.Or(head, "HEAD"), nil
}

// rangeVerdict is a judged range.
type rangeVerdict struct {
	*attribution.Range
	policy   []byte // nil for none
	runs     []*attribution.RunFacts
	gates    map[*attribution.Turn]string // that the turn's phase ends with
	findings []attribution.RangeFinding
}

func runVerifyRange(ctx context.Context, f *term.Factory, o *verifyRangeOptions) error {
	repo, err := shared.Repository(ctx, f, runner.DiscoverProject)
	if err != nil {
		return err
	}
	v, err := judgeRange(ctx, f, repo, o)
	if err != nil {
		return err
	}
	if err := v.show(f, o.Format); err != nil {
		return err
	}
	if len(v.findings) > 0 {
		return term.ExitSilently(term.ExitRefused)
	}
	return nil
}

// judgeRange checks a range against the policy.
func judgeRange(ctx context.Context, f *term.Factory, repo *runner.Repository, o *verifyRangeOptions) (*rangeVerdict,
	error) {
	policy := &attribution.RangePolicy{}
	v := &rangeVerdict{gates: make(map[*attribution.Turn]string)}
	var err error
	if o.Fetch {
		if o, err = o.fetched(ctx, repo); err != nil {
			return nil, err
		}
	}
	if o.Policy != "" {
		if v.policy, err = readRangePolicy(ctx, f, repo, o.Policy); err != nil {
			return nil, err
		}
		if policy, err = attribution.ParseRangePolicy(v.policy); err != nil {
			return nil, err
		}
	}
	if v.Range, err = attribution.Commits(ctx, repo, o.Base, o.Head); err != nil {
		return nil, err
	}
	if err := v.readRuns(ctx, repo, policy); err != nil {
		return nil, err
	}
	v.findings = policy.Judge(v.Range, v.runs)
	return v, nil
}

// fetched returns the options with the range brought here. A policy in the base is read from the commit that was
// fetched for it.
func (o *verifyRangeOptions) fetched(ctx context.Context, repo *runner.Repository) (*verifyRangeOptions, error) {
	base, head, err := attribution.Bring(ctx, repo, o.Base, o.Head)
	if err != nil {
		return nil, err
	}
	out := *o
	if file, ok := strings.CutPrefix(o.Policy, o.Base+":"); ok {
		out.Policy = string(base) + ":" + file
	}
	out.Base, out.Head = string(base), string(head)
	return &out, nil
}

// maxRangePolicy bounds a policy, in bytes.
const maxRangePolicy = 1 << 20

// readRangePolicy reads a policy from a file, or from a commit.
func readRangePolicy(ctx context.Context, f *term.Factory, repo *runner.Repository, name string) ([]byte, error) {
	rev, file, inCommit := strings.Cut(name, ":")
	// A file of the work tree never replaces one that a commit lacks: the author of the range wrote it.
	drive := len(rev) == 1 && strings.HasPrefix(strings.ReplaceAll(file, `\`, "/"), "/")
	if inCommit && rev != "" && file != "" && !drive && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/") {
		commit, err := attribution.Resolve(ctx, repo, rev)
		var refusal *wire.Error
		if errors.As(err, &refusal) && refusal.Hint == "" {
			refusal.Hint = "fetch it first; a file of the work tree with a colon in its name is ./NAME"
		}
		if err != nil {
			return nil, err
		}
		data, err := repo.Git.Run(ctx, nil, "cat-file", "blob", "--end-of-options", string(commit)+":"+file)
		if err != nil {
			return nil, term.Errorf("unreadable_input", "cannot read the policy %s: %s has no such file",
				term.OneLine(name), term.OneLine(rev)).
				WithHint("commit the policy there first; until then a file of this machine does: --policy FILE")
		}
		return data, nil
	}
	return shared.ReadInput(f, "the policy", name, maxRangePolicy)
}

// readRuns gathers what the policy asks about each run with work in the range. Each project of the repository has its
// own people.
func (v *rangeVerdict) readRuns(ctx context.Context, repo *runner.Repository, policy *attribution.RangePolicy) error {
	known := make(map[[2]string]*approval.Listed)
	seen := make(map[string]bool)
	phases := make(map[string]string)
	for _, c := range v.Commits {
		for _, t := range c.Turns {
			key := t.Run + "\x00" + t.Phase
			gate, ok := phases[key]
			if !ok {
				var err error
				if gate, err = attribution.ExitGate(t); err != nil {
					return err
				}
				phases[key] = gate
			}
			v.gates[t] = gate
			if seen[t.Run] {
				continue
			}
			seen[t.Run] = true
			people, err := v.listed(ctx, repo, t, known)
			if err != nil {
				return err
			}
			facts, err := readRunFacts(ctx, repo, t, people)
			if err != nil {
				return err
			}
			// They need every operation of the run.
			if len(policy.Gates) > 0 {
				if facts.Rules, err = attribution.RunRules(ctx, repo, t); err != nil {
					return err
				}
			}
			v.runs = append(v.runs, facts)
		}
	}
	slices.SortFunc(v.runs, func(a, b *attribution.RunFacts) int { return strings.Compare(a.Run, b.Run) })
	return nil
}

// listed returns whom the base of the range lists for the project of the turn's run; known has those read before.
func (v *rangeVerdict) listed(ctx context.Context, repo *runner.Repository, t *attribution.Turn,
	known map[[2]string]*approval.Listed) (*approval.Listed, error) {
	state, err := t.Record.State(nil)
	if err != nil {
		return nil, err
	}
	project := [2]string{state.ProjectID, t.Prefix}
	if known[project] == nil {
		known[project], err = runner.ListedAt(ctx, repo, string(v.Base), state.ProjectID, t.Prefix)
	}
	return known[project], err
}

// readRunFacts reads the gates of a turn's run, and who approved them. listed, nil for none, lists whom the base of a
// range allows to do so.
func readRunFacts(ctx context.Context, repo *runner.Repository, t *attribution.Turn,
	listed *approval.Listed) (*attribution.RunFacts, error) {
	facts := &attribution.RunFacts{Run: t.Run, Listed: listed}
	var err error
	if facts.Gates, err = attribution.RunGates(t); err != nil {
		return nil, err
	}
	said, err := runner.ReadApprovals(ctx, repo, t.Record.Run)
	if err != nil {
		return nil, err
	}
	report, err := said.Verify(ctx, repo)
	if err != nil {
		return nil, err
	}
	envelopes := said.Envelopes()
	for _, s := range report.Sayings {
		if s.Decision != "approve" {
			continue
		}
		unlisted := listed != nil && !listed.Lets(s.Gate, s.Principal, envelopes[s.Statement])
		facts.Approvals = append(facts.Approvals, attribution.Approval{
			Gate:   s.Gate,
			Name:   cmp.Or(s.Name, s.Principal),
			Email:  s.Principal,
			Signed: s.Stands == approval.StandsProven,
			Counts: !unlisted && (s.Stands == approval.StandsProven || s.Stands == approval.StandsUnsigned ||
				s.Stands == approval.StandsConfirmed),
			Unlisted: unlisted,
		})
	}
	for _, x := range report.Findings {
		if !x.Note {
			facts.Problems = append(facts.Problems, x.Message)
		}
	}
	return facts, nil
}
