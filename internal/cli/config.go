// config: the rules that a run is judged by, and putting others in force.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newConfigCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "config", Category: shared.CategoryTrust,
		Usage: "show, compare and adopt the rules that a run is judged by",
		Description: "A run is judged by the rules that agentxchain.json had when the run began. A change of the " +
			"rules takes effect when a person adopts it. Settings, such as the command of a runtime, a prompt or a " +
			"webhook, take effect at once.",
		Subcommands: []*ucli.Command{
			{
				Name: "diff", Usage: "show the rules in agentxchain.json that are not in force",
				Action: func(c *ucli.Context) error { return runConfigDiff(c.Context, f) },
			},
			{
				Name: "show", Usage: "show the configuration that the run is judged by",
				Action: func(c *ucli.Context) error { return runConfigShow(c.Context, f) },
			},
			{
				Name: "adopt", Usage: "put the rules of agentxchain.json in force for the current run",
				Description: "Shows the changes, marks those that weaken the rules, and asks. It is refused inside " +
					"a dispatched turn.",
				Flags: append([]ucli.Flag{
					&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "adopt them without asking"},
				}, shared.ConsentFlags()...),
				Action: func(c *ucli.Context) error {
					consent, err := shared.ConsentOptions(c, f)
					if err != nil {
						return err
					}
					return shared.SignedTo(c, f, runConfigAdopt(c.Context, f, c.Bool("yes"), consent))
				},
			},
		},
	}
}

func runConfigDiff(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	st, err := r.ConfigState(ctx)
	if err != nil {
		return err
	}
	payload := configObject(st)
	payload.Set("next_run_changes", shared.RuleRows(st.Next))
	f.Out.Emit(payload, func(p *term.Printer) {
		switch {
		case st.Run == "" && len(st.Next) > 0:
			p.Println("No run is under way; the next one begins with other rules than the last was judged by:")
			for _, line := range ruleLines(st.Next) {
				p.Println(line)
			}
		case st.Run == "":
			p.Println("No run is under way; the next one begins with the rules of agentxchain.json.")
		case len(st.Problems) > 0:
			p.Printf("agentxchain.json is not valid, so that its rules cannot be compared: %s\n\nNext: git agentxchain validate\n",
				term.OneLine(st.Problems[0].Message))
		case len(st.Changes) == 0:
			p.Println("The rules of agentxchain.json are in force.")
		default:
			for _, line := range ruleLines(st.Changes) {
				p.Println(line)
			}
		}
	})
	return nil
}

func runConfigShow(ctx context.Context, f *term.Factory) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	st, err := r.ConfigState(ctx)
	if err != nil {
		return err
	}
	shared.TellNotices(f, st.Notices)
	payload := configObject(st)
	payload.Set("config", st.InForce.Raw)
	f.Out.Emit(payload, func(p *term.Printer) { p.Printf("%s", string(ojson.Pretty(st.InForce.Raw))) })
	return nil
}

func runConfigAdopt(ctx context.Context, f *term.Factory, yes bool, who runner.ConsentOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	st, err := r.ConfigState(ctx)
	if err != nil {
		return err
	}
	if e := config.Refusal(st.Problems); e != nil {
		return e
	}
	if len(st.Changes) > 0 && r.InsideTurn() == "" {
		for _, line := range ruleLines(st.Changes) {
			f.Out.Notice("%s", line)
		}
		if !yes {
			agreed, err := f.Prompt.Confirm(ctx, "Judge the run by these rules from now on?", "--yes", false)
			if err != nil {
				return err
			}
			if !agreed {
				f.Out.Emit(ojson.NewObject("adopted", false, "changes", shared.RuleRows(st.Changes)),
					func(p *term.Printer) {
						p.Println("Nothing was adopted; the rules in force stay as they are.")
					})
				return nil
			}
		}
	}
	out, err := r.AdoptConfig(ctx, st.Shown(), who)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "adopted", out.Result != nil, "changes", shared.RuleRows(st.Changes))
	f.Out.Emit(payload, func(p *term.Printer) {
		if out.Result == nil {
			p.Println("The rules of agentxchain.json are in force.")
			return
		}
		p.Printf("Run %s is judged by the rules of agentxchain.json from now on (%s).\n", p.Bold(out.Run),
			term.Counted(len(out.Result.Changes), "change"))
		shared.PrintWhere(p, &out.Done)
	})
	return nil
}

// configObject returns what config diff and config show print as JSON.
func configObject(st *runner.ConfigState) *ojson.Object {
	return ojson.NewObject("run_id", ojson.OrNull(st.Run), "rules_in_force", config.RulesDigest(st.InForce),
		"rules_in_file", fileRules(st),
		"differs", len(st.Changes) > 0, "changes", shared.RuleRows(st.Changes))
}

func fileRules(st *runner.ConfigState) any {
	if len(st.Problems) > 0 {
		return nil
	}
	return config.RulesDigest(st.Working)
}

// ruleLines shows changes of rules to a person, one line each.
func ruleLines(changes []config.RuleChange) []string {
	var out []string
	for _, c := range changes {
		mark, at := " ", c.Pointer
		if c.Weakens {
			mark = "!"
		}
		if at == "" {
			at = "(the whole configuration)"
		}
		before, after := ruleTexts(c.Before, c.After)
		text := mark + " " + term.OneLine(at) + ": " + before + " -> " + after
		if c.Weakens {
			text += "  (weakens)"
		}
		out = append(out, text)
	}
	return out
}

// maxRuleText bounds how much of a value is shown, in characters.
const maxRuleText = 160

// ruleTexts shows two values. For long values it shows the part around the first difference, as their beginnings are
// alike.
func ruleTexts(before, after string) (string, string) {
	b, a := []rune(term.OneLine(before)), []rune(term.OneLine(after))
	same := 0
	for same < min(len(b), len(a)) && b[same] == a[same] {
		same++
	}
	from := 0
	if max(len(b), len(a)) > maxRuleText && same > maxRuleText/2 {
		from = same - maxRuleText/4
	}
	return ruleText(b, from), ruleText(a, from)
}

func ruleText(v []rune, from int) string {
	if len(v) == 0 {
		return "(absent)"
	}
	text := string(v[from:min(len(v), from+maxRuleText)])
	if from > 0 {
		text = "…" + text
	}
	if len(v) > from+maxRuleText {
		text += "…"
	}
	return text
}
