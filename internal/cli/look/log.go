// log: the chain of operations of a run, as its ref records it.

package look

import (
	"context"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type logOptions struct {
	Run   string
	Limit int // 0: all
	Runs  bool
	Turn  string
	Role  string
	Op    string // wire name of an operation
}

func NewLogCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "log", Category: shared.CategoryLook, ArgsUsage: "[RUN]",
		Usage: "list the operations of a run, newest first",
		Description: "Each operation is a commit under refs/agentxchain/runs/RUN; show displays one. --runs lists " +
			"the recorded runs instead.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "run", Usage: "the `RUN` (same as the argument); the current one by default"},
			shared.LimitFlag("show the newest `N` operations, 0 for all"),
			&ucli.StringFlag{Name: "turn", Usage: "only operations of this `TURN`"},
			&ucli.StringFlag{Name: "role", Usage: "only operations of this `ROLE`"},
			&ucli.StringFlag{Name: "op", Usage: "only operations of this `KIND`, such as accept_turn or external"},
			&ucli.BoolFlag{Name: "runs", Usage: "list the recorded runs of the repository"},
		},
		Action: shared.OnOne("run", "run", func(c *ucli.Context, run string) error {
			o := &logOptions{
				Run:   run,
				Limit: c.Int("limit"),
				Runs:  c.Bool("runs"),
				Turn:  c.String("turn"),
				Role:  c.String("role"),
				Op:    c.String("op"),
			}
			if o.Limit < 0 {
				return term.UsageErrorf("--limit takes 0 or more, not %d", o.Limit)
			}
			if o.Runs {
				return runLogRuns(c.Context, f, o.Limit)
			}
			return runLog(c.Context, f, o)
		}),
	}
}

// keeps reports whether an operation matches the filter.
func (o *logOptions) keeps(op *runner.OpInfo) bool {
	return (o.Turn == "" || op.Turn == o.Turn) && (o.Role == "" || op.Role == o.Role) &&
		(o.Op == "" || op.Name == o.Op)
}

func runLog(ctx context.Context, f *term.Factory, o *logOptions) error {
	if strings.HasPrefix(o.Run, "turn_") {
		return term.Errorf(wire.CodeNotFound, "%s is a turn, and log takes a run", term.OneLine(o.Run)).
			WithHint("git agentxchain log --turn " + wire.ShellWord(o.Run))
	}
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	var ops []runner.OpInfo
	for op, err := range r.Record().Back(ctx, o.Run) {
		if err != nil {
			return err
		}
		if o.keeps(&op) {
			ops = append(ops, op)
		}
		if len(ops) == o.Limit && o.Limit > 0 {
			break
		}
	}
	rows := []*ojson.Object{}
	for i := range ops {
		rows = append(rows, opObject(&ops[i]))
	}
	run := any(ojson.OrNull(o.Run))
	if len(ops) > 0 {
		run = ops[0].Run
	}
	f.Out.Page(ctx)
	f.Out.Emit(ojson.NewObject("run_id", run, "operations", rows), func(p *term.Printer) {
		if len(ops) == 0 {
			p.Println("No operation fits.")
			return
		}
		t := &term.Table{Header: []string{"OP", "WHEN", "KIND", "ROLE", "ACTOR", "SUBJECT"}, Flex: 5}
		for i := range ops {
			op := &ops[i]
			t.Row(op.Op.Short(), p.Ago(op.Time), op.Name, op.Role, op.Actor, op.Subject)
			t.Emphasise(0, p.Yellow)
			if op.Name == protocol.OpExternal {
				t.Emphasise(2, p.Cyan)
			}
		}
		p.Table(t)
	})
	return nil
}

// opObject returns an operation for --json.
func opObject(op *runner.OpInfo) *ojson.Object {
	parent := ""
	if len(op.Parents) > 0 {
		parent = string(op.Parents[0])
	}
	o := ojson.NewObject("op", string(op.Op), "parent", ojson.OrNull(parent), "run_id", op.Run, "kind", op.Name,
		"time", term.Timestamp(op.Time),
		"actor", op.Actor, "email", op.Email, "turn_id", ojson.OrNull(op.Turn), "role", ojson.OrNull(op.Role),
		"subject", op.Subject,
		"state_digest", ojson.OrNull(op.StateDigest), "code_head", ojson.OrNull(op.CodeHead))
	if len(op.Dropped) > 0 {
		o.Set("ended_turns", op.Dropped)
	}
	if op.Previous != "" {
		o.Set("previous_run_op", string(op.Previous))
	}
	return o
}

// runLogRuns lists the recorded runs, each with its newest operation, newest first.
func runLogRuns(ctx context.Context, f *term.Factory, limit int) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	tips, err := r.Record().RunTips(ctx, shared.OneMore(limit))
	if err != nil {
		return err
	}
	tips, more := shared.UpTo(limit, tips)
	current := r.CurrentRun()
	rows, table := []*ojson.Object{}, &term.Table{Header: []string{"", "RUN", "OP", "WHEN", "LAST OPERATION"}, Flex: 4}
	p := f.Out.Printer()
	for _, tip := range tips {
		mark := ""
		if tip.Run == current {
			mark = "*"
		}
		rows = append(rows, ojson.NewObject("run_id", tip.Run, "current", tip.Run == current, "ref", tip.Ref.Name,
			"op", string(tip.Ref.OID), "last", opObject(&tip.Last)))
		table.Row(mark, tip.Run, tip.Ref.OID.Short(), p.Ago(tip.Last.Time), tip.Last.Subject)
	}
	f.Out.Emit(ojson.NewObject("runs", rows, "more", more), func(p *term.Printer) {
		if len(rows) == 0 {
			p.Println("No run is recorded in this repository.")
			return
		}
		p.Table(table)
		if more {
			p.Printf("\nThere are more: git agentxchain log --runs -n 0 lists them all.\n")
		}
	})
	return nil
}
