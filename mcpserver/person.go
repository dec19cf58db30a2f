// Tools for what only people may do: they say which command a person runs, and change nothing.

package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// approveGate implements agentxchain_approve_gate (docs/mcp.md). gate_id is a gate that waits for
// approval or the escalation that blocks the run.
func approveGate(ctx context.Context, r *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	id := strings.TrimSpace(a.String("gate_id"))
	if id == "" {
		return nil, refusal(wire.CodeInvalidArgument, "gate_id is required.")
	}
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	s := v.State
	if s.Run() == "" && s.Status == wire.StatusIdle {
		return nil, refusal(wire.CodeNotFound, "No governed state found.")
	}
	for _, g := range pendingGates(s) {
		if g.String("gate_id") == id {
			detail := "The run waits for the approval of its completion."
			if g.String("type") == "phase_transition" {
				detail = fmt.Sprintf("The run waits to go from phase %s to %s.", g.String("from"), g.String("to"))
			}
			return ojson.NewObject("gate_id", id, "type", g.String("type"), "detail", detail,
				"instruction", "Only a person can approve. Ask one to run, in their own terminal: git agentxchain approve"), nil
		}
	}
	if s.Status != wire.StatusBlocked {
		return nil, refusal(wire.CodeNotFound,
			fmt.Sprintf("Run is not blocked (status: %q). Nothing to approve.", s.Status))
	}
	for _, open := range v.Index.OpenEscalations {
		if open.String("escalation_id") != id {
			continue
		}
		if s.BlockedOn == nil || open.String("blocked_on") != *s.BlockedOn {
			return nil, refusal(wire.CodeInvalidArgument, shown(id)+" is not the current blocker for this run.")
		}
		return ojson.NewObject("gate_id", id, "type", open.String("type"), "detail", open.String("detail"),
			"instruction", "Only a person can lift a block. Ask one to run, in their own terminal: git agentxchain unblock "+
				id), nil
	}
	return nil, refusal(wire.CodeNotFound, "No open escalation found for "+shown(id)+".")
}

// intakeRecord implements agentxchain_intake_record (docs/mcp.md): it writes nothing, as people
// decide what a run works on.
func intakeRecord(_ context.Context, _ *runner.Runner, a *ojson.Object) (*ojson.Object, error) {
	source, title := strings.TrimSpace(a.String("source")), strings.TrimSpace(a.String("title"))
	if source == "" || title == "" {
		return nil, refusal(wire.CodeInvalidArgument, "Both source and title are required.")
	}
	o := ojson.NewObject("source", source, "title", title)
	for _, k := range []string{"description", "priority"} {
		if v := a.String(k); v != "" {
			o.Set(k, v)
		}
	}
	o.Set("recorded", false)
	// No command line contains foreign words: a person might paste it into a shell.
	o.Set("instruction",
		"Nothing was recorded: new work is taken on by people. Show this to a person, who hands it to the run with: "+
			"git agentxchain inject. To have the current run wait for them, call agentxchain_escalate.")
	return o, nil
}
