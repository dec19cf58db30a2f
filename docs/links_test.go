// Every link of the documentation leads somewhere, and the index names every page.

package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/docs/anchor"
)

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	target = regexp.MustCompile(`^[a-z]+:`)
)

// pages lists the Markdown files of the repository, relative to its root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "..") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".md" {
			return nil
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel("..", name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("found %d pages, expected the documentation", len(out))
	}
	return out
}

func anchors(page string) map[string]bool {
	out := make(map[string]bool)
	fenced := false
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if text := strings.TrimLeft(line, "#"); !fenced && text != line && strings.HasPrefix(text, " ") {
			out[anchor.Of(text)] = true
		}
	}
	return out
}

func TestLinks(t *testing.T) {
	all := pages(t)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if target.MatchString(m[1]) {
				continue
			}
			file, fragment, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(to))); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
				continue
			}
			if page, ok := all[to]; fragment != "" && ok && !anchors(page)[fragment] {
				t.Errorf("%s links to %s, but %s has no such heading", name, m[1], to)
			}
		}
	}
}

func TestIndexNamesEveryPage(t *testing.T) {
	all := pages(t)
	for name := range all {
		base, below := strings.CutPrefix(name, "docs/")
		if !below || strings.Contains(base, "/") || base == "README.md" {
			continue
		}
		if !strings.Contains(all["docs/README.md"], "("+base+")") {
			t.Errorf("docs/README.md does not name %s", base)
		}
	}
}

var source = regexp.MustCompile("`([\\w./*-]+/[\\w.*-]+\\.go)`")

// TestSources finds source files that a page names and that have moved.
func TestSources(t *testing.T) {
	found := 0
	for name, text := range pages(t) {
		for _, m := range source.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "NAME") {
				continue // a placeholder for a name
			}
			found++
			if files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(m[1]))); err != nil ||
				len(files) == 0 {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
	if found < 10 {
		t.Fatalf("%d files of code are named, expected more", found)
	}
}
