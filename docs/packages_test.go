// Every package says in one place what it contains.

package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPackageComments requires one package comment for every package: in doc.go, in main.go of a
// command, or in the only file. A second one is usually a comment on a file that lacks the empty
// line before "package"; go doc would print it with the first.
func TestPackageComments(t *testing.T) {
	type comment struct{ file, text string }
	comments, files := make(map[string][]comment), make(map[string]int)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "..") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.Dir(name)
		files[dir]++
		if file.Doc.Text() != "" && !ast.IsGenerated(file) {
			comments[dir] = append(comments[dir], comment{filepath.Base(name), file.Doc.Text()})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 60 {
		t.Fatalf("found %d packages, expected those of the module", len(files))
	}
	for dir, n := range files {
		found := comments[dir]
		if len(found) != 1 {
			t.Errorf("%s has %d package comments %v, expected one", dir, len(found), found)
			continue
		}
		in := found[0].file
		if n > 1 && in != "doc.go" && in != "main.go" {
			t.Errorf("the package comment of %s is in %s, expected it in doc.go", dir, in)
		}
		if strings.Count(found[0].text, " ") < 4 {
			t.Errorf("the package comment of %s says too little: %q", dir, found[0].text)
		}
	}
}

// riddles matches words that leave the reader to guess who acts.
var riddles = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever)\b`)

// TestPlainWords: a page says who acts: a person, an agent, a process, a client.
func TestPlainWords(t *testing.T) {
	for name, text := range pages(t) {
		for n, line := range strings.Split(text, "\n") {
			if m := riddles.FindString(line); m != "" && !strings.Contains(name, "/files/") {
				t.Errorf("%s:%d says %q; expected the person, agent or process that is meant", name, n+1, m)
			}
		}
	}
}
