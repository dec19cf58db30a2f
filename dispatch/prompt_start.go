// What an actor reads before it begins: the goal, the context, the project's own instructions, and how to test it.

package dispatch

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// readFirst returns the files in which projects explain how to work in them.
func readFirst() []string {
	return []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONTRIBUTING.md", "README.md"}
}

func (v *view) beforeStart() string {
	var l list
	if g := v.Config.Project.Goal; g != "" {
		l.add("The goal of the project: %s", line(g))
	}
	if v.remote() {
		return v.started(l)
	}
	l.add("Read %s: where the run is, what was decided, what is objected to.",
		code(wire.BundleDir(v.Turn.TurnID)+"/"+ContextFile))
	var there []string
	for _, name := range readFirst() {
		if v.exists(name) {
			there = append(there, name)
		}
	}
	if len(there) > 0 {
		l.add("Read what the project says of itself: %s. Where it contradicts this document, this document holds for the turn.", inlineCodes(there))
	}
	if c := v.testCommand(); c != "" {
		l.add("The project's tests run with %s.", code(c))
	}
	return v.started(l)
}

func (v *view) started(l list) string {
	if len(l) == 0 {
		return ""
	}
	return fmt.Sprintf("## Before You Start\n\n%s", l)
}

// testCommand returns the command that tests the project, from the files that state it; "" when none does.
func (v *view) testCommand() string {
	has := func(name, text string) bool {
		data, ok := v.start(name)
		return ok && strings.Contains("\n"+string(data), text)
	}
	if data, ok := v.start("package.json"); ok {
		if doc, err := ojson.DecodeObject(data); err == nil {
			if s := doc.Object("scripts").String("test"); s != "" && !strings.Contains(s, "no test specified") {
				return "npm test"
			}
		}
	}
	switch {
	case has("Makefile", "\ntest:"):
		return "make test"
	case v.exists("go.mod"):
		return "go test ./..."
	case v.exists("Cargo.toml"):
		return "cargo test"
	case v.exists("pytest.ini"), has("pyproject.toml", "\n[tool.pytest"):
		return "python -m pytest"
	}
	return ""
}

// manifestBytes is how much of a file is searched for the test command.
const manifestBytes = 64 << 10

func (v *view) start(name string) ([]byte, bool) {
	if v.Read == nil || !v.exists(name) {
		return nil, false
	}
	return v.Read(name, manifestBytes)
}
