// Completion words from the project: roles, phases, gates, turns, runs and operations, each with a description.

package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// maxOffered bounds the accepted turns, the runs and the operations that are offered, the newest first.
const maxOffered = 20

// offered returns the words that can replace what a help text calls KIND; it changes nothing, and
// without a project it returns none.
func offered(f *term.Factory, kind string) (words []term.Word) {
	add := func(text, format string, args ...any) {
		words = append(words, term.Word{Text: text, About: fmt.Sprintf(format, args...)})
	}
	ctx := context.Background()
	r, err := shared.Open(ctx, f)
	if err != nil {
		return nil
	}
	if kind == "RUN" {
		tips, _ := r.Record().RunTips(ctx, maxOffered)
		for _, tip := range tips {
			add(tip.Run, "%s, %s", tip.Last.Subject, term.RelativeTime(f.Env.Now(), tip.Last.Time))
		}
		return words
	}
	if kind == "OP" {
		ops, _ := r.Record().Log(ctx, "", maxOffered)
		for i := range ops {
			add(ops[i].Op.Short(), "%s, %s", ops[i].Subject, term.RelativeTime(f.Env.Now(), ops[i].Time))
		}
		return words
	}
	v, err := r.View(ctx)
	if err != nil {
		return nil
	}
	switch kind {
	case "ROLE":
		for id, role := range v.Config.Roles.All() {
			add(id, "%s, %s", role.Title, role.WriteAuthority)
		}
	case "PHASE":
		for _, phase := range v.Config.Phases() {
			now := ""
			if phase == v.State.Phase {
				now = "now; "
			}
			add(phase, "%sbegins with %s", now, v.Config.Route(phase).EntryRole)
		}
	case "GATE":
		for _, phase := range v.Config.Phases() {
			if gate := v.Config.Route(phase).ExitGate; gate != "" {
				add(gate, "ends %s, %s", phase, v.State.PhaseGateStatus.Value(gate))
			}
		}
	case "TURN":
		for id, t := range v.State.ActiveTurns.All() {
			add(id, "%s, %s", t.AssignedRole, t.Status)
		}
		words = append(words, acceptedWords(ctx, r, v)...)
	}
	return words
}

// acceptedWords returns the turns of the run that were accepted last.
func acceptedWords(ctx context.Context, r *runner.Runner, v *runner.View) (words []term.Word) {
	ofRun := func(row *ojson.Object) bool { return row.String("run_id") == v.Run }
	rows, err := r.Record().TailRows(ctx, wire.LedgerHistory, maxOffered, ofRun)
	if err != nil {
		return nil
	}
	for _, r := range slices.Backward(rows) {
		words = append(words, term.Word{
			Text:  r.Row.String("turn_id"),
			About: r.Row.String("role") + ": " + r.Row.String("summary"),
		})
	}
	return words
}
