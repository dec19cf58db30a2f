package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Commands and servers use the runner interface and nothing beside it. The linter sees to the
// imports; this sees to the store that a Runner is made of. A restored run is put
// into a store before there is a run to drive, so restore hands it on.
func TestCommandsLeaveTheStoreAlone(t *testing.T) {
	n := 0
	look := func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		n++
		if filepath.ToSlash(name) == "travel/restore.go" {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 { // ended.Store(true) is an atomic's method
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Store" {
				t.Errorf("%s: a command or server reaches for the store behind the interface",
					fset.Position(sel.Pos()))
			}
			return true
		})
		return nil
	}
	for _, dir := range []string{".", "../demo", "../../dashboard", "../../mcpserver", "../../interop",
		"../../examples"} {
		if err := filepath.WalkDir(dir, look); err != nil {
			t.Fatal(err)
		}
	}
	if n < 200 {
		t.Fatalf("%d files were looked at, expected those of commands and servers", n)
	}
}
