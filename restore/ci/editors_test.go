package ci

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEditorsPage checks that the problem matcher of docs/editors.md finds the file and the message of an
// annotation, and that every piece of JSON on the page is valid.
func TestEditorsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	var tasks struct {
		Tasks []struct {
			ProblemMatcher json.RawMessage
		}
	}
	pieces := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	for _, piece := range pieces {
		var any any
		if err := json.Unmarshal([]byte(piece[1]), &any); err != nil {
			t.Errorf("%v\n%s", err, piece[1])
		}
		if strings.Contains(piece[1], "problemMatcher") {
			if err := json.Unmarshal([]byte(piece[1]), &tasks); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(pieces) < 3 || len(tasks.Tasks) == 0 {
		t.Fatalf("%d pieces of JSON, %d tasks", len(pieces), len(tasks.Tasks))
	}
	var matcher struct {
		Pattern struct {
			Regexp                  string
			Severity, File, Message int
		}
	}
	if err := json.Unmarshal(tasks.Tasks[0].ProblemMatcher, &matcher); err != nil {
		t.Fatal(err)
	}
	a := &annotations{}
	a.add("error", "Commits", "src/odd name.go", "56f9074502: Ann changes it, which is not the work of a turn: x")
	got := regexp.MustCompile(matcher.Pattern.Regexp).FindStringSubmatch(strings.TrimSuffix(a.b.String(), "\n"))
	p := matcher.Pattern
	if got == nil || got[p.Severity] != "error" || got[p.File] != "src/odd name.go" ||
		got[p.Message] != "56f9074502: Ann changes it, which is not the work of a turn: x" {
		t.Errorf("of %q the problem matcher takes %q", a.b.String(), got)
	}
}
