// docs/errors.md is generated from the exit table.

package cli

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/errors.md from the exit table")

func errorsDoc() string {
	var b strings.Builder
	b.WriteString(`# Error codes and exit statuses

An exit status never changes its meaning. With ` + "`--json`" + ` the answer carries ` + "`error.code`" +
		`, the stable token of the
lists below; a code that is not listed here exits 1. A refusal names its code in the line ` + "`why:`" + `, and
` + "`git agentxchain explain CODE`" +
		` prints its row, with the rules that led to the refusal where it is on record. This page
is made from ` + "`internal/cli/term/exit.go`" + ` by
` + "`go test ./internal/cli -run ErrorsDoc -update-docs`" + `, and a test keeps the two equal.

` + "`conformance adapter`" + ` is the exception: it speaks its verifier's protocol and exits 0 pass, 1 fail, 2 error,
3 not implemented.
`)
	for _, row := range term.ExitTable() {
		fmt.Fprintf(&b, "\n## %d: %s\n", row.Status, row.Meaning)
		if len(row.Codes) > 0 {
			b.WriteString("\n| code | meaning | what to do |\n|---|---|---|\n")
		}
		for _, c := range row.Codes {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Code, c.Meaning, c.Do)
		}
	}
	return b.String()
}

func TestErrorsDoc(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "errors.md")
	if *updateDocs {
		if err := os.WriteFile(path, []byte(errorsDoc()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != errorsDoc() {
		t.Error("docs/errors.md differs from exit.go; run: go test ./internal/cli -run ErrorsDoc -update-docs")
	}
}

// TestEveryCodeHasAnExitStatus finds the error codes that the packages declare (string constants
// named Code...) and requires a row for each, so that no code exits 1 by oversight.
func TestEveryCodeHasAnExitStatus(t *testing.T) {
	known := map[string]bool{}
	for _, row := range term.ExitTable() {
		for _, c := range row.Codes {
			known[c.Code] = true
		}
	}
	for _, room := range []string{
		"protocol", "protocol/wire", "protocol/config", "protocol/run", "protocol/result", "protocol/external",
		"protocol/initiative",
		"gitstore", "gitstore/git/fail", "gitstore/record", "gitstore/transport", "gitstore/decision",
		"gitstore/tamper",
		"gitstore/workdir",
		"dispatch", "runner", "hooks", "hooks/githooks", "coordinator", "restore",
	} {
		files, err := filepath.Glob(filepath.Join("..", "..", room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %d files: %v", room, len(files), err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok {
					return true
				}
				for i, id := range spec.Names {
					if !strings.HasPrefix(id.Name, "Code") || i >= len(spec.Values) {
						continue
					}
					lit, ok := spec.Values[i].(*ast.BasicLit)
					if !ok || lit.Kind != token.STRING {
						continue
					}
					if code, err := strconv.Unquote(lit.Value); err == nil && !known[code] {
						t.Errorf("%s/%s: %s = %q has no exit status in exit.go", room, filepath.Base(name), id.Name,
							code)
					}
				}
				return true
			})
		}
	}
}
