// WG-01: the names of the protocol are declared here and nowhere else; docs/alx-errors.md is generated from the
// table.

package alx

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/alx-errors.md from the table of error codes")

// ownNames returns the names that belong to the protocol alone: those of the shapes that are not
// everyday words, and the event names.
func ownNames() map[string]bool {
	names := map[string]bool{}
	for _, t := range RunEventTypes() {
		names[string(t)] = true
	}
	for _, t := range TimelineEventTypes() {
		names[string(t)] = true
	}
	for _, shape := range []any{SolveRequest{}, SolveResponse{}, SessionResponse{}, SessionList{}, ServiceInfo{},
		RunEventPage{}, KnowledgeBlock{}, Settlement{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(shape)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if strings.ToLower(name) != name { // executionId: two words do not match by chance
				names[name] = true
			}
		}
	}
	delete(names, "runId") // runs are common elsewhere
	return names
}

// TestTheShapesAreDeclaredOnce looks through every source file for second declarations of a member
// of the protocol: a struct tag, or an object built with it. Reading one, or using it as the name
// of a log attribute, declares nothing.
func TestTheShapesAreDeclaredOnce(t *testing.T) {
	own := ownNames()
	for _, must := range []string{"correlationId", "executionId", "nextStep", "kbHash", "run.completed",
		"session.created", "idempotencyKey", "nextCursor"} {
		if !own[must] {
			t.Fatalf("%s is not looked for", must)
		}
	}
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (rel != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(rel, ".go"), strings.HasSuffix(rel, "_test.go"), allowed(rel):
			return nil
		}
		files++
		for _, name := range declared(t, path) {
			if own[name] {
				t.Errorf("%s declares %q, which interop/alx owns (WG-01)", rel, name)
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// allowed reports the files that may name members: this package, and code that reads or describes
// documents member by member because they may be anything.
func allowed(rel string) bool {
	dir := rel[:strings.LastIndex(rel, "/")+1]
	return slices.Contains([]string{"interop/alx/", "interop/alx/conform/", "interop/alx/kb/", "interop/alx/openapi/"},
		dir) ||
		slices.Contains([]string{
			// The command line shows verdicts on blocks and reports of its own; the members are
			// those of its documents, named after their subject.
			"internal/cli/neighbours/alx_hash.go", "internal/cli/neighbours/alx_validate.go",
			"internal/cli/neighbours/alx_settle.go",
		}, rel)
}

// declared returns the JSON tags of a file and the member names it builds objects
// with.
func declared(t *testing.T, path string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil // in the middle of an edit; the compiler will say so
	}
	var out []string
	text := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, s)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				out = append(out, name)
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			switch {
			case ok && f.Sel.Name == "NewObject":
				for i := 0; i < len(n.Args); i += 2 {
					text(n.Args[i])
				}
			case ok && f.Sel.Name == "Set" && len(n.Args) == 2:
				text(n.Args[0])
			}
		}
		return true
	})
	return out
}

func errorsDoc() string {
	var b strings.Builder
	b.WriteString(`# Error codes of the ALX service

` + "`error.code`" + ` of every answer of [serve](serve.md) with ` + "`ok: false`" +
		`. The list is closed: within major version 1 no code is renamed or
given another meaning, and a new one is an addition. ` + "`message`" + ` and ` + "`hint`" +
		` are for people and may change. ` + "`GET /alx/v1`" + ` has the same list as
data. This page is made from ` + "`interop/alx/codes.go`" + ` by ` +
		"`go test ./interop/alx -run ErrorsDoc -update-docs`" + `, and a test keeps the
two equal. The codes of commands are in [errors.md](errors.md).

| HTTP status | code | meaning |
|---|---|---|
`)
	for _, c := range ErrorCodes() {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", c.Status, c.Code, c.Meaning)
	}
	return b.String()
}

func TestErrorsDoc(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "alx-errors.md")
	if *updateDocs {
		if err := os.WriteFile(path, []byte(errorsDoc()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != errorsDoc() {
		t.Errorf("docs/alx-errors.md differs from codes.go (%v); run: go test ./interop/alx -run ErrorsDoc -update-docs",
			err)
	}
}
