// The flags by which a person proves who decides: --sign, --statement, --expires.

package cli

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// consentFlags are the flags of a command by which people overrule the record.
func consentFlags() []ucli.Flag {
	return []ucli.Flag{
		&ucli.BoolFlag{Name: "sign", Usage: "sign what is said as git signs commits (user.signingKey, gpg.format)"},
		&ucli.StringSliceFlag{Name: "statement", Usage: "a signed statement (`FILE`) of a person who agrees; may be repeated"},
		&ucli.DurationFlag{Name: "expires", Usage: "how long the statement signed with --sign counts (`TIME`, default 24h)"},
	}
}

func consentOptions(c *ucli.Context, f *term.Factory) (runner.ConsentOptions, error) {
	o := runner.ConsentOptions{
		Sign:    c.Bool("sign"),
		Expires: c.Duration("expires"),
	}
	if c.IsSet("expires") && (!o.Sign || o.Expires <= 0) {
		return o, term.UsageErrorf("--expires is a time such as 8h, for the statement that --sign makes")
	}
	for _, name := range c.StringSlice("statement") {
		data, err := readInput(f, "the statement", name, protocol.MaxStatementBytes)
		if err != nil {
			return o, err
		}
		o.Statements = append(o.Statements, data)
	}
	return o, nil
}

func voteRows(votes []*run.Vote) []*ojson.Object {
	out := make([]*ojson.Object, len(votes))
	for i, v := range votes {
		out[i] = ojson.Marshal(v)
	}
	return out
}

// approversText says whose approval counts.
func approversText(r *config.GateRule) string {
	text := r.People()
	if r.Threshold > 1 {
		text = itoa(r.Threshold) + " of " + text
	}
	if r.Signed {
		text += ", signed"
	}
	if r.NotAuthor {
		text += ", not by who made the change"
	}
	return text
}

func ruleObject(r *config.GateRule) any {
	if r == nil {
		return nil
	}
	return ojson.NewObject(
		"by", r.Group,
		"principals", r.Principals,
		"threshold", r.Threshold,
		"signed", r.Signed,
		"not_author", r.NotAuthor,
	)
}

// voteText is one approval in words.
func voteText(v *run.Vote) string {
	text := v.Principal
	if v.Name != "" {
		text = v.Name + " <" + v.Principal + ">"
	}
	if v.Statement != "" {
		return text + ", signed with " + v.KeyID
	}
	return text + ", unsigned"
}
