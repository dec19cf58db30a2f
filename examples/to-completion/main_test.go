package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// The proof as its user runs it.
func TestProofPasses(t *testing.T) {
	testrepo.Thorough(t)
	data, err := exec.Command("go", "run", ".", "--json").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if r.Runner != "ci-multi-turn-runner-proof" || r.InterfaceVersion != "0.3" || r.Result != "pass" || r.Turns != 3 ||
		!slices.Equal(r.Roles, []string{"pm", "dev", "qa"}) ||
		len(r.Rejections) != 1 || !r.Rejections[0].SameTurn || r.Rejections[0].RetryAttempt != 2 ||
		r.PhaseApprovals != 1 || r.CompletionApprovals != 1 ||
		r.FinalStatus != "completed" || r.FinalPhase != "qa" || len(r.Bundles) != 3 ||
		r.Artifacts.History.Entries != 3 || r.Errors == nil || len(r.Errors) != 0 {
		t.Errorf("%s", data)
	}
}

// Whatever part is broken, the proof fails.
func TestProofFails(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.InMemory()
	inBundle := func(p *proof.Project, name string) string {
		s, err := p.Runner.LoadState(context.Background())
		if err != nil || s.Turn == nil {
			t.Fatalf("no turn: %v", err)
		}
		return p.Path(".agentxchain/dispatch/turns/" + s.Turn.TurnID + "/" + name)
	}
	for name, broken := range map[string]struct {
		step string
		harm func(p *proof.Project) error
	}{
		"a bundle without its prompt": {"bundle pm",
			func(p *proof.Project) error { return os.Remove(inBundle(p, "PROMPT.md")) }},
		"a plan the agent signed": {"stage pm", func(p *proof.Project) error {
			return p.Write(".planning/PM_SIGNOFF.md", "# PM Signoff\n\nApproved: YES\n")
		}},
		"a kept result that is gone": {"rejected",
			func(p *proof.Project) error { return os.RemoveAll(p.Path(".agentxchain/dispatch/rejected")) }},
		"an undeclared file": {"stage dev",
			func(p *proof.Project) error { return p.Write("src/smuggled.js", "1\n") }},
		"notes that are gone": {"stage dev",
			func(p *proof.Project) error { return os.Remove(p.Path(".planning/IMPLEMENTATION_NOTES.md")) }},
		"a result that is still there": {"accept qa", func(p *proof.Project) error {
			rows, err := p.Rows("history.jsonl")
			if err != nil {
				return err
			}
			return p.Write(".agentxchain/staging/"+rows[2]["turn_id"].(string)+"/turn-result.json", "{}")
		}},
		"a turn too many in history": {"completed", func(p *proof.Project) error {
			f, err := os.OpenFile(p.Path(".agentxchain/history.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			_, err = f.WriteString(`{"turn_id":"turn_x","role":"qa"}` + "\n")
			return err
		}},
		"no talk": {"completed", func(p *proof.Project) error { return os.Remove(p.Path("TALK.md")) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := prove(context.Background(), func(step string, p *proof.Project) {
				if step == broken.step {
					if err := broken.harm(p); err != nil {
						t.Fatal(err)
					}
				}
			})
			if r.Result != "fail" || len(r.Errors) == 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}
