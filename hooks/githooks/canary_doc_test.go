// The table of attempts in docs/git-hooks.md matches the rehearsal's list.

package githooks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCanaryListIsDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "git-hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(data), "| hook | attempt | expected |\n|---|---|---|\n")
	if !ok {
		t.Fatal("docs/git-hooks.md has no table of attempts")
	}
	var documented []string
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		documented = append(documented, strings.TrimSuffix(line, "\n"))
	}
	var tried []string
	rules := make(map[string]bool)
	for _, x := range (&Canary{}).trials() {
		expected := "passes"
		if x.rule != "" {
			expected = "`" + x.rule + "`"
			rules[x.rule] = true
		}
		tried = append(tried, fmt.Sprintf("| `%s` | %s | %s |", x.guard, x.act, expected))
	}
	if !slices.Equal(documented, tried) {
		t.Errorf("docs/git-hooks.md has\n%s\nthe rehearsal tries\n%s", strings.Join(documented, "\n"),
			strings.Join(tried, "\n"))
	}
	// Every rule of the documented table is tried, except those that the text names.
	_, after, _ = strings.Cut(string(data), "| rule | refuses | by |\n|---|---|---|\n")
	untried := []string{RuleOutsideScope, RuleParallelConflict, RuleRunsUnpushed, RuleTurnMissing, RuleTooManyCommits}
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "| `") {
			break
		}
		rule, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		if !rules[rule] && !slices.Contains(untried, rule) {
			t.Errorf("no attempt expects %s", rule)
		}
	}
}
