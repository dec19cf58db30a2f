// Read-only tools.

package mcpserver

import (
	"context"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// maxAnswer bounds the rows of a listing, in bytes of JSON: an agent reads all of it.
const maxAnswer = 256 << 10

func limit(about string) argument {
	return argument{name: "limit", kind: typeInteger, about: about, most: maxLimit}
}

func turnArgument() argument {
	return argument{
		name:  "turn_id",
		kind:  typeText,
		about: "Id of an active turn; may be left out when there is only one.",
		most:  200,
	}
}

// status implements agentxchain_status.
func status(ctx context.Context, r *runner.Runner, _ *ojson.Object) (*ojson.Object, error) {
	st, err := r.Standing(ctx)
	if err != nil {
		return nil, err
	}
	v := st.View
	s := v.State
	turns := []*ojson.Object{}
	for _, t := range st.Turns {
		o := ojson.NewObject("turn_id", t.Turn.TurnID, "role", t.Turn.AssignedRole, "status", t.Turn.Status,
			"phase", s.Phase, "attempt", t.Turn.Attempt, "runtime_id", t.Turn.RuntimeID,
			"age_seconds", int(t.Age/time.Second), "staged", t.Staged != "",
			"staging_path", wire.StagingPath(t.Turn.TurnID))
		if !t.Deadline.IsZero() {
			o.Set("deadline_at", wire.FormatTime(t.Deadline))
		}
		if t.Turn.FailureReason != "" {
			o.Set("failure_reason", t.Turn.FailureReason)
		}
		turns = append(turns, o)
	}
	o := ojson.NewObject("project", v.Config.Project.Name, "protocol_mode", "governed",
		"run_id", ojson.OrNull(s.Run()), "phase", s.Phase, "status", string(s.Status), "active_turns", turns,
		"pending_gates", pendingGates(s), "blocked", s.Status == wire.StatusBlocked, "blocked_on", s.BlockedOn)
	if st.Gate != nil {
		o.Set("gate", gateObject(*st.Gate))
	}
	o.Set("accepted_turns", v.Index.Accepted)
	o.Set("open_conflicts", st.Conflicts)
	if st.Next != nil {
		o.Set("next_action", ojson.NewObject("command", st.Next.Command, "reason", st.Next.Reason))
	}
	if session := continuous(r); session != nil {
		o.Set("continuous", session)
	}
	if len(v.Notices) > 0 {
		o.Set("notices", v.Notices)
	}
	return o, nil
}

// continuous returns the session of a continuous runner, nil when there is none.
func continuous(r *runner.Runner) *ojson.Object {
	data, err := r.ReadFile(".agentxchain/continuous-session.json")
	if err != nil || data == nil {
		return nil
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	out := &ojson.Object{}
	for _, k := range []string{"session_id", "status", "runs_completed", "idle_cycles"} {
		out.Set(k, doc.Value(k))
	}
	return out
}

// pendingGates returns the approvals that wait for a person.
func pendingGates(s *run.State) []*ojson.Object {
	out := []*ojson.Object{}
	if p := s.PendingPhaseTransition; p != nil {
		out = append(out, ojson.NewObject("gate_id", p.Gate, "type", "phase_transition", "from", p.From, "to", p.To,
			"requested_by_turn", ojson.OrNull(p.RequestedByTurn)))
	}
	if p := s.PendingRunCompletion; p != nil {
		out = append(out, ojson.NewObject("gate_id", p.Gate, "type", "run_completion",
			"requested_by_turn", ojson.OrNull(p.RequestedByTurn)))
	}
	return out
}

func gateObject(g gate.Standing) *ojson.Object {
	o := g.Result.Object(!g.Completion)
	o.Set("gate_id", g.ID)
	o.Set("gate_status", ojson.OrNull(g.Status))
	o.Set("requires_human_approval", g.HumanNeeded)
	return o
}

// gates implements agentxchain_gates.
func gates(ctx context.Context, r *runner.Runner, _ *ojson.Object) (*ojson.Object, error) {
	v, list, err := r.GateStandings(ctx)
	if err != nil {
		return nil, err
	}
	rows := ojson.List(list, gateObject)
	return ojson.NewObject("run_id", ojson.OrNull(v.State.Run()), "phase", v.State.Phase,
		"pending_gates", pendingGates(v.State), "gates", rows,
		"note", "Approvals are for people: git agentxchain approve, in their own terminal."), nil
}

// listing returns a tool that shows the end of a ledger, newest last.
func listing(name, about, member string, l wire.Ledger, def int, current bool, keep func(a, row *ojson.Object) bool,
	more ...argument) tool {
	return tool{
		name:  name,
		about: about,
		reads: true,
		args:  append([]argument{limit("How many rows, counted from the newest.")}, more...),
		call: func(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
			n, ok := a.Int("limit")
			if !ok {
				n = def
			}
			run := ""
			if current {
				v, err := r.View(ctx)
				if err != nil {
					return nil, err
				}
				run = v.Run
			}
			rows, cut, err := tail(ctx, r, l, n, func(row *ojson.Object) bool {
				if id := row.String("run_id"); current && id != "" && id != run {
					return false
				}
				return keep == nil || keep(a, row)
			})
			if err != nil {
				return nil, err
			}
			o := ojson.NewObject("count", len(rows), member, rows)
			if cut {
				o.Set("truncated", true)
			}
			return o, nil
		},
	}
}

// tail reads the end of a ledger, bounded; cut says that older rows were left out because of their
// size.
func tail(ctx context.Context, r *runner.Runner, l wire.Ledger, n int,
	keep func(*ojson.Object) bool) (rows []*ojson.Object, cut bool, err error) {
	v, _ := r.View(ctx) // a run that cannot be shown still has its rows
	lines, err := r.Record().ViewRows(ctx, v, l, n, keep)
	if err != nil {
		return nil, false, err
	}
	size, from := 0, len(lines)
	for from > 0 && size+len(lines[from-1].Raw) <= maxAnswer {
		from--
		size += len(lines[from].Raw)
	}
	rows = []*ojson.Object{}
	for _, line := range lines[from:] {
		rows = append(rows, line.Row)
	}
	return rows, from > 0, nil
}
