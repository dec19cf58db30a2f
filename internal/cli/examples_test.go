package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

// TestExamples: the help of every command ends with an example, and each can be typed as it stands.
// The script examples.txtar runs the read-only ones.
func TestExamples(t *testing.T) {
	f := &term.Factory{Program: program()}
	app := term.NewApp(f)
	for _, l := range leaves(app.Commands, nil) {
		name := term.PathName(l.path)
		hidden := false
		for _, c := range l.path {
			hidden = hidden || c.Hidden
		}
		lines := examples(name)
		if len(lines) == 0 && !hidden {
			t.Errorf("%s has no example", name)
		}
		for _, line := range lines {
			words := exampleWords(line)
			if len(words) < 2 {
				continue // the command of another tool
			}
			if _, err := term.ParseLine(app, commandRewrites(), words[2:]); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			for _, fl := range l.path[len(l.path)-1].Flags {
				choice, ok := fl.(*term.ChoiceFlag)
				if !ok {
					continue
				}
				at := slices.Index(words, "--"+choice.Name)
				if at >= 0 && (at+1 == len(words) || !slices.Contains(choice.Choices, words[at+1])) {
					t.Errorf("%s: --%s takes %s", line, choice.Name, strings.Join(choice.Choices, ", "))
				}
			}
			if !strings.HasPrefix(strings.Join(words, " "), "git agentxchain "+strings.Fields(name)[0]) {
				t.Errorf("%q is no example of %s", line, name)
			}
		}
	}
	for entry := range strings.SplitSeq(strings.TrimSpace(exampleText), "\n\n") {
		name, _, _ := strings.Cut(entry, "\n")
		if path := term.FindPath(app.Commands, strings.Fields(name)); path == nil {
			t.Errorf("there are examples of %q, which is no command", name)
		}
	}
}

// exampleWords splits an example like a shell, without its comment; it returns nothing for one that
// does not begin with "git agentxchain".
func exampleWords(line string) []string {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " < ")
	if !strings.HasPrefix(line, "git agentxchain ") {
		return nil
	}
	var words []string
	quote, word := rune(0), ""
	for _, r := range line {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == 0 && r == ' ':
			if word != "" {
				words = append(words, word)
			}
			word = ""
		default:
			word += string(r)
		}
	}
	return append(words, word)
}
