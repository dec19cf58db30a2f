// conflicts: what did not hold when two sides of a run were joined, and the ways to settle it.

package travel

import (
	"context"
	"io"
	"slices"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// waysOut lists the ways out of a conflict.
var waysOut = []struct{ flag, way, settles, means string }{
	{"take-ours", join.WayAccept, runner.SettleOurs,
		"stage the losing result again, for its turn that is still active"},
	{"reissue", join.WayReissue, runner.SettleReissue,
		"keep the losing result as material for another turn of the role"},
	{"ask-again", join.WayAgain, runner.SettleAgain, "ask a person to decide again"},
	{"drop", join.WayDrop, runner.SettleDrop, "give up the losing work; needs --because"},
}

func wayFlags() []ucli.Flag {
	var flags []ucli.Flag
	for _, w := range waysOut {
		flags = append(flags, &ucli.BoolFlag{Name: w.flag, Usage: w.means})
	}
	return flags
}

func NewConflictsCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "conflicts",
		Category:  shared.CategoryMove,
		ArgsUsage: "[OP]",
		Usage:     "list and settle conflicts between the work of two machines",
		Description: "A conflict is an operation of one machine that is not valid after those of another. The " +
			"record keeps the operation, who made it, and why it does not count. OP is the id of that operation, " +
			"or a unique prefix. One of --take-ours, --reissue, --ask-again and --drop settles the conflict, and " +
			"the next sync brings the decision to the others. Only a person can settle a conflict.",
		Flags: slices.Concat(
			[]ucli.Flag{&ucli.BoolFlag{Name: "all", Usage: "also settled conflicts"}},
			wayFlags(),
			[]ucli.Flag{&ucli.StringFlag{
				Name:    "because",
				Aliases: []string{"reason"},
				Usage:   "why (`TEXT`); it is recorded",
			}},
		),
		BashComplete: func(c *ucli.Context) {
			for _, op := range openConflicts(c.Context, f) {
				_, _ = io.WriteString(c.App.Writer, op+"\n")
			}
		},
		Action: func(c *ucli.Context) error {
			how := ""
			for _, w := range waysOut {
				if !c.Bool(w.flag) {
					continue
				}
				if how != "" {
					return term.UsageErrorf(
						"a conflict is settled in one way; give one of --take-ours, --reissue, --ask-again, --drop")
				}
				how = w.settles
			}
			op := c.Args().First()
			if how != "" && op == "" {
				return term.UsageErrorf("name the conflict to settle: git agentxchain conflicts lists them")
			}
			if how == "" && c.IsSet("because") {
				return term.UsageErrorf("--because belongs to --drop, --take-ours, --reissue or --ask-again")
			}
			return runConflicts(c.Context, f, op, how, c.String("because"), c.Bool("all"))
		},
	}
}

func runConflicts(ctx context.Context, f *term.Factory, op, how, because string, all bool) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	switch {
	case how != "":
		c, file, err := r.Settle(ctx, op, how, term.OneLine(because))
		if err != nil {
			return err
		}
		o := conflictObject(c)
		o.Set("file", ojson.OrNull(file))
		f.Out.Emit(o, func(p *term.Printer) {
			p.Printf("Settled: %s (%s).\n", conflictSubject(c), how)
			if file != "" {
				p.Printf("The losing result is in %s.\n", term.OneLine(file))
			}
			p.Printf("\nNext: %s\n", afterSettling(ctx, r, c, how))
		})
		return nil
	case op != "":
		c, err := r.Conflict(ctx, op)
		if err != nil {
			return err
		}
		f.Out.Emit(conflictObject(c), func(p *term.Printer) { printConflict(p, c) })
		return nil
	}
	list, err := r.Conflicts(ctx)
	if err != nil {
		return err
	}
	rows := []*ojson.Object{}
	t := &term.Table{Header: []string{"CONFLICT", "STATUS", "OPERATION", "BY", "WHEN", "WHY"}, Flex: 5}
	for _, c := range list {
		if all || c.Status == join.ConflictOpen {
			rows = append(rows, conflictObject(c))
		}
	}
	f.Out.Emit(ojson.NewObject("conflicts", rows), func(p *term.Printer) {
		if len(rows) == 0 {
			p.Println(shared.Nothing(!all, "No operation ever lost against another machine's.",
				"No conflict is open."))
			return
		}
		for _, c := range list {
			if all || c.Status == join.ConflictOpen {
				t.Row(c.Op[:12], c.Status, conflictSubject(c), c.Actor, shared.Ago(p, c.At), c.Message)
			}
		}
		p.Table(t)
		for _, c := range list {
			if c.Status == join.ConflictOpen {
				p.Printf("\nNext: git agentxchain conflicts %s, which names the ways out\n", c.Op[:12])
				break
			}
		}
	})
	return nil
}

// openConflicts returns the names of the conflicts that wait for a person, none when they cannot be
// read.
func openConflicts(ctx context.Context, f *term.Factory) (ops []string) {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return nil
	}
	list, _ := r.Conflicts(ctx)
	for _, c := range list {
		if c.Status == join.ConflictOpen {
			ops = append(ops, c.Op[:12])
		}
	}
	return ops
}

func conflictObject(c *runner.Conflict) *ojson.Object { return ojson.Marshal(c) }

// conflictSubject describes the losing operation.
func conflictSubject(c *runner.Conflict) string {
	what := c.Name
	if c.Turn != "" {
		what += " of turn " + c.Turn
	}
	if c.Role != "" {
		what += " (" + c.Role + ")"
	}
	return term.OneLine(what)
}

func printConflict(p *term.Printer, c *runner.Conflict) {
	p.Printf("Conflict: %s\n", conflictSubject(c))
	p.Printf("Run:      %s\n", term.OneLine(c.Run))
	p.Printf("By:       %s <%s>, %s\n", term.OneLine(c.Actor), term.OneLine(c.Email), shared.Ago(p, c.At))
	p.Printf("Why:      %s\n", term.OneLine(c.Message))
	p.Printf("Ours:     %s\n", term.OneLine(c.Op))
	p.Printf("Theirs:   %s\n", term.OneLine(c.Onto))
	if c.Status != join.ConflictOpen {
		p.Printf("Settled:  %s by %s", term.OneLine(c.Settled), term.OneLine(c.By))
		if c.Because != "" {
			p.Printf(": %s", term.OneLine(c.Because))
		}
		p.Println("")
		return
	}
	p.Printf("\nWays out:\n")
	for _, w := range waysOut {
		if slices.Contains(c.Ways, w.way) {
			how := "--" + w.flag
			if w.way == join.WayDrop {
				how += " --because TEXT"
			}
			p.Printf("  git agentxchain conflicts %s %s\n", c.Op[:12], how)
			p.Printf("      %s\n", p.Dim(w.means))
		}
	}
}

// afterSettling returns the next command: the turn that a reissue is for, when its role can have one now.
func afterSettling(ctx context.Context, r *runner.Runner, c *runner.Conflict, how string) string {
	switch how {
	case runner.SettleOurs:
		return "git agentxchain accept " + term.OneLine(c.Turn)
	case runner.SettleReissue:
		v, err := r.View(ctx)
		if err != nil || c.Role == "" || v.Run != c.Run || v.State.Status != wire.StatusActive {
			break
		}
		if _, _, refusal := protocol.ResolveRole(v.Config, v.State, c.Role); refusal == nil {
			return "git agentxchain assign " + term.OneLine(c.Role)
		}
	}
	return "git agentxchain status"
}
