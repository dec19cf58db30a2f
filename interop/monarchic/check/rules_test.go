// The list of rules, the code and the documentation agree.

package check

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "write the rules into docs/monarchic.md")

const rulesBegin, rulesEnd = "<!-- rules: made by go test ./interop/monarchic/check -run RulesDoc -update-docs -->\n", "<!-- end of rules -->\n"

func TestRulesDoc(t *testing.T) {
	var b strings.Builder
	b.WriteString("| rule | requires that |\n|---|---|\n")
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.ID, r.Says)
	}
	const path = "../../../docs/monarchic.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), rulesBegin)
	table, after, ok2 := strings.Cut(rest, rulesEnd)
	if !ok || !ok2 {
		t.Fatal("docs/monarchic.md has no place for the rules")
	}
	if *updateDocs && table != b.String() {
		if err := os.WriteFile(path, []byte(before+rulesBegin+b.String()+rulesEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		table = b.String()
	}
	if table != b.String() {
		t.Error("docs/monarchic.md differs from rules.go; run: go test ./interop/monarchic/check -run RulesDoc -update-docs")
	}
}

// TestRulesAreUsed: every rule in the code is listed, and every listed rule is in the code.
func TestRulesAreUsed(t *testing.T) {
	var listed []string
	for _, r := range Rules() {
		if slices.Contains(listed, r.ID) || r.Says == "" {
			t.Errorf("%s is listed twice or says nothing", r.ID)
		}
		listed = append(listed, r.ID)
	}
	used := map[string]bool{}
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") || e.Name() == "rules.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				s, _ := strconv.Unquote(lit.Value)
				used[s] = true
			}
			return true
		})
	}
	for _, id := range listed {
		family, rest, _ := strings.Cut(id, ".")
		if !used[id] && !(used["."+rest] && used[family]) {
			t.Errorf("no code reports %s", id)
		}
	}
	shape := regexp.MustCompile(
		`^(json|number|text|type|alias|integer|id|hash|role|outcome|receipt|plan|pipeline|bundle|message|ack|strict|task|verification|lease|recovery|override|auth|usage|publication|moderation|queue|log)\.[a-z_]+$`)
	for s := range used {
		if shape.MatchString(s) && !slices.Contains(listed, s) && !strings.HasSuffix(s, ".json") {
			t.Errorf("%s is not listed", s)
		}
	}
}

// TestEveryRuleIsShown: the tests of this package trigger each rule.
func TestEveryRuleIsShown(t *testing.T) {
	shown := map[string]bool{}
	add := func(findings []Finding) {
		for _, f := range findings {
			shown[f.Rule] = true
		}
	}
	for path, data := range samples(t, "invalid") {
		for _, w := range regexp.MustCompile(`"(?:[^"]*) ([A-Za-z_.]+)"`).FindAllSubmatch(data, -1) {
			shown[string(w[1])] = true
		}
		_ = path
	}
	for _, c := range ruleCases() {
		s := New(Options{Type: c.typ, Log: c.log, Complete: c.complete})
		r := s.Input("x.jsonl", []byte(c.doc))
		s.Close()
		add(r.Findings)
		var got []string
		for _, f := range r.Findings {
			got = append(got, fmt.Sprintf("%d %s %s %s", f.Line, f.Severity, f.Pointer, f.Rule))
		}
		slices.Sort(got)
		want := slices.Clone(c.want)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q\n%v", c.name, got, want, r.Findings)
		}
	}
	for _, r := range Rules() {
		switch r.ID {
		case "schema", "json.duplicate_member", "number.range", "text.surrogate", "type.none", "type.ambiguous",
			"integer.spelling":
			// shown by TestHostileInput, TestAmbiguous, TestStrictIntegers; "schema" is for faults
			// that no published schema has
			continue
		}
		if !shown[r.ID] {
			t.Errorf("no test shows %s", r.ID)
		}
	}
}
