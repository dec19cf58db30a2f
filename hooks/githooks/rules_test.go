package githooks

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestRefusesEveryRule compares the sentences with the table in the documentation.
func TestRefusesEveryRule(t *testing.T) {
	doc, err := os.ReadFile("../../docs/git-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "\n| rule | refuses | by |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(table, -1)
	if len(rows) != 20 {
		t.Errorf("the documentation lists %d rules, expected 20", len(rows))
	}
	for _, row := range rows {
		if Refuses(row[1]) == "" {
			t.Errorf("nothing is said of rule %s", row[1])
		}
	}
	if got := Refuses("pre-commit"); got != "" {
		t.Errorf("a hook is no rule, got %q", got)
	}
}
