// Loading the packages of the module with their types.

package codeflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Program is a type-checked part of the module.
type Program struct {
	fset     *token.FileSet
	packages map[string]*pkg
	bodies   map[types.Object]body // functions, and package variables with a value
}

type pkg struct {
	types *types.Package
	info  *types.Info
}

// body is the code that runs when an object is used.
type body struct {
	node ast.Node
	info *types.Info
}

// listed is the output of "go list" for a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
	Module     *struct{ Main bool }
}

// Load type-checks the packages of patterns and the module's packages that they import, in dir. Everything else is
// read as compiled declarations from the build cache.
func Load(dir string, patterns ...string) (*Program, error) {
	args := append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Module"}, patterns...)
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	p := &Program{fset: token.NewFileSet(), packages: make(map[string]*pkg), bodies: make(map[types.Object]body)}
	exports := make(map[string]string)
	compiled := importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	load := importerFunc(func(path string) (*types.Package, error) {
		if own := p.packages[path]; own != nil {
			return own.types, nil
		}
		return compiled.Import(path)
	})
	for dec := json.NewDecoder(bytes.NewReader(out)); ; { // dependencies come first
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return p, nil
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if l.Module == nil || !l.Module.Main {
			continue
		}
		if err := p.check(l, load); err != nil {
			return nil, err
		}
	}
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

func (p *Program) check(l listed, load types.Importer) error {
	var files []*ast.File
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(p.fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := &types.Info{
		Uses:  make(map[*ast.Ident]types.Object),
		Defs:  make(map[*ast.Ident]types.Object),
		Types: make(map[ast.Expr]types.TypeAndValue),
	}
	conf := types.Config{Importer: load}
	tp, err := conf.Check(l.ImportPath, p.fset, files, info)
	if err != nil {
		return err
	}
	p.packages[l.ImportPath] = &pkg{tp, info}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil {
					p.bodies[info.Defs[d.Name]] = body{d, info} // parameters too: callers create values of their types
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					v, ok := s.(*ast.ValueSpec)
					if !ok || d.Tok != token.VAR {
						continue
					}
					for i, name := range v.Names {
						if len(v.Values) == len(v.Names) {
							p.bodies[info.Defs[name]] = body{v.Values[i], info}
						} else if len(v.Values) == 1 {
							p.bodies[info.Defs[name]] = body{v.Values[0], info}
						}
					}
				}
			}
		}
	}
	return nil
}
