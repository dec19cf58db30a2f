package scaffold

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	cfgrules "github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// TestAgentProjects holds every template for every agent against the rules a
// configuration has to pass: each role is bound to a runtime that may carry it.
func TestAgentProjects(t *testing.T) {
	agents := Agents()
	custom, err := FindAgent("./agent --do {prompt}")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(agents, *custom) {
		for _, template := range IDs() {
			files := scaffold(t, template, Params{ProjectID: "p", ProjectName: "P", Approver: "a@example.org", Agent: &a})
			doc, err := ojson.DecodeObject([]byte(files["agentxchain.json"]))
			if err != nil {
				t.Fatal(err)
			}
			cfg, problems := cfgrules.DecodeObject(doc)
			if len(problems) > 0 {
				t.Errorf("%s, %s: %v", a.ID, template, problems)
				continue
			}
			if found := cfgrules.Admission(cfg); len(found) > 0 {
				t.Errorf("%s, %s: %v", a.ID, template, found)
			}
			for _, role := range cfg.Roles.All() {
				rt, ok := cfg.Runtimes.Get(role.RuntimeID)
				if !ok || rt.Type != "local_cli" || !slices.Equal(rt.Raw.Strings("command"), a.Command) {
					t.Errorf("%s, %s: role %s has runtime %q", a.ID, template, role.ID, role.RuntimeID)
				}
			}
			for name, text := range files {
				if strings.Contains(text, "review_only") || strings.Contains(text, "{{") {
					t.Errorf("%s, %s: %s speaks of a role that only reviews, or has a placeholder left", a.ID, template, name)
				}
			}
		}
		if hasPrompt := slices.ContainsFunc(a.Command, func(w string) bool { return strings.Contains(w, "{prompt}") }); hasPrompt != (a.Transport == "argv") {
			t.Errorf("%s: {prompt} in the command %v, transport %s", a.ID, hasPrompt, a.Transport)
		}
	}
}

func TestFindAgent(t *testing.T) {
	for text, want := range map[string]string{
		"claude":               "claude stdin",
		"my-agent":             "agent stdin my-agent",
		" bin/a  -x\t{prompt}": "agent argv bin/a -x {prompt}",
	} {
		a, err := FindAgent(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := a.ID + " " + a.Transport
		if a.ID == customAgent {
			got += " " + strings.Join(a.Command, " ")
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"", "  ", `a "b c"`, "a; rm -rf x", "a $(b)", "a\nb\x00", "~/a"} {
		var e *Error
		if _, err := FindAgent(text); !errors.As(err, &e) || e.Code != "invalid_argument" {
			t.Errorf("%q: got %v, want invalid_argument", text, err)
		}
	}
}

// TestAgentsPage holds docs/agents.md to what init writes.
func TestAgentsPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range Agents() {
		row := "| `" + a.ID + "` | " + a.Title + " | `" + strings.Join(a.Command, " ") + "` | "
		_, rest, ok := strings.Cut(string(data), row)
		if !ok {
			t.Errorf("docs/agents.md has no row %q", row)
			continue
		}
		if untested := strings.HasPrefix(rest, "not tested here"); untested == a.Tested {
			t.Errorf("docs/agents.md: %s: tested %v, the page says %q", a.ID, a.Tested, rest[:20])
		}
	}
}
