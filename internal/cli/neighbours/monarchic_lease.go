// monarchic lease: who holds which turn, and taking a turn back.

package neighbours

import (
	"context"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

const leaseHistoryRows = 50

func newMonarchicLeaseCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "lease", Usage: "show who has which turn, and take one back",
		Description: "A runner that carries out a turn for monarchic serve has a lease on it. Until the lease " +
			"ends, only that runner accepts, rejects or begins the turn. docs/leases.md has the details.",
		Subcommands: []*ucli.Command{
			{
				Name: "list", Usage: "list the leases of the run",
				Flags: []ucli.Flag{
					&ucli.StringFlag{Name: "run", Usage: "of the run `ID`", DefaultText: "the current one"},
					&ucli.BoolFlag{Name: "all", Usage: "also those that have ended"},
				},
				Action: func(c *ucli.Context) error {
					return runLeaseList(c.Context, f, c.String("run"), c.Bool("all"))
				},
			},
			{
				Name: "show", ArgsUsage: "[TURN]", Usage: "show the lease of a turn and its history",
				Flags: []ucli.Flag{
					&ucli.StringFlag{Name: "turn", Usage: "`TURN` to show"},
					&ucli.StringFlag{Name: "run", Usage: "of the run `ID`", DefaultText: "the current one"},
				},
				Action: shared.OnTurn(func(c *ucli.Context, id string) error {
					return runLeaseShow(c.Context, f, c.String("run"), id)
				}),
			},
			{
				Name: "revoke", ArgsUsage: "[TURN]", Usage: "take a turn away from the runner that holds it",
				Description: "The turn is free at once, and whatever its runner still sends is refused. TURN may " +
					"be left out if one turn is active. It is refused inside a dispatched turn.",
				Flags: []ucli.Flag{
					&ucli.StringFlag{Name: "turn", Usage: "`TURN` to take back"},
					&ucli.StringFlag{Name: "reason", Usage: "`TEXT` for the record"},
				},
				Action: shared.OnTurn(func(c *ucli.Context, id string) error {
					return runLeaseRevoke(c.Context, f, id, c.String("reason"))
				}),
			},
		},
	}
}

func runLeaseList(ctx context.Context, f *term.Factory, run string, all bool) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	leases, problems, err := r.Leases(ctx, run)
	if err != nil {
		return err
	}
	list := []*ojson.Object{}
	shown := []lease.Info{}
	for _, l := range leases {
		if all || l.Turn && l.Lease.Open() {
			shown = append(shown, l)
			list = append(list, leaseObject(l))
		}
	}
	for _, p := range problems {
		f.Out.Warn("%s", term.OneLine(p.Error()))
	}
	f.Out.Emit(ojson.NewObject("leases", list), func(p *term.Printer) {
		if len(shown) == 0 {
			p.Println("No turn is under a lease.")
			return
		}
		t := &term.Table{Header: []string{"TURN", "RUNNER", "STATUS", "ENDS", "TOKEN"}, Flex: 4}
		for _, l := range shown {
			ends := p.Ago(l.Lease.ExpiresAt())
			t.Row(l.Lease.StepID, term.OneLine(l.Lease.RunnerID), leaseStatus(l), ends, l.Lease.FencingToken.Token)
			if l.Live {
				t.Emphasise(2, p.Green)
			}
		}
		p.Table(t)
	})
	return nil
}

// leaseStatus returns the present status: a lease that is not yet recorded as expired may be past
// its time.
func leaseStatus(l lease.Info) string {
	if l.Turn && l.Lease.Open() && !l.Live {
		return run.LeaseExpired
	}
	return l.Lease.Status
}

func leaseObject(l lease.Info) *ojson.Object {
	o := ojson.NewObject("turn_id", l.Lease.StepID, "runner_id", l.Lease.RunnerID, "status", leaseStatus(l),
		"held", l.Live, "turn_active", l.Turn,
		"expires_at", wire.FormatTime(l.Lease.ExpiresAt()), "ref", l.Ref, "commit", string(l.Op),
		"changed_at", wire.FormatTime(l.At.UTC()))
	o.Set("lease", l.Lease.Object())
	return o
}

func runLeaseShow(ctx context.Context, f *term.Factory, run, turn string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	leases, _, err := r.Leases(ctx, run)
	if err != nil {
		return err
	}
	var found *lease.Info
	for i := range leases {
		if leases[i].Lease.StepID == turn || turn == "" && leases[i].Turn {
			if found != nil {
				return term.UsageErrorf("several turns are under a lease; name one of them")
			}
			found = &leases[i]
		}
	}
	if found == nil {
		message := "No turn is under a lease."
		if turn != "" {
			message = "There is no lease of turn " + term.OneLine(turn) + "."
		}
		return &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   "turn_id",
			Message: message,
			Hint:    "git agentxchain monarchic lease list --all",
		}
	}
	past, err := r.LeaseHistory(ctx, found.Lease.RunID, found.Lease.StepID, leaseHistoryRows)
	if err != nil {
		return err
	}
	rows := ojson.List(past, func(h lease.Info) *ojson.Object {
		return ojson.NewObject("at", wire.FormatTime(h.At.UTC()), "status", h.Lease.Status,
			"runner_id", h.Lease.RunnerID, "fencing_token", h.Lease.FencingToken.Token,
			"expires_at", wire.FormatTime(h.Lease.ExpiresAt()), "commit", string(h.Op))
	})
	o := leaseObject(*found)
	o.Set("history", rows)
	f.Out.Emit(o, func(p *term.Printer) {
		l := found.Lease
		p.Field("Turn", "%s", l.StepID)
		p.Field("Run", "%s", l.RunID)
		p.Field("Runner", "%s", term.OneLine(l.RunnerID))
		p.Field("Status", "%s", leaseStatus(*found))
		p.Field("Ends", "%s (%s)", l.ExpiresAt().Local().Format(time.DateTime), p.Ago(l.ExpiresAt()))
		p.Field("Token", "%s", l.FencingToken.Token)
		p.Field("Ref", "%s", found.Ref)
		p.Println()
		t := &term.Table{Header: []string{"CHANGED", "STATUS", "RUNNER", "TOKEN"}, Flex: 3}
		for _, h := range past {
			t.Row(p.Ago(h.At), h.Lease.Status, term.OneLine(h.Lease.RunnerID), h.Lease.FencingToken.Token)
		}
		p.Table(t)
	})
	return nil
}

func runLeaseRevoke(ctx context.Context, f *term.Factory, turn, reason string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	res, err := r.RevokeLease(ctx, turn, reason)
	if err != nil {
		return shared.Listed(f, err)
	}
	shared.TellNotices(f, res.Notices)
	l := res.Lease
	f.Out.Emit(ojson.NewObject("turn_id", l.StepID, "runner_id", l.RunnerID, "lease", l.Object(),
		"op", string(res.Op)), func(p *term.Printer) {
		p.Printf("Turn %s is taken back from runner %s; what it still sends is refused.\n", l.StepID,
			term.OneLine(l.RunnerID))
	})
	return nil
}
