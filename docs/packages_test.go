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

// goFiles lists the Go files of the module, test files included.
func goFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != ".."):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(name) == ".go":
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestPackageComments requires one package comment for every package: in doc.go, in main.go of a
// command, or in the only file. A second one is usually a comment on a file that lacks the empty
// line before "package"; go doc would print it with the first.
func TestPackageComments(t *testing.T) {
	type comment struct{ file, text string }
	comments, files := make(map[string][]comment), make(map[string]int)
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(name)
		files[dir]++
		if file.Doc.Text() != "" && !ast.IsGenerated(file) {
			comments[dir] = append(comments[dir], comment{filepath.Base(name), file.Doc.Text()})
		}
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

// TestPlainComments holds the comments of Go files to the same words. Directives, names of identifiers and what stands in
// quotes or in code of a comment are not ours to choose.
func TestPlainComments(t *testing.T) {
	n := 0
	for _, name := range goFiles(t) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(file) {
			continue
		}
		for _, group := range file.Comments {
			n++
			for line := range strings.Lines(group.Text()) { // without directives
				if m := riddles.FindString(quotedWords.ReplaceAllString(line, "")); m != "" {
					t.Errorf("%s: %q says %q; expected the person, agent or process that is meant",
						set.Position(group.Pos()), strings.TrimSpace(line), m)
				}
			}
		}
	}
	if n < 10_000 {
		t.Errorf("%d comments were read, expected those of the module", n)
	}
}

// quotedWords matches what a comment quotes.
var quotedWords = regexp.MustCompile("\"[^\"]*\"|`[^`]*`")
