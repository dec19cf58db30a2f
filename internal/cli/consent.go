// The flags by which a person proves who decides: --sign, --statement, --expires.

package cli

import (
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// consentFlags are the flags of a command by which people overrule the record.
func consentFlags() []ucli.Flag {
	return []ucli.Flag{
		&ucli.BoolFlag{Name: "sign", Usage: "sign what is said as git signs commits (user.signingKey, gpg.format)"},
		&ucli.StringSliceFlag{
			Name:  "statement",
			Usage: "a signed statement (`FILE`) of a person who agrees; may be repeated",
		},
		&ucli.DurationFlag{
			Name:  "expires",
			Usage: "how long the statement signed with --sign counts (`TIME`, default 24h)",
		},
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
		data, err := shared.ReadInput(f, "the statement", name, agreement.MaxStatementBytes)
		if err != nil {
			return o, err
		}
		o.Statements = append(o.Statements, data)
	}
	return o, nil
}
