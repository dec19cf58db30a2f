// Following calls and collecting codes.

package codeflow

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Method returns the method of a named type, "*T" or "T", of a package.
func (p *Program) Method(path, typ, name string) (types.Object, error) {
	own := p.packages[path]
	if own == nil {
		return nil, fmt.Errorf("package %s is not loaded", path)
	}
	t := own.types.Scope().Lookup(strings.TrimPrefix(typ, "*"))
	if t == nil {
		return nil, fmt.Errorf("%s has no type %s", path, typ)
	}
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t.Type()), true, own.types, name)
	if f, ok := obj.(*types.Func); ok {
		return f, nil
	}
	return nil, fmt.Errorf("%s.%s has no method %s", path, typ, name)
}

// Func returns the function of a package.
func (p *Program) Func(path, name string) (types.Object, error) {
	if own := p.packages[path]; own != nil {
		if f, ok := own.types.Scope().Lookup(name).(*types.Func); ok {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s has no function %s", path, name)
}

// Codes returns the codes that can be reached from obj, sorted. It does not enter functions in skip, which are full
// names such as "(*pkg.T).M": their errors go nowhere. It notes in used every name in skip that it encounters.
func (p *Program) Codes(obj types.Object, skip map[string]bool, used map[string]bool) []string {
	w := &walk{
		p:     p,
		skip:  skip,
		used:  used,
		seen:  make(map[types.Object]bool),
		codes: make(map[string]bool),
		made:  make(map[*types.TypeName]bool),
		calls: make(map[*types.Func]bool),
	}
	w.enter(obj)
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		if b, ok := p.bodies[next]; ok {
			w.read(b)
		}
	}
	return slices.Sorted(maps.Keys(w.codes))
}

type walk struct {
	p          *Program
	skip, used map[string]bool
	seen       map[types.Object]bool
	queue      []types.Object
	codes      map[string]bool
	made       map[*types.TypeName]bool // types with values
	calls      map[*types.Func]bool     // interface methods that are called
}

func (w *walk) enter(obj types.Object) {
	if f, ok := obj.(*types.Func); ok {
		obj = f.Origin()
		if w.skip[f.FullName()] {
			w.used[f.FullName()] = true
			return
		}
	}
	if !w.seen[obj] {
		w.seen[obj] = true
		w.queue = append(w.queue, obj)
	}
}

// read visits everything a body mentions.
func (w *walk) read(b body) {
	quiet := compared(b.node)
	ast.Inspect(b.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			w.make(b.info.Types[n].Type)
		case *ast.Ident:
			switch obj := b.info.Uses[n].(type) {
			case *types.Func:
				if recv := obj.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
					w.call(obj)
				} else {
					w.enter(obj)
				}
			case *types.Var:
				if obj.Parent() != nil && obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
					w.enter(obj)
				}
			case *types.Const:
				if strings.HasPrefix(obj.Name(), "Code") && obj.Val().Kind() == constant.String && !quiet[n] &&
					w.p.packages[obj.Pkg().Path()] != nil {
					w.codes[constant.StringVal(obj.Val())] = true
				}
			case *types.TypeName:
				// A declared variable, a conversion, new(T): any of them may create a value.
				w.make(obj.Type())
			}
		}
		return true
	})
}

// compared returns the names of codes that are only compared with: the code tests for them and never sets them.
func compared(n ast.Node) map[*ast.Ident]bool {
	out := make(map[*ast.Ident]bool)
	note := func(list ...ast.Expr) {
		for _, e := range list {
			switch e := e.(type) {
			case *ast.Ident:
				out[e] = true
			case *ast.SelectorExpr:
				out[e.Sel] = true
			}
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				note(n.X, n.Y)
			}
		case *ast.CaseClause:
			note(n.List...)
		}
		return true
	})
	return out
}

// make notes that values of a type exist, and enters its methods that are called through interfaces.
func (w *walk) make(t types.Type) {
	named, ok := types.Unalias(deref(t)).(*types.Named)
	if !ok || types.IsInterface(named) || w.made[named.Obj()] || named.Obj().Pkg() == nil ||
		w.p.packages[named.Obj().Pkg().Path()] == nil {
		return
	}
	w.made[named.Obj()] = true
	for m := range w.calls {
		w.dispatch(named, m)
	}
}

// call notes that an interface's method is called, and enters it for every type with values.
func (w *walk) call(m *types.Func) {
	if w.calls[m] {
		return
	}
	w.calls[m] = true
	for t := range w.made {
		if named, ok := t.Type().(*types.Named); ok {
			w.dispatch(named, m)
		}
	}
}

func (w *walk) dispatch(t *types.Named, m *types.Func) {
	iface, ok := m.Signature().Recv().Type().Underlying().(*types.Interface)
	if !ok || t.TypeParams().Len() > 0 || !types.Implements(types.NewPointer(t), iface) {
		return
	}
	if obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, m.Pkg(), m.Name()); obj != nil {
		if f, ok := obj.(*types.Func); ok {
			w.enter(f)
		}
	}
}

func deref(t types.Type) types.Type {
	if t == nil {
		return types.Typ[types.Invalid]
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
