// hooks canary: do the guards still work?

package guards

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/hooks/githooks"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func runHooksCanary(ctx context.Context, f *term.Factory) error {
	repo, err := shared.Repository(ctx, f, runner.DiscoverRepository)
	if err != nil {
		return err
	}
	begin := time.Now()
	canary, err := githooks.NewCanary(ctx, repo)
	if err != nil {
		return err
	}
	defer canary.Close()
	// From here on nothing in this process refers to the person's repository.
	if err := runner.LeaveRepository(); err != nil {
		return err
	}
	turn, err := plantRun(ctx, canary)
	if err != nil {
		return err
	}
	trials, err := canary.Try(ctx, turn)
	if err != nil {
		return err
	}
	held := 0
	rows := make([]*ojson.Object, len(trials))
	for i, t := range trials {
		rows[i] = ojson.NewObject("act", t.Act, "hook", t.Guard, "rule", ojson.OrNull(t.Rule), "held", t.Held,
			"why", ojson.OrNull(t.Why))
		if t.Held {
			held++
		}
	}
	failed := len(trials) - held
	f.Out.Emit(ojson.NewObject("held", failed == 0, "failed", failed, "duration_ms", time.Since(begin).Milliseconds(),
		"trials", rows), func(p *term.Printer) {
		t := term.NewTable("HOOK", "ATTEMPT", "EXPECTED", "RESULT")
		for _, x := range trials {
			expected := x.Rule
			if expected == "" {
				expected = "passes"
			}
			if x.Held {
				t.Row(x.Guard, x.Act, expected, "held")
				t.Emphasise(3, p.Green)
				continue
			}
			t.Row(x.Guard, x.Act, expected, term.OneLine(x.Why))
			t.Emphasise(3, p.Red)
		}
		p.Table(t)
		p.Println()
		if failed == 0 {
			p.Printf("%s: %s in a throwaway repository, none let through that should not be.\n",
				p.Green("The guards hold"), term.Counted(len(trials), "attempt"))
			return
		}
		p.Printf("%s: %s of %d went otherwise.\n", p.Red("The guards do not work"), term.Counted(failed, "attempt"),
			len(trials))
		p.Field("Next", "%s", p.Bold("git agentxchain hooks status")+", then "+p.Bold(githooks.InstallCommand(repo)))
	})
	if failed > 0 {
		return term.ErrFindings()
	}
	return nil
}

// plantRun turns the throwaway repository into a governed one with a history: one accepted turn,
// and a review under way, whose id is returned.
func plantRun(ctx context.Context, canary *githooks.Canary) (string, error) {
	dir := canary.Project
	if _, err := runner.InitProject(ctx, dir, runner.ProjectOptions{ID: "canary"}); err != nil {
		return "", err
	}
	if err := protectCanary(filepath.Join(dir, wire.ConfigPath)); err != nil {
		return "", err
	}
	if err := canary.Save(ctx, "governed project"); err != nil {
		return "", err
	}
	// The user may be an agent: the rehearsal does not belong to its turn.
	getenv := func(key string) string {
		if key == runner.TurnMarker {
			return ""
		}
		return os.Getenv(key)
	}
	r, err := runner.Open(ctx, dir, runner.Options{Getenv: getenv})
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	first, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	if err != nil {
		return "", err
	}
	result := first.Template.Clone()
	for k, v := range ojson.NewObject("summary", "nothing yet", "decisions", []any{}, "files_changed", []any{},
		"proposed_next_role", "pm",
		"objections", []*ojson.Object{ojson.NewObject("id", "OBJ-001", "severity", "low", "statement",
			"nothing is planned yet", "status", "raised")}).All() {
		result.Set(k, v)
	}
	staged := filepath.Join(dir, filepath.FromSlash(wire.StagingPath(first.Turn.TurnID)))
	if err := os.MkdirAll(filepath.Dir(staged), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(staged, ojson.Pretty(result), 0o644); err != nil {
		return "", err
	}
	if _, err := r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: first.Turn.TurnID}); err != nil {
		return "", err
	}
	if err := canary.Save(ctx, "first turn", string(wire.DocState), wire.LedgerHistory.Path(),
		wire.LedgerDecisions.Path()); err != nil {
		return "", err
	}
	second, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"})
	if err != nil {
		return "", err
	}
	return second.Turn.TurnID, nil
}

// protectCanary sets what the rehearsal needs in a configuration.
func protectCanary(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		return err
	}
	doc.Set("git_hooks", ojson.NewObject("protected", []string{githooks.CanaryProtected}))
	doc.Object("roles").Object("pm").Set("write_authority", string(wire.ReviewOnly))
	return os.WriteFile(path, ojson.Pretty(doc), 0o644)
}
