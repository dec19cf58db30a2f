package whatif

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// threeRoles returns a configuration of three roles and two phases, with members set.
func threeRoles(t testing.TB, sets ...any) *config.Config {
	t.Helper()
	doc, err := ojson.DecodeObject([]byte(`{
		"schema_version": "1.0", "project": {"id": "p", "name": "P"},
		"roles": {
			"pm":  {"title": "PM", "mandate": "plan", "write_authority": "review_only", "runtime": "m"},
			"dev": {"title": "Dev", "mandate": "build", "write_authority": "authoritative", "runtime": "m"},
			"qa":  {"title": "QA", "mandate": "check", "write_authority": "review_only", "runtime": "m"}},
		"runtimes": {"m": {"type": "manual"}},
		"routing": {
			"plan":  {"entry_role": "pm", "allowed_next_roles": ["pm", "dev", "qa"], "exit_gate": "planned"},
			"build": {"entry_role": "dev", "allowed_next_roles": ["dev", "qa"], "exit_gate": "built"}},
		"gates": {"planned": {"requires_human_approval": true}, "built": {"requires_files": [".planning/notes.md"], "requires_verification_pass": true}},
		"workflow_kit": {}, "rules": {"challenge_required": false}}`))
	if err != nil {
		t.Fatal(err)
	}
	return withMembers(t, doc, sets...)
}

// withMembers returns the configuration of a document with members set, by path and value; a text that begins a
// list or an object is JSON.
func withMembers(t testing.TB, doc *ojson.Object, sets ...any) *config.Config {
	t.Helper()
	for i := 0; i+1 < len(sets); i += 2 {
		value := sets[i+1]
		if text, ok := value.(string); ok && len(text) > 0 && (text[0] == '[' || text[0] == '{') {
			var err error
			if value, err = ojson.Decode([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		next, refusal := config.SetMember(doc, sets[i].(string), ojson.Of(value))
		if refusal != nil {
			t.Fatal(refusal)
		}
		doc = next
	}
	cfg, problems := config.DecodeObject(doc)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

func TestExplore(t *testing.T) {
	testrepo.Thorough(t)
	for _, c := range []struct {
		name      string
		sets      []any
		completes bool
		stuck     []string
		shut      []string
		alone     []string
		dead      []string // rules among the deadlocks
	}{
		{name: "a person opens the first gate, agents the last", completes: true, alone: []string{"built"}},
		{name: "a person opens both", sets: []any{"gates.built.requires_human_approval", true}, completes: true},
		{name: "a policy opens the gate of people", completes: true, alone: []string{"planned", "built"},
			sets: []any{"approval_policy", `{"phase_transitions":{"default":"auto_approve"}}`}},
		{
			name:  "an owner that is not routed",
			sets:  []any{"workflow_kit", `{"phases":{"build":{"artifacts":[{"path":"a.md","owned_by":"pm"}]}}}`},
			stuck: []string{"build"},
			shut:  []string{"built"},
		},
		{name: "a policy that takes no completed turn",
			sets: []any{"policies",
				`[{"id":"p","rule":"require_status","action":"block","params":{"allowed":["blocked"]}}]`},
			stuck: []string{"plan"}, shut: []string{"planned", "built"}},
		{
			name:      "a limit that a slow run meets",
			completes: true,
			alone:     []string{"built"},
			dead:      []string{"policy.max_turns_per_phase p"},
			sets: []any{"policies",
				`[{"id":"p","rule":"max_turns_per_phase","action":"block","params":{"limit":2}}]`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := threeRoles(t, c.sets...)
			g, err := Explore(cfg, DefaultStates)
			if err != nil {
				t.Fatal(err)
			}
			names := func(list []Stuck) (out []string) {
				for _, s := range list {
					out = append(out, s.Name)
				}
				return out
			}
			if !g.Whole || g.Completes != c.completes || !slices.Equal(names(g.Stuck), c.stuck) ||
				!slices.Equal(names(g.Shut), c.shut) ||
				!slices.Equal(g.Alone, c.alone) && len(g.Alone)+len(c.alone) > 0 {
				t.Errorf("whole %v, completes %v, stuck %v, shut %v, alone %v", g.Whole, g.Completes, names(g.Stuck),
					names(g.Shut), g.Alone)
			}
			for _, rule := range c.dead {
				if !slices.Contains(names(g.Deadlocks), rule) {
					t.Errorf("no deadlock over %s: %v", rule, names(g.Deadlocks))
				}
			}
			// The way to the end is real: played again, it ends there.
			w, err := NewWorld(cfg)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range g.Path {
				e, err := ParseEvent(cfg, text)
				if err != nil {
					t.Fatal(err)
				}
				next, step := w.Step(e)
				if w = next; step.Refused {
					t.Errorf("%s is refused: %s", text, step.Why)
				}
			}
			if c.completes && w.State.Status != "completed" {
				t.Errorf("%v ends %s in %s", g.Path, w.State.Status, w.State.Phase)
			}
			again, err := Explore(cfg, DefaultStates)
			if err != nil || !bytes.Equal(ojson.Pretty(ojson.Marshal(g)), ojson.Pretty(ojson.Marshal(again))) {
				t.Errorf("the same configuration gives another graph (%v)", err)
			}
			wellFormed(t, g.SVG())
			failing := 0
			for _, f := range Liveness(cfg) {
				if f.Severity == config.SeverityError {
					failing++
				}
			}
			if (failing > 0) == c.completes {
				t.Errorf("validate finds %d errors; a run can complete: %v", failing, c.completes)
			}
		})
	}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the drawing is not XML: %v", err)
		}
	}
}
