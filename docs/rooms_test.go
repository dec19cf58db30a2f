// The table of rooms in CONTRIBUTING.md matches the code: each row's last column is what its
// packages import.

package docs_test

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/git-agentxchain/git-agentxchain/"

// everyRoom may be imported from everywhere, and the table does not repeat it.
var everyRoom = []string{"internal/*", "internal/text"}

var quoted = regexp.MustCompile("`([^`]+)`")

// rooms reads the table: the folders of each row, in order, and what it says they import.
func rooms(t *testing.T) (folders []string, says map[string][]string) {
	t.Helper()
	data, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	says = make(map[string][]string)
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| `") || len(cells) != 3 {
			continue
		}
		var named []string
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			named = append(named, m[1])
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			folders = append(folders, m[1])
			says[m[1]] = named
		}
	}
	if len(folders) < 20 {
		t.Fatalf("the table has %d folders, expected the rooms", len(folders))
	}
	return folders, says
}

// roomOf returns the folder of the table that a package is in, "" for none: the longest that names
// it or is above it. "x/*" are the packages below x.
func roomOf(folders []string, pkg string) string {
	best := ""
	for _, f := range folders {
		base, below := strings.CutSuffix(f, "/*")
		if strings.HasPrefix(pkg+"/", base+"/") && (pkg != base || !below) && len(f) > len(best) {
			best = f
		}
	}
	return best
}

// outer returns the outermost room around to that is not around room as well: seen from elsewhere,
// gitstore/git is a part of gitstore.
func outer(folders []string, room, to string) string {
	best := to
	for _, f := range folders {
		inside := func(name string) bool { return strings.HasPrefix(name+"/", f+"/") }
		if inside(to) && !inside(room) && len(f) < len(best) {
			best = f
		}
	}
	return best
}

func TestRooms(t *testing.T) {
	folders, says := rooms(t)
	has := make(map[string]map[string]bool)
	for _, name := range goFiles(t) {
		rel, _ := filepath.Rel("..", filepath.Dir(name))
		pkg := filepath.ToSlash(rel)
		if strings.HasSuffix(name, "_test.go") || pkg == "bench" || strings.HasPrefix(pkg, "bench/") {
			continue
		}
		room := roomOf(folders, pkg)
		if room == "" {
			t.Errorf("%s is in no room of CONTRIBUTING.md", pkg)
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range file.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			other, ours := strings.CutPrefix(p, module)
			to := roomOf(folders, other)
			if !ours || to == room || slices.Contains(everyRoom, to) {
				continue
			}
			if has[room] == nil {
				has[room] = make(map[string]bool)
			}
			has[room][outer(folders, room, to)] = true
		}
	}
	for _, f := range folders {
		want := slices.Sorted(maps.Keys(has[f]))
		got := slices.Clone(says[f])
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s imports `%s`; its row says `%s`", f, strings.Join(want, "`, `"), strings.Join(got, "`, `"))
		}
	}
}

// cited matches a page of this repository, and a section of it.
var cited = regexp.MustCompile(`\bdocs/[\w./-]+\.md(#[\w-]+)?`)

// titled matches a page followed by the title of a section, which cannot be checked.
var titled = regexp.MustCompile(`\bdocs/[\w./-]+\.md,? "[A-Z]`)

// TestCitations follows the pages that comments in the code cite.
func TestCitations(t *testing.T) {
	all := pages(t)
	found := 0
	for _, name := range goFiles(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(data), "\n") {
			_, line, ok := strings.Cut(line, "// ")
			if !ok {
				continue
			}
			if strings.Contains(line, "spec/0") {
				t.Errorf("%s:%d cites a document that is not in the repository: %s", name, n+1,
					strings.TrimSpace(line))
			}
			if m := titled.FindString(line); m != "" {
				t.Errorf("%s:%d cites a section by its title, not by #fragment: %s", name, n+1, m)
			}
			for _, m := range cited.FindAllStringSubmatch(line, -1) {
				page, fragment, _ := strings.Cut(m[0], "#")
				text, there := all[path.Clean(page)]
				found++
				if !there || fragment != "" && !anchors(text)[fragment] {
					t.Errorf("%s:%d cites %s, which does not exist", name, n+1, m[0])
				}
			}
		}
	}
	if found < 500 {
		t.Fatalf("%d citations were found, expected the comments of the code", found)
	}
}
