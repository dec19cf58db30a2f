// at: any read-only command, as of an operation.

package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

func newAtCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "at",
		Category:  shared.CategoryLook,
		ArgsUsage: "OP COMMAND...",
		Usage:     "show the run as it was after an operation",
		Description: "COMMAND is any command that changes nothing (status, gate, history, decisions, show, " +
			"explain, log and others), with its flags. It answers as it would have right after OP, with the clock " +
			"at that moment, from the record alone, in any clone that has the record. Commands that change " +
			"something are refused.",
		SkipFlagParsing: true,
		Action: func(c *ucli.Context) error {
			args := c.Args().Slice()
			for _, a := range args {
				if a == "--" {
					break
				}
				// The words are passed on as they are; an answer of this command itself also uses
				// the requested format.
				f.Global.JSON = f.Global.JSON || a == "--json" || a == "-j" || a == "--json=true"
			}
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return term.ExitSilently(
					term.Run(c.Context, []string{"git-agentxchain", "help", "at"}, f.Env, program()))
			}
			if len(args) < 2 {
				return term.UsageErrorf("at takes an operation and a command, such as: git agentxchain at OP status")
			}
			return runAt(c.Context, f, args[0], args[1:])
		},
	}
}

// lookers are commands of other groups that only look.
var lookers = []string{"approvals"}

// doers are commands that change something in groups that look.
var doers = []string{"gate retry"}

// gateShown returns the line with "gate show ID" in place of "gate ID".
func gateShown(words []string) []string {
	if len(words) < 2 || words[0] != "gate" || strings.HasPrefix(words[1], "-") ||
		slices.Contains([]string{"list", "show", "retry"}, words[1]) {
		return words
	}
	return slices.Insert(slices.Clone(words), 1, "show")
}

// looks refuses a line whose command does more than look.
func looks(words []string) error {
	inv, err := term.ParseLine(term.NewApp(&term.Factory{Program: program()}), commandRewrites(), words)
	if err != nil {
		return err
	}
	path := inv.Path
	if len(path) == 0 {
		return term.UsageErrorf("at takes a command, such as: git agentxchain at OP status")
	}
	top := path[0]
	if top.Name == "at" {
		return term.UsageErrorf("at takes one operation")
	}
	if top.Category != shared.CategoryLook && !slices.Contains(lookers, top.Name) ||
		slices.Contains(doers, term.PathName(path)) {
		return term.UsageErrorf("at takes only commands that change nothing, and %s is not one", term.PathName(path))
	}
	for _, w := range words {
		if w == "--" {
			break
		}
		if top.Name == "events" && (w == "--follow" || w == "-f" || strings.HasPrefix(w, "--follow=")) {
			return term.UsageErrorf("a run as of an operation gets nothing new; leave %s out", w)
		}
	}
	return nil
}

func runAt(ctx context.Context, f *term.Factory, op string, words []string) error {
	words = gateShown(words)
	if err := looks(words); err != nil {
		return err
	}
	dir, err := f.Dir()
	if err != nil {
		return err
	}
	at, err := lookback.OpenAsOf(ctx, dir, op)
	if err != nil {
		return err
	}
	defer func() { _ = at.Close() }()
	line := []string{"git-agentxchain"}
	if f.JSON() {
		line = append(line, "--json")
	}
	if f.Global.NoPager {
		line = append(line, "--no-pager")
	}
	env := f.Env
	env.Dir = at.Dir
	env.Now = func() time.Time { return at.At }
	f.Out.Raw()
	f.Out.Notice("as of %s (%s) of run %s, %s", at.Op.Short(), at.Name, term.OneLine(at.Run),
		at.At.UTC().Format(time.RFC3339))
	return term.ExitSilently(term.Run(ctx, append(line, words...), env, program()))
}
