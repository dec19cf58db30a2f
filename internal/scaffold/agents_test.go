package scaffold

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	cfgrules "github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// TestAgentProjects checks every template with every agent against the rules for a configuration: each role is
// bound to a runtime that may have it.
func TestAgentProjects(t *testing.T) {
	agents := Agents()
	custom, err := FindAgent("./agent --do {prompt}")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(agents, *custom) {
		for _, template := range IDs() {
			files := scaffold(t, template, Params{
				ProjectID:   "p",
				ProjectName: "P",
				Approver:    "a@example.org",
				Agent:       &a,
			})
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
					t.Errorf("%s, %s: %s speaks of a role that only reviews, or has a placeholder left", a.ID,
						template, name)
				}
			}
		}
		if hasPrompt := slices.ContainsFunc(a.Command, func(w string) bool {
			return strings.Contains(w, "{prompt}")
		}); hasPrompt != (a.Transport == "argv") {
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

// TestAgentsPage compares docs/agents.md with what init writes.
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

// TestAgentPages checks that each agent has a page that explains every argument init writes, and that the index
// names it.
func TestAgentPages(t *testing.T) {
	index, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range Agents() {
		data, err := os.ReadFile("../../docs/agents/" + a.ID + ".md")
		if err != nil {
			t.Error(err)
			continue
		}
		page := string(data)
		var explained []string
		for line := range strings.Lines(page) {
			if cell, ok := strings.CutPrefix(line, "| `"); ok {
				cell, _, _ = strings.Cut(cell, "`")
				explained = append(explained, cell)
			}
		}
		got := strings.TrimPrefix(strings.Join(explained, " "), a.Command[0]+" ")
		if want := strings.Join(a.Command[1:], " "); got != want {
			t.Errorf("%s explains %q, init writes %q", a.ID, got, want)
		}
		_, row, _ := strings.Cut(string(index), "| `"+a.ID+"` |")
		row, _, _ = strings.Cut(row, " |\n")
		version := row[strings.LastIndexByte(row, ' ')+1:]
		for _, want := range []string{"# " + a.Title + "\n", "git agentxchain init --agent " + a.ID + " ",
			"`" + cmp.Or(a.Guide, GuideFile) + "`"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", a.ID, want)
			}
		}
		if a.Tested != strings.Contains(page, "version "+version+" of the real program") ||
			a.Tested == strings.Contains(page, "Not tested here") {
			t.Errorf("%s: tested %v with %q, which is not what the page says", a.ID, a.Tested, version)
		}
		if onStdin := strings.Contains(page, "on standard input"); onStdin != (a.Transport == "stdin") {
			t.Errorf("%s: transport %s, which is not what the page says", a.ID, a.Transport)
		}
		if !strings.Contains(string(index), "](agents/"+a.ID+".md)") {
			t.Errorf("docs/agents.md does not name the page of %s", a.ID)
		}
	}
}
