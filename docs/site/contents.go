// The contents of the site: the order of docs/README.md, which a test requires to name every page.

package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

const index = "docs/README.md"

// contents reads the groups of pages: a heading of the second level, and the links below it.
func (s *site) contents() error {
	source, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(index)))
	if err != nil {
		return err
	}
	named := map[*page]bool{s.byFile[index]: true}
	err = ast.Walk(markdown.Parser().Parse(text.NewReader(source)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Heading:
				if n.Level == 2 {
					s.groups = append(s.groups, group{Title: plain(n, source)})
				}
			case *ast.Link:
				p := s.byFile[path.Join(path.Dir(index), string(n.Destination))]
				if p == nil || named[p] || len(s.groups) == 0 {
					break
				}
				named[p] = true
				last := &s.groups[len(s.groups)-1]
				last.Pages = append(last.Pages, p)
			}
			return ast.WalkContinue, nil
		})
	if err == nil && len(s.groups) == 0 {
		err = fmt.Errorf("%s has no groups of pages", index)
	}
	return err
}
