package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Commands use the runner interface and nothing beside it. The linter sees to the
// imports; this sees to the store that a Runner is made of. A restored run is put
// into a store before there is a run to drive, so restore hands it on.
func TestCommandsLeaveTheStoreAlone(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || slices.Contains([]string{"restore.go"}, name) {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Store" {
				return true
			}
			// r.Store, whatever is asked of it; ended.Store(true) is an atomic's method.
			if id, ok := sel.X.(*ast.Ident); ok && (id.Name == "r" || strings.Contains(strings.ToLower(id.Name), "runner")) {
				t.Errorf("%s: a command reaches for the store behind the interface", fset.Position(sel.Pos()))
			}
			return true
		})
	}
}
