package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
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
	var doc struct {
		Runner    string `json:"runner"`
		Version   string `json:"runner_interface_version"`
		Result    string `json:"result"`
		Run       string `json:"run_id"`
		Turn      string `json:"turn_id"`
		Role      string `json:"role"`
		Artifacts struct {
			State struct {
				Valid  bool   `json:"valid"`
				SHA256 string `json:"sha256"`
			} `json:"state"`
			History, Ledger Ledger
		} `json:"artifacts"`
		Errors []string `json:"errors"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	a := doc.Artifacts
	if doc.Runner != "ci-runner-proof" || doc.Version != "0.3" || doc.Result != "pass" || doc.Run == "" ||
		doc.Turn == "" || doc.Role != "pm" ||
		!a.State.Valid || len(a.State.SHA256) != 64 || !a.History.Valid || a.History.Entries != 1 || !a.Ledger.Valid ||
		a.Ledger.Entries < 1 || doc.Errors != nil {
		t.Errorf("%s", data)
	}
}

func TestWrongFlagIsRefused(t *testing.T) {
	testrepo.Thorough(t)
	cmd := exec.Command("go", "run", ".", "--yaml")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("an unknown flag was taken:\n%s", out)
	}
}

// Whatever part is broken, the proof fails.
func TestProofFails(t *testing.T) {
	testrepo.InMemory()
	for name, broken := range map[string]struct {
		step string
		harm func(p *proof.Project) error
	}{
		"configuration": {"scaffold", func(p *proof.Project) error { return p.Write("agentxchain.json", "{}") }},
		"state of a stranger": {"scaffold",
			func(p *proof.Project) error { return p.Write(".agentxchain/state.json", "{") }},
		"bundle and turn": {"assign",
			func(p *proof.Project) error { return os.RemoveAll(p.Path(".agentxchain/state.json")) }},
		"staged result": {"stage", func(p *proof.Project) error { return garble(p) }},
		"state afterwards": {"accept",
			func(p *proof.Project) error { return p.Write(".agentxchain/state.json", `{"run_id":"run_other"}`) }},
		"history": {"accept",
			func(p *proof.Project) error { return p.Write(".agentxchain/history.jsonl", "") }},
		"ledger": {"accept",
			func(p *proof.Project) error { return os.Remove(p.Path(".agentxchain/decision-ledger.jsonl")) }},
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

func garble(p *proof.Project) error {
	s, err := p.Runner.LoadState(context.Background())
	if err != nil {
		return err
	}
	return p.Write(".agentxchain/staging/"+s.Turn.TurnID+"/turn-result.json",
		`{"schema_version":"1.0","turn_id":"turn_other"}`)
}
