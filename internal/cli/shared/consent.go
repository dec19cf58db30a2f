// The flags by which a person proves their identity: --sign, --statement, --expires, --to.

package shared

import (
	"errors"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// ConsentFlags returns the flags of a command by which people overrule the record.
func ConsentFlags() []ucli.Flag {
	return []ucli.Flag{
		&ucli.BoolFlag{Name: "sign", Usage: "sign the decision, as git signs commits (user.signingKey, gpg.format)"},
		&ucli.StringSliceFlag{
			Name:  "statement",
			Usage: "count the signed statement in `FILE` of a person who agrees; may be repeated",
		},
		&ucli.DurationFlag{
			Name:        "expires",
			Usage:       "how long the statement made by --sign stays valid (`TIME`)",
			DefaultText: "24h",
		},
		&ucli.StringFlag{
			Name:  "to",
			Usage: "with --sign: write the statement to a new `FILE`, and decide nothing",
		},
	}
}

// ConsentOptions reads those flags.
func ConsentOptions(c *ucli.Context, f *term.Factory) (runner.ConsentOptions, error) {
	o := runner.ConsentOptions{
		Sign:    c.Bool("sign"),
		Expires: c.Duration("expires"),
	}
	if c.IsSet("expires") && (!o.Sign || o.Expires <= 0) {
		return o, term.UsageErrorf("--expires is a time such as 8h, for the statement that --sign makes")
	}
	if c.IsSet("to") {
		if c.String("to") == "" || !o.Sign || c.IsSet("statement") {
			return o, ToIsAlone()
		}
		o.Only = true
		path, err := f.Path(c.String("to"))
		if err != nil {
			return o, err
		}
		if err := OutputPlace(path, false); err != nil {
			return o, err
		}
	}
	for _, name := range c.StringSlice("statement") {
		data, err := ReadInput(f, "the statement", name, agreement.MaxStatementBytes)
		if err != nil {
			return o, err
		}
		o.Statements = append(o.Statements, data)
	}
	return o, nil
}

// ToIsAlone refuses --to together with flags that decide.
func ToIsAlone() error {
	return term.UsageErrorf("--to takes a FILE for the statement that --sign makes, and decides nothing")
}

// SignedTo writes the statement, when err says that only that was wanted, for the person who decides with
// --statement.
func SignedTo(c *ucli.Context, f *term.Factory, err error) error {
	var signed *runner.Signed
	if !errors.As(err, &signed) {
		return err
	}
	to := c.String("to")
	path, err := f.Path(to)
	if err != nil {
		return err
	}
	if err := SaveFile(path, signed.Statement, false); err != nil {
		return err
	}
	payload := ojson.NewObject("statement", wire.Digest(signed.Statement), "path", path)
	next := "git agentxchain " + strings.TrimPrefix(c.Command.HelpName, "git-agentxchain ")
	if signed.Gate != "" {
		payload.Set("gate_type", signed.GateType)
		payload.Set("gate_id", signed.Gate)
	} else {
		next += " --sign"
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		if signed.Gate != "" {
			p.Printf("Signed for gate %s and wrote %s; the gate waits.\n", p.Bold(term.OneLine(signed.Gate)), term.OneLine(to))
		} else {
			p.Printf("Signed, and wrote %s; nothing is decided.\n", term.OneLine(to))
		}
		p.Printf("%s %s --statement %s\n", p.Dim("next:"), next, term.OneLine(to))
	})
	return nil
}
